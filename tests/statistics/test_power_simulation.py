"""Simulated power against closed forms, exact tables and itself."""

import math

import numpy as np
import pytest
from scipy.stats import mannwhitneyu, norm, rankdata, t, wilcoxon

from evenhand.errors import InputError
from evenhand.statistics.planning import (
    STILL,
    STILL_PAIRS,
    plan_runs,
    runs_by_formula,
    runs_needed,
    smallest_difference,
)
from evenhand.statistics.power import attainable_p, detectable_difference, power_to_see
from evenhand.statistics.power_simulation import Imagined, wilson
from evenhand.statistics.rank_limits import NEVER, limit_of_signed_ranks, limit_of_u
from evenhand.statistics.rank_sums import sums_of_risen, sums_of_second

NORMAL = norm.ppf((np.arange(400) + 0.5) / 400)  # as even a normal sample as there can be
MANY = 8000


def spread(shape=NORMAL, test="welch", paired=False, **more):
    other = shape + shape[::-1] * 0 if paired else shape
    return Imagined.of(
        np.zeros_like(shape) if paired else shape, other, test, paired, **{"draws": MANY, **more}
    )


@pytest.mark.parametrize(("n", "m"), [(4, 4), (5, 9), (8, 8), (16, 16), (20, 13)])
@pytest.mark.parametrize("alpha", [0.05, 0.01])
def test_the_limits_of_u_are_those_of_exact_p_values(n, m, alpha):
    limit = limit_of_u(n, m, alpha)

    def exact(u):
        """Two-sided p of a sample with that U: ranks dealt so that u of the pairs are the other way round."""
        base = np.arange(n, dtype=float)
        other = np.full(m, 1000.0) + np.arange(m)
        for place in range(n):  # lift base values over as many others as are needed
            over = min(u, m)
            base[-1 - place] = 1000 + over - 0.5 - place * 1e-3
            u -= over
            if not u:
                break
        return mannwhitneyu(base, other, method="exact").pvalue

    assert exact(limit) <= alpha < exact(limit + 1) if limit > NEVER else exact(0) > alpha


def test_the_limits_of_signed_ranks_are_those_of_exact_p_values():
    for n in (6, 9, 16, 25):
        limit = limit_of_signed_ranks(n, 0.05)
        for w, wanted in ((limit, True), (limit + 1, False)):
            signs, left = np.full(n, -1.0), w
            for rank in range(n, 0, -1):
                if rank <= left:
                    signs[rank - 1], left = 1.0, left - rank
            assert (wilcoxon(signs * np.arange(1, n + 1), method="exact").pvalue <= 0.05) == wanted


def test_limits_exist_exactly_where_a_p_value_can_be_reached():
    for n in range(2, 12):
        assert (limit_of_u(n, n, 0.05) > NEVER) == (attainable_p("mann-whitney", n, n) <= 0.05)
        assert (limit_of_signed_ranks(n, 0.05) > NEVER) == (attainable_p("wilcoxon", n, n) <= 0.05)
    assert (
        abs(limit_of_u(50, 50, 0.05) - (limit_of_u(51, 51, 0.05) - 42)) <= 1
    )  # counting, then approximating


@pytest.mark.parametrize("paired", [False, True])
def test_of_normal_runs_the_t_test_has_the_power_of_its_formula(paired):
    found = spread(paired=paired)
    for difference, runs in ((0.8, 8), (0.8, 24), (0.3, 60)):
        wanted = power_to_see(difference, found.std, runs, paired=paired)
        one = found.power(difference, runs)
        assert abs(one.power - wanted) < 4 * math.sqrt(wanted * (1 - wanted) / MANY) + 0.01
        assert one.low < one.power < one.high
    assert found.std == pytest.approx((1.0, 1.0), abs=0.002)


@pytest.mark.parametrize("paired", [False, True])
def test_ranks_need_pi_thirds_of_the_runs_under_normal_values(paired):
    """Pitman's efficiency of the rank tests is 3 / pi = 0.955 of the t-test's."""
    means, ranks = (
        runs_needed(spread(test=test, paired=paired), 0.35, 0.8).runs for test in ("welch", "mann-whitney")
    )
    assert ranks / means == pytest.approx(math.pi / 3, abs=0.06)


