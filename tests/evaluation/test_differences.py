"""Differences between two models: paired intervals, and runs that tell more than one training can."""

import math

import numpy as np
import pytest
from scipy.stats import binomtest, mannwhitneyu

import evenhand

SURE = ("acc", "tpr.gap", "fpr.gap", "accuracy.gap", "odds.max", "tpr.worst")


def pair(n=500, agree=0.95, seed=0):
    rng = np.random.default_rng(seed)
    y, g = rng.integers(0, 2, n), rng.choice(["a", "b"], n)
    base = np.where(rng.random(n) < np.where(g == "a", 0.9, 0.7), y, 1 - y)
    return y, base, np.where(rng.random(n) < agree, base, 1 - base), g


def runs(quality, y, g, count=6, seed=1):
    rng = np.random.default_rng(seed)
    right = np.where(g == "a", quality[0], quality[1])
    return np.stack([np.where(rng.random(len(y)) < right, y, 1 - y) for _ in range(count)])


def test_a_difference_is_alternative_minus_base():
    y, p, q, g = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=50).differences["q"]
    alone = [evenhand.audit(y, guess, g, replicates=0).metrics for guess in (p, q)]
    for key, value in found.items():
        assert value.base == pytest.approx(alone[0][key].value, nan_ok=True), key
        assert value.value == pytest.approx(alone[1][key].value, nan_ok=True), key
        if not math.isnan(value.low):
            assert value.low <= value.difference <= value.high, key
            assert 0 < value.p <= 1, key
    assert sum(not math.isnan(value.low) for value in found.values()) > 70


def test_pairing_narrows_the_interval_of_models_that_mostly_agree():
    y, p, q, g = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=400).differences["q"]
    first, second = (evenhand.audit(y, guess, g, replicates=400).metrics for guess in (p, q))
    for key in ("acc", "accuracy.worst", "tpr.gap"):
        halves = [(one[key].high - one[key].low) / 2 for one in (first, second)]
        unpaired = 2 * math.hypot(*halves)
        assert found[key].high - found[key].low < 0.75 * unpaired, key


def test_the_interval_of_an_accuracy_difference_is_that_of_the_discordant_pairs():
    """The variance of a paired difference of shares, (b + c - (b - c)^2 / n) / n^2 (McNemar's counts)."""
    y, p, q, g = pair(n=2000)
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=2000).differences["q"]["acc"]
    moved = (q == y).astype(float) - (p == y)
    within = sum(moved[g == name].var() * (g == name).sum() for name in "ab") / len(y) ** 2
    assert found.difference == pytest.approx(moved.mean())
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * math.sqrt(within), rel=0.08)


def test_a_clear_difference_has_a_small_p_and_an_interval_without_zero():
    y, p, _, g = pair()
    better = np.where(np.random.default_rng(3).random(len(y)) < 0.98, y, 1 - y)
    found = evenhand.compare(y, {"p": p, "better": better}, groups=g, replicates=400).differences["better"]
    for key in ("acc", "accuracy.gap"):
        assert found[key].p < 0.01, key
        assert found[key].low > 0 or found[key].high < 0, key


def test_confidence_widens_and_a_seed_repeats():
    y, p, q, g = pair()

    def interval(**options):
        found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=300, **options).differences["q"][
            "acc"
        ]
        return found.low, found.high

    assert interval() == interval(seed=0)
    assert interval() != interval(seed=1)
    narrow, wide = interval(confidence=0.5), interval(confidence=0.99)
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_no_replicates_no_interval():
    y, p, q, g = pair()
    found = evenhand.compare(y, {"p": p, "q": q}, groups=g, replicates=0)
    assert all(math.isnan(value.low) and math.isnan(value.p) for value in found.differences["q"].values())
    assert math.isnan(found.cev["q"].low)


def test_infinite_values_have_no_difference():
    """Without smoothing eps is infinite where a group is never predicted as a class."""
    y, g = np.array([1, 0] * 20), np.array(["a"] * 20 + ["b"] * 20)
    p = np.where(g == "a", y, 0)
    found = evenhand.compare(y, {"p": p, "q": p.copy(), "r": y}, groups=g, smoothing=0, replicates=50)
    assert math.isinf(found.differences["q"]["eps"].base)
    assert math.isnan(found.differences["q"]["eps"].difference)
    assert found.to_dict()["differences"]["q"]["eps"]["difference"] is None


