"""CEV and SDE: the hand checks of the specification, policies for zero rates, and what algebra says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import all_rows, cev, error_rates, measure, pair_measures, relative_changes, sde

BASE = (np.array([0.10, 0.20, 0.05]), np.array([0.20, 0.10, 0.25]))
OTHER = (np.array([0.12, 0.16, 0.05]), np.array([0.20, 0.15, 0.20]))
BIG = Counts.from_table([[[8, 1, 1], [2, 7, 1], [0, 2, 8]]])
SMALL = Counts.from_table([[[6, 3, 1], [1, 9, 0], [1, 3, 6]]])
rate = st.floats(0.01, 0.99)


def test_hand_check_1(assert_close):
    d_fpr, d_fnr = relative_changes(*BASE, *OTHER)
    assert_close(d_fpr, [0.2, -0.2, 0.0])
    assert_close(d_fnr, [0.0, 0.5, -0.2])
    assert_close(cev(*BASE, *OTHER), 0.113333, 5e-7)
    assert_close(sde(*BASE, *OTHER), 0.366667, 5e-7)


def test_hand_check_1_random_predictor(assert_close):
    random = np.full(3, 1 / 3), np.full(3, 2 / 3)
    assert_close(cev(*BASE, *random), 7.382716, 5e-7)
    assert_close(sde(*BASE, *random), 3.0)
    found = pair_measures(*BASE, *OTHER)
    assert_close(found["cev_norm"], 0.015351, 5e-7)
    assert_close(found["sde_norm"], 0.122222, 5e-7)
    assert found["skipped"] == 0
    ones = pair_measures(*BASE, *random)
    assert_close([ones["cev_norm"], ones["sde_norm"]], [1.0, 1.0])


def test_hand_check_2(assert_close):
    assert_close(measure("cev", BIG, SMALL).value, 1.006173, 5e-7)
    assert_close(measure("sde", BIG, SMALL).value, 1.388889, 5e-7)
    assert_close(measure("cev_norm", BIG, SMALL).value, 1.006173 / 0.548697, 2e-6)  # 1.83, above 1
    fpr, fnr = (side[0] for side in error_rates(all_rows(BIG)))
    assert_close(cev(fpr, fnr, np.full(3, 1 / 3), np.full(3, 2 / 3)), 0.548697, 5e-7)
    assert sde(fpr, fnr, np.full(3, 1 / 3), np.full(3, 2 / 3)) == pytest.approx(0.0, abs=1e-12)


def test_a_vanishing_normaliser_leaves_no_value():
    got = measure("sde_norm", BIG, SMALL)
    assert np.isnan(got.value)
    assert "SDE below 1e-09" in got.reason
    assert measure("cev_norm", BIG, SMALL).reason is None


def test_the_roles_are_not_symmetric(assert_close):
    assert_close([measure("cev", BIG, SMALL).value, measure("cev", SMALL, BIG).value], [1.0062, 1.7778], 1e-4)


def test_measure_says_what_it_was_made_of(assert_close):
    base = Counts.from_table([[[9, 1, 0], [1, 9, 0], [0, 0, 10]]])  # class 2 has base rates of 0
    got = measure("cev", base, SMALL)
    assert got.skipped == 1
    assert np.isnan([got.fpr_change[2], got.fnr_change[2]]).all()
    assert_close(got.fnr_change[:2], [(0.4 - 0.1) / 0.1, (0.1 - 0.1) / 0.1])


def test_without_any_class_there_is_no_value():
    perfect = Counts.from_table([[[5, 0], [0, 5]]])
    got = measure("sde", perfect, Counts.from_table([[[4, 1], [2, 3]]]))
    assert np.isnan(got.value)
    assert got.skipped == 2
    assert "every one" in got.reason


@given(rate, rate, rate, rate)
def test_two_classes_make_cev_redundant(a, b, c, d):
    """A4.4: CEV = SDE^2 / 2, and after normalisation CEV_n = SDE_n^2."""
    fpr, fnr = np.array([a, b]), np.array([b, a])  # the errors of one class are the misses of the other
    found = pair_measures(fpr, fnr, np.array([c, d]), np.array([d, c]))
    assert found["cev"] == pytest.approx(found["sde"] ** 2 / 2)
    if np.isfinite(found["cev_norm"]) and np.isfinite(found["sde_norm"]):
        assert found["cev_norm"] == pytest.approx(found["sde_norm"] ** 2, rel=1e-6)


@pytest.mark.parametrize(
    ("published_cev", "published_sde"),
    [(0.013557, 0.115002), (0.012737, 0.093218), (0.012089, 0.109744), (0.000736, 0.027081),
     (0.000107, 0.010341), (0.000941, 0.030619)],
)  # fmt: skip
def test_published_table_3_is_normalised(published_cev, published_sde):
    """A mean of squares over 5 runs is at least the squared mean; the un-normalised law would halve it."""
    assert published_cev >= published_sde**2 - 1e-6


@given(st.lists(st.tuples(rate, rate, rate, rate), min_size=2, max_size=6))
def test_both_are_zero_where_all_classes_move_alike(rows):
    fpr, fnr, _, _ = np.array(rows).T
    assert cev(fpr, fnr, fpr * 1.1, fnr * 1.1) == pytest.approx(0.0, abs=1e-12)
    assert sde(fpr, fnr, fpr * 1.1, fnr * 1.1) == pytest.approx(0.0, abs=1e-12)


@given(st.lists(st.tuples(rate, rate, rate, rate), min_size=2, max_size=6))
def test_cev_is_the_sum_of_two_population_variances(rows):
    base_fpr, base_fnr, fpr, fnr = np.array(rows).T
    changes = (fpr - base_fpr) / base_fpr, (fnr - base_fnr) / base_fnr
    assert cev(base_fpr, base_fnr, fpr, fnr) == pytest.approx(sum(np.var(change) for change in changes))
    assert sde(base_fpr, base_fnr, fpr, fnr) == pytest.approx(np.abs(changes[1] - changes[0]).mean())


def test_skipping_a_class_is_leaving_it_out(assert_close):
    zero = (np.append(BASE[0], 0.0), np.append(BASE[1], 0.3))
    other = (np.append(OTHER[0], 0.1), np.append(OTHER[1], 0.2))
    found = pair_measures(*zero, *other)
    assert_close(found["cev"], cev(*BASE, *OTHER))
    assert_close(found["sde"], sde(*BASE, *OTHER))
    assert found["skipped"] == 1


def test_the_cev_of_one_class_is_undefined_and_not_zero():
    """Nothing varies where there is one; what moved and by how much is still said by SDE."""
    assert np.isnan(cev([0.1], [0.2], [0.3], [0.4]))
    assert sde([0.1], [0.2], [0.3], [0.4]) == pytest.approx(1.0)  # |1 - 2|
    base = Counts.from_table([[[40, 10, 0], [3, 47, 0], [0, 0, 50]]])  # the last class is never missed
    other = Counts.from_table([[[20, 30, 0], [3, 47, 0], [0, 0, 50]]])
    two = measure("cev", base, other)
    assert two.skipped == 1
    assert two.value > 0
    one = measure("cev", Counts.from_table([[[40, 10, 0], [0, 50, 0], [3, 0, 47]]]), other)
    assert one.skipped == 2  # of the second no row is missed, the third is never predicted wrongly
    assert np.isnan(one.value)
    assert "one class alone" in one.reason
    assert np.isfinite(
        measure("sde", Counts.from_table([[[40, 10, 0], [0, 50, 0], [3, 0, 47]]]), other).value
    )


def test_eps_reads_zero_as_a_millionth(assert_close):
    d_fpr, _ = relative_changes([0.0], [0.5], [0.1], [0.5], "eps")
    assert_close(d_fpr, [(0.1 - 1e-6) / 1e-6])


def test_raise_names_the_classes():
    with pytest.raises(ValueError, match=r"classes \[1\]"):
        cev([0.1, 0.0], [0.2, 0.2], [0.1, 0.1], [0.2, 0.2], "raise")
    assert cev(*BASE, *OTHER, "raise") == cev(*BASE, *OTHER)


def test_smooth_needs_counts(assert_close):
    with pytest.raises(ValueError, match="needs counts"):
        sde(*BASE, *OTHER, "smooth")
    base = Counts.from_table([[[9, 1, 0], [1, 9, 0], [0, 0, 10]]])
    got = measure("sde", base, SMALL, "smooth")
    assert got.skipped == 0
    assert_close(got.fnr_change[2], (4.5 / 11 - 0.5 / 11) / (0.5 / 11))
    assert_close(got.fpr_change[2], (1.5 / 21 - 0.5 / 21) / (0.5 / 21))


def test_a_class_without_rows_is_skipped_under_every_policy():
    empty = Counts.from_table([[[8, 2, 0], [1, 9, 0], [0, 0, 0]]])
    for policy in ("skip", "smooth", "eps"):
        assert measure("cev", empty, empty, policy).skipped == 1
        assert measure("cev", empty, empty, policy).value == 0.0
    with pytest.raises(ValueError, match=r"classes \[2\]"):
        measure("cev", empty, empty, "raise")


def test_all_rows_of_counts_include_the_unknown_group():
    counts = Counts.from_table([[[1, 2], [3, 4]], [[1, 0], [0, 1]]], unknown=[[10, 0], [0, 10]])
    assert all_rows(counts).n[0, 0] == 32
    assert all_rows(counts.margins()).n[0, 0] == 12


def test_labels_are_normalised_by_a_coin():
    """Each label of a multi-label task is present or absent: the random predictor has FPR = FNR = 1/2."""
    base = Counts.from_table([[[[8, 2], [1, 9]]], [[[7, 3], [4, 6]]]], multilabel=True)
    other = Counts.from_table([[[[7, 3], [2, 8]]], [[[7, 3], [3, 7]]]], multilabel=True)
    fpr, fnr = (side[0] for side in error_rates(all_rows(base)))
    got = measure("sde_norm", base, other).value
    assert got == pytest.approx(measure("sde", base, other).value / sde(fpr, fnr, [0.5, 0.5], [0.5, 0.5]))
