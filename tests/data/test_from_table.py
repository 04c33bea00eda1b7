"""Tasks from a user's own table: any library, any values, every departure told."""

import datetime
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.data import Task, packaged
from evenhand.data.encoding import TableEncoding
from evenhand.errors import InputError

N = 200


@pytest.fixture
def columns() -> dict:
    draw = np.random.default_rng(5)
    income = draw.normal(50, 10, N).round(1)
    return {
        "income": np.where(np.arange(N) % 20 == 3, np.nan, income),
        "years": draw.integers(0, 30, N),
        "town": draw.choice(["Bonn", "Trier", "Ulm"], N).tolist(),
        "licence": (draw.random(N) < 0.5).tolist(),
        "constant": [7] * N,
        "sex": draw.choice(["f", "m"], N).tolist(),
        "age": [None if row % 10 == 0 else ["old", "young"][row % 2] for row in range(N)],
        "hired": np.where(draw.random(N) < 0.4, "yes", "no").tolist(),
    }


def make(columns, **options) -> Task:
    return Task.from_table(columns, label="hired", attributes=["sex", "age"], **options)


def test_every_kind_of_table_gives_the_same_task(columns):
    frame = pl.DataFrame({**columns, "income": pl.Series(columns["income"]).fill_nan(None)})
    tables = [columns, pd.DataFrame(columns), frame, frame.lazy(), {k: list(v) for k, v in columns.items()}]
    tables.append(pd.DataFrame(columns).astype({"town": "category", "years": "Int64"}))
    first, *others = (make(table, seed=3) for table in tables)
    for other in others:
        assert torch.equal(other.x, first.x)
        assert torch.equal(other.y, first.y)
        assert other.columns == first.columns
        assert other.classes == ("no", "yes")
        assert [a.codes.tolist() for a in other.attributes] == [a.codes.tolist() for a in first.attributes]


def test_inputs_are_scaled_filled_and_coded_by_the_training_rows(columns):
    task = make(columns)
    town = ("town=Bonn", "town=Trier", "town=Ulm")
    assert task.columns == ("income", "income missing", "years", *town, "licence")
    train = task.rows("train").numpy()
    income = pd.Series(columns["income"])
    income = income.fillna(income[train].median()).to_numpy()
    expected = (income - income[train].mean()) / income[train].std()
    np.testing.assert_allclose(task.x[:, 0].numpy(), expected, atol=1e-5)
    assert ((task.x[:, 1] > 0).numpy() == np.isnan(columns["income"])).all()
    assert any("'income' lacks 10 values" in note for note in task.card.notes)
    assert any("constant in the training rows: constant." in note for note in task.card.notes)


def test_protected_attributes_are_inputs_only_when_asked_for(columns):
    assert not [name for name in make(columns).columns if name.startswith(("sex", "age"))]
    asked = make(columns, attributes_in_x=True)
    assert {"sex=f", "sex=m", "age=old", "age=young", "age=missing"} <= set(asked.columns)
    assert asked.attribute("age").codes[0] == -1  # the attribute itself stays unknown
    named = make(columns, features=["years", "sex"])
    assert named.columns == ("years", "sex=f", "sex=m")


def test_features_can_be_named_or_left_out(columns):
    assert make(columns, features=["years", "licence"]).columns == ("years", "licence")
    assert make(columns, without=["income", "town"]).columns == ("years", "licence")


def test_the_drawn_split_keeps_the_shares_of_classes(columns):
    task = make(columns, split=0.3, validation=0.25, seed=1)
    share = (task.y == 1).double().mean()
    for part, rows in task.split.items():
        assert abs(float((task.y[rows] == 1).double().mean() - share)) < 0.02, part
    assert sum(len(rows) for rows in task.split.values()) == N
    assert len(task.rows("test")) == pytest.approx(0.3 * N, abs=1)


