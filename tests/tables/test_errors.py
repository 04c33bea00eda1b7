"""Every complaint about a file is one InputError that names the file, the column or row, and what to do."""

import gzip

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.tables import Columns, file_facts, read_cells

BASIC = Columns("y", "p", ("sex",))
SCORED = Columns("y", None, ("sex",), score=("s",))
WEIGHED = Columns("y", "p", ("sex",), weight="w")
IDS = "\n".join(f"{k % 2},{k % 2},id{k}" for k in range(2000))
MANY = "\n".join(f"{k},{k},f" for k in range(1500))

CSV = {
    "wrong column": (
        "y,p,sex\n1,1,f\n",
        Columns("y", "p", ("sexx",)),
        "there is no column 'sexx' in preds.csv; did you mean 'sex'? The file has: y, p, sex",
    ),
    "far column": (
        "y,p,sex\n1,1,f\n",
        Columns("target", "p", ("sex",)),
        "no column 'target' in preds.csv. The",
    ),
    "named twice": ("y,y,p,sex\n1,1,1,f\n", BASIC, "names the column 'y' twice"),
    "empty": ("", BASIC, "preds.csv is empty"),
    "blank": ("\n\n", BASIC, "preds.csv is empty"),
    "header only": ("y,p,sex\n", BASIC, "preds.csv has a header but no rows"),
    "header and blank": ("y,p,sex\n\n", BASIC, "preds.csv has a header but no rows"),
    "short row": ("y,p,sex\n1,1,f\n0,0\n", BASIC, "row 2 of preds.csv has 2 fields, but the header has 3"),
    "long row": ("y,p,sex\n1,1,f\n1,1,f\n0,0,m,f\n", BASIC, "row 3 of preds.csv has 4 fields"),
    "longer first row": ("y,p,sex\n1,1,f,m,m\n0,0,m\n", BASIC, "row 1 of preds.csv has 5 fields"),
    "long row after quotes": ('y,p,sex\n1,1,"f\nx"\n0,0,m,f\n', BASIC, "row 2 of preds.csv has 4 fields"),
    "long row, few columns read": (
        "y,p,sex,a,b\n1,1,f,2,3\n0,0,m,2,3,4\n",
        BASIC,
        "row 2 of preds.csv has 6 fields, but the header has 5",
    ),
    "open quote": ('y,p,sex\n1,1,f\n1,0,"m\n', BASIC, "row 2"),
    "stray quote": ('y,p,sex\n1,1,f\n1,0,m"m\n1,1,f\n', BASIC, "stray quotation mark, look near row 2"),
    "two kinds": (
        "y,p,sex\nno,0,f\nyes,1,m\n",
        BASIC,
        "label column 'y' holds text ('no', 'yes') but prediction column 'p' holds numbers (0, 1)",
    ),
    "two kinds, the other way": (
        "y,p,sex\n0,no,f\n1,yes,m\n",
        BASIC,
        "prediction column 'p' holds text ('no'",
    ),
    "scores as predictions": (
        "y,p,sex\n0,0.25,f\n1,0.75,m\n",
        BASIC,
        "prediction column 'p' of preds.csv looks like scores (0.25, 0.75), not classes; use --score p with",
    ),
    "fractional labels": (
        "y,p,sex\n0.5,0,f\n1,1,m\n",
        BASIC,
        "label column 'y' of preds.csv holds numbers that",
    ),
    "no group": ("y,p,sex\n0,0,\n1,1,\n", BASIC, "group column 'sex' of preds.csv is empty in every row"),
    "only -1": ("y,p,sex\n0,0,-1\n1,1,-1\n", BASIC, "group column 'sex' of preds.csv is empty in every row"),
    "no label": ("y,p,sex\n,0,f\n,1,m\n", BASIC, "label column 'y' of preds.csv is empty in every row"),
    "no text label": (
        "y,p,sex\n,no,f\n,yes,m\n",
        BASIC,
        "label column 'y' of preds.csv is empty in every row",
    ),
    "no prediction": ("y,p,sex\n0,,f\n1,,m\n", BASIC, "prediction column 'p' of preds.csv is empty in every"),
    "never both": ("y,p,sex\n0,,f\n,1,m\n", BASIC, "no row of preds.csv has both a label and a prediction"),
    "score above 1": (
        "y,s,sex\n0,0.5,f\n1,1.5,m\n",
        SCORED,
        "score column 's' of preds.csv holds 1.5 in row 2; scores are",
    ),
    "score below 0": ("y,s,sex\n0,-0.25,f\n1,0.5,m\n", SCORED, "holds -0.25 in row 1"),
    "score NaN": ("y,s,sex\n0,0.5,f\n1,NaN,m\n", SCORED, "holds nan in row 2"),
    "score text": (
        "y,s,sex\n0,0.5,f\n1,high,m\n",
        SCORED,
        "score column 's' of preds.csv is not numeric: row 2 holds 'high'",
    ),
    "one class, one score": ("y,s,sex\nno,0.5,f\n", SCORED, "one score column needs two classes"),
    "three classes, one score": (
        "y,s,sex\n0,0.5,f\n1,0,f\n2,0,f\n",
        SCORED,
        "'y' of preds.csv has 3 (0, 1, 2)",
    ),
    "three classes, two scores": (
        "y,a,b,sex\n0,0.5,0,f\n1,0,0,f\n2,0,0,f\n",
        Columns("y", None, ("sex",), score=("a", "b")),
        "2 score columns were given for 3 classes (0, 1, 2)",
    ),
    "negative weight": (
        "y,p,sex,w\n0,0,f,1\n1,1,m,-2\n",
        WEIGHED,
        "weight column 'w' of preds.csv holds -2.0 in row 2; weights",
    ),
    "NaN weight": ("y,p,sex,w\n0,0,f,nan\n1,1,m,2\n", WEIGHED, "holds nan in row 1"),
    "infinite weight": ("y,p,sex,w\n0,0,f,1\n1,1,m,inf\n", WEIGHED, "holds inf in row 2"),
    "no weight": ("y,p,w,sex\n0,0,1,f\n1,1,,m\n", WEIGHED, "holds no value in row 2"),
    "weight text": (
        "y,p,sex,w\n0,0,f,1\n1,1,m,NA\n",
        WEIGHED,
        "weight column 'w' of preds.csv is not numeric",
    ),
    "ids as groups": (
        f"y,p,sex\n{IDS}\n",
        BASIC,
        "group column 'sex' of preds.csv has 2000 different values",
    ),
    "ids as classes": (f"y,p,sex\n{MANY}\n", BASIC, "it looks like an id or a score"),
    "run missing": (
        "y,p,sex,r\n0,0,f,1\n1,1,m,\n",
        Columns("y", "p", ("sex",), run="r"),
        "run column 'r' of preds.csv is empty",
    ),
    "no run": (
        "y,p,r,sex\n0,0,,f\n",
        Columns("y", "p", ("sex",), run="r"),
        "is empty in every row; each row needs",
    ),
}


