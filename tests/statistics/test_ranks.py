"""Ranks over problems: SciPy's Friedman, the published table of q, and diagrams worked by hand."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.statistics import (
    average_ranks,
    cliques,
    critical_difference,
    friedman,
    method_ranks,
    nemenyi,
    pairwise_wilcoxon,
    rank_methods,
    wilcoxon,
)

# q of Nemenyi's test at 0.05 for 2 to 10 methods, as printed in Demsar (2006), Table 5.
TABLE_Q = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
tables = st.integers(3, 6).flatmap(
    lambda k: st.lists(st.lists(st.integers(0, 5), min_size=k, max_size=k), min_size=2, max_size=8)
)


@pytest.mark.parametrize(("methods", "q"), list(enumerate(TABLE_Q, start=2)))
def test_the_table_of_q(methods, q):
    scale = math.sqrt(methods * (methods + 1) / (6 * 30))
    assert critical_difference(methods, 30) / scale == pytest.approx(q, abs=1e-3)


@given(tables)
def test_friedman_is_scipys(rows):
    values = np.array(rows, dtype=float)
    found = friedman(values)
    if found.reason:
        assert np.isnan(found.p)
        assert np.ptp(values, axis=1).max() == 0
        return
    expected = stats.friedmanchisquare(*values.T)
    assert (found.statistic, found.p) == pytest.approx((expected.statistic, expected.pvalue))
    assert friedman(-values, "higher").statistic == pytest.approx(found.statistic)
    assert friedman(values * 3 + 1).p == pytest.approx(found.p)


def test_demsars_worked_example():
    """Demsar (2006): 14 data sets, 4 methods, mean ranks 3.143, 2.000, 2.893, 1.964: chi2 9.28, F 3.69."""
    mean, n, k = np.array([3.143, 2.000, 2.893, 1.964]), 14, 4
    chi2 = 12 * n / (k * (k + 1)) * ((mean - 2.5) ** 2).sum()
    assert chi2 == pytest.approx(9.28, abs=0.02)
    assert (n - 1) * chi2 / (n * (k - 1) - chi2) == pytest.approx(3.69, abs=0.02)
    assert critical_difference(k, n, 0.10) == pytest.approx(1.12, abs=0.01)
    assert critical_difference(k, n) == pytest.approx(1.25, abs=0.01)


def test_iman_and_davenports_f():
    rng = np.random.default_rng(0)
    values = rng.random((10, 4)) + np.array([0, 0.1, 0.3, 0.5])
    found = friedman(values)
    f = 9 * found.statistic / (30 - found.statistic)
    assert (found.f, found.f_p) == pytest.approx((f, stats.f.sf(f, 3, 27)))
    agreed = friedman([[1, 2, 3]] * 4)
    assert agreed.f == math.inf
    assert agreed.f_p == pytest.approx(6.0**-3)  # the chance that three problems repeat the first


def test_the_chance_of_perfect_agreement_is_the_smallest_p():
    for n, k in ((3, 3), (5, 4)):
        assert friedman([list(range(k))] * n).p == pytest.approx(
            friedman(np.random.default_rng(0).random((n, k))).attainable
        )


def test_ranks_by_direction_and_ties():
    values = [[0.9, 0.8, 0.8], [1.2, 0.9, 1.0]]
    assert method_ranks(values).tolist() == [[3, 1.5, 1.5], [3, 1, 2]]
    assert method_ranks(values, "higher").tolist() == [[1, 2.5, 2.5], [1, 3, 2]]
    assert method_ranks(values, "nearer", ideal=1.0).tolist() == [[1, 2.5, 2.5], [3, 2, 1]]
    assert method_ranks([[0.1 + 0.2, 0.3]]).tolist() == [[1.5, 1.5]]  # equal but for rounding
    with pytest.raises(ValueError, match="'lower', 'higher' or 'nearer'"):
        method_ranks(values, "best")
    with pytest.raises(ValueError, match="problems by methods"):
        friedman([1, 2, 3])


def test_incomplete_problems_are_left_out_and_counted():
    whole = [[1, 2, 3], [2, 1, 3], [1, 3, 2]]
    found = friedman([*whole, [1, np.nan, 2]])
    assert (found.problems, found.left_out) == (3, 1)
    assert found.statistic == friedman(whole).statistic
    assert np.isnan(average_ranks([[np.nan, 1.0]])).all()


@pytest.mark.parametrize(
    ("values", "reason"),
    [([[1, 2], [2, 1], [1, 2]], "3 methods or more"), ([[1, 2, 3]], "at least 2 complete problems, not 1"),
     ([[1, 1, 1], [2, 2, 2]], "tie"), ([[1, 2, np.nan]], "not 0")],
)  # fmt: skip
def test_what_cannot_be_told(values, reason):
    found = rank_methods(values, ["a", "b", "c"][: len(values[0])])
    assert np.isnan(found.friedman.p)
    assert reason in found.words
    assert found.words.startswith("cannot tell")
    assert found.cliques == ()
    plain = found.to_dict()
    assert plain["critical_difference"] is None
    json.dumps(plain, allow_nan=False)


def test_words_of_the_test():
    few = rank_methods([[1, 2, 3]] * 2, ["a", "b", "c"])  # even perfect agreement: p = 0.135
    assert few.words.startswith("cannot tell: 2 problems are too few")
    assert rank_methods([[1, 2, 3]] * 6, "abc").words.startswith("the methods differ over 6 problems")
    mixed = [[1, 2, 3], [2, 3, 1], [3, 1, 2]] * 2
    assert rank_methods(mixed, "abc").words.startswith("no difference between the methods is shown")
    assert rank_methods(mixed, "abc").cliques == (("a", "b", "c"),) == few.cliques  # pairs are not looked at
    with pytest.raises(ValueError, match="2 names for 3 methods"):
        rank_methods(mixed, "ab")


def test_a_summary_is_sorted_by_rank():
    values = [[0.9, 0.1, 0.5], [0.8, 0.2, 0.6], [0.7, 0.1, 0.2], [0.9, 0.3, 0.4]]
    found = rank_methods(values, ["erm", "dro", "gap"])
    assert found.methods == ("dro", "gap", "erm")
    assert found.mean_ranks == (1.0, 2.0, 3.0)
    assert found.cliques == (("dro", "gap"), ("gap", "erm"))
    assert rank_methods(values, ["erm", "dro", "gap"], "higher").methods == ("erm", "gap", "dro")
    plain = found.to_dict()
    assert set(plain) >= {
        "methods",
        "mean_ranks",
        "problems",
        "friedman",
        "critical_difference",
        "cliques",
        "words",
    }
    assert plain["friedman"]["f"] is None  # infinite: the problems agree


@pytest.mark.parametrize(
    ("means", "width", "expected"),
    [
        ([1, 2, 3], 0.5, []),
        ([1, 2, 3], 1.0, [[0, 1], [1, 2]]),
        ([1, 2, 3], 5.0, [[0, 1, 2]]),
        ([3, 1, 2], 1.0, [[1, 2], [2, 0]]),
        ([1, 1.4, 1.5, 3, 3.2], 0.5, [[0, 1, 2], [3, 4]]),
        ([1, np.nan, 1.2], 0.5, [[0, 2]]),
        ([], 1.0, []),
        ([1, 2], np.nan, []),
    ],
)
def test_cliques(means, width, expected):
    assert cliques(means, width) == expected


@given(st.lists(st.floats(1, 9).map(lambda v: round(v, 1)), min_size=1, max_size=8), st.floats(0.1, 4))
def test_cliques_are_all_the_largest_sets_that_nothing_parts(means, width):
    found = [set(clique) for clique in cliques(means, width)]
    for clique in found:
        assert max(means[i] for i in clique) - min(means[i] for i in clique) <= width
        assert not any(clique < other for other in found)
    close = {(i, j) for i in range(len(means)) for j in range(i) if abs(means[i] - means[j]) <= width}
    assert close == {
        (i, j)
        for i, j in ((i, j) for i in range(len(means)) for j in range(i))
        if any({i, j} <= c for c in found)
    }


def test_nemenyi_meets_the_critical_difference():
    rng = np.random.default_rng(1)
    values = rng.random((20, 5)) + np.arange(5) * 0.15
    p, mean = nemenyi(values), average_ranks(values)
    apart = np.abs(mean[:, None] - mean) > critical_difference(5, 20)
    assert ((p < 0.05) == apart).all()
    assert (p == p.T).all()
    assert (np.diag(p) == 1).all()
    assert np.isnan(nemenyi([[1, 2, 3]])).all()


def test_two_methods_by_nemenyi_are_a_z_test():
    values = np.array([[1, 2]] * 9 + [[2, 1]] * 3)
    apart = (9 * 2 + 3 * 1 - 9 * 1 - 3 * 2) / 12  # mean ranks 1.25 and 1.75
    z = apart / math.sqrt(2 * 3 / (6 * 12))
    assert nemenyi(values)[0, 1] == pytest.approx(2 * stats.norm.sf(z), abs=1e-6)


def test_pairwise_wilcoxon_is_corrected_and_takes_what_is_there():
    rng = np.random.default_rng(2)
    values = rng.random((12, 3)) + np.array([0, 0.1, 0.8])
    values[0, 1] = np.nan
    found = pairwise_wilcoxon(values)
    raw = [wilcoxon(values[1:, 0], values[1:, 1]).p, wilcoxon(values[:, 0], values[:, 2]).p,
           wilcoxon(values[1:, 1], values[1:, 2]).p]  # fmt: skip
    assert found[0, 2] >= raw[1]
    assert sorted(found[np.triu_indices(3, 1)])[0] == pytest.approx(3 * min(raw))
    assert (found == found.T).all()


def test_where_the_whole_shows_nothing_pairs_are_not_looked_at():
    """Nine methods, drawn until one pair alone is beyond the width and Friedman's p above the level."""
    rng, names, found = np.random.default_rng(0), list("abcdefghi"), None
    while found is None or not (found.friedman.p > 0.05 and _farthest(found) > found.critical_difference):
        found = rank_methods(rng.normal(np.where(np.arange(9) == 8, 1.5, 0.0), size=(4, 9)), names)
    assert [len(clique) for clique in found.cliques] == [9]
    assert "no difference" in found.words


def _farthest(found):
    return found.mean_ranks[-1] - found.mean_ranks[0]