def test_the_split_by_a_column_or_by_rows(columns):
    part = ["train", "val", "Test", "train"] * (N // 4)
    by_column = make({**columns, "part": part}, split="part")
    assert by_column.rows("validation").tolist() == list(range(1, N, 4))
    assert by_column.rows("test").tolist() == list(range(2, N, 4))
    assert "part" not in " ".join(by_column.columns)
    mask = np.arange(N) < 150
    by_rows = make(columns, split={"train": mask, "test": list(range(150, N))})
    assert by_rows.rows("train").tolist() == list(range(150))
    assert by_rows.rows("test").tolist() == list(range(150, N))


def test_levels_that_only_the_test_has(columns):
    columns["town"][-1] = "Jena"
    task = make(columns, split={"train": np.arange(150), "test": np.arange(150, N)})
    assert "town=Jena" not in task.columns
    assert any("'town' has 1 levels that no training row has" in note for note in task.card.notes)
    place = [task.columns.index(f"town={name}") for name in ("Bonn", "Trier", "Ulm")]
    zero = task.x[150:, place].min(dim=0).values  # the scaled 0 of each column
    assert torch.equal(task.x[-1, place], zero)


@pytest.mark.parametrize(
    ("values", "positive", "classes"),
    [
        ([True, False], None, ("False", "True")),
        ([1, -1], None, ("-1", "1")),
        ([1.0, 2.0], None, ("1", "2")),
        (["no", "yes"], "no", ("yes", "no")),
        ([0, 1], 0, ("1", "0")),
        (["c", "a", "b"], None, ("a", "b", "c")),
    ],
)
def test_labels_of_any_values(values, positive, classes):
    n = 30
    table = {"x": np.arange(n) % 7, "g": ["a", "b"] * (n // 2), "y": (values * n)[:n]}
    task = Task.from_table(table, "y", "g", positive=positive)
    assert task.classes == classes
    names = [str(int(v)) if isinstance(v, float) else str(v) for v in table["y"]]
    assert [task.classes[code] for code in task.y.tolist()] == names


def test_an_ordered_category_keeps_its_order():
    order = pd.Categorical(["low", "high", "mid"] * 10, categories=["low", "mid", "high"])
    table = pd.DataFrame({"x": range(30), "g": ["a", "b", "b"] * 10, "y": order})
    assert Task.from_table(table, "y", ["g"]).classes == ("low", "mid", "high")


def test_a_feature_that_is_the_label_is_told(columns):
    columns["outcome"] = [{"yes": 1, "no": 0}[value] for value in columns["hired"]]
    with pytest.warns(UserWarning, match="'outcome' tells the label 'hired' exactly"):
        task = make(columns)
    assert any("'outcome' tells the label" in note for note in task.card.notes)


def test_decimal_and_mixed_columns(columns):
    columns["price"] = [decimal.Decimal(row) / 4 for row in range(N)]
    columns["code"] = [row % 3 if row % 2 else "x" for row in range(N)]
    task = make(columns)
    assert "price" in task.columns
    assert {"code=x", "code=0", "code=1", "code=2"} <= set(task.columns)


def test_the_titanic_by_hand_is_like_the_packaged_task():
    table = pd.read_csv(packaged("titanic.csv.gz"))
    task = Task.from_table(
        table,
        "survived",
        ["sex"],
        features=["pclass", "age", "sibsp", "parch", "fare", "embarked"],
        name="mine",
    )
    assert (task.name, len(task), task.attribute("sex").levels) == ("mine", 1309, ("female", "male"))
    assert "age missing" in task.columns


# -- the same encoding for other rows ------------------------------------------------------------------------


def other_kinds(columns) -> dict:
    """The same values in tables of every library, and in other types of columns."""
    frame = pl.DataFrame({**columns, "income": pl.Series(columns["income"]).fill_nan(None)})
    turned = pd.Categorical(columns["town"], categories=["Ulm", "Jena", "Trier", "Bonn"], ordered=True)
    return {
        "dict": columns,
        "lists": {name: list(values) for name, values in columns.items()},
        "none": {**columns, "income": [None if v != v else v for v in columns["income"]]},
        "pandas": pd.DataFrame(columns),
        "nullable": pd.DataFrame(columns).convert_dtypes(),
        "indexed": pd.DataFrame(columns, index=[f"row {N - row}" for row in range(N)]),
        "categories": pd.DataFrame({**columns, "town": turned}),
        "polars": frame,
        "lazy": frame.lazy(),
        "enum": frame.cast({"town": pl.Enum(["Ulm", "Jena", "Trier", "Bonn"]), "years": pl.Float32}),
        "tensors": {
            **columns,
            "years": torch.tensor(columns["years"]),
            "licence": np.array(columns["licence"]),
        },
    }


def test_the_table_itself_is_encoded_to_the_same_bits(columns):
    kinds = other_kinds(columns)
    for learned in ("dict", "pandas", "polars"):
        task = make(kinds[learned], attributes_in_x=True)
        again = TableEncoding.from_dict(json.loads(json.dumps(task.encoding.to_dict())))
        assert again == task.encoding
        assert again.names == task.columns
        for kind, table in kinds.items():
            assert torch.equal(task.encoding.encode(table), task.x), (learned, kind)
            assert torch.equal(again.encode(table), task.x), (learned, kind)


def test_columns_are_found_by_name_and_others_ignored(columns):
    task = make(columns)
    used = ["licence", "town", "years", "income"]
    assert {column.name for column in task.encoding.columns} == set(used)  # what is constant is not needed
    frame = pd.DataFrame(columns)[used]
    assert torch.equal(task.encoding.encode(frame), task.x)
    assert torch.equal(task.encoding.encode(pl.DataFrame(frame).select(sorted(used))), task.x)
    strange = {"remark": "one text for all", "hired": [], "born": [datetime.date(2020, 1, 1)] * N}
    assert torch.equal(task.encoding.encode({**strange, **columns}), task.x)
    twice = pd.concat([frame, frame.assign(note=1)[["note"]], frame.assign(note=2)[["note"]]], axis=1)
    assert torch.equal(task.encoding.encode(twice), task.x)


def test_rows_are_encoded_alone_as_in_company(columns):
    task = make(columns)
    frame = pd.DataFrame(columns)
    for rows in ([3], [17, 3, 3], list(range(0, N, 7))):
        assert torch.equal(task.encoding.encode(frame.iloc[rows]), task.x[rows])
    for empty in (frame[:0], pd.DataFrame(columns=list(columns)), pl.DataFrame(frame)[:0]):
        assert task.encoding.encode(empty).shape == (0, len(task.columns))
    typed = {name: np.array([], dtype="U1") for name in columns}
    for nothing in (typed, {name: [] for name in columns}):
        assert task.encoding.encode(nothing).shape == (0, len(task.columns))


def small(**columns) -> Task:
    """Six training rows and two for test: means, deviations and medians that can be checked by hand."""
    table = {"y": [0, 1, 0, 1, 1, 0, 0, 1], "g": ["a", "b"] * 4, **columns}
    return Task.from_table(table, "y", "g", split={"train": range(6), "test": [6, 7]})


def test_gaps_are_filled_by_what_was_learned():
    table = {"full": [0, 2, 0, 2, 0, 2, 9, 9], "late": [1.0, 3, 1, 3, 1, 3, 3, None]}
    task = small(**table, some=[1.0, None, 3, 5, 5, 1, 1, 1])
    assert task.columns == ("full", "late", "some", "some missing")  # "late missing" is constant in training
    rows = {"full": [None, 4, 1], "late": [None, np.nan, 2], "some": [np.nan, 3, None]}
    x = task.encoding.encode(rows)
    assert x[:, 0].tolist() == [0, 3, 0]  # the median 1 is the mean, the deviation 1
    assert x[:, 1].tolist() == [0, 0, 0]
    assert torch.equal(x[:, 2], x[1, 2].expand(3))  # the median of 1, 3, 5, 5, 1
    assert ((x[:, 3] > 0) == torch.tensor([True, False, True])).all()
    mixed = pd.DataFrame({"full": pd.array([None, 4, 1], "Int64"), "late": [pd.NA, float("nan"), 2]})
    mixed["some"] = pd.Series([None, decimal.Decimal(3), np.nan], dtype=object)
    assert torch.equal(task.encoding.encode(mixed), x)


def test_texts_that_were_not_learned_are_zeros():
    values = ["b", "a", None, "b", "2", "a", "c", "c"]
    task = small(code=values, plain=["u", "v", "u", "v", "u", "v", "u", None])
    assert task.columns == ("code=2", "code=a", "code=b", "code=missing", "plain=u", "plain=v")
    zero = task.encoding.encode({"code": ["c"], "plain": ["w"]})
    levels = {
        "code": [2, 2.0, "2", float("nan"), None, "Z"],
        "plain": [None, pd.NA, float("nan"), 1, True, "u"],
    }
    x = task.encoding.encode(levels)
    told = (x != zero).tolist()
    assert [row[:4] for row in told] == [[True] + [False] * 3] * 3 + [[False] * 3 + [True]] * 2 + [
        [False] * 4
    ]
    assert [row[4:] for row in told] == [[False, False]] * 5 + [[True, False]]  # "missing" was no level here
    gone = task.encoding.encode({"code": [np.nan], "plain": np.array([np.nan])})  # a column without any value
    assert torch.equal(gone, x[3:4])


def test_numbers_of_other_types_are_numbers():
    task = small(a=[0.5, 1, 2, 3, 4, 5, 6, 7], b=[True, False] * 4)
    expected = task.encoding.encode({"a": [2.0, 3.0], "b": [True, False]})
    for a, b in [([2, 3], [1, 0]), (np.array([2, 3], np.int8), [1.0, 0.0])]:
        assert torch.equal(task.encoding.encode({"a": a, "b": b}), expected)
    whole = pd.DataFrame({"a": pd.Categorical([2, 3], categories=[3, 2]), "b": pd.array([1, 0], "boolean")})
    assert torch.equal(task.encoding.encode(whole), expected)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"years": None}, r"no column 'years' for the inputs; did you mean 'Years'\? The table has: Years, "),
        ({"years": ["4", 5, 6]}, "'years' holds the text '4' in row 0; it was learned as numbers"),
        ({"income": [None, 4.5, "n/a"]}, "'income' holds the text 'n/a' in row 2"),
        ({"income": pl.Series(["1", "2", "x"])}, "'income' holds the text '1' in row 0"),
        ({"licence": ["True", "False", "True"]}, "'licence' holds the text 'True' in row 0"),
        ({"income": [1, 2, np.inf]}, "'income' is infinite in row 2"),
        ({"income": [1, 1e60, 2]}, "the input 'income' is 1e\\+60 in row 1: too far from the training rows"),
        ({"town": [datetime.date(2020, 1, 1)] * 3}, "'town' holds dates or times"),
        ({"income": pd.date_range("2020-01-01", periods=3)}, "'income' holds dates or times"),
        ({"town": [["Ulm"], ["Bonn"], []]}, "'town' must have one value a row, not a list"),
        ({"income": 4.0}, "'income' must have one value a row, not only 4.0"),
        ({"income": [1.0]}, "'income' has 1 rows and 'years' has 3"),
        ({"income": [[1.0], [2.0], [3.0]]}, r"one value a row, not the shape \(3, 1\)"),
    ],
)
def test_rows_that_cannot_be_encoded_are_told(columns, change, words):
    encoding = make(columns).encoding
    table = {"Years": [1, 2, 3], **{name: list(values[:3]) for name, values in columns.items()}, **change}
    with pytest.raises(InputError, match=words):
        encoding.encode({name: values for name, values in table.items() if values is not None})
    with pytest.raises(InputError, match=r"a table is a data frame .* not a list"):
        encoding.encode([1, 2, 3])