@pytest.mark.parametrize(
    ("groups", "least"),
    [
        (["q"] * 40, 1),  # one group
        (["q", None] * 20, 1),  # one that is known
        ([np.nan, 1.0] * 20, 1),
        (["q"] * 35 + ["r"] * 5, 10),  # one that is large enough
        (["q"] * 20 + ["r"] * 20, 30),  # none that is
    ],
)
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2, 40)])
def test_where_one_group_is_left_gaps_are_undefined_and_the_rest_is_told(groups, least, weights):
    y = np.arange(40) % 2
    p = np.where(np.arange(40) < 6, 1 - y, y)
    found = evenhand.compare(y, {"a": y, "b": p}, groups, weights=weights, min_count=least, replicates=50)
    moved = found.differences["b"]
    assert math.isnan(moved["tpr.gap"].difference)
    assert math.isnan(moved["tpr.gap"].high)
    assert least == 30 or moved["accuracy.worst"].low <= moved["accuracy.worst"].difference < 0
    assert [one.n for one in found.paid["b"].classes] == [20, 20]
    assert len(found.paid["b"].groups) == len(set(groups) - {None, np.nan})


# -- runs -------------------------------------------------------------------------------------------------
def test_runs_are_tested_as_s0_does():
    y, _, _, g = pair()
    base, other = runs((0.9, 0.7), y, g), runs((0.85, 0.8), y, g, seed=2)
    found = evenhand.compare(y, {"p": base, "q": other}, groups=g, replicates=100).differences["q"]
    for key in ("accuracy.gap", "tpr.gap", "acc"):
        a, b = (
            np.array([evenhand.audit(y, run, g, replicates=0).metrics[key].value for run in stack])
            for stack in (base, other)
        )
        value = found[key]
        assert value.runs.p == pytest.approx(mannwhitneyu(a, b, method="asymptotic").pvalue), key
        deviation = math.sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
        assert value.runs.effect == pytest.approx((a.mean() - b.mean()) / deviation), key
        assert value.difference == pytest.approx(b.mean() - a.mean()), key
        assert (value.base, value.value) == pytest.approx((a.mean(), b.mean())), key
        assert value.runs.exceeds == bool(a.max() < b.min() or b.max() < a.min()), key
        assert value.runs.base["maxdiff"] == pytest.approx(np.ptp(a)), key


def test_exceeds_run_to_run_variance():
    y, _, _, g = pair()
    base = runs((0.9, 0.6), y, g)
    far, near = runs((0.75, 0.75), y, g, seed=2), runs((0.9, 0.6), y, g, seed=3)
    found = evenhand.compare(y, {"base": base, "far": far, "near": near}, groups=g, replicates=100)
    gap = "accuracy.gap"
    assert found.differences["far"][gap].runs.exceeds
    assert found.differences["far"][gap].high < 0
    assert not found.differences["near"][gap].runs.exceeds
    assert found.differences["near"][gap].low < 0 < found.differences["near"][gap].high


def test_the_interval_of_runs_does_not_hang_on_the_first_one():
    """Both models have the same first run; the others differ, and so do the models."""
    y, _, _, g = pair()
    base, other = runs((0.9, 0.7), y, g), runs((0.8, 0.6), y, g, seed=2)
    other[0] = base[0]
    found = evenhand.compare(y, {"p": base, "q": other}, groups=g, replicates=200)
    acc = found.differences["q"]["acc"]
    turned = evenhand.compare(y, {"p": base[::-1], "q": other[::-1]}, groups=g, replicates=200)
    again = turned.differences["q"]["acc"]
    assert acc.difference == pytest.approx(again.difference)
    assert 0.7 < (acc.high - acc.low) / (again.high - again.low) < 1.4
    assert found.cev["q"].high > found.cev["q"].low
    assert (acc.p < 0.05) == (acc.low > 0 or acc.high < 0)


