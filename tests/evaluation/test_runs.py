"""Several runs of one model: S0's spread of every metric, and what each run counts for."""

import math

import numpy as np
import pytest

import evenhand
from evenhand.metrics.catalogue import CATALOGUE


def runs_of(n=300, runs=5, seed=0, quality=0.8):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b"], n).astype(object)
    return y, np.stack([np.where(rng.random(n) < quality, y, 1 - y) for _ in range(runs)]), g


def test_s0_spread_on_hand_numbers():
    """Two groups of 10 positives; the runs miss 2, 5 and 1 of b's: gaps 0.2, 0.5 and 0.1."""
    y, g = np.ones(20, dtype=int), ["a"] * 10 + ["b"] * 10
    runs = np.ones((3, 20), dtype=int)
    for run, missed in zip(runs, (2, 5, 1), strict=True):
        run[10 : 10 + missed] = 0
    found = evenhand.audit(y, runs, g, replicates=100).metrics["tpr.gap"]
    gaps = np.array([0.2, 0.5, 0.1])
    assert found.runs.values == pytest.approx(gaps)
    assert found.value == found.runs.mean == pytest.approx(0.8 / 3)
    assert found.runs.std == pytest.approx(gaps.std(ddof=0))
    assert (found.runs.min, found.runs.max) == pytest.approx((0.1, 0.5))
    assert found.runs.maxdiff == pytest.approx(0.4)
    assert found.runs.n == 3
    assert found.decided_by == ("a", "b")


def test_each_run_is_an_audit_of_its_own():
    y, runs, g = runs_of()
    together = evenhand.audit(y, runs, g, replicates=50).metrics
    apart = [evenhand.audit(y, run, g, replicates=0).metrics for run in runs]
    for key, value in together.items():
        if value.runs is not None:
            assert value.runs.values == pytest.approx([one[key].value for one in apart], nan_ok=True), key
    assert sum(value.runs is not None for value in together.values()) == sum(
        row.needs == "counts" for row in CATALOGUE.values()
    )


def test_the_share_of_run_to_run_variance():
    y, runs, g = runs_of()
    different = evenhand.audit(y, runs, g, replicates=200).metrics
    for value in different.values():
        if value.runs is not None and not math.isnan(value.runs.share):
            assert 0 <= value.runs.share <= 1
    alike = evenhand.audit(y, np.stack([runs[0]] * 4), g, replicates=200).metrics["tpr.gap"]
    assert (alike.runs.std, alike.runs.maxdiff, alike.runs.share) == (0, 0, 0)
    assert different["accuracy.gap"].runs.share > 0.1


def test_the_class_that_moves_most():
    y = np.array([0, 0, 1, 1, 2, 2] * 2)
    g = np.array(["a"] * 6 + ["b"] * 6)
    first, second = y.copy(), y.copy()
    second[5] = 0  # group a misses class 2 once in the second run
    found = evenhand.audit(y, np.stack([first, second]), g, replicates=20).metrics["tpr.gap"]
    assert found.runs.per_class_maxdiff == (0.0, 0.0, 0.5)
    assert found.runs.widest_class == "2"
    assert found.per_class == (0.0, 0.0, 0.25)


def test_the_interval_covers_runs_and_rows():
    y, runs, g = runs_of()
    found = evenhand.audit(y, runs, g, replicates=400).metrics
    single = evenhand.audit(y, runs[0], g, replicates=400).metrics
    for key in ("acc", "selection.gap", "accuracy.worst"):
        assert found[key].low <= found[key].value <= found[key].high
        widths = [one[key].high - one[key].low for one in (found, single)]
        assert widths[0] > 0.7 * widths[1], key


def test_no_replicates_still_tell_the_spread():
    y, runs, g = runs_of()
    found = evenhand.audit(y, runs, g, replicates=0).metrics["tpr.gap"]
    assert math.isnan(found.low)
    assert math.isnan(found.runs.share)
    assert found.runs.maxdiff > 0


def test_json_of_runs():
    y, runs, g = runs_of()
    body = evenhand.audit(y, runs, g, replicates=20).to_dict()
    assert body["runs"] == {"n": 5, "names": [f"run {k}" for k in range(1, 6)]}
    assert {"n", "mean", "std", "min", "max", "maxdiff", "share"} <= set(body["metrics"]["tpr.gap"]["runs"])
    assert evenhand.audit(y, runs[0], g, replicates=20).to_dict()["runs"] is None


