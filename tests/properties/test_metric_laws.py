"""Laws that hold for every table of counts: ranges, symmetries, identities, and undefined that stays so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.rates import RATES
from evenhand.metrics.view import View

SEVERAL = st.integers(2, 4)


def tables(groups=SEVERAL, classes=SEVERAL, least: int = 0):
    shapes = st.tuples(groups, classes).map(lambda size: (size[0], size[1], size[1]))
    return shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(least, 12)))


def just(groups: int, classes: int, least: int = 0):
    return tables(st.just(groups), st.just(classes), least)


def value(key: str, table, **view) -> float:
    return float(CATALOGUE[key](View(Counts.from_table(table).margins(), **view)))


def near(first: float, second: float) -> bool:
    return (math.isnan(first) and math.isnan(second)) or math.isclose(first, second, rel_tol=0, abs_tol=1e-9)


# -- ranges and undefined ---------------------------------------------------------------------------------
@given(tables())
def test_every_value_is_in_its_range_or_undefined(table):
    view = View(Counts.from_table(table).margins())
    for key in COUNT_METRICS:
        metric = CATALOGUE[key]
        found = np.append(metric.per_class(view), metric(view))
        found = found[~np.isnan(found)]
        assert ((metric.low - 1e-9 <= found) & (found <= metric.high + 1e-9)).all(), key


@given(tables())
def test_a_rate_is_undefined_exactly_where_it_has_no_cases(table):
    m = Counts.from_table(table).margins()
    cases = {
        "tpr": m.actual,
        "fnr": m.actual,
        "fpr": m.negatives,
        "tnr": m.negatives,
        "ppv": m.predicted,
        "npv": m.n - m.predicted,
        "for": m.n - m.predicted,
        "selection": m.n,
        "f1": m.actual + m.predicted,
    }
    for key, denominator in cases.items():
        assert np.array_equal(np.isnan(RATES[key].of(m)), denominator == 0), key


@given(tables())
def test_a_group_without_positives_never_has_a_true_positive_rate(table):
    table[0, 1] = 0
    m = Counts.from_table(table).margins()
    assert np.isnan(RATES["tpr"].of(m)[1, 0])
    if table.shape[-1] == 2:
        assert np.isnan(RATES["tpr"](m)[0])


@given(tables())
def test_a_group_without_rows_changes_nothing(table):
    more = np.concatenate([table, np.zeros_like(table[:1])])
    for key in COUNT_METRICS:
        assert near(value(key, table), value(key, more)), key


@given(tables())
def test_the_number_of_rows_does_not_matter_unless_it_is_smoothed(table):
    for key in COUNT_METRICS:
        if not key.startswith("eps"):
            assert near(value(key, table), value(key, 7 * table)), key
    for key in ("eps", "eps.positive"):
        assert near(value(key, table), value(key, 7 * table, smoothing=7.0)), key


# -- symmetries -------------------------------------------------------------------------------------------
def _depends_on_order(key: str) -> bool:
    return CATALOGUE[key].needs_privileged or key.startswith("ba")  # a tie in BA goes to the first group


@given(tables(), st.randoms())
def test_renaming_the_groups_permutes_the_rates_and_leaves_the_comparisons(table, random):
    order = random.sample(range(len(table)), len(table))
    for key, rate in RATES.items():
        first, second = rate(Counts.from_table(table)), rate(Counts.from_table(table[order]))
        assert np.allclose(first[order], second, equal_nan=True), key
    for key in COUNT_METRICS:
        if not _depends_on_order(key):
            assert near(value(key, table), value(key, table[order])), key


@given(just(3, 2, least=1), st.randoms())
def test_the_privileged_group_may_stand_anywhere(table, random):
    order = random.sample(range(3), 3)
    for key in COUNT_METRICS:
        if CATALOGUE[key].needs_privileged:
            assert near(value(key, table), value(key, table[order], privileged=order.index(0))), key


@given(tables(), st.randoms())
def test_renaming_the_classes_permutes_the_values_of_the_classes(table, random):
    order = random.sample(range(table.shape[-1]), table.shape[-1])
    renamed = table[:, order][:, :, order]
    first, second = (View(Counts.from_table(t).margins()) for t in (table, renamed))
    for key in ("tpr.gap", "selection.ratio", "dp", "fpsf", "ba", "eps", "f1.worst"):
        assert np.allclose(
            CATALOGUE[key].per_class(first)[order], CATALOGUE[key].per_class(second), equal_nan=True
        )


@given(tables())
def test_gap_ratio_worst_and_best_tell_one_story(table):
    view = View(Counts.from_table(table).margins())
    for rate in RATES:
        gap, ratio, worst, best, spread = (
            CATALOGUE[f"{rate}.{how}"].per_class(view) for how in ("gap", "ratio", "worst", "best", "spread")
        )
        several = ~np.isnan(gap)
        assert np.allclose(gap[several], np.abs(best - worst)[several])
        assert (spread[several] <= gap[several] / 2 + 1e-9).all()
        if RATES[rate].low >= 0:
            low, high = np.fmin(worst, best), np.fmax(worst, best)
            usable = several & (high > 0)
            assert np.allclose(ratio[usable], low[usable] / high[usable])


@given(tables())
def test_the_groups_that_decide_a_gap_attain_it(table):
    view = View(Counts.from_table(table).margins())
    for rate in RATES:
        metric = CATALOGUE[f"{rate}.gap"]
        for place, gap in enumerate(metric.per_class(view)):
            if not math.isnan(gap):
                highest, lowest = metric.statistic.deciders(view)[place]
                rates = view.rate(rate)[place]
                assert rates[highest] - rates[lowest] == gap


# -- identities -------------------------------------------------------------------------------------------
@given(tables())
def test_complements_add_up_to_one(table):
    m = Counts.from_table(table).margins()
    for one, other in (("tpr", "fnr"), ("fpr", "tnr"), ("npv", "for")):
        total = RATES[one].of(m) + RATES[other].of(m)
        assert np.allclose(total[~np.isnan(total)], 1.0)
    for one, other in (("tpr.gap", "fnr.gap"), ("fpr.gap", "tnr.gap"), ("npv.gap", "for.gap")):
        assert near(value(one, table), value(other, table))


@given(just(2, 3))
def test_spsf_of_two_groups_is_dp_times_twice_the_product_of_the_shares(table):
    total = table.sum()
    if total:
        share = table[0].sum() / total
        assert near(value("spsf", table), 2 * share * (1 - share) * value("dp", table))


@given(just(2, 2, least=1))
def test_eotp_is_eofp_on_a_binary_task(table):
    assert near(value("eotp", table), value("eofp", table))


@given(tables(st.integers(2, 4), st.just(2)))
def test_the_odds_family_is_one_family(table):
    odds = value("odds.mean", table)
    assert near(value("delta_eo", table), 2 * odds)
    assert near(value("eqodd", table), 1 - odds)
    assert near(value("eqodd", table), (value("eqopp0", table) + value("eqopp1", table)) / 2)
    assert near(value("delta_eopp", table), value("fpr.gap", table))
    assert near(value("delta_dp", table), 1 - value("dp_score", table))
    assert math.isnan(odds) or odds <= value("odds.max", table) <= 2 * odds + 1e-9


@given(just(2, 2, least=1))
def test_parity_scores_of_two_groups_are_those_with_a_privileged_group(table):
    assert near(value("dp_score", table), value("s3.cv", table))
    assert near(value("eqopp1", table), value("s3.tpr.diff", table))
    assert near(value("eqopp0", table), value("s3.fpr.diff", table))
    assert near(value("acc_mean", table), value("acc_u", table))
    impact = value("s3.di_binary", table)
    assert near(value("selection.ratio", table), min(impact, 1 / impact))


@given(just(3, 2))
def test_accuracy_of_label_and_group_cells_is_balanced_accuracy_of_each_group(table):
    """With all cells there, the mean over label x group cells is the mean of the balanced accuracies."""
    table = table + 1
    rates = RATES["balanced_accuracy"](Counts.from_table(table))
    assert near(value("acc_u.label_attr", table), float(rates.mean()))
    assert near(value("acc_u", table), float(RATES["accuracy"](Counts.from_table(table)).mean()))
    assert near(value("min_acc", table), value("accuracy.worst", table))


@given(just(2, 2, least=1))
def test_epsilon_is_the_logarithm_of_the_ratio(table):
    per_class = CATALOGUE["eps"].per_class(View(Counts.from_table(table).margins(), smoothing=0.0))
    assert near(per_class[1], -math.log(value("selection.ratio", table)))


@given(tables())
def test_epsilon_is_finite_with_smoothing(table):
    found = value("eps", table)
    assert math.isnan(found) or math.isfinite(found)


@pytest.mark.parametrize("key", ["tpr", "f1", "selection"])
@given(table=tables(classes=st.just(3)))
def test_one_vs_rest_of_many_classes_is_a_binary_table_each(key, table):
    """Class k against the rest, written as a two-class table, has the same rate."""
    for label in range(3):
        rest = [other for other in range(3) if other != label]
        two = np.empty((len(table), 2, 2), dtype=np.int64)
        two[:, 1, 1], two[:, 1, 0] = table[:, label, label], table[:, label, rest].sum(-1)
        two[:, 0, 1] = table[:, rest, label].sum(-1)
        two[:, 0, 0] = table[:, rest][:, :, rest].sum((-1, -2))
        many = RATES[key](Counts.from_table(table), per_class=True)[label]
        assert np.allclose(many, RATES[key](Counts.from_table(two)), equal_nan=True)
