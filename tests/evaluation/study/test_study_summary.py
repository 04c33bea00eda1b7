"""The study dictionary: all that the report needs is there, from any store, finished, begun or empty."""

import json
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.evaluation.study.numbers import numbers_of
from evenhand.evaluation.study.summary import summarise
from evenhand.study.frame import Frame
from evenhand.study.select_words import ORACLE
from evenhand.study.spec import ReportSpec, SelectionSpec

HERE = Path(__file__).parents[2] / "study" / "fake_store.py"
fake = SimpleNamespace(**runpy.run_path(str(HERE)))
TOP = {
    "kind", "evenhand", "name", "title", "about", "created", "state", "spec", "budget", "metrics", "accuracy",
    "base", "confidence", "part", "selection", "tests", "problems", "ranks", "leaders", "variance", "cost",
    "spearman", "settings", "environment", "notes",
}  # fmt: skip
PROBLEM = {
    "id", "task", "grouping", "net", "groups", "classes", "n", "methods", "frontier", "pareto", "points",
}  # fmt: skip
METHOD = {
    "method", "setting", "label", "seeds", "n", "failed", "numbers", "against", "rates", "per_class",
    "levelling", "seconds", "peak_memory",
}  # fmt: skip
NUMBER = {"values", "mean", "std", "min", "max", "maxdiff", "low", "high", "row_std", "run_share"}
AGAINST = {
    "difference", "low", "high", "p", "p_adjusted", "effect", "band", "paired", "verdict",
}  # fmt: skip


@pytest.fixture(scope="module")
def sample():
    return fake.sample_study()


def method_of(body, name, problem=0):
    return next(entry for entry in body["problems"][problem]["methods"] if entry["method"] == name)


# -- shape -----------------------------------------------------------------------------------------------
def test_everything_that_the_contract_names_is_there(sample):
    assert set(sample) >= TOP
    for problem in sample["problems"]:
        assert set(problem) >= PROBLEM
        for entry in problem["methods"]:
            assert set(entry) >= METHOD
            assert all(set(number) >= NUMBER for number in entry["numbers"].values())
            assert (entry["against"] is None) == (entry["method"] == "erm")
            if entry["against"]:
                assert all(set(moved) >= AGAINST for moved in entry["against"].values())
    assert json.loads(json.dumps(sample, allow_nan=False)) == sample


def test_numbers_by_seed_and_their_mean(sample):
    store = fake.sample_store()
    frame = Frame.open(store)
    entry = method_of(sample, "gap")
    rows = [
        row for row in range(frame.n)
        if frame.columns["task"][row] == "adult" and frame.columns["method"][row] == "gap"
        and frame.columns["setting"][row] == entry["setting"]
    ]  # fmt: skip
    values = frame.values("test", "tpr.gap")[rows]
    number = entry["numbers"]["tpr.gap"]
    assert entry["seeds"] == list(range(8))
    np.testing.assert_allclose(number["values"], values)
    assert number["mean"] == pytest.approx(values.mean())
    assert number["std"] == pytest.approx(values.std(ddof=1))
    assert number["high"] - number["mean"] == pytest.approx(2.364624 * values.std(ddof=1) / 8**0.5, rel=1e-5)
    assert number["maxdiff"] == pytest.approx(values.max() - values.min())


def test_methods_stand_in_the_order_of_the_selection_metric(sample):
    for problem in sample["problems"]:
        means = [entry["numbers"]["odds.max"]["mean"] for entry in problem["methods"]]
        assert means == sorted(means)
    over = [entry["numbers"]["odds.max"]["mean"] for entry in sample["leaders"]]
    assert over == sorted(over)


def test_every_finished_run_is_a_point(sample):
    assert sum(len(problem["points"]) for problem in sample["problems"]) == sample["state"]["done"] == 231
    chosen = [point for point in sample["problems"][0]["points"] if point["selected"]]
    assert len(chosen) == 4 * 8 - 2  # the chosen setting of sd has two failed seeds


def test_groups_and_rows_of_the_part(sample):
    first = sample["problems"][0]
    assert first["groups"] == [
        {"name": "a", "n": 900, "fewest": 450},
        {"name": "b", "n": 900, "fewest": 450},
    ]
    assert first["n"] == 1800
    assert first["classes"] == ["no", "yes"]


# -- state, budget, notes ----------------------------------------------------------------------------------
def test_the_state_counts_failures_with_their_reasons(sample):
    state = sample["state"]
    assert (state["planned"], state["done"], state["failed"], state["waiting"]) == (240, 231, 6, 3)
    assert not state["finished"]
    assert state["failures"][0]["reason"] == "the loss became NaN"
    assert state["failures"][0]["runs"] == 6
    assert any("6 of 240 runs failed" in note for note in sample["notes"])
    assert any("3 of 240 runs are not there yet" in note for note in sample["notes"])


