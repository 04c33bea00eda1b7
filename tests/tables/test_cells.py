"""Cells against a plain groupby, and the same cells from every kind of file."""

import dataclasses
import datetime
import gzip
import os
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError
from evenhand.groups import Groups
from evenhand.tables import Columns, read_cells

from .conftest import random_table, write

ENDINGS = [".csv", ".csv.gz", ".tsv", ".tsv.gz", ".parquet"]
BASIC = Columns("y", "p", ("sex",))


def assert_same(one, other):
    for part in dataclasses.fields(one):
        a, b = getattr(one, part.name), getattr(other, part.name)
        if part.name == "attributes":
            assert [(x.name, x.levels, x.codes.tolist()) for x in a] == [
                (x.name, x.levels, x.codes.tolist()) for x in b
            ]
        elif isinstance(a, np.ndarray):
            np.testing.assert_allclose(a, b, rtol=1e-12)
        else:
            assert a == b, part.name


def as_dict(cells):
    """{(run, truth, prediction, group names ..): (rows, weight, square)}."""
    found = {}
    for m in range(len(cells.count)):
        groups = tuple(a.levels[a.codes[m]] if a.codes[m] >= 0 else None for a in cells.attributes)
        key = (
            cells.runs[cells.run[m]] if cells.runs else None,
            cells.classes[cells.truth[m]],
            cells.classes[cells.prediction[m]],
            *groups,
        )
        found[key] = (cells.count[m], cells.weight[m], cells.square[m])
    return found


def by_pandas(frame, columns):
    data = frame.to_pandas()
    kept = data.dropna(subset=["y", "p"])
    keys = [columns.run] if columns.run else []
    keys += ["y", "p", *columns.groups]
    weight = kept[columns.weight] if columns.weight else pd.Series(1.0, kept.index)
    kept = kept.assign(rows=1, weight=weight, square=weight**2)
    if "band" in columns.groups:
        kept["band"] = kept["band"].where(kept["band"] != -1)
    sums = kept.groupby(keys, dropna=False)[["rows", "weight", "square"]].sum()
    names = [None] * (0 if columns.run else 1)

    def name(value):
        if isinstance(value, str):
            return value
        return None if pd.isna(value) else str(int(value))

    return {
        (*names, *(name(value) for value in key)): tuple(row)
        for key, row in zip(sums.index, sums.to_numpy(), strict=True)
    }


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize(
    "columns",
    [
        BASIC,
        Columns("y", "p", ("sex", "band"), weight="w"),
        Columns("y", "p", ("band",), weight="w", run="seed"),
    ],
)
def test_cells_are_those_of_a_groupby(tmp_path, table, ending, columns):
    cells = read_cells([write(table, tmp_path, ending)], columns)
    found, expected = as_dict(cells), by_pandas(table, columns)
    assert found.keys() == expected.keys()
    for key, values in expected.items():
        np.testing.assert_allclose(found[key], values, rtol=1e-12)
    left_out = table.filter(pl.col("y").is_null() | pl.col("p").is_null()).height
    assert (cells.total, cells.missing) == (table.height, left_out)
    assert cells.weighted == (columns.weight is not None)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 60), missing=st.floats(0, 0.5))
def test_csv_gz_and_parquet_agree_on_random_tables(tmp_path_factory, seed, n, missing):
    folder = tmp_path_factory.mktemp("tables")
    frame = random_table(seed, n, missing)
    some = {"y": 1, "p": 2, "sex": "f", "band": 3, "w": 0.5, "seed": 1}
    frame = pl.concat([frame, pl.DataFrame(some).cast(frame.schema)])  # never all missing
    columns = Columns("y", "p", ("sex", "band"), weight="w", run="seed")
    whole, *others = (read_cells([write(frame, folder, ending)], columns) for ending in ENDINGS)
    for other in others:
        assert_same(whole, other)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_parts_are_the_whole(tmp_path, table, ending):
    columns = Columns("y", "p", ("sex", "band"), weight="w", run="seed")
    parts = []
    for k in range(3):
        (tmp_path / str(k)).mkdir()
        part = table[k * 200 : (k + 1) * 200].select(reversed(table.columns) if k == 1 else table.columns)
        parts.append(write(part, tmp_path / str(k), ending))
    assert_same(read_cells([write(table, tmp_path, ending)], columns), read_cells(parts, columns))


