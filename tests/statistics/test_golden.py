"""Every case of the golden file 11: the numbers of SciPy and statsmodels, on shared inputs."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.statistics import (
    bonferroni,
    compare_runs,
    correct,
    correlate,
    correlation_matrix,
    effect,
    friedman,
    mann_whitney,
    method_ranks,
    variance_row,
)

INPUTS = {"baseline", "scores_blocks_by_treatments", "x", "p_values"}


def cases(golden, key):
    found = [case for case in golden("11_statistics")["cases"] if key in case["inputs"]]
    assert found
    return found


def test_no_case_of_the_file_is_of_a_kind_without_a_test(golden):
    for case in golden("11_statistics")["cases"]:
        assert INPUTS & set(case["inputs"]), case["name"]


def test_exact_mann_whitney(golden, assert_close):
    known = [case for case in cases(golden, "baseline") if "mannwhitney_exact_two-sided" in case["expected"]]
    assert known
    for case in known:
        found = mann_whitney(case["inputs"]["baseline"], case["inputs"]["mitigation"], method="auto")
        expected = case["expected"]["mannwhitney_exact_two-sided"]
        assert found.method == "exact"
        assert_close([found.statistic, found.p], [expected["u"], expected["p"]], case["tolerance"])


def test_effect_and_artifact_comparison(golden, assert_close):
    for case in cases(golden, "baseline"):
        base, other = case["inputs"]["baseline"], case["inputs"]["mitigation"]
        expected = case["expected"]
        assert_close(effect(base, other).d, expected["cohens_d_pooled_ddof1"], case["tolerance"])
        found = compare_runs(base, other, convention="artifact")
        assert found.test.alternative == expected["posthoc_side"]
        p = expected[f"mannwhitney_asymptotic_{expected['posthoc_side']}"]["p"]
        assert_close(found.test.p, p, case["tolerance"])
        rows = [variance_row(values) for values in (base, other)]
        assert_close([row.stdev for row in rows], expected["population_std"], case["tolerance"])
        assert_close([row.max_diff for row in rows], expected["max_diff"], case["tolerance"])


def test_friedman(golden, assert_close):
    for case in cases(golden, "scores_blocks_by_treatments"):
        values, expected = case["inputs"]["scores_blocks_by_treatments"], case["expected"]
        found = friedman(values)
        assert_close([found.statistic, found.p], [expected["statistic"], expected["p"]], case["tolerance"])
        assert_close(found.mean_ranks, expected["mean_ranks"], case["tolerance"])
        assert_close(method_ranks(values).mean(axis=0), expected["mean_ranks"], case["tolerance"])


def test_correlations(golden, assert_close):
    names = {
        "spearman": ("spearman_rho", "spearman_p"),
        "pearson": ("pearson_r", "pearson_p"),
        "kendall": ("kendall_tau_b", None),
    }
    for case in cases(golden, "x"):
        x, y, expected = case["inputs"]["x"], case["inputs"]["y"], case["expected"]
        for kind, (value, p) in names.items():
            if value in expected:
                found = correlate(x, y, kind)
                assert_close(found.value, expected[value], case["tolerance"])
                if p:
                    assert_close(found.p, expected[p], case["tolerance"])
        matrix = correlation_matrix(np.transpose([x, y]))
        assert_close(matrix.matrix[0, 1], expected["spearman_rho"], case["tolerance"])
        assert_close(matrix.p[1, 0], expected["spearman_p"], case["tolerance"])


@pytest.mark.parametrize(
    ("how", "key"), [("holm", "holm"), ("benjamini-hochberg", "fdr_bh"), ("bonferroni", "bonferroni")]
)
def test_corrections(golden, assert_close, how, key):
    for case in cases(golden, "p_values"):
        adjusted = correct(case["inputs"]["p_values"], how)
        assert_close(adjusted, case["expected"][key]["adjusted"], case["tolerance"])
        reject = (adjusted <= case["parameters"]["alpha"]).tolist()
        assert reject == case["expected"][key]["reject"]


def test_a_correction_that_there_is_not():
    with pytest.raises(ValueError, match="did you mean 'holm'"):
        correct([0.1], "holms")
    assert correct([0.01, 0.04], "none").tolist() == [0.01, 0.04]
    assert bonferroni([0.5, np.nan, 0.8])[0] == 1.0
