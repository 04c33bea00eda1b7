"""Seeds and rows apart: the deviation by rows is the binomial one; frontiers and correlations."""

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats

from evenhand.evaluation.study.correlations import spearman_matrices
from evenhand.evaluation.study.frontier import frontiers, pareto_sets
from evenhand.evaluation.study.resampled import row_deviations
from evenhand.evaluation.study.setup import Setup
from evenhand.evaluation.study.variance import variance_rows
from evenhand.metrics.scores import Scores
from evenhand.study.frame import Frame
from evenhand.study.spec import ReportSpec, SelectionSpec

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[2] / "study" / "fake_store.py")))


def steady(replicates=2000, n=2000):
    """Every seed gives the same counts: all that is left to chance are the rows."""
    store = fake.store_of(
        {"erm": [{}]}, lambda *_: fake.rates_table((0.8, 0.6), (0.1, 0.2), n=n), seeds=3,
        report=ReportSpec(metrics=("tpr.gap",)),
    )  # fmt: skip
    return Setup.of(Frame.open(store), replicates)


def test_the_deviation_by_rows_is_the_binomial_one():
    found = row_deviations(steady())[0, "erm"]
    gap = np.sqrt(0.8 * 0.2 / 1000 + 0.6 * 0.4 / 1000)
    accuracy = np.sqrt(sum(p * (1 - p) for p in (0.85, 0.7)) * 2000) / 4000
    assert found["tpr.gap"] == pytest.approx(gap, rel=0.05)
    assert found["acc"] == pytest.approx(accuracy, rel=0.05)


def test_both_sources_are_shown_apart():
    setup = steady(400)
    line = next(line for line in variance_rows(setup, row_deviations(setup)) if line["metric"] == "tpr.gap")
    assert line["seed_std"] == 0.0
    assert line["maxdiff"] == 0.0
    assert line["share"] == line["share_low"] == 0.0
    assert line["row_std"] > 0.015


def test_draws_are_the_same_every_time_and_none_are_made_for_zero():
    assert row_deviations(steady(50)) == row_deviations(steady(50))
    assert row_deviations(steady(0)) == {(0, "erm"): {}}


def test_a_metric_that_the_rows_can_leave_undefined_has_no_deviation():
    none = np.array([[[400, 100], [0, 500]], [[1000, 0], [0, 0]]])
    store = fake.store_of({"erm": [{}]}, lambda *_: none, report=ReportSpec(metrics=("tpr.gap",)))
    found = row_deviations(Setup.of(Frame.open(store), 50))[0, "erm"]
    assert np.isnan(found["tpr.gap"])
    assert found["acc"] > 0


def test_binned_scores_are_resampled_too():
    rng = np.random.default_rng(0)
    store = fake.store_of(
        {"erm": [{}]}, lambda *_: fake.rates_table((0.8, 0.6), (0.1, 0.2), n=400), seeds=2,
        report=ReportSpec(metrics=("brier.gap", "auc.worst")),
    )  # fmt: skip
    y, g = np.tile([0, 1], 400), np.repeat([0, 1], 400)
    score = np.clip(0.5 + (y - 0.5) * (0.6 - 0.4 * g) + rng.normal(0, 0.2, (2, 800)), 0, 1)
    scores = Scores.from_scores(y, score, g, n_groups=2, bins=960, runs=True)
    block = replace(store.measured("test")[0], scores=scores)
    store.measured = lambda part: [block] if part == "test" else []
    found = row_deviations(Setup.of(Frame.open(store), 800))[0, "erm"]
    loss = ((score[0] - y) ** 2).reshape(2, 400)
    assert found["brier.gap"] == pytest.approx(np.sqrt((loss.var(axis=1) / 400).sum()), rel=0.1)
    assert 0.02 < found["auc.worst"] < 0.035


# -- frontiers -------------------------------------------------------------------------------------------
LAMS = [{"lam": 0.1}, {"lam": 1.0}]
# tpr of a and b; validation and test agree for erm, and are crossed for gap
VALIDATION = {("erm", 0): (0.9, 0.6), ("gap", 0.1): (0.7, 0.68), ("gap", 1.0): (0.6, 0.3)}
TEST = {("erm", 0): (0.9, 0.6), ("gap", 0.1): (0.6, 0.2), ("gap", 1.0): (0.7, 0.68)}


def crossed():
    def table_of(task, method, setting, seed, part):
        return fake.rates_table((VALIDATION if part == "validation" else TEST)[method, setting.get("lam", 0)],
                                (0.1, 0.1))  # fmt: skip

    store = fake.store_of(
        {"erm": [{}], "gap": LAMS}, table_of, selection=SelectionSpec(metric="tpr.gap"),
        report=ReportSpec(metrics=("tpr.gap",)),
    )  # fmt: skip
    return Setup.of(Frame.open(store), 0)


def test_the_pareto_set_is_found_on_validation_and_shown_on_test():
    found = pareto_sets(crossed(), 0)["tpr.gap"]
    assert [(member["method"], member["setting"]) for member in found] == [("erm", {}), ("gap", {"lam": 0.1})]
    assert (found[1]["x"], found[1]["y"]) == pytest.approx((0.65, 0.4))


def test_the_frontier_is_that_of_the_chosen_settings():
    assert frontiers(crossed(), 0) == {"tpr.gap": ["erm"]}  # gap was chosen by what validation promised


# -- correlations ----------------------------------------------------------------------------------------
def test_spearman_over_all_finished_runs_is_scipys():
    store = fake.sample_store()
    setup = Setup.of(Frame.open(store), 0)
    found = spearman_matrices(setup)
    assert [entry["problem"] for entry in found] == [problem.id for problem in setup.frame.layout.problems]
    rows = [row for row in range(setup.frame.n) if setup.frame.columns["task"][row] == "compas"]
    rows = [row for row in rows if setup.frame.done[row]]
    columns = np.stack([setup.frame.values("test", key)[rows] for key in setup.keys], axis=1)
    np.testing.assert_allclose(found[1]["matrix"], stats.spearmanr(columns).statistic)
    assert found[1]["n"][0][1] == len(rows)
