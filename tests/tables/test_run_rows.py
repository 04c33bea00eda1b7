"""Several runs in the files of several models: what is one row in all of them, and runs that do not fit."""

import numpy as np
import polars as pl
import pytest

from evenhand.errors import InputError
from evenhand.tables import Columns, Unmatched, read_joined

KEYED = Columns("y", "p", ("sex",), weight="w", run="seed", key="id")
PLACED = Columns("y", "p", ("sex",), weight="w", run="seed")
N, RUNS = 12, 3


def model(seed):
    """Three runs of twelve rows; label, group and weight go with the row, the prediction with row and run."""
    id, run = np.tile(np.arange(N), RUNS), np.repeat(np.arange(RUNS), N)
    p = np.random.default_rng(seed).integers(0, 2, N * RUNS)
    sex = np.where(id % 3, "f", "m")
    return pl.DataFrame({"id": id, "seed": run, "y": id % 2, "p": p, "sex": sex, "w": 1.0 + id % 5})


@pytest.fixture
def read(tmp_path):
    """Write the tables (base, small, ..) and read them together."""

    def of(columns, *tables, names=("base", "small", "tiny")):
        files = [tmp_path / f"{name}.csv" for name in names[: len(tables)]]
        for file, table in zip(files, tables, strict=True):
            table.write_csv(file)
        return read_joined(files[0], files[1:], columns)

    return of


def stacked(joined):
    """Truth, then each model's predictions, a row of the table for each run."""
    order = np.lexsort((joined.row, joined.run))
    columns = (joined.y, *joined.predictions.values())
    return [values[order].reshape(len(joined.runs), -1).tolist() for values in columns]


def test_rows_of_runs_are_joined_by_key_whatever_their_order(read):
    base, small = model(0), model(1)
    expected = [table["p"].to_numpy().reshape(RUNS, N).tolist() for table in (base, small)]
    later = pl.concat([base[:N], base[N:].sample(fraction=1, shuffle=True, seed=3)])
    for one, other in (
        (base, small),
        (later, small),
        (later, small.sample(fraction=1, shuffle=True, seed=4)),
    ):
        truth, *told = stacked(read(KEYED, one, other))
        assert told == expected
        assert truth == [(np.arange(N) % 2).tolist()] * RUNS


def test_without_a_key_the_place_within_the_run_tells_the_row(read):
    base, small = model(0), model(1)
    places = np.arange(N * RUNS).reshape(RUNS, N).T.reshape(-1)  # row 0 of every run, then row 1 ..
    expected = stacked(read(PLACED, base, small))
    assert stacked(read(PLACED, base[places], small[places])) == expected
    assert expected[1] == base["p"].to_numpy().reshape(RUNS, N).tolist()


@pytest.mark.parametrize("columns", [KEYED, PLACED], ids=["key", "place"])
@pytest.mark.parametrize("part", ["p", "y"])
def test_a_row_that_is_not_known_in_one_run_leaves_all(read, columns, part):
    hole = (pl.col("seed") == 1) & (pl.col("id") == 7)
    base, small = model(0), model(1)
    holed = small.with_columns(p=pl.when(~hole).then("p"))
    joined = read(columns, base, holed)
    if part == "y":
        joined = read(columns, base.with_columns(y=pl.when(~hole).then("y")), small)
    whole = [table["p"].to_numpy().reshape(RUNS, N) for table in (base, small)]
    assert stacked(joined)[1:] == [np.delete(runs, 7, axis=1).tolist() for runs in whole]
    assert joined.missing == 1


def test_rows_of_one_file_alone_are_counted_once_and_not_once_a_run(read):
    base, small = model(0), model(1)
    joined = read(KEYED, base.filter(pl.col("id") != 2), small.filter(~pl.col("id").is_in([5, 6])))
    assert joined.unmatched == {"small": Unmatched(base=2, alternative=1)}
    assert len(joined.y) == RUNS * (N - 3)