@pytest.mark.parametrize(("text", "columns", "sentence"), CSV.values(), ids=CSV)
@pytest.mark.parametrize("packed", [False, True], ids=["csv", "gz"])
def test_a_csv_is_refused_with_one_sentence(tmp_path, text, columns, sentence, packed):
    file = tmp_path / ("preds.csv.gz" if packed else "preds.csv")
    file.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(InputError) as caught:
        read_cells([file], columns)
    said = str(caught.value)
    assert sentence.replace("preds.csv", file.name) in said
    assert "\n" not in said
    assert file.name in said or "column" in said


def test_latin_1_is_refused_by_row(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_bytes("y,p,sex\n1,1,f\n1,1,ü\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"row 2 of preds\.csv is not UTF-8"):
        read_cells([file], BASIC)
    file.write_bytes("y,p,geschlecht männlich\n1,1,f\n".encode("latin-1"))
    with pytest.raises(InputError, match=r"the header of preds\.csv is not UTF-8"):
        read_cells([file], BASIC)
    file.write_bytes("y,p,sex\n1,1,f\n".encode("utf-16"))
    with pytest.raises(InputError, match=r"the header of preds\.csv is not UTF-8"):
        read_cells([file], BASIC)


def test_a_cut_off_gzip_file(tmp_path):
    file = tmp_path / "preds.csv.gz"
    lines = "".join(f"1,{k % 2},{hash((k, k)) % 97}\n" for k in range(100_000))
    file.write_bytes(gzip.compress(("y,p,sex\n" + lines).encode())[:-2000])
    with pytest.raises(InputError, match=r"preds\.csv\.gz cannot be read"):
        read_cells([file], BASIC)


def test_not_a_readable_file(tmp_path):
    with pytest.raises(InputError, match=r"there is no file .*absent\.csv"):
        read_cells([tmp_path / "absent.csv"], BASIC)
    with pytest.raises(InputError, match="is a folder; name the files in it"):
        read_cells([tmp_path], BASIC)
    (tmp_path / "preds.xlsx").write_bytes(b"PK")
    with pytest.raises(InputError, match=r"preds\.xlsx is not of a kind that can be read; these are: \.csv"):
        read_cells([tmp_path / "preds.xlsx"], BASIC)
    with pytest.raises(InputError, match="no file was given"):
        read_cells([], BASIC)
    with pytest.raises(InputError, match="cannot be read"):
        file_facts(tmp_path / "absent.csv")


def parquet(folder, name="preds.parquet", **columns):
    file = folder / name
    pl.DataFrame(columns).write_parquet(file)
    return file


PARQUET = {
    "two kinds": (
        {"y": ["no", "yes"], "p": [0, 1], "sex": ["f", "m"]},
        BASIC,
        "label column 'y' holds text ('no', 'yes') but prediction column 'p' holds numbers (0, 1)",
    ),
    "text that is not all whole": (
        {"y": ["0", "x"], "p": [0, 1], "sex": ["f", "m"]},
        BASIC,
        "'y' holds text",
    ),
    "scores": ({"y": [0, 1], "p": [0.25, 0.5], "sex": ["f", "m"]}, BASIC, "looks like scores (0.25, 0.5)"),
    "many scores": (
        {"y": [0] * 2000, "p": np.linspace(0, 1, 2000), "sex": ["f"] * 2000},
        BASIC,
        "looks like scores (0.0005",
    ),
    "bands": (
        {"y": [0] * 2000, "p": [0] * 2000, "sex": np.linspace(0, 1, 2000)},
        BASIC,
        "sort it into bands first",
    ),
    "text scores": (
        {"y": [0, 1], "s": ["a", "b"], "sex": ["f", "m"]},
        SCORED,
        "the score column 's' of preds.parquet is not numeric: it holds text",
    ),
    "truth as scores": (
        {"y": [0, 1], "s": [True, False], "sex": ["f", "m"]},
        SCORED,
        "it holds true and false",
    ),
    "lists": (
        {"y": [[0], [1]], "p": [0, 1], "sex": ["f", "m"]},
        BASIC,
        "column 'y' of preds.parquet holds List",
    ),
    "NaN score": ({"y": [0, 1], "s": [0.5, np.nan], "sex": ["f", "m"]}, SCORED, "holds nan in row 2"),
    "int scores": ({"y": [0, 1], "s": [0, 100], "sex": ["f", "m"]}, SCORED, "holds 100 in row 2"),
    "no label": (
        {"y": [None, None], "p": [0, 1], "sex": ["f", "m"]},
        BASIC,
        "'y' of preds.parquet is empty in",
    ),
    "NaN label": (
        {"y": [np.nan] * 2, "p": [0, 1], "sex": ["f", "m"]},
        BASIC,
        "'y' of preds.parquet is empty in",
    ),
    "no rows": ({"y": [], "p": [], "sex": []}, BASIC, "preds.parquet has a header but no rows"),
    "int weight": ({"y": [0], "p": [0], "sex": ["f"], "w": [-1]}, WEIGHED, "holds -1 in row 1"),
}


@pytest.mark.parametrize(("data", "columns", "sentence"), PARQUET.values(), ids=PARQUET)
def test_a_parquet_file_is_refused_with_one_sentence(tmp_path, data, columns, sentence):
    with pytest.raises(InputError) as caught:
        read_cells([parquet(tmp_path, **data)], columns)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("keep", [4, 100, -10])
def test_a_damaged_parquet_file(tmp_path, keep):
    file = parquet(tmp_path, y=list(range(9)) * 99, p=list(range(9)) * 99, sex=["f"] * 891)
    file.write_bytes(file.read_bytes()[:keep])
    with pytest.raises(InputError, match=r"preds\.parquet is not a Parquet file, or it is cut off"):
        read_cells([file], BASIC)


def test_damaged_data_within_a_parquet_file(tmp_path):
    rng = np.random.default_rng(0)
    n = 50_000
    file = parquet(tmp_path, y=rng.integers(0, 2, n), p=rng.integers(0, 2, n), sex=rng.integers(0, 2, n))
    content = bytearray(file.read_bytes())
    content[100:5000] = bytes(4900)
    file.write_bytes(content)
    with pytest.raises(InputError, match=r"preds\.parquet is damaged"):
        read_cells([file], BASIC)


def test_parts_that_disagree(tmp_path):
    first = parquet(tmp_path, "a.parquet", y=[0, 1], p=[0, 1], sex=["f", "m"])
    with pytest.raises(InputError, match=r"b\.parquet differs from a\.parquet: its column 'p' holds text"):
        read_cells([first, parquet(tmp_path, "b.parquet", y=[0], p=["0"], sex=["f"])], BASIC)
    with pytest.raises(InputError, match=r"no column 'sex' in c\.parquet"):
        read_cells([first, parquet(tmp_path, "c.parquet", y=[0], p=[0], gender=["f"])], BASIC)
    (tmp_path / "d.csv").write_text("y,p,sex\n1,1,f\n")
    with pytest.raises(InputError, match=r"d\.csv and a\.parquet are of two kinds"):
        read_cells([first, tmp_path / "d.csv"], BASIC)


def test_the_positive_class_must_be_one_of_two(tmp_path):
    file = parquet(tmp_path, y=[0, 1], p=[0, 1], sex=["f", "m"])
    with pytest.raises(
        InputError, match="there is no class 'yes' in the label column 'y'; the classes are: 0, 1"
    ):
        read_cells([file], BASIC, positive="yes")
    file = parquet(tmp_path, y=[0, 1, 2], p=[0, 1, 2], sex=["f", "m", "f"])
    with pytest.raises(InputError, match="needs two classes, but 'y' has 3: 0, 1, 2"):
        read_cells([file], BASIC, positive=1)


def test_columns_that_make_no_sense():
    with pytest.raises(InputError, match="neither a prediction column nor a score column"):
        Columns("y", None, ("sex",))
    with pytest.raises(InputError, match="group column 'sex' was given twice"):
        Columns("y", "p", ("sex", "sex"))


def test_too_many_rows_for_a_score_of_each_class(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.tables.cells.MOST_ROWS", 2)
    file = parquet(tmp_path, y=[0, 1, 1], a=[0.5] * 3, b=[0.5] * 3, sex=["f"] * 3)
    with pytest.raises(
        InputError, match=r"preds\.parquet has more than .* rows, too many for 2 score columns"
    ):
        read_cells([file], Columns("y", None, ("sex",), score=("a", "b")))
