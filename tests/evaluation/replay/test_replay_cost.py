"""The cost of mitigation from the published runs: Figure 3 corrected, who paid what, and other rules."""

import numpy as np
import pytest

from evenhand.evaluation.replay.cost import COST, venn_rows
from evenhand.evaluation.replay.published import Published
from evenhand.evaluation.replay.sensitivity import realign, realigned_rows

# accuracy, its variance, [direction in the published figure], X: no metric falls
FIGURE = """
S-RS + NS; S-UC - + [-] X; S-GR - + [-] X; S-DD1 - NS X; S-DD2 + NS; S-DD3 + NS; S-DD4 NS NS; S-DI1 + NS;
S-DI2 + NS;
C-R1 - -; C-R2 - NS; C-R3 - NS; C-A4 - -; C-A5 - NS; I-R1 - NS; I-R2 - -; I-R3 - NS; I-A4 - -; I-A5 - -;
A-L2 - +; A-ALM - +; N-Flow + +
"""
LINES = [entry.split() for entry in FIGURE.replace("\n", " ").split(";")]


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[0])
def test_figure_3_corrected(body, line):
    row = next(row for row in body["cost"] if row["technique"] == line[0])
    assert [row["accuracy"], row["variance"]] == line[1:3]
    assert row["official_variance"] == ("-" if "[-]" in line else "")
    assert row["cross"] == ("X" in line)


def test_figure_3_has_all_mitigations_and_columns(body):
    assert [row["technique"] for row in body["cost"]] == [line[0] for line in LINES]
    assert all(tuple(row) == COST for row in body["cost"])


def test_the_crosses_that_the_published_figure_draws(body):
    drawn = {row["technique"]: row["official_cross"] for row in body["cost"] if row["official_cross"]}
    assert drawn == {"S-UC": "upper lower", "S-GR": "upper lower", "S-DD1": "upper"}


def test_the_turned_blocks_are_significant_rises(body):
    found = {row["technique"]: row for row in body["cost"] if row["official_variance"]}
    assert {name: round(row["variance_p"], 4) for name, row in found.items()} == {
        "S-UC": 0.0099,
        "S-GR": 0.0009,
    }
    raw = {name: row["variance_ratio"] * (row["mean"] / row["base_mean"]) ** 2 for name, row in found.items()}
    assert raw == {"S-UC": pytest.approx(3.35, abs=0.05), "S-GR": pytest.approx(11.1, abs=0.1)}


def test_who_paid_what(body):
    found = {row["region"]: row["pairs"] for row in body["venn"]}
    assert found == {
        "bias_variance_up": 36, "accuracy_down": 54, "accuracy_variance_up": 15,
        "bias_variance_up & accuracy_down": 20, "bias_variance_up & accuracy_variance_up": 15,
        "accuracy_down & accuracy_variance_up": 8,
        "bias_variance_up & accuracy_down & accuracy_variance_up": 8,
        "any": 70, "free": 33, "all pairs": 103,
    }  # fmt: skip


def test_venn_of_three_pairs_by_hand():
    cost = [
        {"technique": "a", "accuracy": "-", "variance": "NS"},
        {"technique": "b", "accuracy": "+", "variance": "+"},
    ]
    tests = [
        {"technique": "a", "direction": "-", "variance_direction": "+"},
        {"technique": "a", "direction": "+", "variance_direction": "+"},  # the bias rose: no part of it
        {"technique": "b", "direction": "-", "variance_direction": "NS"},
        {"technique": "b", "direction": "-", "variance_direction": "-"},
    ]
    found = {row["region"]: row["pairs"] for row in venn_rows(tests, cost)}
    assert (found["all pairs"], found["any"], found["free"]) == (3, 3, 0)
    assert (found["bias_variance_up"], found["accuracy_down"], found["accuracy_variance_up"]) == (1, 1, 2)
    assert found["bias_variance_up & accuracy_down"] == 1


def test_overlapping_ranges(body):
    assert body["overlap"] == {"all": 34, "increase": 14, "decrease": 16, "ns": 4}


def test_other_rules(body):
    found = {(row["test"], row["correction"]): row["kept"] for row in body["sensitivity"]}
    assert found["bias, chosen after the means", "none"] == 150
    assert found["bias, two-sided", "none"] == 150
    kept = [found["variance of bias, Levene", rule] for rule in ("none", "benjamini-hochberg", "holm")]
    assert kept[0] == 66
    assert kept == sorted(kept, reverse=True)


def test_corrections_against_plain_sorting(body):
    """Holm and Benjamini-Hochberg as they stand in a textbook: stop at the first, or at the last, p."""
    p = np.sort([row["levene_p"] for row in body["tests"]])
    m = len(p)
    over = p > 0.05 / (m - np.arange(m))
    holm = int(np.argmax(over)) if over.any() else m
    hochberg = int(np.max(np.flatnonzero(p <= 0.05 * (1 + np.arange(m)) / m)) + 1)
    found = {row["correction"]: row["kept"] for row in body["sensitivity"] if "Levene" in row["test"]}
    assert (found["holm"], found["benjamini-hochberg"]) == (holm, hochberg)


def test_bias_amplification_put_back_in_place(body):
    """Published -> realigned MaxDiff of the widest class, in percent; all others stay."""
    moved = {"C-R1": (49.1, 50.0), "C-R2": (99.0, 100.0), "C-A4": (66.0, 66.7), "C-A5": (65.4, 66.7)}
    for row in body["realigned"]:
        before, after = (100 * row[key] for key in ("ba_class_max_diff", "realigned_class_max_diff"))
        if row["technique"] in moved:
            assert (round(before, 1), round(after, 1)) == moved[row["technique"]]
        else:
            assert before == pytest.approx(after)
    assert moved.keys() < {row["technique"] for row in body["realigned"]}


def test_disparate_impact_with_zero_for_zero_by_zero(body):
    zero = {row["technique"]: round(100 * row["di_max_diff_zero"], 1) for row in body["realigned"]}
    assert (zero["C-R1"], zero["C-R2"], zero["C-A5"]) == (1.3, 4.0, 3.4)
    assert next(row["cells"] for row in body["realigned"] if row["technique"] == "C-Base") == 32


def test_realigning_keeps_the_mean_over_classes(published):
    for technique in ("C-R1", "C-A4", "I-R2"):
        missing = (published.bias[technique, "dp"] == 0) & (published.bias[technique, "di"] == 1)
        placed = realign(published.bias[technique, "ba"], missing)
        assert placed.mean(axis=1) == pytest.approx(published.bias[technique, "ba"].mean(axis=1))


def test_no_missing_class_no_row():
    values = np.full((3, 2), 0.5)
    bias = {("S-Base", metric): values for metric in ("dp", "di", "ba")}
    assert realigned_rows(Published(("S-Base",), bias, {})) == []


def test_fpsf_is_weighted_by_negatives(body):
    assert body["fpsf_share"]["low"] == pytest.approx(0.45)
    assert body["fpsf_share"]["high"] == pytest.approx(0.45)