def test_ranks_need_fewer_runs_where_tails_are_heavy():
    heavy = t.ppf((np.arange(400) + 0.5) / 400, df=3)
    heavy /= heavy.std()
    means, ranks = (runs_needed(spread(heavy, test), 0.5, 0.8).runs for test in ("welch", "mann-whitney"))
    assert ranks < 0.75 * means


@pytest.mark.parametrize("test", ["welch", "mann-whitney"])
def test_without_a_difference_the_level_is_kept(test):
    skewed = np.array([0.0, 0.0, 0.1, 0.2, 1.5])  # five runs, of which one is far out
    unequal = Imagined.of(skewed, NORMAL[::40], test, draws=MANY)
    for found in (spread(test=test), unequal):
        for runs in (8, 16, 40):
            assert found.power(0.0, runs).power < 0.075
    assert spread(test=test).power(0.0, 16).power > 0.03


def test_a_smaller_difference_more_power_and_a_stricter_level_need_more_runs():
    base, other = 0.3 + 0.01 * NORMAL[::25], 0.25 + 0.02 * NORMAL[::25]
    needed = plan_runs(base, other, 0.02).runs
    assert needed < plan_runs(base, other, 0.01).runs
    assert needed < plan_runs(base, other, 0.02, power=0.95).runs
    assert needed < plan_runs(base, other, 0.02, alpha=0.01).runs
    assert needed == plan_runs(10 * base, 10 * other + 3, 0.2).runs  # neither level nor unit matters
    assert plan_runs(base, other, 0.02) == plan_runs(base, other, 0.02)  # seeded
    assert plan_runs(base, other, 0.02).own != plan_runs(base, other, 0.02, seed=1).own


def test_what_runs_can_see_they_see_with_the_wanted_chance():
    found = spread(draws=2000)
    for runs, power in ((8, 0.8), (16, 0.9)):
        seen = smallest_difference(found, runs, power)
        assert found.power(seen, runs).power == pytest.approx(power, abs=0.001)
        assert seen == pytest.approx(detectable_difference(found.std[0], runs, power=power), rel=0.05)


def test_pairs_see_through_what_a_seed_does_to_both():
    seeds = np.random.default_rng(0).normal(0, 0.05, 16)
    noise = np.random.default_rng(1).normal(0, 0.004, (2, 16))
    base, other = 0.3 + seeds + noise[0], 0.28 + seeds + noise[1]
    apart, together = (plan_runs(base, other, 0.01, paired=paired) for paired in (False, True))
    assert together.runs < 12 < 100 < apart.runs
    assert together.detectable < apart.detectable / 5


def test_runs_by_formula_are_those_of_cohens_tables():
    """Cohen 1988, table 2.4.1: two-sided 0.05, n of each for d = 0.2, 0.5, 0.8 and power 0.8; 0.5 at 0.9."""
    assert [runs_by_formula(d, (1.0, 1.0)) for d in (0.2, 0.5, 0.8)] == [394, 64, 26]
    assert runs_by_formula(0.5, (1.0, 1.0), power=0.9) == 86
    assert math.isnan(runs_by_formula(1e-6, (1.0, 1.0)))


def test_the_range_is_that_of_the_deviation():
    narrow, wide = (plan_runs(NORMAL[::k], NORMAL[::k], 0.7) for k in (10, 80))  # 40 and 5 runs
    assert narrow.runs_low < narrow.runs < narrow.runs_high
    assert wide.runs_high / wide.runs > 2 * narrow.runs_high / narrow.runs
    assert "rough guess" in plan_runs([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], 1.0).notes[-1]


def test_runs_that_do_not_vary_need_no_second_one_and_that_is_said():
    plan = plan_runs([0.1] * 3, [0.2] * 3, 0.01)
    assert (plan.runs, plan.detectable, plan.own, plan.notes) == (1, 0.0, None, (STILL,))
    shifted = plan_runs([0.125, 0.25, 0.5], [0.375, 0.5, 0.75], 0.01, paired=True)  # sums without rounding
    assert (shifted.runs, shifted.std, shifted.notes) == (1, (0.0, 0.0), (STILL_PAIRS,))
    half = plan_runs([0.1] * 8, 0.2 + 0.01 * NORMAL[::50], 0.01)
    assert 4 < half.runs < 40
    assert any("one side are equal" in note for note in half.notes)


