"""What may be said: power against SciPy and simulation, the smallest p, verdicts, many comparisons."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest
from scipy import stats

from evenhand.statistics import (
    attainable_p,
    compare_runs,
    correct,
    detectable_difference,
    effect,
    judge,
    mann_whitney,
    permutation_unpaired,
    power_to_see,
    verdict,
    wilcoxon,
)
from evenhand.statistics.imagined import best_corrected

APART = {
    "mann-whitney": lambda a, b: mann_whitney(a, b, method="auto"),
    "wilcoxon": wilcoxon,
    "permutation": permutation_unpaired,
}


@pytest.mark.parametrize("test", APART)
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6, 8])
def test_the_smallest_p_is_that_of_runs_far_apart(test, n):
    a, b = np.arange(n) + 100.0, np.arange(n) * 1.1
    assert attainable_p(test, n, n) == pytest.approx(APART[test](a, b).p)


def test_the_smallest_p_of_other_sizes_and_conventions():
    a, b = np.arange(5) + 100.0, np.arange(3) * 1.0
    assert attainable_p("mann-whitney", 5, 3) == pytest.approx(mann_whitney(a, b, method="auto").p)
    assert attainable_p("permutation", 5, 3) == pytest.approx(1 / 56)
    assert permutation_unpaired([0, 0, 0, 0, 1.0], [9, 10, 11.0]).p == pytest.approx(1 / 56)
    artifact = attainable_p("mann-whitney", 4, 4, convention="artifact")
    assert artifact == pytest.approx(mann_whitney([5, 6, 7, 8], [1, 2, 3, 4], "posthoc").p)
    many = attainable_p("mann-whitney", 60, 60)
    assert many == pytest.approx(mann_whitney(np.arange(60) + 100, np.arange(60)).p)
    assert attainable_p("permutation", 20, 20, paired=True, draws=999) == 0.001
    assert attainable_p("wilcoxon", 1, 1) == 1.0
    with pytest.raises(ValueError, match="did you mean 'wilcoxon'"):
        attainable_p("wilcoxen", 5, 5)


def test_six_pairs_or_four_and_four_runs_are_the_fewest():
    assert attainable_p("wilcoxon", 5, 5) > 0.05 >= attainable_p("wilcoxon", 6, 6)
    assert attainable_p("mann-whitney", 3, 3) > 0.05 >= attainable_p("mann-whitney", 4, 4)


@pytest.mark.parametrize(("n", "paired"), [(4, False), (16, False), (7, True)])
def test_power_is_the_tails_of_noncentral_t(n, paired):
    error = 0.02 * np.sqrt(1 / n if paired else 2 / n)
    freedom = n - 1 if paired else 2 * n - 2
    limit = stats.t.ppf(0.975, freedom)
    for difference in (0.0, 0.01, 0.03):
        far = difference / error
        expected = stats.nct.sf(limit, freedom, far) + stats.nct.cdf(-limit, freedom, far)
        assert power_to_see(difference, 0.02, n, paired=paired) == pytest.approx(expected, abs=1e-6)
    least = detectable_difference(0.02, n, paired=paired)
    assert power_to_see(least, 0.02, n, paired=paired) == pytest.approx(0.8, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "paired"), [((5, 5), False), ((12, 12), False), ((6, 14), False), ((8, 8), True)]
)
def test_the_detectable_difference_is_found_in_simulated_runs(n, paired):
    rng = np.random.default_rng(0)
    least = detectable_difference(1.0, n, paired=paired)
    base, other = rng.normal(size=(4000, n[0])), rng.normal(size=(4000, n[1])) + least
    if paired:
        found = stats.ttest_1samp(other, 0, axis=1).pvalue  # the differences themselves have deviation 1
    else:
        found = stats.ttest_ind(base, other, axis=1, equal_var=False).pvalue
    assert np.mean(found <= 0.05) == pytest.approx(0.8, abs=0.03)


def test_detectable_differences_that_do_not_exist():
    assert np.isnan(detectable_difference(0.1, 1))
    assert np.isnan(detectable_difference(np.nan, 5))
    assert detectable_difference(0.0, 5) == 0.0
    assert power_to_see(0.1, 0.0, 5) == 1.0
    assert detectable_difference((0.1, 0.3), (5, 9)) > detectable_difference((0.1, 0.3), (9, 18))


LOW = np.array([0.21, 0.20, 0.24, 0.22, 0.23, 0.19])
HIGH = LOW + np.array([0.1, 0.11, 0.09, 0.12, 0.13, 0.08])


@pytest.mark.parametrize("test", ["mann-whitney", "wilcoxon", "permutation"])
@pytest.mark.parametrize("paired", [False, True])
def test_the_four_verdicts(test, paired):
    def of(a, b):
        return compare_runs(a, b, test, paired=paired).verdict

    assert of(HIGH, LOW) == "lower"
    assert of(LOW, HIGH) == "higher"
    assert of(LOW, LOW[::-1]) == "no difference shown"
    assert of(HIGH[:3], LOW[:3]) == "not enough runs to tell"
    assert of(HIGH[:1], LOW[:1]) == "not enough runs to tell"
    assert of([np.nan] * 6, LOW) == "not enough runs to tell"


def test_constant_runs_are_one_run_each():
    found = compare_runs([0.5] * 8, [0.6] * 8)
    assert found.verdict == "not enough runs to tell"
    assert "one run" in found.why
    assert compare_runs([0.5] * 8, [0.5] * 8).verdict == "no difference shown"
    assert compare_runs([0.5] * 8, [0.5] * 8, "wilcoxon").verdict == "no difference shown"


def test_a_practical_size_that_would_be_missed():
    rng = np.random.default_rng(0)
    a, b = rng.normal(0, 0.1, (2, 6))
    plain = compare_runs(a, b)
    assert plain.verdict == "no difference shown"
    assert compare_runs(a, b, practical=plain.detectable * 1.01).verdict == "no difference shown"
    strict = compare_runs(a, b, practical=plain.detectable * 0.99)
    assert strict.verdict == "not enough runs to tell"
    assert "missed" in strict.why
    std = float(np.std(b - a, ddof=1))
    assert compare_runs(a, b, paired=True).detectable == pytest.approx(
        detectable_difference(std, 6, paired=True)
    )


def test_a_margin_shows_that_nothing_larger_is_there():
    rng = np.random.default_rng(1)
    a, b = 0.5 + rng.normal(0, 0.01, (2, 16))
    interval = effect(a, b, confidence=0.9)  # two one-sided tests at 0.05
    edge = max(abs(interval.low), abs(interval.high))
    assert compare_runs(a, b, margin=edge * 1.01).verdict == f"no difference larger than {edge * 1.01:g}"
    assert compare_runs(a, b, margin=edge * 0.99).verdict == "no difference shown"
    assert compare_runs(HIGH, LOW, margin=1.0).verdict == "lower"  # what was shown is said first


def test_the_mean_and_the_ranks_must_agree():
    base = np.append(np.arange(15) / 100, 50.0)
    other = np.append(np.arange(15) / 100 + 0.2, 0.2)  # higher in all but one, lower in the mean
    found = compare_runs(base, other)
    assert found.test.p < 0.05
    assert found.effect.difference < 0
    assert (found.verdict, found.test.label) == ("no difference shown", "NS")


def test_the_artifact_convention_is_the_studys_test():
    a, b = LOW, LOW + 0.012
    found = compare_runs(a, b, convention="artifact")
    assert found.test == mann_whitney(a, b, "posthoc")
    assert found.test.p < compare_runs(a, b).test.p  # one-sided, the side chosen afterwards
    with pytest.raises(ValueError, match="no convention 'S0'"):
        compare_runs(a, b, convention="S0")
    with pytest.raises(ValueError, match="no test 't'"):
        compare_runs(a, b, "t")


@pytest.mark.parametrize("how", ["holm", "benjamini-hochberg", "none"])
def test_many_comparisons_are_judged_together(how):
    rng = np.random.default_rng(2)
    alone = [
        compare_runs(*(rng.random((2, 8)) + np.array([[0], [0.6 * (place < 4)]]))) for place in range(12)
    ]
    alone.append(compare_runs([0.1], [0.2]))  # no test, not counted
    together = judge(alone, how)
    adjusted = correct([found.test.p for found in alone], how)
    assert [found.p_adjusted for found in together] == pytest.approx(adjusted, nan_ok=True)
    for found in together[:-1]:
        assert (found.verdict in ("lower", "higher")) == (found.p_adjusted <= 0.05)
    assert together[-1].verdict == "not enough runs to tell"
    assert judge([], how) == []


def test_a_family_of_tests_may_need_more_runs():
    """2 / C(10, 5) = 0.0079: one test of 5 and 5 runs can tell, the first of ten by Holm cannot."""
    nothing = compare_runs([1, 2, 3, 4, 5], [1.5, 0.5, 3.5, 4.5, 2.5])
    assert nothing.verdict == "no difference shown"
    assert {found.verdict for found in judge([nothing] * 6)} == {"no difference shown"}
    assert {found.verdict for found in judge([nothing] * 7)} == {"not enough runs to tell"}
    assert {found.verdict for found in judge([nothing] * 7, "none")} == {"no difference shown"}


def test_a_verdict_by_itself():
    found = mann_whitney(HIGH, LOW, method="auto")
    assert verdict(found, -0.1, 0.002).word == "lower"
    assert verdict(found, -0.1, 0.002, p=0.06, tests=20).word == "no difference shown"
    assert verdict(found, -0.1, 0.002, p=0.06, tests=30).word == "not enough runs to tell"


def test_a_comparison_is_plain_json():
    found = compare_runs([0.1], [0.2]).to_dict()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert (found["p"], found["band"], found["n"]) == (None, "undefined", [1, 1])
    full = compare_runs(HIGH, LOW, paired=True).to_dict()
    assert (full["verdict"], full["paired"], full["label"]) == ("lower", True, "-")
    assert full["low"] < full["difference"] < full["high"] < 0 < full["effect"]


@pytest.mark.parametrize("test", ["mann-whitney", "wilcoxon", "permutation"])
def test_swapping_the_roles_turns_the_verdict_round(test):
    rng = np.random.default_rng(3)
    turned = {"lower": "higher", "higher": "lower"}
    for _ in range(20):
        a, b = rng.random((2, 7)) + np.array([[0], [rng.random() - 0.5]])
        one, other = compare_runs(a, b, test), compare_runs(b, a, test)
        assert other.verdict == turned.get(one.verdict, one.verdict)
        assert other.effect.d == pytest.approx(-one.effect.d)
        assert other.superiority.delta == pytest.approx(-one.superiority.delta)


# -- many comparisons ------------------------------------------------------------------------------------
@pytest.mark.parametrize("how", ["holm", "benjamini-hochberg", "bonferroni", "none"])
def test_the_best_that_each_could_have_shown_is_the_whole_correction_done_again(how):
    rng = np.random.default_rng(0)
    for _ in range(150):
        p = np.round(rng.random(rng.integers(1, 12)) ** 2, rng.integers(1, 4))  # with ties
        p[rng.random(len(p)) < 0.15] = np.nan
        least = rng.choice([0.0, 0.01, 0.05, 0.3], len(p))
        found = best_corrected(p, least, how)
        for place in range(len(p)):
            imagined = p.copy()
            imagined[place] = np.fmin(least[place], p[place])
            assert found[place] == pytest.approx(correct(imagined, how)[place], abs=1e-12)


def test_thousands_of_comparisons_are_judged_at_once():
    rng = np.random.default_rng(0)
    some = [compare_runs(rng.normal(size=8), rng.normal(size=8)) for _ in range(50)]
    began = time.process_time()
    judged = judge(some * 100)
    assert time.process_time() - began < 2.0  # 0.03 s where it was written; 8 s one by one
    assert {found.verdict for found in judged} == {"not enough runs to tell"}  # 5000 x 2 / 12870


def test_nothing_to_judge():
    assert judge([]) == []
