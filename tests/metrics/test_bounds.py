"""Bounds over what the rows of unknown group could be: checked against every way to assign them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from evenhand.evaluation.measure import frame_of, measure
from evenhand.evaluation.options import Options
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

BOUNDED_RATES = ("selection", "tpr", "fpr", "accuracy", "ppv", "f1", "mcc", "balanced_accuracy")
GAPS = tuple(f"{rate}.gap" for rate in BOUNDED_RATES)
KEYS = (
    *GAPS,
    *(f"{rate}.ratio" for rate in BOUNDED_RATES if rate != "mcc"),
    *(f"{rate}.{how}" for rate in BOUNDED_RATES for how in ("worst", "best")),
    "dp",
    "di",
    "eotp",
    "eofp",
    "odds.max",
    "odds.mean",
    "odds.ratio",
    "eqodd",
    "delta_eo",
    "min_acc",
)
UNKNOWN = 3


def bounds_of(keys: tuple[str, ...], counts: Counts) -> dict[str, tuple[float, float] | None]:
    """The bounds an audit reports."""
    sizes = (counts.rows[0] if counts.multilabel else counts.rows)[:-1].sum(axis=(-1, -2))
    names = tuple(f"group {group}" for group in range(counts.n_groups))
    classes = tuple(f"class {label}" for label in range(counts.n_classes))
    frame = frame_of(counts, sizes, names, classes, Options(replicates=0))
    return {key: found.bounds for key, found in measure(frame, [CATALOGUE[key] for key in keys]).items()}


def rows(seed: int, groups: int, task: int | str, least: int):
    """A few rows, the last of which have no known group; `task` is the number of classes, or "labels"."""
    rng = np.random.default_rng(seed)
    n = groups + int(rng.integers(least, least + 12)) + UNKNOWN
    shape, classes = ((n, 2), 2) if task == "labels" else ((n,), task)
    y = rng.integers(0, classes, shape)
    p = np.where(rng.random(shape) < 0.6, y, rng.integers(0, classes, shape))
    g = rng.integers(0, groups, n)
    g[:groups] = np.arange(groups)  # every group has a row, so that all of them are compared
    g[-UNKNOWN:] = -1
    return y, p, g


def counted(y, p, g, groups: int, task: int | str) -> Counts:
    return Counts.from_predictions(
        y, p, g, n_classes=None if task == "labels" else int(task), n_groups=groups
    )


def every_assignment(y, p, g, groups: int, task: int | str) -> Counts:
    found = []
    for known in itertools.product(range(groups), repeat=UNKNOWN):
        whole = g.copy()
        whole[-UNKNOWN:] = known
        found.append(counted(y, p, whole, groups, task))
    return Counts.stack(found)


def assert_within_bounds(seed: int, groups: int, task: int | str, least: int) -> None:
    y, p, g = rows(seed, groups, task, least)
    view = View(every_assignment(y, p, g, groups, task).margins())
    for key, found in bounds_of(KEYS, counted(y, p, g, groups, task)).items():
        attained = CATALOGUE[key](view)
        attained = attained[~np.isnan(attained)]
        if found is None or not len(attained):
            continue
        low, high = found
        assert low - 1e-9 <= attained.min(), (key, seed, found, attained.min())
        assert attained.max() <= high + 1e-9, (key, seed, found, attained.max())


@pytest.mark.parametrize(("groups", "task"), [(2, 2), (3, 2), (2, 3), (2, "labels")])
def test_no_assignment_leaves_the_bounds_when_groups_are_large(groups, task):
    for seed in range(15):
        assert_within_bounds(seed, groups, task, least=40)


@pytest.mark.parametrize(("groups", "task"), [(2, 2), (3, 2), (2, 3), (2, "labels")])
def test_no_assignment_leaves_the_bounds_when_rates_may_be_undefined(groups, task):
    """Groups of a few rows: a rate without cases now may get one from the unknown rows, or stay without."""
    for seed in range(40):
        assert_within_bounds(seed, groups, task, least=0)


@pytest.mark.parametrize("key", GAPS)
def test_the_upper_bound_of_a_gap_between_two_groups_is_attained(key):
    for seed in range(15):
        y, p, g = rows(seed, 2, 2, least=40)
        attained = CATALOGUE[key](View(every_assignment(y, p, g, 2, 2).margins()))
        assert math.isclose(bounds_of((key,), counted(y, p, g, 2, 2))[key][1], attained.max(), abs_tol=1e-12)


@pytest.mark.parametrize(
    "key", ["tpr.worst", "tpr.best", "accuracy.worst", "selection.ratio", "dp_score", "dp"]
)
def test_the_far_ends_of_other_comparisons_are_attained_too(key):
    metric = CATALOGUE[key]
    end = 1 if metric.better == "lower" or key.endswith("best") else 0
    for seed in range(15):
        y, p, g = rows(seed, 2, 2, least=40)
        attained = metric(View(every_assignment(y, p, g, 2, 2).margins()))
        extreme = attained.max() if end else attained.min()
        assert math.isclose(bounds_of((key,), counted(y, p, g, 2, 2))[key][end], extreme, abs_tol=1e-12)


def test_without_unknown_rows_there_is_nothing_to_bound():
    counts = Counts.from_table(np.random.default_rng(0).integers(1, 9, (3, 2, 2)))
    assert set(bounds_of(KEYS, counts).values()) == {None}


def test_the_value_lies_within_its_own_bounds():
    for seed in range(20):
        y, p, g = rows(seed, 3, 2, least=8)
        counts = counted(y, p, g, 3, 2)
        for key, found in bounds_of(KEYS, counts).items():
            value = float(CATALOGUE[key](View(counts.margins())))
            if found is not None and not math.isnan(value):
                assert found[0] - 1e-9 <= value <= found[1] + 1e-9, (key, seed)


def test_what_cannot_be_bounded_says_so():
    counts = Counts.from_predictions([0, 1, 1], [0, 1, 0], [0, 1, -1])
    keys = ("tpr.spread", "tpr.to_overall", "mcc.ratio", "spsf", "ba", "eps")
    assert set(bounds_of(keys, counts).values()) == {None}
    three = Counts.from_predictions([0, 1, 2, 1], [0, 1, 1, 2], [0, 1, 0, -1])
    assert bounds_of(("mcc.gap",), three) == {"mcc.gap": None}


def test_bounds_stay_in_the_range_of_the_metric():
    for seed in range(20):
        y, p, g = rows(seed, 2, 2, least=0)
        for key, found in bounds_of(COUNT_METRICS, counted(y, p, g, 2, 2)).items():
            metric = CATALOGUE[key]
            for end in found or ():
                assert math.isnan(end) or metric.low - 1e-9 <= end <= metric.high + 1e-9, (key, seed, found)


def test_unknown_rows_that_could_decide_everything_leave_everything_open():
    counts = Counts.from_table([[[1, 0], [0, 1]], [[1, 0], [0, 1]]], [[0, 999], [999, 0]])
    low, high = bounds_of(("accuracy.gap",), counts)["accuracy.gap"]
    assert low == 0.0
    assert high > 0.99