def test_the_interval_of_runs_follows_the_confidence():
    """Almost no rows' noise is left: nearly all of it is the runs', which grows with Student's quantile."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 20_000)
    base, other = (
        np.stack([np.where(rng.random(len(y)) < rate, y, 1 - y) for rate in rates])
        for rates in ((0.70, 0.80, 0.90), (0.65, 0.75, 0.85))
    )
    widths = []
    for confidence in (0.5, 0.95):
        found = evenhand.compare(y, {"p": base, "q": other}, confidence=confidence, replicates=100)
        acc = found.differences["q"]["acc"]
        widths.append(acc.high - acc.low)
    assert widths[1] / widths[0] == pytest.approx(2.776 / 0.741, rel=0.1)  # of four degrees of freedom


def test_one_run_of_a_model_tells_nothing_of_runs():
    y, p, _, g = pair()
    found = evenhand.compare(y, {"p": p, "q": runs((0.9, 0.7), y, g)}, groups=g, replicates=20)
    assert all(value.runs is None for value in found.differences["q"].values())


def test_one_run_against_several_has_the_error_of_those():
    rng = np.random.default_rng(4)
    y = rng.integers(0, 2, 20_000)
    base, *other = (np.where(rng.random(len(y)) < rate, y, 1 - y) for rate in (0.8, 0.6, 0.7, 0.8))
    found = evenhand.compare(y, {"p": base, "q": np.stack(other)}, replicates=50).differences["q"]["acc"]
    assert (found.high - found.low) / 2 == pytest.approx(
        4.303 * 0.1 / math.sqrt(3), rel=0.1
    )  # Student's, of three


# -- coverage ---------------------------------------------------------------------------------------------
def coverage(n, base, other, sets, seed):
    """Share of simulated data sets whose paired interval holds the true difference."""
    rng = np.random.default_rng(seed)
    g = np.repeat([0, 1], n // 2)
    hits = dict.fromkeys(SURE, 0)
    truth = {key: exact(other)[key] - exact(base)[key] for key in SURE}
    for _ in range(sets):
        y = rng.integers(0, 2, n)
        shared, own = rng.random((2, n))
        second = np.where(rng.random(n) < 0.7, shared, own)  # the models err on the same rows, mostly
        p, q = (
            (draw < np.where(y == 1, np.array(model[0])[g], np.array(model[1])[g])).astype(int)
            for draw, model in ((shared, base), (second, other))
        )
        found = evenhand.compare(y, {"p": p, "q": q}, groups=g, metrics=SURE, replicates=200).differences["q"]
        for key in SURE:
            hits[key] += found[key].low - 1e-12 <= truth[key] <= found[key].high + 1e-12
    return {key: count / sets for key, count in hits.items()}


def exact(model):
    tpr, fpr = (np.array(rates) for rates in model)
    right = (tpr + 1 - fpr) / 2
    return {
        "acc": right.mean(),
        "tpr.gap": np.ptp(tpr),
        "fpr.gap": np.ptp(fpr),
        "accuracy.gap": np.ptp(right),
        "odds.max": max(np.ptp(tpr), np.ptp(fpr)),
        "tpr.worst": tpr.min(),
    }


CLEAR = ([0.9, 0.7], [0.1, 0.3])
SMALLER = ([0.85, 0.75], [0.1, 0.25])
NONE = ([0.8, 0.8], [0.2, 0.2])


def test_paired_intervals_cover_the_true_difference():
    found = coverage(400, CLEAR, SMALLER, sets=120, seed=0)
    assert all(share > 0.86 for share in found.values()), found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("base", "other"), [(CLEAR, SMALLER), (NONE, NONE), (CLEAR, NONE)], ids=["both", "neither", "one"]
)
@pytest.mark.parametrize("n", [80, 600])
def test_paired_intervals_cover_whatever_the_gaps_are(base, other, n):
    """Of 400 sets a share of 0.95 is below 0.92 once in 200 times.

    Where a model has no gap at all and groups are small, its observed gap is too large in every sample, and
    the interval of a difference of gaps covers less often than it says: about 0.83 of the time at 40 rows a
    group.
    """
    found = coverage(n, base, other, sets=400, seed=1)
    least = 0.79 if n < 100 and other is NONE else 0.87
    assert found["acc"] > 0.92, found
    assert all(share > least for share in found.values()), found


@pytest.mark.parametrize("n", [1, 2, 5, 12])
@pytest.mark.parametrize("runs", [1, 3])
def test_few_rows_that_all_changed_alike_show_no_more_than_an_exact_test(n, runs):
    """Every draw of them is the same: p had been 0.001 of a single row. McNemar's test is the reference."""
    y, wrong = np.ones((runs, n), dtype=int), np.zeros((runs, n), dtype=int)
    found = evenhand.compare(y[0], {"good": y, "bad": wrong}, classes=[0, 1])
    exact = binomtest(n, n).pvalue
    assert found.differences["bad"]["acc"].p == pytest.approx(max(exact, 1 / 1001 if runs == 1 else 0))
    assert any("no difference can be told from chance" in one for one in found.warnings) == (exact > 0.05)


