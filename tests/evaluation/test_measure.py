"""Count metrics of one grouping: which groups take part, who decided, what is skipped and why."""

import math

import numpy as np
import pytest

import evenhand
from evenhand.evaluation.measure import frame_of, measure, unknown_margins, without_unseen_classes
from evenhand.evaluation.options import Options
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts

TABLE = [[[30, 10], [10, 50]], [[20, 20], [30, 30]], [[1, 0], [1, 1]]]


def frame(table=TABLE, unknown=None, **options):
    counts = Counts.from_table(table, unknown)
    rows = counts.table.sum(axis=(-1, -2))
    names = tuple("abcdef"[: len(rows)])
    classes = tuple(str(k) for k in range(counts.n_classes))
    return frame_of(counts, rows, names, classes, Options(**{"replicates": 0, **options}))


def one(key, made):
    return measure(made, [CATALOGUE[key]])[key]


def test_groups_that_take_part():
    assert frame().chosen_names == ("a", "b", "c")
    assert frame(min_count=4).chosen_names == ("a", "b")
    assert frame(min_count=0).chosen_names == ("a", "b", "c")
    assert frame([[[0, 0], [0, 0]], TABLE[0]]).chosen_names == ("b",)


def test_the_group_that_decided_and_the_class():
    gap = one("tpr.gap", frame(min_count=4))
    assert gap.value == pytest.approx(50 / 60 - 30 / 60)
    assert gap.decided_by == ("a", "b")
    assert gap.decided_in == "1"
    worst = one("accuracy.worst", frame(min_count=4))
    assert (worst.value, worst.decided_by) == (0.5, ("b",))


def test_the_value_that_includes_small_groups():
    gap = one("fpr.gap", frame(min_count=4))
    assert (gap.value, gap.with_small) == (0.25, 0.5)
    assert one("fpr.gap", frame()).with_small is None


def test_bounds_of_a_hand_case():
    """Ten positives in each group, 8 and 5 hit; one hit and one miss of unknown group."""
    made = frame([[[0, 0], [2, 8]], [[0, 0], [5, 5]]], unknown=[[0, 0], [1, 1]])
    low, high = one("tpr.gap", made).bounds
    assert low == pytest.approx(8 / 11 - 6 / 11)
    assert high == pytest.approx(9 / 11 - 5 / 11)
    assert unknown_margins(made.counts).n.tolist() == [[2], [2]]


def test_bounds_are_never_below_the_range():
    made = frame([[[0, 0], [2, 8]], [[0, 0], [5, 5]]], unknown=[[0, 0], [40, 40]])
    low, high = one("tpr.gap", made).bounds
    assert low == 0
    assert 0.8 < high <= 1


def test_a_bound_of_zero_has_no_minus_sign():
    """It would be printed, and written into the JSON."""
    table = [[[5, 1, 0], [1, 5, 0], [0, 1, 5]]] * 2
    made = frame(table, unknown=[[1, 1, 0], [1, 1, 1], [0, 1, 1]])
    assert str(one("tpr.gap", made).bounds[0]) == "0.0"


@pytest.mark.parametrize("convention", ["paper", "artifact"])
def test_bounds_are_for_the_strict_convention(convention):
    made = frame(TABLE[:2], unknown=[[1, 0], [0, 1]], convention=convention)
    assert one("dp", made).bounds is None


def test_no_group_has_enough_rows():
    found = one("tpr.gap", frame(min_count=10_000))
    assert math.isnan(found.value)
    assert found.undefined == ("no group has enough rows",)


def test_a_single_group_has_nothing_to_compare():
    found = one("tpr.gap", frame(TABLE[:1]))
    assert math.isnan(found.value)
    assert found.undefined == ("a comparison needs two groups with enough rows",)


def test_a_comparison_skips_undefined_groups_and_names_them():
    found = one("fpr.gap", frame([[[0, 0], [3, 7]], *TABLE[:2]]))
    assert found.value == pytest.approx(0.25)
    assert found.decided_by == ("c", "b")
    assert found.skipped_groups == 1
    assert found.undefined == ("false positive rate of a for class 1: no negatives",)


def test_reasons_do_not_run_on_for_ever():
    table = [[[0, 0], [k + 1, 1]] for k in range(6)]
    found = one("odds.max", frame(table))
    assert len(found.undefined) <= 9
    assert math.isnan(found.value)


def test_predictions_of_a_class_that_is_never_the_truth():
    counts = Counts.from_table([[[3, 1, 1], [2, 2, 1], [0, 0, 0]]] * 2)
    assert without_unseen_classes(counts).table.sum() == 16
    assert without_unseen_classes(counts).table[..., 2].sum() == 0


def test_intervals_of_perfect_small_groups_have_a_width():
    """Three hits in three cases do not prove a rate of 1."""
    found = evenhand.audit(
        [1] * 3 + [1] * 100, [1] * 3 + [1, 0] * 50, ["s"] * 3 + ["b"] * 100, replicates=400
    )
    best = found.metrics["tpr.best"]
    assert best.value == 1.0
    assert best.low < 0.9
    gap = found.metrics["tpr.gap"]
    assert gap.low < 0.45


def test_intervals_of_precision_where_a_group_has_one_label_only():
    """Five rows, all positive and all predicted positive: the precision is not known to be 1."""
    y, p, g = [1] * 5 + [0] * 5, [1] * 10, ["a"] * 5 + ["b"] * 5
    gap = evenhand.audit(y, p, g, replicates=400).metrics["ppv.gap"]
    assert gap.value == 1.0
    assert gap.low < 0.9


def test_an_interval_needs_half_of_the_replicates():
    y = [1] + [0] * 60 + [1, 0] * 20
    p = [1] + [0] * 60 + [1, 0, 0, 1] * 10
    found = evenhand.audit(y, p, ["a"] * 61 + ["b"] * 40, replicates=200, resampling="whole").metrics[
        "tpr.gap"
    ]
    assert found.value == 0.5
    assert math.isnan(found.low) or found.low <= 0.5 <= found.high


def test_values_do_not_depend_on_the_number_of_replicates():
    rng = np.random.default_rng(0)
    y, p, g = (rng.integers(0, 3, 200) for _ in range(3))
    few, many = (evenhand.audit(y, p, g, replicates=count).metrics for count in (0, 50))
    for key, value in few.items():
        assert value.value == pytest.approx(many[key].value, nan_ok=True), key