def test_an_unequal_budget_is_said_and_an_equal_one_too(sample):
    assert not sample["budget"]["equal"]
    assert "fewer for erm (1 setting, 8 seeds)" in sample["budget"]["words"]
    assert {line["method"]: line["how"] for line in sample["budget"]["methods"]} == {
        "erm": "fixed", "gap": "grid", "group-dro": "grid", "sd": "grid",
    }  # fmt: skip
    lams = [{"lam": 1.0}, {"lam": 2.0}]
    same = fake.store_of({"erm": lams, "gap": lams}, lambda *_: fake.rates_table((0.8, 0.7), (0.1, 0.2)))
    found = summarise(same, replicates=0)["budget"]
    assert found["equal"]
    assert found["words"] == "every method had the same budget: 2 settings, 4 seeds"
    assert found["seconds"] == 16.0


def test_an_oracle_is_called_one_wherever_it_is_shown():
    store = fake.sample_store()
    store._study["selection"]["part"] = "test"
    found = summarise(store, replicates=0)
    assert found["selection"]["oracle"]
    assert ORACLE in found["selection"]["words"]
    assert any(ORACLE in note for note in found["notes"])
    assert any("oracle" in line["chosen_by"] for line in found["settings"])


def test_notes_of_small_groups_few_seeds_and_reused_runs():
    store = fake.store_of(
        {"erm": [{}], "gap": [{"lam": 1.0}]}, lambda *_: fake.rates_table((0.5, 0.5), (0.5, 0.5), n=20),
        seeds=2,
    )  # fmt: skip
    store.rows[0].update(source="runs.parquet", versions={"evenhand": "0.0.9"})
    notes = " | ".join(summarise(store, replicates=0)["notes"])
    assert "fewer than 30 rows: a (20), b (20)" in notes
    assert "only 2 seeds" in notes
    assert "1 of 4 runs were taken from a file and not trained here, made by version 0.0.9" in notes


def test_metrics_that_are_undefined_in_some_runs_are_noted():
    none = np.array([[[400, 100], [0, 500]], [[1000, 0], [0, 0]]])  # group b has no positives
    store = fake.store_of(
        {"erm": [{}]},
        lambda t, m, s, seed, p: none if seed == 0 else fake.rates_table((0.8, 0.7), (0.1, 0.1)),
    )
    found = summarise(store, replicates=0)
    assert any("tpr.gap is undefined in 1 of the 4 runs" in note for note in found["notes"])
    number = found["problems"][0]["methods"][0]["numbers"]["tpr.gap"]
    assert number["values"][0] is None
    assert number["mean"] == pytest.approx(0.1)


# -- stores that are not finished ----------------------------------------------------------------------------
def test_an_empty_store():
    found = summarise(fake.FakeStore({"name": "none"}, [], {}))
    assert found["problems"] == found["leaders"] == found["cost"] == []
    assert not found["state"]["finished"]
    assert found["budget"]["words"] == "no runs are planned"


def test_a_study_that_has_not_begun_lists_its_problems():
    store = fake.sample_store(failures=False)
    for row in store.rows:
        row.update(status="planned", seconds=None, versions=None, peak_memory=None, device=None, host=None)
    store.tables.clear()
    found = summarise(store)
    assert [problem["methods"] for problem in found["problems"]] == [[], [], []]
    assert found["state"]["waiting"] == 240
    assert any("adult / sex / mlp has nothing to report yet" in note for note in found["notes"])
    json.dumps(found, allow_nan=False)


def test_a_base_that_failed_leaves_nothing_to_compare():
    store = fake.sample_store(tasks=("adult",), failures=False)
    for row in store.rows:
        if row["method"] == "erm":
            row.update(status="failed", reason="out of memory")
    found = summarise(store, replicates=0)
    assert all(entry["against"] is None for entry in found["problems"][0]["methods"])
    assert found["cost"] == []
    assert any("no finished run of the base erm" in note for note in found["notes"])


def test_seeds_that_only_one_side_has_are_not_paired():
    store = fake.sample_store(tasks=("adult",), failures=False)
    for row in store.rows:
        if (row["method"] == "erm") == (row["seed"] >= 4):
            row.update(status="planned")
    moved = method_of(summarise(store, replicates=0), "gap")["against"]["tpr.gap"]
    assert moved["paired"] is False
    assert moved["n"] == [4, 4]
    assert moved["difference"] < 0 < moved["effect"]  # the other way round it would be a rise


