"""Several models' files: by key, row by row, and what is said when they do not fit."""

import gzip

import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.tables import Columns, Unmatched, read_joined

ROWS = Columns("y", "p", ("sex",))
KEYED = Columns("y", "p", ("sex",), key="id")
BIG = "id,y,p,sex,w\n1,no,no,f,1\n2,yes,no,m,2\n3,yes,yes,,3\n"


@pytest.fixture
def files(tmp_path):
    def write(**texts):
        for name, text in texts.items():
            (tmp_path / f"{name}.csv").write_text(text)
        return [tmp_path / f"{name}.csv" for name in texts]

    return write


def test_row_by_row(files):
    base, small, tiny = files(
        big=BIG, small="y,p\nno,yes\nyes,yes\nyes,yes\n", tiny="p,y\nno,no\n,yes\nno,yes\n\n"
    )
    joined = read_joined(base, [small, tiny], Columns("y", "p", ("sex",), weight="w"))
    assert joined.classes == ("no", "yes")
    assert joined.positive == "yes"
    assert joined.y.tolist() == [0, 1]
    assert {name: codes.tolist() for name, codes in joined.predictions.items()} == {
        "big": [0, 1], "small": [1, 1], "tiny": [0, 0],
    }  # fmt: skip
    assert joined.attributes[0].codes.tolist() == [0, -1]
    assert joined.weight.tolist() == [1, 3]
    assert (joined.missing, joined.unmatched["tiny"]) == (1, Unmatched(0, 0))
    assert joined.y.dtype == joined.predictions["tiny"].dtype == "int16"


def test_by_key(files):
    base, small = files(big=BIG, small="id,y,p\n3,yes,no\n9,no,no\n8,no,no\n1,no,yes\n")
    joined = read_joined(base, [small], KEYED, ["a", "b"])
    assert joined.names == ("a", "b")
    assert joined.y.tolist() == [0, 1]
    assert joined.predictions["a"].tolist() == [0, 1]
    assert joined.predictions["b"].tolist() == [1, 0]
    assert joined.unmatched == {"b": Unmatched(base=1, alternative=2)}


def test_a_csv_and_a_parquet_file(files, tmp_path):
    (base,) = files(big="id,y,p,sex\n1,0,0,f\n2,1,1,m\n")
    pl.DataFrame({"id": [2, 1], "y": [True, False], "p": [0.0, 1.0]}).write_parquet(
        tmp_path / "small.parquet"
    )
    joined = read_joined(base, [tmp_path / "small.parquet"], KEYED)
    assert joined.predictions["small"].tolist() == [1, 0]
    assert joined.classes == ("0", "1")


def test_runs(files):
    runs = Columns("y", "p", ("sex",), key="id", run="seed")
    base, small = files(
        big="id,seed,y,p,sex\n1,0,0,0,f\n2,0,1,1,m\n1,1,0,1,f\n2,1,1,1,m\n",
        small="id,seed,y,p\n2,1,1,0\n1,0,0,0\n1,1,0,0\n2,0,1,1\n",
    )
    joined = read_joined(base, [small], runs)
    assert (joined.runs, joined.run.tolist()) == (("0", "1"), [0, 0, 1, 1])
    assert joined.predictions["small"].tolist() == [0, 1, 0, 0]
    with pytest.raises(InputError, match=r"the run of row 1 is '1' in small\.csv but '0' in big\.csv"):
        read_joined(base, [small], Columns("y", "p", ("sex",), run="seed"))


def test_scores_with_a_threshold(files):
    base, small = files(
        big="y,s,sex\n0,0.2,f\n1,0.7,m\n", small="y,s\n0,0.6,\n1,0.4\n".replace("0.6,", "0.6")
    )
    joined = read_joined(base, [small], Columns("y", None, ("sex",), score=("s",)))
    assert [codes.tolist() for codes in joined.predictions.values()] == [[0, 1], [1, 0]]


