"""What every row of the catalogue must keep, whatever the task, the groups and the gaps in the data.

Warnings are errors here, so each of these also says: no division by zero, no mean of nothing.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.view import View

TASKS = ("binary, 2 groups", "binary, 3 groups", "5 classes", "3 labels", "weighted")
ARTIFACT = ("dp", "di", "spsf", "fpsf", "eofp", "eotp", "ba")


def rows(task: str, seed: int = 0, n: int = 120):
    rng = np.random.default_rng(seed)
    classes = 5 if task == "5 classes" else 2
    shape = (n, 3) if task == "3 labels" else (n,)
    y = rng.integers(0, classes, shape)
    p = np.where(rng.random(shape) < 0.7, y, rng.integers(0, classes, shape))
    g = rng.integers(-1, 2 if task == "binary, 2 groups" else 3, n)
    return y, p, g, (rng.random(n) if task == "weighted" else None)


def counted(task: str, seed: int = 0) -> Counts:
    y, p, g, w = rows(task, seed)
    return Counts.from_predictions(y, p, g, weights=w)


def view_of(counts: Counts, **more) -> View:
    return View(counts.margins(), everyone=margins_of_everyone(counts.cells, counts.multilabel), **more)


def same(first, second) -> bool:
    return np.allclose(first, second, rtol=0, atol=1e-12, equal_nan=True)


# -- the row itself ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", CATALOGUE)
def test_a_row_is_complete(key):
    row = CATALOGUE[key]
    assert row.key == key
    assert all(text.strip() for text in (row.name, row.formula, row.family, row.citation))
    assert row.better in ("lower", "higher", "nearer", "none")
    assert row.needs in ("counts", "scores", "two models", "several runs", "model")
    assert row.low < row.high
    assert math.isnan(row.ideal) or row.low <= row.ideal <= row.high
    assert math.isnan(row.ideal) == (row.better == "none")


# -- every task -------------------------------------------------------------------------------------------
@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("key", COUNT_METRICS)
def test_a_value_is_one_number_in_its_range(key, task):
    metric, view = CATALOGUE[key], view_of(counted(task))
    value = metric(view)
    assert value.shape == ()
    assert not math.isnan(value)
    assert metric.low - 1e-12 <= value <= metric.high + 1e-12
    assert metric.per_class(view).shape in [(1,), (view.margins.tp.shape[-2],)]


@pytest.mark.parametrize("task", TASKS)
def test_deciders_are_groups_that_exist(task):
    view = view_of(counted(task))
    for key in COUNT_METRICS:
        found = CATALOGUE[key].statistic.deciders(view)
        if found is not None:
            assert found.shape[0] == CATALOGUE[key].per_class(view).shape[0]
            assert found.shape[1] in (1, 2)
            assert ((found >= -1) & (found < view.margins.n_groups)).all()


@pytest.mark.parametrize("task", TASKS[:4])
def test_runs_side_by_side_are_the_runs_one_by_one(task):
    y, _, g, _ = rows(task)
    runs = [Counts.from_predictions(y, rows(task, seed)[1], g) for seed in range(3)]
    together = view_of(Counts.stack(runs))
    for key in COUNT_METRICS:
        alone = [CATALOGUE[key](view_of(run)) for run in runs]
        assert same(CATALOGUE[key](together), alone), key


@pytest.mark.parametrize("task", TASKS)
def test_an_empty_group_changes_nothing(task):
    y, p, g, w = rows(task)
    first, second = (
        Counts.from_predictions(y, p, g, weights=w, n_groups=int(g.max()) + more) for more in (1, 2)
    )
    for key in COUNT_METRICS:
        assert same(CATALOGUE[key](view_of(first)), CATALOGUE[key](view_of(second))), key


@pytest.mark.parametrize("task", TASKS)
def test_one_group_is_compared_with_nobody(task):
    y, p, g, w = rows(task)
    view = view_of(Counts.from_predictions(y, p, np.zeros_like(g), weights=w))
    for key in COUNT_METRICS:
        value = float(CATALOGUE[key](view))
        if key.endswith((".gap", ".ratio", ".spread", ".to_overall")) or CATALOGUE[key].family in (
            "S0",
            "S4",
        ):
            assert math.isnan(value), key


@pytest.mark.parametrize("task", TASKS[:4])
def test_rows_of_unknown_group_move_only_what_is_over_all_rows(task):
    y, p, g, _ = rows(task)
    known = g >= 0
    whole, part = Counts.from_predictions(y, p, g), Counts.from_predictions(y[known], p[known], g[known])
    for key in COUNT_METRICS:
        if key != "acc":
            assert same(CATALOGUE[key](View(whole.margins())), CATALOGUE[key](View(part.margins()))), key


@pytest.mark.parametrize("multilabel", [False, True])
@pytest.mark.parametrize("convention", ["strict", "paper"])
def test_no_rows_at_all_is_undefined_and_not_a_warning(multilabel, convention):
    shape = (3, 2, 2, 2) if multilabel else (2, 3, 3)
    view = view_of(
        Counts.from_table(np.zeros(shape, dtype=np.int64), multilabel=multilabel), convention=convention
    )
    for key in COUNT_METRICS:
        if (key, convention) != ("ba", "paper"):  # the paper calls an undefined amplification 0
            assert math.isnan(CATALOGUE[key](view)), key


@pytest.mark.parametrize("table", [[[3, 0], [0, 0]], [[0, 0], [0, 3]], [[0, 3], [0, 0]], [[0, 0], [3, 0]]])
def test_rows_of_one_cell_only_never_warn(table):
    """Every group has one kind of row: each metric is a number in its range, or undefined."""
    view = view_of(Counts.from_table([table, table, [[0, 0], [0, 0]]]))
    for key in COUNT_METRICS:
        value = float(CATALOGUE[key](view))
        assert math.isnan(value) or CATALOGUE[key].low <= value <= CATALOGUE[key].high, key


@pytest.mark.parametrize("seed", range(5))
def test_sparse_tables_never_warn_under_any_convention(seed):
    table = np.random.default_rng(seed).integers(0, 2, (2, 3, 3))
    for convention in ("strict", "paper", "artifact"):
        for legacy in (False, True):
            view = view_of(Counts.from_table(table), convention=convention, legacy=legacy, smoothing=0.0)
            for key in COUNT_METRICS:
                CATALOGUE[key].statistic.deciders(view)
                assert CATALOGUE[key](view).shape == (), key


# -- the ideal --------------------------------------------------------------------------------------------
@pytest.mark.parametrize("key", COUNT_METRICS)
@pytest.mark.parametrize("classes", [2, 3])
def test_a_perfect_predictor_reaches_the_ideal_where_base_rates_are_equal(key, classes):
    """Group sizes differ, shares of the classes do not."""
    metric = CATALOGUE[key]
    view = view_of(Counts.from_table([np.eye(classes, dtype=int) * size for size in (12, 30, 18)]))
    value = float(metric(view))
    if metric.better == "none":
        assert math.isclose(value, 1 / classes)
    elif math.isnan(value):  # the ratio of two rates that are 0
        assert key.endswith(("ratio", "ratio_mean"))
        assert any(rate in key for rate in ("fpr", "fnr", "for", "eqopp", "odds", "calibration_neg"))
    else:
        assert math.isclose(value, metric.ideal, abs_tol=1e-12)


@pytest.mark.parametrize("key", COUNT_METRICS)
def test_groups_that_are_treated_alike_reach_the_ideal_of_every_comparison(key):
    metric = CATALOGUE[key]
    view = view_of(
        Counts.from_table(np.array([[[30, 10], [5, 55]]] * 3) * np.array([1, 2, 5])[:, None, None])
    )
    compares = (
        key.endswith(
            (
                ".gap",
                ".ratio",
                ".spread",
                ".to_overall",
                ".diff",
                ".diff_mean",
                ".ratio_mean",
                "_diff",
                "_ratio",
            )
        )
        or metric.family in ("S0", "S4")
        or key
        in (
            "odds.max",
            "odds.mean",
            "odds.ratio",
            "fped",
            "fned",
            "dp_score",
            "eqopp0",
            "eqopp1",
            "eqodd",
            "ba_signed",
        )
    )
    if compares:
        assert math.isclose(float(metric(view)), metric.ideal, abs_tol=1e-12)


@pytest.mark.parametrize("key", ARTIFACT)
def test_the_released_convention_serves_every_metric_of_s0(key):
    assert not math.isnan(CATALOGUE[key](view_of(counted("binary, 2 groups"), convention="artifact")))