def test_models_that_agree_are_not_told_that_few_rows_changed():
    found = evenhand.compare([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 0]})
    assert not any("told from chance" in one for one in found.warnings)


def rows_of(*cells):
    """Columns (y, p, q, g) of cells (label, first model, second model, rows), a list for each group."""
    return np.array([(y, p, q, g) for g, own in enumerate(cells) for y, p, q, n in own for _ in range(n)]).T


def test_a_group_that_is_undefined_in_one_model_leaves_an_interval_around_the_difference():
    """The second model predicts nobody of the first group, or finds no false positive in the highest."""
    cases = {
        "ppv.gap": rows_of(
            [(1, 1, 0, 50), (0, 1, 0, 50), (0, 0, 0, 100)],
            [(1, 1, 1, 90), (0, 1, 1, 10), (0, 0, 0, 100)],
            [(1, 1, 1, 92), (0, 1, 1, 8), (0, 0, 0, 100)],
        ),
        "ppv.worst": rows_of(
            [(1, 1, 0, 100), (0, 1, 0, 100), (0, 0, 0, 200)],
            [(1, 1, 1, 1650), (0, 1, 0, 1060), (0, 1, 1, 290), (0, 0, 0, 3000)],
            [(1, 1, 1, 2700), (0, 1, 1, 300), (0, 0, 0, 3000)],
        ),
        "fpr.ratio": rows_of(
            [(0, 1, 0, 3), (0, 0, 0, 47), (1, 1, 1, 50)],
            [(0, 1, 1, 1), (0, 0, 0, 45), (1, 1, 1, 50)],
            [(0, 1, 0, 1), (0, 0, 0, 44), (1, 1, 1, 50)],
        ),
    }
    for key, (y, p, q, g) in cases.items():
        found = evenhand.compare(y, {"a": p, "b": q}, g, metrics=[key], replicates=300).differences["b"][key]
        assert math.isfinite(found.difference), key
        assert found.low < found.difference < found.high, key
        assert 0 < found.p <= 1, key


def test_weights_that_vary_widen_the_interval_as_they_widen_the_error():
    """The error of a weighted share grows by sqrt(1 + cv^2), of log-normal weights exp(s^2 / 2)."""
    rng = np.random.default_rng(7)
    y, g = rng.integers(0, 2, 4000), np.repeat([0, 1], 2000)
    p, q = (np.where(rng.random(4000) < 0.8, y, 1 - y) for _ in range(2))
    widths = []
    for deviation in (0.0, 1.0):
        w = np.exp(deviation * rng.normal(size=4000))
        found = evenhand.compare(
            y, {"a": p, "b": q}, g, weights=w, metrics=["acc", "tpr.gap"], replicates=400
        ).differences["b"]
        widths.append([found[key].high - found[key].low for key in ("acc", "tpr.gap")])
    assert np.divide(widths[1], widths[0]) == pytest.approx(math.exp(0.5), rel=0.2)


def test_groups_of_many_labels_do_not_pay_for_each_label():
    """Fifty labels, five rows each in every group: accuracy is lent two rows a group, not a hundred."""
    rng = np.random.default_rng(0)
    y, g = rng.integers(0, 50, 1000), np.repeat(np.arange(4), 250)
    p = np.where(rng.random(1000) < 0.95, y, rng.integers(0, 50, 1000))
    found = evenhand.compare(y, {"a": p, "b": p.copy()}, g, metrics=["accuracy.gap", "accuracy.worst"])
    for one in found.differences["b"].values():
        assert one.low < 0 < one.high < 0.035