def test_runs_are_matched_by_their_names(read):
    base, small = model(0), model(1)
    joined = read(KEYED, base, small.with_columns(seed=2 - pl.col("seed")))
    assert stacked(joined)[2] == small["p"].to_numpy().reshape(RUNS, N)[::-1].tolist()
    shared = read(KEYED, base, small.with_columns(pl.col("seed") + 1), model(2))
    assert (shared.runs, shared.runs_left_out) == (("1", "2"), ("0", "3"))
    assert shared.unmatched == {"small": Unmatched(), "tiny": Unmatched()}
    with pytest.raises(InputError) as caught:
        read(KEYED, base, small.with_columns(pl.col("seed") + 10))
    assert "run column 'seed' of small.csv holds '10', '11', '12', but that of the files before it" in str(
        caught.value
    )
    assert "'0', '1', '2'; runs are matched by their names: call" in str(caught.value)


SECOND = pl.col("seed") == 1
WRITTEN = model(0).with_columns(seed=pl.col("seed").replace_strict({0: "0", 1: "1", 2: "1.0"}))
HEAVY = model(0).with_columns(w=pl.col("w") + (SECOND & (pl.col("id") == 4)))
MOVED = model(0).with_columns(sex=pl.when(SECOND & (pl.col("id") == 3)).then(pl.lit("f")).otherwise("sex"))
TURNED = pl.concat([model(0)[:N], model(0)[N : 2 * N].reverse(), model(0)[2 * N :]])
ERRORS = {
    "weights": (
        KEYED, HEAVY,
        "the weight column 'w' of base.csv differs at key '4' between run '1' and run '0'",
    ),
    "weights by place": (
        PLACED, HEAVY,
        "the weight column 'w' of base.csv differs at row 5 between run '1' and run '0'",
    ),
    "groups": (
        KEYED, MOVED,
        "the group column 'sex' of base.csv differs at key '3' between run '1' and run '0'",
    ),
    "labels by place": (
        PLACED, TURNED,
        "the label column 'y' of base.csv differs at row 1 between run '1' and run '0'; every run must hold "
        "the same rows, each with one label, group and weight, in the same order or with a key column",
    ),
    "no row by key": (
        KEYED, model(0).filter(~(SECOND & (pl.col("id") == 7))),
        "the key '7' of base.csv is in run '0' but not in run '1'; every run must hold the same rows",
    ),
    "no row by place": (
        PLACED, model(0).filter(~(SECOND & (pl.col("id") == 7))),
        "run '1' of base.csv has 11 rows but run '0' has 12; every run must hold the same rows",
    ),
    "twice": (
        KEYED, pl.concat([model(0), model(0).filter(SECOND & (pl.col("id") == 7))]),
        "the key '7' of run 1 occurs more than once in the column 'id' of base.csv",
    ),
    "no run": (
        KEYED, model(0).with_columns(seed=pl.when(~(SECOND & (pl.col("id") == 7))).then("seed")),
        "the run column 'seed' of base.csv is empty in row 20",
    ),
    "no run by place": (
        PLACED, model(0).with_columns(seed=pl.when(~(SECOND & (pl.col("id") == 7))).then("seed")),
        "the run column 'seed' of base.csv is empty in some rows",
    ),
    "one run written in two ways": (
        KEYED, WRITTEN, "writes one run in several ways ('0', '1', '1.0') or leaves it out; write each run",
    ),
    "an empty run": (
        KEYED, model(0).with_columns(p=pl.when(~SECOND).then("p")),
        "no row of base.csv has a label and a prediction of every model in every run",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("columns", "base", "sentence"), ERRORS.values(), ids=ERRORS)
def test_runs_that_do_not_hold_the_same_rows(read, columns, base, sentence):
    small = base if columns is PLACED or base is WRITTEN else model(1)
    with pytest.raises(InputError) as caught:
        read(columns, base, small)
    assert sentence in str(caught.value)
    assert "\n" not in str(caught.value)


def test_weights_that_differ_by_rounding_are_one_weight(read):
    base = model(0).with_columns(w=pl.col("w") * (1 + 1e-9 * pl.col("seed")))
    assert read(KEYED, base, model(1)).weight.tolist() == pytest.approx(model(0)["w"].to_list())