REFUSED = [
    ({"label": "hierd"}, r"no column 'hierd' for the label; did you mean 'hired'\? The table has: income, "),
    ({"attributes": ["gender"]}, r"no column 'gender' for the attributes"),
    ({"attributes": ["income"]}, "the attribute 'income' has .* different numbers; cut it into ranges"),
    ({"label": "income"}, r"the label 'income' is missing in 10 rows, the first of them row 3"),
    ({"label": "constant"}, "only the class '7'"),
    ({"features": ["yeers"]}, r"'yeers' for the features; did you mean 'years'\?"),
    ({"features": ["hired", "years"]}, "the label 'hired' is among the features"),
    ({"features": ["constant"]}, "every input is constant"),
    ({"features": []}, "no column is left to learn from"),
    ({"without": ["towns"]}, r"did you mean 'town'\?"),
    ({"split": "town"}, "'Bonn'|'Trier'|'Ulm'.*is no part of a split; the parts are train, validation, test"),
    ({"split": "parts"}, "no column 'parts' for the split"),
    ({"split": 1.5}, "split=1.5 must be a share"),
    ({"split": {"training": [0]}}, "'training' is no part of a split"),
    ({"split": {"train": [True, False]}}, "a mask of the split has 2 values for 200 rows"),
    ({"split": {"train": [0, 1, 2], "test": [2]}}, "row 2 in the part 'test' and in another"),
    ({"split": {"test": [0]}}, "no rows for training"),
    ({"positive": "maybe"}, "positive='maybe' must be one of two classes; 'hired' has: no, yes"),
]