def test_parts_may_differ_in_width_of_type(tmp_path):
    pl.DataFrame({"y": [0, 1], "p": [0, 1], "sex": ["f", "m"]}).write_parquet(tmp_path / "a.parquet")
    narrow = {"y": pl.Int8, "p": pl.UInt8, "sex": pl.Categorical}
    frame = pl.DataFrame({"y": [0, 1], "p": [1, 1], "sex": ["m", "x"]}, schema=narrow)
    frame.write_parquet(tmp_path / "b.parquet")
    pl.DataFrame({"y": [1], "p": [1], "sex": [None]}).write_parquet(tmp_path / "c.parquet")
    cells = read_cells([tmp_path / f"{name}.parquet" for name in "abc"], BASIC)
    assert cells.attributes[0].levels == ("f", "m", "x")
    assert cells.count.sum() == 5


def test_groups_come_straight_from_the_cells(tmp_path, table):
    cells = read_cells([write(table, tmp_path, ".parquet")], Columns("y", "p", ("sex", "band")))
    groups = Groups.from_attributes(cells.attributes)
    unknown = table.filter(pl.col("y").is_not_null() & pl.col("p").is_not_null())
    unknown = unknown.filter(pl.col("sex").is_null() | pl.col("band").is_null() | (pl.col("band") == -1))
    assert cells.count[groups.ids < 0].sum() == unknown.height


TEXTS = {
    "byte order mark": b"\xef\xbb\xbfy,p,sex\n1,1,f\n0,1,m\n",
    "spaces in the header": b"y , p,  sex \n1,1,f\n0,1,m\n",
    "windows": b"y,p,sex\r\n1,1,f\r\n0,1,m\r\n",
    "no line end": b"y,p,sex\n1,1,f\n0,1,m",
    "blank lines": b"\n\ny,p,sex\n\n1,1,f\n\n0,1,m\n\n\n",
    "blank windows lines": b"y,p,sex\r\n\r\n1,1,f\r\n0,1,m\r\n\r\n",
    "quoted": b'"y","p","sex"\n"1","1","f"\n"0","1","m"\n',
    "more columns": b'a,y,"b\nb",p,sex,c\nx,1,"1,2",1,f,\ny,0,"a\n""b""",1,m,2\n',
    "more columns, the last one empty": b"y,p,sex,c\n1,1,f,\n0,1,m,\n",
    "trailing separator": b"y,p,sex\n1,1,f,\n0,1,m,\n",
    "spaces around values": b"y,p,sex\n 1, 1 , f\n0,1 ,m \n",
    "floats": b"y,p,sex\n1.0,1,f\n0.0,1,m\n",
    "booleans and numbers": b"y,p,sex\nTrue,1,f\nFalse,1,m\n",
    "an index column": b",y,p,sex\n0,1,1,f\n1,0,1,m\n",
    "a separator after the header": b"y,p,sex,\n1,1,f,\n0,1,m,\n",
    "white lines": b"y,p,sex\n1,1,f\n  \n0,1,m\n",
    "semicolons": b"y;p;sex\n1;1;f\n0;1;m\n",
}


