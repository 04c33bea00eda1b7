"""S3's claims on counts whose answers are known: the rules, the intervals, and what cannot be told."""

import numpy as np
import pytest
from scipy.stats import spearmanr, ttest_ind

from evenhand.evaluation.ci_mnist.correlations import correlation_rows
from evenhand.evaluation.ci_mnist.findings_order import _mean_rank_correlation
from evenhand.evaluation.ci_mnist.judging import (
    ABOVE,
    BELOW,
    CANNOT_TELL,
    DOES_NOT,
    GONE,
    HOLDS,
    LARGER,
    LITTLE,
    MOST,
    NOT_BETTER,
    RULES,
    contrast,
    judged,
    resampled,
)
from evenhand.evaluation.ci_mnist.layout import FAMILIES, METRICS
from evenhand.evaluation.ci_mnist.numbers import Numbers
from evenhand.evaluation.ci_mnist.stability import deviation_rows
from evenhand.study.frame import Frame


def verdicts(body):
    return {found["id"]: found["verdict"] for found in body["findings"]}


def parts(body, claim):
    return next(found for found in body["findings"] if found["id"] == claim)["parts"]


@pytest.mark.parametrize(
    ("rule", "holds", "does_not", "open_"),
    [
        (ABOVE, (0.01, 0.02), (-0.02, -0.01), (-0.01, 0.01)),
        (BELOW, (-0.02, -0.01), (0.01, 0.02), (-0.01, 0.01)),
        (LITTLE, (-0.019, 0.019), (0.021, 0.03), (0.0, 0.03)),
        (NOT_BETTER, (-0.5, 0.01), (0.03, 0.05), (0.01, 0.03)),
        (LARGER, (1.1, 2.0), (0.5, 0.9), (0.9, 1.1)),
        (MOST, (0.6, 0.9), (0.1, 0.4), (0.4, 0.6)),
        (GONE, (0.0, 0.04), (0.06, 0.2), (0.0, 0.06)),
    ],
)
def test_a_rule_reads_the_whole_interval(rule, holds, does_not, open_):
    assert [RULES[rule](*pair) for pair in (holds, does_not, open_)] == [HOLDS, DOES_NOT, CANNOT_TELL]


def test_the_interval_is_welchs_over_the_seeds_of_each_width_and_pays_for_the_number_of_parts():
    one = {("a", 3): 0.9, ("a", 4): 0.8, ("a", 5): 1.1, ("b", 3): 0.7, ("b", 4): 0.8, ("c", 9): 0.0}
    other = {("a", 3): 0.5, ("a", 4): 0.5, ("a", 5): 0.5, ("b", 3): 0.1, ("b", 4): 0.1}
    a, b = np.array([0.4, 0.3, 0.6]), np.array([0.6, 0.7])
    for k in (1, 3):
        part = judged([contrast("x", ABOVE, one, other)] * k)[0]
        # half the sum of two means: half of Welch's interval of a - (-b)
        welch = ttest_ind(a, -b, equal_var=False).confidence_interval(1 - 0.05 / k)
        assert (part.low, part.high) == pytest.approx((welch.low / 2, welch.high / 2))
        assert part.effect == pytest.approx((a.mean() + b.mean()) / 2)
        assert part.replicates == 5
        assert part.by == pytest.approx({"a": a.mean(), "b": b.mean()})


def test_one_replicate_or_none_decides_nothing():
    for series in ({}, {("a", 3): 5.0}):
        assert judged([contrast("x", ABOVE, series)])[0].verdict == CANNOT_TELL


def test_a_bootstrap_covers_the_mean_it_is_about():
    values = np.random.default_rng(1).normal(2.0, 0.1, 40)
    part = judged([resampled("m", LARGER, 40, lambda places: values[places].mean(), 40, "ratio")])[0]
    assert part.low < values.mean() < part.high
    assert part.verdict == HOLDS
    assert part.high - part.low == pytest.approx(4 * 0.1 / np.sqrt(40), rel=0.4)
    assert judged([resampled("m", LARGER, 2, lambda places: 2.0, 2, "ratio")])[0].verdict == CANNOT_TELL


def test_the_claims_that_the_made_up_counts_settle(body):
    found = verdicts(body)
    assert found["S3.1a"] == found["S3.4b"] == found["S3.7"] == HOLDS
    order = parts(body, "S3.1b")
    assert [part["verdict"] for part in order[:3]] == [
        HOLDS
    ] * 3  # the made-up order of fairness is the paper's
    assert found["S3.2a"] == DOES_NOT  # LAFTR keeps more than FFVAE there
    assert found["S3.5a"] == found["S3.5c"] == HOLDS
    assert found["S3.5b"] == DOES_NOT  # four equal variants: none is beaten
    assert found["S3.3"] == CANNOT_TELL  # LAFTR neither gains nor loses
    ratio = parts(body, "S3.5c")[0]
    assert ratio["effect"] > 1
    assert ratio["low"] < ratio["effect"] < ratio["high"]