@pytest.mark.parametrize(("options", "words"), REFUSED)
def test_wrong_options_are_told_in_one_sentence(columns, options, words):
    given = {"label": "hired", "attributes": ["sex"], **options}
    with pytest.raises(InputError, match=words):
        Task.from_table(columns, **given)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.date_range("2020-01-01", periods=N), "holds dates or times"),
        ([datetime.date(2020, 1, 1)] * N, "holds dates or times"),
        (pd.date_range("2020-01-01", periods=N, tz="UTC"), "holds dates or times"),
        (pl.Series([datetime.timedelta(1)] * N), "holds dates or times"),
        ([[1, 2]] * N, "must have one value a row|list values"),
        (pl.Series([[1], [2, 3]] * (N // 2)), "holds ndarray values"),
        ([1 + 1j] * N, "holds complex128 values"),
        ([1.0] * (N - 1) + [np.inf], "is infinite in row 199"),
        ([None] * N, "is missing in every training row"),
    ],
    ids=["dates", "date objects", "zoned", "spans", "pairs", "lists", "complex", "infinite", "empty"],
)
def test_columns_that_are_no_inputs_are_refused(columns, column, words):
    with pytest.raises(InputError, match=words):
        make({**columns, "extra": column})


def test_names_of_single_rows_are_refused():
    n = 400
    table = {"who": [f"person {row}" for row in range(n)], "g": ["a", "b"] * 200, "y": [0, 1, 1, 0] * 100}
    with pytest.raises(InputError, match=r"'who' has 320 different texts.*without=\['who'\]"):
        Task.from_table(table, "y", ["g"])


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ([1, 2, 3], "data frame .* not a list"),
        ({}, "no rows"),
        ({"y": [], "g": []}, "no rows"),
        ({"y": [0, 1], "g": ["a"]}, "'g' has 1 rows and 'y' has 2"),
        (pd.DataFrame([[0, 1, 2]], columns=["y", "g", "g"]), "two columns called 'g'"),
    ],
)
def test_what_is_no_table_is_refused(table, words):
    with pytest.raises(InputError, match=words):
        Task.from_table(table, "y", ["g"])
