"""Tests between two sets of runs: golden numbers, guards and, where its data is at hand, S0's outcomes."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.statistics.tests import (
    benjamini_hochberg,
    cohens_d,
    effect_band,
    holm,
    levene_relative,
    mann_whitney,
    relative_variance,
)

# S0 Figure 3, corrected: direction of the performance and of its relative variance against the baseline.
FIGURE_3 = """S-RS + NS; S-UC - +; S-GR - +; S-DD1 - NS; S-DD2 + NS; S-DD3 + NS; S-DD4 NS NS; S-DI1 + NS;
S-DI2 + NS; C-R1 - -; C-R2 - NS; C-R3 - NS; C-A4 - -; C-A5 - NS; I-R1 - NS; I-R2 - -; I-R3 - NS; I-A4 - -;
I-A5 - -; A-L2 - +; A-ALM - +; N-Flow + +"""
samples = st.lists(st.floats(0.01, 1).map(lambda v: round(v, 2)), min_size=3, max_size=12)


def cases(golden, key):
    return [case for case in golden("11_statistics")["cases"] if key in case["inputs"]]


def data_file(name):
    file = Path(os.environ.get("EVENHAND_DATA", "")) / name
    if not file.is_file():
        pytest.skip(f"needs {name} in EVENHAND_DATA")
    return file, pytest.importorskip("polars")


@pytest.mark.parametrize("side", ["less", "greater", "two-sided"])
def test_golden_mann_whitney(golden, assert_close, side):
    for case in cases(golden, "baseline"):
        found = mann_whitney(case["inputs"]["baseline"], case["inputs"]["mitigation"], side)
        expected = case["expected"][f"mannwhitney_asymptotic_{side}"]
        assert_close([found.statistic, found.p], [expected["u"], expected["p"]], case["tolerance"])


def test_golden_posthoc_side(golden, assert_close):
    for case in cases(golden, "baseline"):
        found = mann_whitney(case["inputs"]["baseline"], case["inputs"]["mitigation"], "posthoc")
        side = case["expected"]["posthoc_side"]
        assert found.alternative == side
        assert_close(found.p, case["expected"][f"mannwhitney_asymptotic_{side}"]["p"], case["tolerance"])


def test_golden_levene_and_effect_size(golden, assert_close):
    for case in cases(golden, "baseline"):
        base, other = case["inputs"]["baseline"], case["inputs"]["mitigation"]
        expected, tolerance = case["expected"], case["tolerance"]
        found = levene_relative(base, other)
        normalised = expected["levene_median_mean_normalised"]
        assert_close([found.statistic, found.p], [normalised["stat"], normalised["p"]], tolerance)
        variances = [relative_variance(base), relative_variance(other)]
        assert_close(variances, expected["variance_ddof1_of_normalised"], tolerance)
        assert_close(cohens_d(base, other), expected["cohens_d_pooled_ddof1"], tolerance)


@pytest.mark.parametrize(("function", "key"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_golden_corrections(golden, assert_close, function, key):
    for case in cases(golden, "p_values"):
        adjusted = function(case["inputs"]["p_values"])
        assert_close(adjusted, case["expected"][key]["adjusted"], case["tolerance"])
        reject = (adjusted <= case["parameters"]["alpha"]).tolist()
        assert reject == case["expected"][key]["reject"]


def test_labels_say_which_way_the_other_moved():
    low, high = [0.1, 0.11, 0.12, 0.13, 0.14], [0.5, 0.51, 0.52, 0.53, 0.55]
    for alternative in ("posthoc", "two-sided"):
        assert mann_whitney(high, low, alternative).label == "-"
        assert mann_whitney(low, high, alternative).label == "+"
        assert mann_whitney(low, low, alternative).label == "NS"
    assert mann_whitney(low, high, "greater").label == "NS"  # the side that was asked for was not found


def test_two_constant_samples_are_not_significant():
    """Copies of one number are one run, so a tiny p is no evidence; spread and effect are undefined."""
    for base, other in (([0.5] * 6, [0.6] * 6), ([0.5] * 6, [0.5] * 6)):
        found = mann_whitney(base, other, "posthoc")
        assert found.label == "NS"
        assert "constant" in found.reason
        relative = levene_relative(base, other)
        assert np.isnan(relative.p)
        assert relative.label == "NS"
        assert np.isnan(cohens_d(base, other))


def test_one_constant_sample_is_compared():
    base, other = [0.577] * 8, [0.084, 0.0735, 0.095, 0.1084, 0.1227, 0.1022, 0.0889, 0.0843]
    assert mann_whitney(base, other, "posthoc").label == "-"
    assert levene_relative(base, other).label == "+"
    assert effect_band(cohens_d(base, other)) == "huge"


def test_a_mean_of_zero_has_no_relative_spread():
    found = levene_relative([-1.0, 1.0], [1.0, 2.0])
    assert np.isnan(found.p)
    assert found.label == "NS"
    assert "mean 0" in found.reason


@pytest.mark.parametrize("other", [[0.1, 0.3], [0.1, 0.3, 0.1, 0.3]])
def test_values_equally_far_from_their_median_have_no_levene_test(other):
    found = levene_relative([0.1, 0.2], other)
    assert np.isnan(found.p)
    assert found.label == "NS"
    assert "equally far" in found.reason


@given(samples, samples)
def test_swapping_the_samples_turns_the_answer_round(a, b):
    assert mann_whitney(a, b).p == pytest.approx(mann_whitney(b, a).p)
    assert cohens_d(a, b) == pytest.approx(-cohens_d(b, a), nan_ok=True)
    swapped = {"+": "-", "-": "+", "NS": "NS"}
    assert mann_whitney(b, a).label == swapped[mann_whitney(a, b).label]


@given(samples, samples, st.floats(0.5, 4))
def test_levene_is_about_relative_spread(a, b, factor):
    scaled = (np.array(b) * factor).tolist()
    assert levene_relative(a, scaled).p == pytest.approx(levene_relative(a, b).p, nan_ok=True, rel=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_corrections_only_raise_and_keep_the_order(p):
    order = np.argsort(p, kind="stable")
    strict, mild = holm(p), benjamini_hochberg(p)
    assert (strict >= np.array(p)).all()
    assert (mild >= np.array(p) * (1 - 1e-12)).all()
    assert (strict >= mild - 1e-12).all()
    assert (np.diff(strict[order]) >= 0).all()
    assert (np.diff(mild[order]) >= 0).all()


def test_undefined_p_values_are_no_tests(assert_close):
    for correct in (holm, benjamini_hochberg):
        assert_close(correct([0.01, np.nan, 0.04])[[0, 2]], correct([0.01, 0.04]))
        assert np.isnan(correct([0.01, np.nan])[1])
        assert correct([]).size == 0
    with pytest.raises(ValueError, match="must be a list"):
        holm([[0.1]])


@pytest.mark.parametrize(
    ("d", "band"),
    [(0.0, "none"), (0.19, "none"), (0.2, "small"), (0.5, "medium"), (-0.8, "large"), (1.2, "very large"),
     (2.0, "huge"), (np.inf, "huge"), (np.nan, "undefined")],
)  # fmt: skip
def test_bands_of_effect_size(d, band):
    assert effect_band(d) == band


def test_a_sample_needs_two_defined_values():
    with pytest.raises(ValueError, match="at least 2"):
        mann_whitney([0.1, np.nan], [0.1, 0.2])
    assert mann_whitney([0.1, np.nan, 0.2], [0.3, 0.4]).p == mann_whitney([0.1, 0.2], [0.3, 0.4]).p


def test_the_outcomes_of_the_study_replay():
    """S0: bias down in 103 of 154, up in 47, NS in 4; its variance up in 53, down in 13, NS in 88."""
    file, polars = data_file("fixed_seed_runs.parquet")
    frame = polars.read_parquet(file).with_columns(polars.col("technique", "metric").cast(polars.String))
    means = frame.group_by("technique", "metric", "run").agg(polars.col("value").mean()).sort("run")
    parts = means.partition_by("technique", "metric", as_dict=True)
    runs = {key: part["value"].to_numpy() for key, part in parts.items()}
    pairs = [
        (runs[f"{technique[0]}-Base", metric], values)
        for (technique, metric), values in runs.items()
        if not technique.endswith("Base")
    ]
    moved = Counter(mann_whitney(base, other, "posthoc").label for base, other in pairs)
    spread = Counter(levene_relative(base, other).label for base, other in pairs)
    assert moved == {"-": 103, "+": 47, "NS": 4}
    assert spread == {"+": 53, "-": 13, "NS": 88}


def test_the_costs_of_the_study_replay():
    file, polars = data_file("fixed_seed_performance.csv")
    frame = polars.read_csv(file).sort("run")
    parts = frame.partition_by("technique", as_dict=True)
    runs = {key[0]: part["performance"].to_numpy() for key, part in parts.items()}
    for row in FIGURE_3.split(";"):
        technique, performance, variance = row.split()
        base, other = runs[f"{technique[0]}-Base"], runs[technique]
        assert mann_whitney(base, other, "posthoc").label == performance, technique
        assert levene_relative(base, other).label == variance, technique
