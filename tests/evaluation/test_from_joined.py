"""The rows of several models' files as a comparison takes them: what its numbers must not depend on."""

import numpy as np
import polars as pl
from scipy.stats import mode

import evenhand
from evenhand.evaluation.from_joined import rows_of_joined
from evenhand.tables import Columns, Joined, Unmatched, read_joined

N, RUNS = 60, 3
COLUMNS = Columns("y", "p", ("sex",), run="run", key="id")


def tall(seed):
    """Runs below each other: three classes, a tenth of the predictions wrong in some way of the run's own."""
    draw, y = np.random.default_rng(seed), np.arange(N) % 3
    p = np.stack([np.where(draw.random(N) < 0.3, (y + 1) % 3, y) for _ in range(RUNS)])
    id, run = np.tile([f"r{n}" for n in range(N)], RUNS), np.repeat(np.arange(RUNS), N)
    sex = np.tile(np.where(np.arange(N) % 2, "f", "m"), RUNS)
    return pl.DataFrame({"run": run, "id": id, "y": np.tile(y, RUNS), "p": p.reshape(-1), "sex": sex})


def shuffled_within_labels(table, seed):
    """Runs after the first in another order, which labels and groups do not show."""
    draw, order = np.random.default_rng(seed), np.arange(N)
    cells = (np.arange(N) % 3) * 2 + np.arange(N) % 2
    for run in range(1, RUNS):
        own = np.arange(N)
        for cell in range(6):
            own[cells == cell] = draw.permutation(np.flatnonzero(cells == cell))
        order = np.concatenate([order, run * N + own])
    return table[order]


def rows_of(folder, *tables):
    files = [folder / f"{name}.csv" for name in ("big", "small")[: len(tables)]]
    for file, table in zip(files, tables, strict=True):
        table.write_csv(file)
    return rows_of_joined(read_joined(files[0], files[1:], COLUMNS))


def test_the_order_of_the_rows_of_a_run_moves_no_number(tmp_path):
    big, small = tall(0), tall(1)
    moved = [shuffled_within_labels(table, seed) for seed, table in enumerate((big, small))]
    assert not moved[0].equals(big)
    rows = rows_of(tmp_path, *moved)
    usual = [mode(table["p"].to_numpy().reshape(RUNS, N), axis=0).mode for table in (big, small)]
    found = evenhand.compare(rows.y, dict(rows.predictions), replicates=0)
    assert found.cie["small"].indices.tolist() == np.flatnonzero(usual[0] != usual[1]).tolist()
    assert rows.predictions["big"].tolist() == big["p"].to_numpy().reshape(RUNS, N).tolist()


def test_who_paid_is_what_arrays_of_the_rows_in_their_order_give(tmp_path):
    big, small = tall(0), tall(1)
    rows = rows_of(tmp_path, shuffled_within_labels(big, 5), shuffled_within_labels(small, 6))
    runs = {name: table["p"].to_numpy().reshape(RUNS, N) for name, table in (("big", big), ("small", small))}
    expected = evenhand.compare(np.arange(N) % 3, runs, replicates=0).to_dict()
    found = evenhand.compare(rows.y, dict(rows.predictions), replicates=0).to_dict()
    assert found["paid"] == expected["paid"]
    assert found["disagreement"] == expected["disagreement"]
    assert len(expected["paid"]["small"]["classes"]) == 3


def test_a_prediction_that_is_missing_in_one_run_is_taken_as_the_python_function_takes_it(tmp_path):
    big, small = tall(0), tall(1)
    hole = (pl.col("run") == 1) & (pl.col("id") == "r7")
    rows = rows_of(tmp_path, big, small.with_columns(p=pl.when(~hole).then("p")))
    told = small["p"].to_numpy().reshape(RUNS, N).astype(float)
    told[1, 7] = np.nan
    expected = evenhand.compare(
        np.arange(N) % 3, {"big": big["p"].to_numpy().reshape(RUNS, N), "small": told}, replicates=0
    ).rows
    assert rows.missing == expected.missing == 1
    assert rows.y.tolist() == expected.y.tolist()
    for name, runs in expected.predictions.items():
        assert rows.predictions[name].tolist() == runs.tolist()


def test_runs_that_only_one_file_has_are_told(tmp_path):
    rows = rows_of(tmp_path, tall(0), tall(1).filter(pl.col("run") < 2))
    assert rows.predictions["big"].shape == (2, N)
    assert rows.warnings == ("runs that are not in every file were left out: '2'",)


def test_lines_of_runs_become_stacks():
    codes = np.array([0, 0, 1, 1], dtype=np.int16)
    joined = Joined(
        classes=("0", "1"),
        positive="1",
        names=("big", "small"),
        y=codes,
        predictions={"big": codes, "small": np.array([1, 0, 1, 0], dtype=np.int16)},
        attributes=(),
        runs=("a", "b"),
        run=np.array([0, 1, 0, 1], dtype=np.int16),
        row=np.array([4, 4, 9, 9]),
        weight=None,
        unmatched={"small": Unmatched()},
        missing=0,
    )
    rows = rows_of_joined(joined)
    assert rows.y.tolist() == [0, 1]
    assert rows.predictions["small"].tolist() == [[1, 1], [0, 0]]