# -- every run predicts the same rows: they are counted once -----------------------------------------------
def test_rows_are_counted_once():
    y, runs, g = runs_of()
    g[:6] = "tiny"
    found, single = (evenhand.audit(y, p, g, min_count=10, replicates=20) for p in (runs, runs[0]))
    assert found.n == single.n == 300
    for many, one in zip(found.groups, single.groups, strict=True):
        assert (many.name, many.n, many.share, many.small) == (one.name, one.n, one.share, one.small)
        assert many.excluded == one.excluded, many.name
    assert found.warnings == single.warnings


def test_runs_that_are_all_alike_say_what_one_of_them_says():
    """Five copies of a run are no more evidence about the rows than the run itself."""
    y, runs, g = runs_of()
    found, single = (evenhand.audit(y, p, g, replicates=600) for p in (np.stack([runs[0]] * 5), runs[0]))
    for many, one in zip((*found.groups, found.overall), (*single.groups, single.overall), strict=True):
        assert many.rates == pytest.approx(one.rates, nan_ok=True)
        assert many.intervals["tpr"] == pytest.approx(one.intervals["tpr"], abs=1e-9)
        assert np.array(many.confusion).sum() == pytest.approx(one.n)
    for key in ("tpr.gap", "dp", "acc", "f1.worst", "cev", "sde"):
        many, one = found.metrics[key], single.metrics[key]
        assert many.value == pytest.approx(one.value), key
        assert 0.75 < (many.high - many.low) / (one.high - one.low) < 1.35, key


def test_bounds_of_runs_hold_their_value():
    """Two runs with opposite gaps: pooled they have none, but each has one."""
    y = np.ones(40, dtype=int)
    g = np.array(["a"] * 19 + ["b"] * 19 + [None] * 2, dtype=object)
    one = np.array([1] * 19 + [0] * 19 + [1, 1])
    other = np.array([0] * 19 + [1] * 19 + [1, 1])
    found = evenhand.audit(y, np.stack([one, other]), g, replicates=20).metrics["tpr.gap"]
    assert found.value == 1.0
    assert found.bounds[0] <= 1.0 <= found.bounds[1]
    assert found.bounds[0] == pytest.approx(1 - 2 / 21)


def test_the_value_with_small_groups_is_there_for_runs_too():
    y, runs, g = runs_of()
    g[:6] = "tiny"
    found = evenhand.audit(y, runs, g, min_count=10, replicates=0).metrics["tpr.gap"]
    singles = [evenhand.audit(y, run, g, min_count=10, replicates=0).metrics["tpr.gap"] for run in runs]
    assert found.with_small == pytest.approx(np.mean([one.with_small for one in singles]))


def test_an_undefined_run_is_left_out():
    y, g = np.array([1, 0] * 10), ["a"] * 10 + ["b"] * 10
    runs = np.stack([y, np.zeros(20, dtype=int), 1 - y])
    found = evenhand.audit(y, runs, g, replicates=50).metrics["ppv.gap"]
    assert found.runs.n == 2
    assert math.isnan(found.runs.values[1])


def test_runs_of_a_multilabel_task():
    rng = np.random.default_rng(3)
    y, g = rng.integers(0, 2, (80, 3)), rng.choice(["a", "b"], 80)
    runs = np.stack([np.where(rng.random(y.shape) < 0.8, y, 1 - y) for _ in range(4)])
    found = evenhand.audit(y, runs, g, replicates=20).metrics["tpr.gap"]
    apart = [evenhand.audit(y, run, g, replicates=0).metrics["tpr.gap"].value for run in runs]
    assert found.runs.values == pytest.approx(apart)


def test_infinite_values_over_runs():
    """Without smoothing, eps is infinite where a group is never predicted as a class."""
    y, g = np.array([1, 0] * 10), np.array(["a"] * 10 + ["b"] * 10)
    runs = np.stack([y, np.where(g == "a", y, 0), np.zeros(20, dtype=int)])
    found = evenhand.audit(y, runs, g, smoothing=0, replicates=50).metrics["eps"]
    assert math.isinf(found.runs.max)
    assert found.runs.min < math.inf


@pytest.mark.parametrize("groups", [[None] * 300, ["a"] * 300])
def test_runs_without_groups_to_compare(groups):
    y, runs, _ = runs_of()
    found = evenhand.audit(y, runs, groups, replicates=20)
    assert math.isnan(found.metrics["tpr.gap"].value)
    assert found.overall.rates["accuracy"] == pytest.approx(np.mean(runs == y))
