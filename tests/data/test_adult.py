"""Adult against the numbers of the published files and of the spec (1.2 for S3, 1.4 for S4)."""

import csv
import gzip
import hashlib

import numpy as np
import pytest
import torch

from evenhand.data import adult_raw, adult_s3, load, packaged
from evenhand.errors import InputError

# name, P(unprivileged | y=1), P(unprivileged | y=0) among the training rows, rows of the balanced test
AGE_RATIOS = [
    ("(.5,.5)", 0.497, 0.504, 7336),
    ("(.66,.33)", 0.635, 0.347, 5480),
    ("(.33,.33)", 0.331, 0.325, 4980),
    ("(.1,.1)", 0.105, 0.111, 1708),
    ("(.06,.36)", 0.069, 0.365, 908),
    ("(.01,.01)", 0.010, 0.013, 208),
]


@pytest.fixture(scope="module")
def s4():
    return load("adult")


@pytest.fixture(scope="module")
def columns():
    return adult_raw.read()


@pytest.fixture(scope="module")
def s3():
    return load("adult", preparation="s3")


def test_the_packaged_table_holds_the_published_files_to_the_byte():
    with gzip.open(packaged("adult.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    data = "".join(", ".join(row[:-1]) + "\n" for row in rows if row[-1] == "train") + "\n"
    test = "".join(", ".join(row[:-1]) + ".\n" for row in rows if row[-1] == "test") + "\n"
    # the checksums of adult.data and adult.test as the repository publishes them
    assert hashlib.md5(data.encode()).hexdigest() == "5d7c39d7b8804f071cdd1f2a7c460872"
    assert (
        hashlib.md5(f"|1x3 Cross validator\n{test}".encode()).hexdigest()
        == "35238206dfdf7f1fe215bbb874adecdc"
    )


def test_s4_has_all_rows_and_108_inputs(s4):
    assert s4.x.shape == (48842, 108)
    assert {part: len(rows) for part, rows in s4.split.items()} == {"train": 30000, "test": 18842}
    assert float(s4.y.double().mean()) == pytest.approx(0.2393, abs=5e-5)
    starts = [name.split("=")[0] for name in s4.columns]
    expected = {"workclass": 9, "education": 16, "marital-status": 7, "occupation": 15, "relationship": 6}
    expected |= {"race": 5, "sex": 2, "native-country": 42}
    assert {name: starts.count(name) for name in expected} == expected
    assert sum("=" not in name for name in s4.columns) == 6
    assert "workclass=?" in s4.columns


def test_s4_attributes_are_those_of_the_data(s4):
    y = s4.y.numpy()
    sex, race = s4.attribute("sex"), s4.attribute("race")
    assert sex.levels == ("Female", "Male")  # S4: a=0 female, 1 male
    assert np.bincount(sex.codes).tolist() == [16192, 32650]
    assert [round(float(y[sex.codes == level].mean()), 4) for level in (0, 1)] == [0.1093, 0.3038]
    counts = dict(zip(race.levels, np.bincount(race.codes).tolist(), strict=True))
    assert counts == {
        "Amer-Indian-Eskimo": 470,
        "Asian-Pac-Islander": 1519,
        "Black": 4685,
        "Other": 406,
        "White": 41762,
    }
    assert round(float(y[race.codes == race.levels.index("Black")].mean()), 4) == 0.1208
    assert np.bincount(s4.attribute("race_binary").codes).tolist() == [48842 - 41762, 41762]
    assert (s4.attribute("native_country").codes == -1).sum() == 857  # "?" is unknown, not a country
    assert [attribute.name for attribute in s4.attributes] == [
        *("sex", "race", "race_binary", "age", "marital", "native_country")
    ]


def test_s4_is_scaled_by_its_training_rows(s4):
    train = s4.x[s4.rows("train")].double()
    constant = train.std(dim=0) == 0
    assert train.mean(dim=0).abs().max() < 1e-4
    assert (train.std(dim=0, correction=0)[~constant] - 1).abs().max() < 1e-4
    assert s4.x[s4.rows("test")].double().mean(dim=0).abs().max() > 1e-3
    assert s4.x.abs().max() < 300  # a level that only test rows have does not become a huge number


def test_the_seed_draws_the_split_and_nothing_else(s4):
    other = load("adult", seed=1)
    assert torch.equal(other.y, s4.y)
    assert not torch.equal(other.rows("train"), s4.rows("train"))
    # the order of rows stays: numbers of a column are another scaling of the same values
    assert np.corrcoef(other.x[:, 0], s4.x[:, 0])[0, 1] == pytest.approx(1.0, abs=1e-6)


def test_validation_is_cut_out_of_the_training_rows_when_asked_for(s4):
    task = load("adult", validation=0.1)
    assert {part: len(rows) for part, rows in task.split.items()} == {
        "train": 27000,
        "validation": 3000,
        "test": 18842,
    }
    assert torch.equal(torch.cat([task.rows("train"), task.rows("validation")]), s4.rows("train"))
    assert torch.equal(task.rows("test"), s4.rows("test"))


def test_columns_can_be_left_out_and_protected_all_the_same():
    task = load("adult", without="sex, relationship")
    assert task.x.shape[1] == 108 - 2 - 6
    assert not [name for name in task.columns if name.startswith(("sex", "relationship"))]
    assert task.attribute("sex").levels == ("Female", "Male")


def test_s3_has_112_inputs_and_the_split_of_the_files(s3):
    assert s3.x.shape == (45222, 112)
    assert len(s3.rows("validation")) == 6032
    assert len(s3.rows("train")) == 24130
    assert s3.rows("validation").tolist() == list(range(6032))
    assert s3.rows("train").tolist() == list(range(6032, 30162))
    starts = [name.split("=")[0] for name in s3.columns]
    expected = {"age": 11, "workclass": 8, "education": 16, "marital-status": 7, "occupation": 14}
    expected |= {"relationship": 6, "race": 5, "native-country": 41, "sex": 0, "fnlwgt": 0}
    assert {name: starts.count(name) for name in expected} == expected
    assert s3.columns[-4:] == ("education-num", "capital-gain", "capital-loss", "hours-per-week")


def test_s3_is_scaled_by_the_whole_training_file(s3):
    fitted = s3.x[:30162].double()
    assert fitted.mean(dim=0).abs().max() < 1e-4
    assert (fitted.std(dim=0, correction=0)[-4:] - 1).abs().max() < 1e-4
    assert (s3.x[:, s3.columns.index("workclass=Never-worked")] == 0).all()  # no complete row has it


def test_s3_buckets_of_age_are_closed_on_the_right(s3):
    with gzip.open(packaged("adult.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        ages = [int(row["age"]) for row in csv.DictReader(file) if "?" not in row.values()]
    bucket = s3.x[:, :11].argmax(dim=1).numpy()  # the 1 of a one-hot row is its highest z-score
    edges = [18, 25, 30, 35, 40, 45, 50, 55, 60, 65]
    assert [sum(age > edge for edge in edges) for age in ages] == bucket.tolist()


@pytest.mark.parametrize(("ratio", "of_positive", "of_negative", "n_test"), AGE_RATIOS)
def test_s3_settings_have_the_shares_and_the_test_of_the_spec(
    columns, ratio, of_positive, of_negative, n_test
):
    task = adult_s3.prepare(columns, None, "", ratio, balanced_test=True)
    train, test = task.rows("train").numpy(), task.rows("test").numpy()
    unprivileged, y = task.attributes[0].codes == 0, task.y.numpy()
    assert unprivileged[train][y[train] == 1].mean() == pytest.approx(of_positive, abs=6e-4)
    assert unprivileged[train][y[train] == 0].mean() == pytest.approx(of_negative, abs=6e-4)
    assert len(test) == n_test
    assert np.bincount(unprivileged[test] * 2 + y[test]).tolist() == [n_test // 4] * 4
    assert task.attributes[0].name == "age"


def test_s3_test_takes_the_first_rows_of_each_cell(columns, s3):
    everything = adult_s3.prepare(columns, None, "", "0.5,0.5", balanced_test=False)
    assert len(everything.rows("test")) == 15060
    cell = everything.attributes[0].codes * 2 + everything.y.numpy()
    rows, chosen = everything.rows("test").numpy(), set(s3.rows("test").tolist())
    for value in range(4):
        members = rows[cell[rows] == value].tolist()
        assert [row in chosen for row in members] == [place < 1834 for place in range(len(members))]


@pytest.mark.parametrize(("ratio", "least"), [("0.5,0.5", 754), ("0.06,0.36", 79), ("0.01,0.01", 13)])
def test_s3_can_have_a_balanced_copy_of_validation_rows(columns, s3, ratio, least):
    task = adult_s3.prepare(columns, None, "", ratio, balanced_test=True, balanced_validation=True).check()
    copies = task.rows("validation_balanced")
    cells = task.attributes[0].codes * 2 + task.y.numpy()
    counts = np.bincount(cells[copies.numpy()]).tolist()
    held = np.bincount(cells[task.rows("validation").numpy()])
    assert counts == [held.min()] * 4
    assert counts == [least] * 4
    # inputs and all other parts are as they are without it
    assert torch.equal(task.x[: len(s3.x)], s3.x)
    assert all(len(task.rows(part)) == len(s3.rows(part)) for part in ("train", "validation"))
    known = {tuple(row) for row in task.x[task.rows("validation")].tolist()}
    assert all(tuple(row) in known for row in task.x[copies].tolist())


def test_s3_groups_can_stand_the_other_way_round(columns, s3):
    """acc_p is of level 0: S3's figures have the privileged ages there, its code has them as level 1."""
    turned = adult_s3.prepare(columns, None, "", "0.5,0.5", balanced_test=True, privileged_first=True)
    assert s3.attributes[0].levels == ("25 to 43", "other")
    assert turned.attributes[0].levels == ("other", "25 to 43")
    assert np.array_equal(turned.attributes[0].codes, 1 - s3.attributes[0].codes)
    assert torch.equal(turned.rows("test"), s3.rows("test"))
    assert torch.equal(turned.x, s3.x)


def test_s3_parts_can_only_be_balanced_by_s3():
    with pytest.raises(InputError, match="balanced_validation and privileged_first are of preparation='s3'"):
        load("adult", balanced_validation=True)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"preparation": "s5"}, "s4 or s3"),
        ({"preparation": "s3", "age_ratio": ".2,.2"}, "age_ratio='0.2,0.2' must be 0.5,0.5 or"),
        ({"preparation": "s3", "age_ratio": "young"}, "age_ratio='young'"),
        ({"without": "gender"}, "'gender', which is no column of Adult: age, "),
        ({"validation": 1.0}, "validation=1.0 must be a share"),
    ],
)
def test_wrong_knobs_are_refused(knobs, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        load("adult", **knobs)