def test_per_metric_settings_under_their_own_rule():
    store = fake.sample_store(tasks=("adult",), failures=False)
    store._study["selection"]["rule"] = "best-per-metric"
    entry = method_of(summarise(store, replicates=0), "gap")
    assert set(entry["per_metric"]) == {"acc", "tpr.gap", "fpr.gap", "selection.gap", "odds.max"}
    assert entry["per_metric"]["tpr.gap"]["setting"] == {"lam": 10.0}
    assert entry["per_metric"]["acc"]["mean"] >= entry["numbers"]["acc"]["mean"]


def test_a_reported_metric_of_scores_without_scores_is_empty_and_said():
    report = ReportSpec(metrics=("tpr.gap", "auc.gap"))
    store = fake.store_of(
        {"erm": [{}], "gap": [{}]}, lambda *_: fake.rates_table((0.8, 0.7), (0.1, 0.1)), report=report
    )
    found = summarise(store, replicates=20)
    assert method_of(found, "gap")["numbers"]["auc.gap"]["mean"] is None
    assert method_of(found, "gap")["against"]["auc.gap"]["verdict"] == "not enough runs to tell"


def test_a_frame_will_do_and_progress_is_told():
    said = []
    frame = Frame.open(fake.sample_store(tasks=("adult",)))
    assert summarise(frame, replicates=0, progress=said.append)["kind"] == "study"
    assert said[0] == "reading the runs"


# -- speed -----------------------------------------------------------------------------------------------
def test_twenty_thousand_runs_are_summed_up_in_seconds():
    rng = np.random.default_rng(0)
    tables = rng.integers(50, 500, (64, 4, 2, 2))
    settings = [{"lam": place} for place in range(20)]
    store = fake.store_of(
        dict.fromkeys(("erm", *(f"m{place}" for place in range(9))), settings),
        lambda *_: tables[rng.integers(64)], tasks=[f"t{place}" for place in range(10)], seeds=10,
        groups=("a", "b", "c", "d"), selection=SelectionSpec(metric="tpr.gap"),
    )  # fmt: skip
    began = time.process_time()
    found = summarise(store)
    assert found["state"]["done"] == 20_000
    assert time.process_time() - began < 8.0  # 2.5 s where it was written


def test_a_rate_that_rests_on_a_few_rows_is_said():
    few = np.array([[[400, 100], [50, 450]], [[500, 97], [1, 2]]])  # three positives of 600 rows
    found = summarise(fake.store_of({"erm": [{}]}, lambda *_: few), replicates=0)
    assert found["problems"][0]["groups"][1] == {"name": "b", "n": 600, "fewest": 3}
    assert any("fewer than 30 rows of a class, on which rates of theirs rest: b (3)" in note
               for note in found["notes"])  # fmt: skip


def test_small_groups_of_many_problems_do_not_hide_other_notes():
    """Two sentences a problem: the first ten are told, and that fifteen problems of twenty have them too."""
    small = fake.rates_table((0.5, 0.5), (0.5, 0.5), n=20)
    store = fake.store_of({"erm": [{}]}, lambda *_: small, tasks=[f"t{place}" for place in range(20)])
    notes = summarise(store, replicates=0)["notes"]
    assert sum("fewer than 30 rows" in note for note in notes) == 10
    assert "15 more problems have groups as small: see their tables" in notes


def test_intervals_stay_where_the_metric_can_be():
    found = numbers_of(np.array([0.0, 0.01, 0.2]), "tpr.gap", 0.95)
    assert found["low"] == 0.0
    assert found["high"] == pytest.approx(0.07 + 4.302653 * 0.1126943 / 3**0.5, rel=1e-5)


def test_hosts_are_counted_and_the_level_is_that_of_the_report():
    store = fake.sample_store(tasks=("adult",), failures=False)
    store.rows[0].update(host="there")
    store._study["report"]["confidence"] = 0.9
    found = summarise(store, replicates=0)
    assert found["environment"]["hosts"] == 2
    assert "a difference is shown at p ≤ 0.1;" in found["tests"]["words"]


def test_one_problem_leads_by_its_seeds():
    found = summarise(fake.sample_store(tasks=("adult",), failures=False), replicates=0)
    leader = next(entry for entry in found["leaders"] if entry["method"] == "gap")["numbers"]["tpr.gap"]
    entry = method_of(found, "gap")
    for name in ("mean", "low", "high"):
        assert leader[name] == pytest.approx(entry["numbers"]["tpr.gap"][name])
    assert leader["verdict"] == entry["against"]["tpr.gap"]["verdict"] == "lower"
