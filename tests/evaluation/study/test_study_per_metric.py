"""The rule best-per-metric: every number, test and rank belongs to the setting that was chosen for it."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.evaluation.study.summary import summarise
from evenhand.statistics.corrections import holm
from evenhand.statistics.tests import mann_whitney
from evenhand.study.spec import ReportSpec, SelectionSpec

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "study" / "fake_store.py")))
KEYS = ("acc", "tpr.gap", "fpr.gap")
# true positive rates of a and b, false positive rates of a and b: lam = 1 is the more accurate one, 2 has the
# smaller gap of true positives, 3 that of false ones; erm has settings of its own
RATES = {
    ("erm", 1.0): (0.90, 0.70, 0.10, 0.20), ("erm", 2.0): (0.80, 0.66, 0.14, 0.26),
    ("erm", 3.0): (0.70, 0.54, 0.22, 0.27),
    ("gap", 1.0): (0.86, 0.74, 0.11, 0.21), ("gap", 2.0): (0.70, 0.66, 0.16, 0.30),
    ("gap", 3.0): (0.72, 0.60, 0.22, 0.24),
}  # fmt: skip
CHOSEN = {"acc": 1.0, "tpr.gap": 2.0, "fpr.gap": 3.0}
LAMS = [{"lam": value} for value in (1.0, 2.0, 3.0)]


@pytest.fixture(scope="module")
def made():
    """The summary, and every run's numbers by method, setting and seed, worked out by hand."""
    rng, values = np.random.default_rng(0), {}

    def table_of(task, method, setting, seed, part):
        tpr_a, tpr_b, fpr_a, fpr_b = np.array(RATES[method, setting["lam"]]) + rng.normal(0, 0.004, 4)
        table = fake.rates_table((tpr_a, tpr_b), (fpr_a, fpr_b), n=4000)
        if part == "test":
            tpr, fpr = table[:, 1, 1] / 2000, table[:, 0, 1] / 2000
            accuracy = (table[:, 0, 0] + table[:, 1, 1]).sum() / 8000
            values[method, setting["lam"], seed] = (accuracy, np.ptp(tpr), np.ptp(fpr))
        return table

    store = fake.store_of(
        {"erm": LAMS, "gap": LAMS}, table_of, seeds=8,
        selection=SelectionSpec("best-per-metric", metric="tpr.gap"),
        report=ReportSpec(metrics=("tpr.gap", "fpr.gap")),
    )  # fmt: skip
    return summarise(store, replicates=60), values


def by_hand(values, method, lam, key):
    return np.array([values[method, lam, seed][KEYS.index(key)] for seed in range(8)])


def entry_of(body, method):
    return next(entry for entry in body["problems"][0]["methods"] if entry["method"] == method)


@pytest.mark.parametrize("method", ["erm", "gap"])
def test_numbers_are_those_of_the_setting_chosen_for_the_metric(made, method):
    body, values = made
    entry = entry_of(body, method)
    for key, lam in CHOSEN.items():
        expected = by_hand(values, method, lam, key)
        np.testing.assert_allclose(entry["numbers"][key]["values"], expected)
        own = entry["per_metric"][key]
        assert own["setting"] == {"lam": lam}
        assert own["mean"] == entry["numbers"][key]["mean"] == pytest.approx(expected.mean())
        assert own["accuracy"]["mean"] == pytest.approx(by_hand(values, method, lam, "acc").mean())
        assert own["row_std"] > 0
        assert (own["n"], own["failed"], own["seeds"]) == (8, 0, list(range(8)))


def test_tests_compare_the_settings_chosen_for_the_metric_on_both_sides(made):
    body, values = made
    pairs = {
        key: (by_hand(values, "erm", lam, key), by_hand(values, "gap", lam, key))
        for key, lam in CHOSEN.items()
    }
    against = entry_of(body, "gap")["against"]
    p = [
        mann_whitney(*pair, method="auto").p for pair in pairs.values()
    ]  # exact with ties, as SciPy's is not
    for (key, (base, other)), adjusted in zip(pairs.items(), holm(p), strict=True):
        assert against[key]["difference"] == pytest.approx((other - base).mean())
        assert against[key]["p_adjusted"] == pytest.approx(adjusted)


def test_one_model_stands_beside_it_with_tests_of_its_own(made):
    body, values = made
    entry = entry_of(body, "gap")
    assert entry["setting"] == {"lam": 2.0}
    for key in KEYS:
        base, other = (by_hand(values, method, 2.0, key) for method in ("erm", "gap"))
        assert entry["single"]["numbers"][key]["mean"] == pytest.approx(other.mean())
        assert entry["single"]["against"][key]["difference"] == pytest.approx((other - base).mean())
    assert entry_of(body, "erm")["single"]["against"] is None


def test_the_cost_is_that_of_one_model_and_not_of_the_most_accurate_beside_the_evenest(made):
    body, values = made
    line = body["cost"][0]
    base, other = (by_hand(values, method, 2.0, "acc") for method in ("erm", "gap"))
    assert other.mean() < base.mean()
    assert (line["accuracy"], line["reduces"]) == ("-", ["tpr.gap"])


def test_ranks_leaders_frontier_variance_and_settings_follow(made):
    body, values = made
    for key, lam in CHOSEN.items():
        expected = by_hand(values, "gap", lam, key)
        leader = next(entry for entry in body["leaders"] if entry["method"] == "gap")
        assert leader["numbers"][key]["mean"] == pytest.approx(expected.mean())
        row = next(r for r in body["variance"] if (r["method"], r["metric"]) == ("gap", key))
        assert row["seed_std"] == pytest.approx(expected.std(ddof=1))
    shown = {(row["method"], row["chosen_by"].split()[2]): row["setting"]["lam"] for row in body["settings"]}
    assert shown == {(method, key): lam for method in ("erm", "gap") for key, lam in CHOSEN.items()}
    # by false positives gap's own setting has both the better accuracy and the smaller gap
    assert body["problems"][0]["frontier"]["fpr.gap"] == ["gap"]


def test_other_rules_have_no_second_row():
    body = summarise(fake.sample_store(tasks=("adult",), failures=False), replicates=0)
    assert all({"per_metric", "single"}.isdisjoint(entry) for entry in body["problems"][0]["methods"])
