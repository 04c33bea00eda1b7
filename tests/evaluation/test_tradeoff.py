"""The trade-off's numbers against scipy, against a bootstrap of rows written out, and against the audits."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.options import Options
from evenhand.evaluation.tradeoff import tradeoff
from evenhand.evaluation.tradeoff_rows import joint_of_runs, row_reaches
from evenhand.evaluation.tradeoff_values import Estimate, frontier, moved, t_reach
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts

FEW = {"replicates": 60}


@pytest.fixture(scope="module")
def fits():
    task = evenhand.load("titanic", validation=0.1)
    options = {"seeds": 3, "epochs": 2, "batch_size": 64}
    return {name: evenhand.fit("s4-mlp", name, task, **options) for name in ("erm", "gdro", "gap")}


def of(*values):
    return Estimate(values, len(values), float(np.mean(values)), 0.0, min(values), max(values))


def test_the_interval_of_a_mean_is_students():
    values = np.random.default_rng(0).normal(0.3, 0.05, 8)
    low, high = stats.t.interval(0.9, 7, values.mean(), stats.sem(values))
    assert t_reach(values, 0.9) == pytest.approx((high - low) / 2)
    assert np.isnan(t_reach(values[:1], 0.9))


def test_seed_by_seed_is_the_paired_t_interval():
    rng = np.random.default_rng(1)
    a = rng.normal(0.3, 0.05, 6)
    b = a - 0.1 + rng.normal(0, 0.01, 6)
    found = moved(of(*a), of(*b), float("nan"), 0.95, paired=True)
    expected = stats.ttest_rel(b, a).confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx(tuple(expected))
    assert found.p == pytest.approx(stats.mannwhitneyu(a, b, method="asymptotic").pvalue)
    assert found.effect > 0  # Cohen's d is positive where the other is lower
    apart = moved(of(*a), of(*b), float("nan"), 0.95, paired=False)
    assert apart.high - apart.low > 3 * (found.high - found.low)


def test_seeds_and_rows_add_up_and_one_seed_has_rows_alone():
    found = moved(of(0.1, 0.3), of(0.2, 0.5), 0.04, 0.95, paired=True)
    seeds = t_reach(np.array([0.1, 0.2]), 0.95)
    assert found.high - found.difference == pytest.approx(np.hypot(seeds, 0.04))
    single = moved(of(0.1), of(0.2), 0.04, 0.95, paired=True)
    assert (single.low, single.high) == pytest.approx((0.06, 0.14))
    assert np.isnan(single.p)
    assert np.isnan(moved(of(float("nan")), of(0.2), 0.04, 0.95, paired=True).difference)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=1, max_size=9))
def test_the_frontier_is_what_nobody_beats(places):
    points = {f"m{i}": (x / 6, y / 6) for i, (x, y) in enumerate(places)}
    for key, sign in (("tpr.gap", 1), ("tpr.worst", -1)):
        found = frontier(points, CATALOGUE[key])
        for name, (x, y) in points.items():
            beaten = any(
                (u >= x and sign * v <= sign * y) and (u > x or sign * v < sign * y)
                for u, v in points.values()
            )
            assert (name in found) == (not beaten)
        assert found == sorted(found, key=lambda name: -points[name][0])


def test_many_models_as_distinct_rows_count_the_same():
    rng = np.random.default_rng(2)
    n, groups, classes = 500, 3, 5
    y, ids = rng.integers(0, classes, n), rng.integers(-1, groups, n)
    runs = np.where(rng.random((30, n)) < 0.9, y, rng.integers(0, classes, (30, n)))  # 5 ** 30 is past int64
    joint = joint_of_runs(y, runs, ids, groups, classes)
    assert joint.rows.sum() == n
    assert (np.diff(joint.group) >= 0).all()  # what drawing within groups relies on
    for model in (0, 29):
        counts = Counts.from_predictions(y, runs[model], ids, classes, groups).margins()
        assert joint.margins(model).tp[:, :groups] == pytest.approx(counts.tp[..., :groups])


def test_rows_are_resampled_together_as_by_hand(fits):
    base, other = fits["erm"], fits["gdro"]
    task = base.tasks[0]
    rows = np.asarray(task.rows("test"))
    x, y, g = task.x[rows], np.asarray(task.y)[rows], task.groups(["sex"]).ids[rows]
    a, b = base.predict(x), other.predict(x)
    metric = CATALOGUE["tpr.gap"]
    options = Options(replicates=3000)
    reach = row_reaches(base, "test", a, b, [metric], options)["tpr.gap"]

    def gap(p, take):
        rates = [p[take][(y[take] == 1) & (g[take] == k)].mean() for k in (0, 1)]
        return abs(rates[0] - rates[1])

    rng, places = np.random.default_rng(3), [np.flatnonzero(g == k) for k in (0, 1)]
    everyone = np.arange(len(y))
    observed = np.mean([gap(q, everyone) - gap(p, everyone) for p, q in zip(a, b, strict=True)])
    errors = []
    for _ in range(1500):
        take = np.concatenate([rng.choice(place, len(place)) for place in places])
        errors.append(np.mean([gap(q, take) - gap(p, take) for p, q in zip(a, b, strict=True)]) - observed)
    assert reach == pytest.approx(np.quantile(np.abs(errors), 0.95), rel=0.12)


def test_numbers_are_those_of_the_audits(fits):
    found = tradeoff(fits, ["tpr.gap", "fpr.gap"], **FEW)
    assert found.base == "erm"
    for entry in found.entries:
        audit = fits[entry.name].audit(metrics=["acc", "tpr.gap", "fpr.gap"], replicates=0)
        for key, number in entry.numbers.items():
            assert number.values == audit.metrics[key].runs.values
            assert number.mean == pytest.approx(audit.metrics[key].value)
            assert number.low <= number.mean <= number.high
    assert found.entries[0].moved is None
    gdro = found.entries[1]
    apart = gdro.numbers["acc"].mean - found.entries[0].numbers["acc"].mean
    assert gdro.moved["acc"].difference == pytest.approx(apart)
    assert all(entry.p_adjusted >= entry.p for entry in gdro.moved.values())


def test_it_is_json_page_and_picture(fits):
    found = tradeoff(fits, ["tpr.gap"], base="gap", **FEW)
    body = json.loads(found.to_json())
    assert body["kind"] == "tradeoff"
    assert body["methods"][1]["method"]["fields"]["eta"] == 0.01
    assert body["task"]["card"]["files"]
    assert "Differences from <bdi>gap</bdi>" in found.to_html()
    assert "accuracy-against-true-positive-rate-gap" in found.figures()
    assert repr(found).startswith("TradeOff(base='gap'")


def test_a_metric_that_is_undefined_in_every_run_is_so_on_the_page():
    """Groups of one class each have no gap in recall; two seeds once made a list of one value of it."""
    task = evenhand.load("mnist-under", limit=200)
    single = {name: evenhand.fit("mlp", name, task, seeds=2, epochs=1) for name in ("erm", "sd")}
    found = tradeoff(single, ["tpr.gap"], **FEW)
    for entry in found.entries:
        assert np.isnan(entry.numbers["tpr.gap"].values).all()
        assert len(entry.numbers["tpr.gap"].values) == len(entry.numbers["acc"].values) == 2
        assert np.isnan(entry.numbers["tpr.gap"].mean)
    assert "<section" in found.to_html()


def test_one_seed_is_told_to_be_too_few(fits):
    task = fits["erm"].tasks[0]
    single = {name: evenhand.fit("s4-mlp", name, task, epochs=1) for name in ("erm", "gdro")}
    found = tradeoff(single, ["tpr.gap"], **FEW)
    assert any("one seed tells nothing" in note for note in found.warnings)
    assert np.isfinite(found.entries[1].moved["acc"].low)  # rows alone
    mixed = tradeoff({"erm": fits["erm"], "gdro": single["gdro"]}, ["tpr.gap"], **FEW)
    assert {"recipes", "seed by seed"} <= {
        word for word in ("recipes", "seed by seed") for note in mixed.warnings if word in note
    }
    assert not mixed.entries[1].moved["acc"].paired


def test_what_cannot_be_compared_is_refused(fits):
    other = evenhand.fit("s4-mlp", "erm", evenhand.load("titanic", seed=1, validation=0.1), epochs=1)
    by_class = evenhand.fit("s4-mlp", "erm", fits["erm"].tasks[0], epochs=1, protect="pclass")
    for second, words in ((other, "other test rows"), (by_class, "protect other attributes")):
        with pytest.raises(InputError, match=words):
            tradeoff({"erm": fits["erm"], "second": second})
    with pytest.raises(InputError, match="at least two"):
        tradeoff({"erm": fits["erm"]})
    with pytest.raises(InputError, match="no fit 'erm2'"):
        tradeoff(fits, base="erm2")
    with pytest.raises(ValueError, match=r"did you mean tpr\.gap"):
        tradeoff(fits, ["tpr.gp"])