def test_claims_about_a_model_that_was_not_run_cannot_be_told(made):
    from evenhand.evaluation.ci_mnist.study import compute

    body = compute(made.make_store(lambda row: row["method"] == "ffvae"))
    found = verdicts(body)
    assert found["S3.1a"] == HOLDS
    alone = [part for part in parts(body, "S3.2a") if "FFVAE" in part["words"]]
    assert len(alone) == 3
    assert all(part["verdict"] == CANNOT_TELL and part["replicates"] == 0 for part in alone)
    assert found["S3.5c"] == CANNOT_TELL
    assert {entry["model"] for entry in body["missing"]} == {"ffvae"}


def test_one_width_alone_has_three_replicates(made):
    from evenhand.evaluation.ci_mnist.study import compute

    body = compute(made.make_store(lambda row: row["method"] == "ffvae" and row["net"] == "width 32"))
    of = {part["words"]: part["replicates"] for part in parts(body, "S3.1b")}
    assert of["fairness of LAFTR less FFVAE"] == 3
    assert of["fairness of CFAIR less MLP"] == 6


def test_a_trial_of_two_tasks_and_one_seed_is_shown_and_decides_nothing(made):
    from evenhand.evaluation.ci_mnist.study import compute
    from evenhand.report.ci_mnist import render

    def tried(row):
        small = row["task"] in ("balanced", "minority .01") and row["net"] == "width 32"
        return small and row["seed"] == 3 and row["setting"] == made.settings_of(row["method"])[0]

    store = made.make_store(lambda row: not tried(row))
    store.rows = [row for row in store.rows if tried(row)]
    body = compute(store)
    assert set(verdicts(body).values()) == {CANNOT_TELL}
    assert "no run on minority .1" in render(body)


def test_figure_11_is_spearman_over_all_runs(store):
    frame = Frame.open(store)
    row = next(
        row for row in correlation_rows(frame)
        if (row["width"], row["setting"], row["model"]) == ("width 64", "minority", "cfair")
    )  # fmt: skip
    strength = {"balanced": 0.0, "minority .1": 0.4, "minority .01": 0.49, "minority .001": 0.499}
    rows = [
        i for i in range(frame.n)
        if frame.columns["net"][i] == "width 64" and frame.columns["method"][i] == "cfair"
        and frame.columns["task"][i] in strength
    ]  # fmt: skip
    x = [strength[frame.columns["task"][i]] for i in rows]
    place = list(METRICS).index("eqopp1")
    assert row["values"][place] == pytest.approx(abs(spearmanr(x, frame.values("test", "eqopp1")[rows])[0]))
    assert row["runs"] == len(rows) == 24


def test_figure_10_pools_variances_over_the_rows_of_a_setting(store):
    numbers = Numbers.of(Frame.open(store))
    row = next(
        row for row in deviation_rows(numbers)
        if (row["width"], row["setting"], row["model"]) == ("width 32", "colour", "advdebias")
    )  # fmt: skip
    tasks = ("balanced", "colour .1 .9", "colour .01 .99")
    stds = [numbers.cells["width 32", task, "advdebias", "eqodd"].std for task in tasks]
    assert row["values"][-1] == pytest.approx(np.sqrt(np.mean(np.square(stds))))


def test_rank_correlation_within_rows_is_scipys():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 5, (4, 7)).astype(float), rng.normal(size=(4, 7))
    b[0, 2] = np.nan
    keep = ~np.isnan(b[0])
    by_scipy = [spearmanr(a[0][keep], b[0][keep])[0], *(spearmanr(a[i], b[i])[0] for i in range(1, 4))]
    assert _mean_rank_correlation(a, b) == pytest.approx(np.mean(by_scipy))


def test_changes_and_checks_are_paired_by_width_and_seed(body):
    row = next(row for row in body["changes"] if (row["setting"], row["model"]) == ("minority", "mlp"))
    assert row["fairness"]["effect"] < -0.2
    assert row["fairness"]["replicates"] == 6
    fall, *back = body["checks"]
    assert fall["verdict"] == HOLDS
    assert len(back) == len(FAMILIES) - 1
    assert all(part["effect"] > 0 for part in back)
