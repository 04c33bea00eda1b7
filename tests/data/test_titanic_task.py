"""The Titanic task: which columns, which rows, and nothing that tells the outcome."""

import numpy as np
import pandas as pd
import pytest

from evenhand.data import load, packaged


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return pd.read_csv(packaged("titanic.csv.gz"))


def test_the_split_is_stratified():
    task = load("titanic")
    for part, rows, survived in (("train", 1047, 400), ("test", 262, 100)):
        assert len(task.rows(part)) == rows
        assert int(task.y[task.rows(part)].sum()) == survived
    held = load("titanic", validation=0.25)
    assert [len(held.rows(part)) for part in ("train", "validation", "test")] == [785, 262, 262]


def test_inputs_are_those_of_pandas_and_scikit_learn(table):
    """The same preparation by other libraries: medians and modes of the training rows, then z-scores."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    task = load("titanic", seed=3)
    train = task.rows("train").numpy()
    numbers = table[["pclass", "age", "sibsp", "parch", "fare"]]
    filled = SimpleImputer(strategy="median").fit(numbers.iloc[train]).transform(numbers)
    port = table["embarked"].fillna(table["embarked"].iloc[train].mode()[0])
    inputs = np.concatenate([filled, pd.get_dummies(port).to_numpy(dtype=float)], axis=1)
    expected = StandardScaler().fit(inputs[train]).transform(inputs)
    np.testing.assert_allclose(task.x.numpy(), expected, atol=1e-5)


def test_attributes(table):
    task = load("titanic")
    sex, ages = task.attribute("sex"), task.attribute("age_group")
    assert dict(zip(sex.levels, np.bincount(sex.codes).tolist(), strict=True)) == {"female": 466, "male": 843}
    assert [round(float(task.y.numpy()[sex.codes == level].mean()), 4) for level in (0, 1)] == [
        0.7275,
        0.1910,
    ]
    assert ((ages.codes == -1) == table["age"].isna()).all()
    assert table["age"][ages.codes == 0].max() < 16 <= table["age"][ages.codes == 1].min()
    assert table["age"][ages.codes == 2].min() == 60
    assert not [name for name in task.columns if name.startswith(("sex", "boat", "body"))]


def test_the_seed_draws_other_rows():
    first, second = (set(load("titanic", seed=seed).rows("test").tolist()) for seed in (0, 1))
    assert 20 < len(first & second) < 100  # about a fifth of 262