ERRORS = {
    "rows": ("y,p\n1,1\n", ROWS, "small.csv has 1 rows but big.csv has 3; name a key column"),
    "labels": (
        "y,p\nno,no\nyes,no\nno,no\n", ROWS,
        "label column 'y' of small.csv differs from big.csv at row 3 ('no', not 'yes')",
    ),
    "keyed labels": ("id,y,p\n2,no,no\n", KEYED, "differs from big.csv at key '2' ('no', not 'yes')"),
    "key twice": ("id,y,p\n2,yes,no\n1,no,no\n2,yes,no\n", KEYED, "own, or with several runs in a file the"),
    "no key": ("id,y,p\n2,yes,no\n,no,no\n", KEYED, "key column 'id' of small.csv is empty in row 2"),
    "nothing shared": (
        "id,y,p\nx,yes,no\n",
        KEYED,
        "no value of the key column 'id' of small.csv (like 'x') is in the files before it (like '1')",
    ),
    "no column": ("id,y,q\nx,yes,no\n", KEYED, "there is no column 'p' in small.csv"),
    "two kinds": ("y,p\nno,0\nyes,1\nyes,1\n", ROWS, "column 'p' holds numbers (0, 1), in small.csv"),
    "nothing left": ("y,p\nno,no\nyes,\nyes,\n", Columns("y", "p", (), run="id"), "there is no column 'id'"),
    "short": ("y,p\nno,no\nyes\nyes,no\n", ROWS, "row 2 of small.csv has 1 fields"),
}  # fmt: skip


@pytest.mark.parametrize(("small", "columns", "sentence"), ERRORS.values(), ids=ERRORS)
def test_files_that_do_not_fit(files, small, columns, sentence):
    base, other = files(big=BIG, small=small)
    with pytest.raises(InputError) as caught:
        read_joined(base, [other], columns)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_names_of_models(files):
    base, small = files(big=BIG, small=BIG)
    with pytest.raises(
        InputError, match=r"two models are called 'm'; .* of its own \(--name, the base first"
    ):
        read_joined(base, [small], ROWS, ["m", "m"])
    with pytest.raises(InputError, match="1 names were given for 2 files"):
        read_joined(base, [small], ROWS, ["m"])


def test_only_the_ending_of_a_files_name_is_cut(tmp_path):
    names = ("pruned-0.45.csv", "pruned-0.7.csv", "resnet50.a1_in1k.TSV", "resnet50.tv_in1k.csv")
    for name in names:
        (tmp_path / name).write_text("y,p\n0,0\n1,1\n")
    (tmp_path / "v1.0.csv.gz").write_bytes(gzip.compress(b"y,p\n0,0\n1,1\n"))
    pl.DataFrame({"y": [0, 1], "p": [0, 1]}).write_parquet(tmp_path / "v1.1.pq")
    files = [tmp_path / name for name in (*names, "v1.0.csv.gz", "v1.1.pq")]
    joined = read_joined(files[0], files[1:], Columns("y", "p", ()))
    assert joined.names == (
        "pruned-0.45", "pruned-0.7", "resnet50.a1_in1k", "resnet50.tv_in1k", "v1.0", "v1.1"
    )  # fmt: skip


def test_no_row_is_complete(files):
    base, small = files(big="y,p,sex\n1,1,f\n0,,m\n", small="y,p\n1,\n0,1\n")
    with pytest.raises(InputError, match=r"no row of big\.csv has a label and a prediction of every model"):
        read_joined(base, [small], ROWS)


def test_a_faulty_weight_of_the_base(files):
    base, small = files(big=BIG.replace(",2\n", ",-2\n"), small=BIG)
    with pytest.raises(InputError, match=r"weight column 'w' of big\.csv holds -2\.0 in row 2"):
        read_joined(base, [small], Columns("y", "p", ("sex",), weight="w"))