def test_what_cannot_be_planned_is_said_and_not_guessed():
    for base in ([0.1], [], [0.1, math.nan]):
        plan = plan_runs(base, [0.2, 0.3], 0.01)
        assert math.isnan(plan.runs)
        assert plan.to_dict()["runs"] is None
        assert "needs 2 runs of each side" in plan.notes[0]
    three = plan_runs([0.1, 0.2, 0.3], [0.4, 0.5, 0.7], 0.05)
    assert math.isnan(three.detectable)
    assert three.own.power == 0.0
    assert any("no outcome of 3 and 3 runs reaches p = 0.05" in note for note in three.notes)
    far = plan_runs(NORMAL[::50], NORMAL[::50], 1e-4)
    assert (far.to_dict()["runs"], "more than 1,000 runs" in far.notes[0]) == (None, True)
    assert plan_runs([0.1, math.inf], [0.2, 0.3], 0.01).notes == ("a value is infinite",)
    for wrong in (
        {"difference": 0.0},
        {"difference": math.nan},
        {"power": 1.0},
        {"alpha": 0.0},
        {"draws": 5},
    ):
        with pytest.raises(InputError):
            plan_runs([1, 2], [1, 2], **{"difference": 0.1, **wrong})


def test_wilsons_interval_is_the_one_of_the_textbook():
    assert wilson(0.5, 10) == pytest.approx((0.2366, 0.7634), abs=1e-4)
    assert wilson(0.0, 10)[0] == 0.0


def test_a_power_that_so_few_draws_do_not_tell_is_refused_and_more_draws_tell_it():
    """Of 2,000 studies 0.002 would miss at a power of 0.999999: fewer runs than needed looked enough."""
    base, other = 0.3 + 0.01 * NORMAL[::25], 0.25 + 0.02 * NORMAL[::25]
    with pytest.raises(InputError, match=r"tell a power of 0.999 from 1: draw 10,000 .* at most 0.995$"):
        plan_runs(base, other, 0.02, power=0.999)
    with pytest.raises(InputError, match=r"nor would 100,000.*at most 0.995, or 0.9999 with --draws 100000"):
        plan_runs(base, other, 0.02, power=0.999999)
    plan = plan_runs(base, other, 0.02, power=0.999, draws=10_000, test="welch")
    assert plan.runs == pytest.approx(plan.formula, rel=0.1)
    assert plan.at_runs.low < 0.999 <= plan.at_runs.power


def test_many_draws_of_many_runs_come_in_blocks(monkeypatch):
    found = spread(draws=4000, fewest=4000)
    whole = found.power(0.2, 300)
    monkeypatch.setattr("evenhand.statistics.power_simulation.BLOCK", 90_000)
    parts = found.power(0.2, 300)
    assert [len(block[0]) for block in found._blocks(300)] == [300] * 13 + [100]
    assert found.noise(300)[1].shape == (4000, 300)
    assert parts.power == pytest.approx(whole.power, abs=0.04)
    assert parts.high - parts.low == pytest.approx(whole.high - whole.low, rel=0.1)


def test_sums_of_ranks_are_those_of_scipy():
    rng = np.random.default_rng(3)
    for n, m in ((2, 2), (5, 9), (40, 40)):
        a, b = rng.normal(size=(50, n)), rng.normal(0.5, 2, size=(50, m))
        wanted = rankdata(np.concatenate([a, b], axis=1), axis=1)[:, n:].sum(axis=1)
        assert (sums_of_second(a, b) == wanted).all()
        risen = (rankdata(np.abs(b), axis=1) * (b > 0)).sum(axis=1)
        assert (sums_of_risen(b) == risen).all()
    still = sums_of_second(np.zeros((1, 3)), np.array([[-1.0, 0.5, 2.0]]))  # a side without any spread
    assert still.tolist() == [1 + 5 + 6]
