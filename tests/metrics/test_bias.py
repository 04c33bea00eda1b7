"""The seven bias metrics of S0: golden references, hand numbers, identities and edge cases."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View

NAMES = {
    "DP": "dp",
    "DI_bar": "di",
    "SPSF": "spsf",
    "FPSF": "fpsf",
    "EOFP": "eofp",
    "EOTP": "eotp",
    "BA": "ba",
}
CASES = [
    "binary_balanced_a",
    "binary_skewed_a",
    "tenclass_balanced_a",
    "tenclass_skewed_never_predicted_a",
    "fourclass_group1_never_predicted_a",
    "published_example_table",
    "multilabel_21",
]


def both(key: str, counts: Counts, convention: str = "strict") -> tuple[np.ndarray, float]:
    view = View(counts.margins(), convention=convention)
    return CATALOGUE[key].per_class(view), float(CATALOGUE[key](view))


def of_golden(case) -> Counts:
    given = case["inputs"]
    if "confusion" not in given:
        return Counts.from_predictions(given["y_true"], given["y_pred"], given["group"])
    cells = [
        given["confusion"][group]["0"] for group in sorted(given["confusion"])
    ]  # class 1 is the mirror image
    return Counts.from_table([[[c["TP"], c["FN"]], [c["FP"], c["TN"]]] for c in cells])


@pytest.fixture
def case(golden, request):
    found = {case["name"]: case for case in golden("06_seven_bias_metrics_artifact")["cases"]}
    assert sorted(found) == sorted(CASES)
    return found[request.param]


# -- golden -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("case", CASES, indirect=True)
def test_artifact_convention_is_the_released_code(case, assert_close):
    for theirs, ours in NAMES.items():
        per_class, mean = both(ours, of_golden(case), "artifact")
        assert_close(per_class, case["expected"]["artifact"][theirs]["per_class"], case["tolerance"])
        assert_close(mean, case["expected"]["artifact"][theirs]["overall"], case["tolerance"])


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_paper_convention_is_the_printed_formula(case, assert_close):
    expected = dict(case["expected"]["independent_paper"])
    expected["FPSF"] = expected["FPSF_group_weight"]
    for theirs, ours in NAMES.items():
        per_class, mean = both(ours, of_golden(case), "paper")
        assert_close(per_class, expected[theirs]["per_class"], case["tolerance"])
        assert_close(mean, expected[theirs]["overall"], case["tolerance"])


@pytest.mark.parametrize("case", CASES, indirect=True)
def test_strict_convention_is_the_paper_where_everything_is_defined(case, assert_close):
    for ours in NAMES.values():
        strict, _ = both(ours, of_golden(case))
        paper, _ = both(ours, of_golden(case), "paper")
        assert_close(strict[~np.isnan(strict)], paper[~np.isnan(strict)], case["tolerance"])


# -- S0 Table 3: sport and cook, female and male ----------------------------------------------------------
TABLE_3 = Counts.from_table([[[80, 20], [10, 90]], [[60, 40], [70, 30]]])


@pytest.mark.parametrize(
    ("key", "sport", "cook", "percent"),
    [
        ("dp", 0.20, 0.20, 20.0),
        ("di", 0.3077, 0.3636, 33.6),
        ("spsf", 0.10, 0.10, 10.0),
        ("fpsf", 0.30, 0.10, 20.0),
        ("eofp", 0.60, 0.20, 40.0),
        ("eotp", 0.20, 0.60, 40.0),
        ("ba", 0.0909, 0.1111, 10.1),
    ],
)
def test_table_3_of_the_paper(key, sport, cook, percent, assert_close):
    per_class, mean = both(key, TABLE_3)
    assert_close(per_class, [sport, cook], 5e-5)
    assert round(100 * mean, 1) == percent


def test_table_3_with_the_weights_of_the_released_code(assert_close):
    per_class, mean = both("fpsf", TABLE_3, "artifact")
    assert_close(per_class, [0.15, 0.05])
    assert_close(mean, 0.10)


# -- the unit test of the released code (A1.2) ------------------------------------------------------------
UNIT = Counts.from_table([[[3, 1], [2, 5]], [[5, 1], [1, 2]]])


@pytest.mark.parametrize(
    ("key", "convention", "first", "second", "mean"),
    [
        ("dp", "paper", 0.212121, 0.212121, 0.212121),
        ("di", "paper", 0.318182, 0.388889, 0.353535),
        ("spsf", "paper", 0.105, 0.105, 0.105),
        ("fpsf", "paper", 0.022857, 0.0425, 0.032679),
        ("fpsf", "artifact", 0.01, 0.02, 0.015),
        ("eofp", "paper", 0.047619, 0.083333, 0.065476),
        ("eotp", "paper", 0.083333, 0.047619, 0.065476),
        ("ba", "paper", 0.054545, 0.033333, 0.043939),
    ],
)
def test_second_hand_check(key, convention, first, second, mean, assert_close):
    per_class, overall = both(key, UNIT, convention)
    assert_close(per_class, [first, second], 5e-7)
    assert_close(overall, mean, 5e-7)


# -- edge cases (A2) --------------------------------------------------------------------------------------
ONE_NEVER = Counts.from_table([[[5, 0, 1], [0, 5, 0], [1, 0, 4]], [[6, 0, 0], [0, 5, 0], [3, 3, 0]]])
BOTH_NEVER = Counts.from_table([[[5, 1, 0], [1, 4, 0], [2, 2, 0]], [[6, 0, 0], [0, 5, 0], [3, 3, 0]]])


def test_di_is_one_when_one_group_is_never_predicted_as_the_class():
    for convention in ("strict", "paper", "artifact"):
        assert both("di", ONE_NEVER, convention)[0][2] == 1.0


@pytest.mark.parametrize(
    ("convention", "expected"), [("strict", math.nan), ("paper", 0.0), ("artifact", 1.0)]
)
def test_di_when_no_group_is_ever_predicted_as_the_class(convention, expected, assert_close):
    assert_close(both("di", BOTH_NEVER, convention)[0][2], expected)


def test_an_undefined_class_is_skipped_in_the_mean(assert_close):
    per_class, mean = both("di", BOTH_NEVER)
    assert_close(mean, per_class[:2].mean())


@pytest.mark.parametrize("key", ["eotp", "eofp"])
def test_a_rate_of_zero_in_group_1_is_a_plain_difference_except_in_the_released_code(key):
    assert both(key, ONE_NEVER, "artifact")[0][2] == 0.0
    for convention in ("strict", "paper"):
        assert both(key, ONE_NEVER, convention)[0][2] > 0.0


def test_eotp_without_positives_in_a_group_is_undefined(assert_close):
    counts = Counts.from_table([[[5, 1], [0, 0]], [[4, 2], [3, 3]]])
    assert_close(both("eotp", counts)[0], [5 / 6 - 4 / 6, math.nan])
    assert_close(both("eotp", counts)[1], 1 / 6)
    assert_close(both("eotp", counts, "artifact")[0][1], 0.5)


def test_fpsf_leaves_out_a_group_without_negatives_and_compares_no_single_group():
    three = Counts.from_table([[[0, 0], [2, 2]], [[4, 2], [3, 3]], [[3, 3], [1, 1]]])
    assert not math.isnan(both("fpsf", three)[0][1])
    two = Counts.from_table([[[0, 0], [2, 2]], [[4, 2], [3, 3]]])
    assert math.isnan(both("fpsf", two)[0][1])


def test_ba_of_a_class_never_predicted_stays_at_its_place(assert_close):
    never = Counts.from_table([[[0, 1, 3], [0, 4, 0], [0, 1, 1]], [[0, 2, 0], [0, 5, 1], [0, 0, 6]]])
    strict, mean = both("ba", never)
    assert math.isnan(strict[0])
    assert_close(mean, strict[1:].mean())
    assert_close(both("ba", never, "paper")[0], [0.0, *strict[1:]])
    assert_close(both("ba", never, "artifact")[0], [*strict[1:], 0.0])


def test_ba_ties_go_to_the_first_group(assert_close):
    tie = Counts.from_table([[[5, 0], [0, 5]], [[0, 5], [0, 5]]])
    assert CATALOGUE["ba"].statistic.deciders(View(tie.margins()))[:, 0].tolist() == [0, 0]
    assert_close(both("ba", tie)[0], [0.5, abs(5 / 15 - 0.5)])


def test_ba_finds_the_largest_of_three_groups(assert_close):
    counts = Counts.from_table([[[1, 1], [1, 1]], [[1, 1], [2, 6]], [[1, 1], [2, 1]]])
    assert CATALOGUE["ba"].statistic.deciders(View(counts.margins()))[1].tolist() == [1]
    assert_close(both("ba", counts)[0][1], abs(7 / 11 - 8 / 13))


def test_more_than_two_groups_are_compared_by_their_extremes(assert_close):
    counts = Counts.from_table([[[8, 2], [5, 5]], [[6, 4], [2, 8]], [[9, 1], [4, 6]]])
    assert_close(both("dp", counts)[0], [0.25, 0.25])
    assert_close(both("eotp", counts)[0][1], 0.3)
    assert_close(both("di", counts)[0][1], 1 - 0.35 / 0.6)


@pytest.mark.parametrize("key", ["dp", "di", "eofp", "eotp"])
def test_the_released_code_knows_two_groups_only(key):
    three = Counts.from_table([[[1, 1], [1, 1]]] * 3)
    with pytest.raises(ValueError, match="two groups, not 3"):
        both(key, three, "artifact")


def test_one_group_has_no_bias_to_measure():
    alone = Counts.from_table([[[8, 2], [5, 5]]])
    for key in NAMES.values():
        assert math.isnan(both(key, alone)[1]), key


# -- identities (A1.3) ------------------------------------------------------------------------------------
@pytest.mark.parametrize("seed", range(10))
def test_two_groups_make_spsf_a_multiple_of_dp(seed, assert_close):
    counts = Counts.from_table(np.random.default_rng(seed).integers(1, 20, (2, 3, 3)))
    share = counts.table[0].sum() / counts.table.sum()
    assert_close(both("spsf", counts)[0], 2 * share * (1 - share) * both("dp", counts)[0])


@pytest.mark.parametrize("seed", range(10))
def test_on_a_binary_task_eotp_and_eofp_are_one_number(seed, assert_close):
    counts = Counts.from_table(np.random.default_rng(seed).integers(1, 20, (2, 2, 2)))
    assert_close(both("eotp", counts)[1], both("eofp", counts)[1])


def test_bias_amplification_is_never_negative():
    table = np.random.default_rng(0).integers(0, 9, (50, 2, 3, 3))
    values = CATALOGUE["ba"].per_class(View(Counts.from_table(table).margins()))
    assert (values[~np.isnan(values)] >= 0).all()