@pytest.mark.parametrize("content", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("packed", [False, True], ids=["csv", "gz"])
def test_csv_as_people_write_it(tmp_path, content, packed):
    file = tmp_path / ("preds.csv.gz" if packed else "preds.csv")
    file.write_bytes(gzip.compress(content) if packed else content)
    cells = read_cells([file], BASIC)
    assert as_dict(cells) == {(None, "1", "1", "f"): (1, 1, 1), (None, "0", "1", "m"): (1, 1, 1)}
    assert (cells.total, cells.missing, cells.classes, cells.positive) == (2, 0, ("0", "1"), "1")


def test_unicode_and_line_breaks_within_quotes(tmp_path):
    file = tmp_path / "vorhersagen für alle.csv.gz"
    text = 'y,p,"größe, 身長"\nja,nein,"sehr\ngroß, ""ü"""\nnein,nein,小さい\n'
    file.write_bytes(gzip.compress(text.encode()))
    cells = read_cells([file], Columns("y", "p", ("größe, 身長",)))
    assert cells.attributes[0].levels == ('sehr\ngroß, "ü"', "小さい")
    assert (cells.classes, cells.positive) == (("ja", "nein"), "nein")


def test_a_type_does_not_depend_on_the_first_lines(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p,sex\n" + "1,1,3\n" * 5000 + "0,1,unknown to us\n")
    assert read_cells([file], BASIC).attributes[0].levels == ("3", "unknown to us")


def test_what_missing_looks_like_in_a_csv(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text('y,p,sex,code\n1,NA,NA,01\nnan,1,f,02\n1,1,,NA\n0,"",m,\n0,1,m,02\n')
    cells = read_cells([file], Columns("y", "p", ("sex", "code")))
    assert (cells.total, cells.missing) == (5, 3)
    assert [a.levels for a in cells.attributes] == [("NA", "f", "m"), ("01", "02", "NA")]


def kinds(**data):
    return pl.DataFrame({"sex": ["f", "m"], **data})


@pytest.mark.parametrize(
    ("frame", "classes"),
    [
        (kinds(y=[True, False], p=[True, True]), ("False", "True")),
        (kinds(y=[True, False], p=[1, 1]), ("0", "1")),
        (kinds(y=[1.0, 0.0], p=[True, True]), ("0", "1")),
        (kinds(y=["1", "0"], p=[1, 1]), ("0", "1")),
        (kinds(y=[1, 1], p=[1, 1]), ("0", "1")),
        (kinds(y=[Decimal("1.0"), Decimal("0.0")], p=[1, 1]), ("0", "1")),
        (kinds(y=[None, 1], p=[1, 1]).extend(kinds(y=[0, 1], p=[1, 0])), ("0", "1")),
        (kinds(y=[-1, 1], p=[1, 1]), ("-1", "1")),
        (kinds(y=["10", "9"], p=["9", "9"]), ("10", "9")),  # text in a Parquet file is text
        (kinds(y=[10, 9], p=[2, 9]), ("2", "9", "10")),
        (kinds(y=[True, False], p=[2, 0]), ("0", "1", "2")),
        (kinds(y=pl.Series(["hi", "lo"], dtype=pl.Enum(["lo", "hi"])), p=["lo", "hi"]), ("lo", "hi")),
        (kinds(y=pl.Series(["b", "a"], dtype=pl.Categorical), p=["a", "c"]), ("a", "b", "c")),
    ],
)
def test_classes(tmp_path, frame, classes):
    frame.write_parquet(tmp_path / "preds.parquet")
    cells = read_cells([tmp_path / "preds.parquet"], BASIC)
    assert cells.classes == classes
    assert cells.positive == (classes[1] if len(classes) == 2 else None)
    assert cells.count.sum() == frame.drop_nulls().height


@pytest.mark.parametrize(
    ("values", "levels", "codes"),
    [
        ([-1, 3, None, 20], ("3", "20"), [-1, -1, 0, 1]),
        ([-1.0, 3.0, float("nan"), 2.5], ("2.5", "3"), [-1, -1, 0, 1]),
        ([True, False, None, True], ("False", "True"), [-1, 0, 1, 1]),
        (["", "b", "a", None], ("a", "b"), [-1, -1, 0, 1]),
        (
            [datetime.date(2020, 2, 1), datetime.date(2019, 1, 1), None, None],
            ("2019-01-01", "2020-02-01"),
            [-1, -1, 0, 1],
        ),
        (
            pl.Series(["hi", "lo", None, "hi"], dtype=pl.Enum(["lo", "mid", "hi"])),
            ("lo", "mid", "hi"),
            [-1, 0, 2, 2],
        ),
        (pl.Series(["z", "b", None, "z"], dtype=pl.Categorical), ("b", "z"), [-1, 0, 1, 1]),
    ],
)
def test_levels(tmp_path, values, levels, codes):
    pl.DataFrame({"y": [0, 0, 0, 0], "p": [1, 1, 1, 1], "g": values}).write_parquet(
        tmp_path / "preds.parquet"
    )
    cells = read_cells([tmp_path / "preds.parquet"], Columns("y", "p", ("g",)))
    assert cells.attributes[0].levels == levels
    assert np.repeat(cells.attributes[0].codes, cells.count).tolist() == codes


def test_the_positive_class_comes_second(tmp_path):
    kinds(y=["bad", "good"], p=["bad", "bad"]).write_parquet(tmp_path / "preds.parquet")
    cells = read_cells([tmp_path / "preds.parquet"], BASIC, positive="bad")
    assert (cells.classes, cells.positive) == (("good", "bad"), "bad")
    assert as_dict(cells) == {(None, "bad", "bad", "f"): (1, 1, 1), (None, "good", "bad", "m"): (1, 1, 1)}


def test_one_column_may_play_several_parts(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p\n1,1\n0,1\n1,0\n")
    cells = read_cells([file], Columns("y", "p", ("y",), weight="p"))
    assert cells.attributes[0].codes.tolist() == cells.truth.tolist()
    assert cells.weight.sum() == 2


def test_progress_is_told_what_is_read(tmp_path, table):
    told = []
    read_cells([write(table, tmp_path, ".csv")], BASIC, progress=told.append)
    assert told == ["500 rows read"]


def test_a_missing_weight_of_a_row_that_is_left_out_does_not_matter(tmp_path):
    file = tmp_path / "preds.csv"
    file.write_text("y,p,sex,w\n1,1,f,2\n,1,f,\n0,1,m,3\n\n")
    cells = read_cells([file], Columns("y", "p", ("sex",), weight="w"))
    assert (cells.weight.tolist(), cells.square.tolist(), cells.missing, cells.total) == (
        [3, 2],
        [9, 4],
        1,
        3,
    )


@pytest.mark.parametrize("ending", ENDINGS)
def test_pieces_add_up(tmp_path, table, ending, monkeypatch):
    columns = Columns("y", "p", ("sex", "band"), weight="w", run="seed")
    (tmp_path / "more").mkdir()
    files = [write(table, tmp_path, ending), write(table[:77], tmp_path / "more", ending)]
    whole = read_cells(files, columns)
    for name, rows in (("PIECE", 64), ("BATCH", 64), ("HELD", 100)):
        monkeypatch.setattr(f"evenhand.tables.pieces.{name}", rows)
    assert_same(whole, read_cells(files, columns))


def test_a_faulty_weight_in_one_of_many_pieces_is_found(tmp_path, table, monkeypatch):
    monkeypatch.setattr("evenhand.tables.pieces.PIECE", 64)
    table = table.with_columns(w=pl.when(pl.int_range(pl.len()) == 433).then(-0.5).otherwise("w"), y=1, p=1)
    with pytest.raises(InputError, match=r"holds -0\.5 in row 434"):
        read_cells([write(table, tmp_path, ".parquet")], Columns("y", "p", ("seed",), weight="w"))


def test_a_column_of_ids_is_refused_before_it_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.tables.cells.group_in_pieces", None)  # calling it would be a TypeError
    frame = pl.DataFrame({"y": 1, "p": 1, "sex": range(30_000)})
    with pytest.raises(InputError, match=r"has 20000 different values .* it looks like an id"):
        read_cells([write(frame, tmp_path, ".parquet")], BASIC)


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_name_is_no_pattern(tmp_path, table, ending):
    folder = tmp_path / "run [1] of *"
    folder.mkdir()
    assert read_cells([write(table, folder, ending)], BASIC).total == table.height


PEAK = """
import pathlib, re, sys
from evenhand.tables import Columns, read_cells
cells = read_cells([pathlib.Path(sys.argv[1])], Columns("y", None, ("g",), score=("s",)))
status = pathlib.Path("/proc/self/status").read_text()
print(cells.total, int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) // 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak memory is read from /proc")
@pytest.mark.parametrize("ending", [".csv.gz", ".parquet"])
def test_memory_does_not_grow_with_the_table(tmp_path, ending):
    """The histogram of 24 million rows in less than 1 GB; held at once, the three columns are 576 MB."""
    rng = np.random.default_rng(0)
    n = 1_000_000
    frame = pl.DataFrame(
        {"y": rng.integers(0, 2, n), "g": rng.integers(0, 16, n), "s": rng.random(n).round(4)}
    )
    file = write(pl.concat([frame] * 24), tmp_path, ending)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(file)], capture_output=True, text=True, check=True, env=environment
    )
    total, megabytes = map(int, done.stdout.split())
    assert total == 24 * n
    assert megabytes < 1000
