"""The numbers of `benchmarks/faces_readable.py`: closed forms, and the page with its verdicts."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def bench(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return import_module("benchmarks.faces_readable")


def test_auc_is_the_share_of_ordered_pairs(bench):
    score, truth = np.array([0.1, 0.4, 0.35, 0.8]), np.array([0, 0, 1, 1])
    assert bench.auc(score, truth) == 0.75
    assert bench.auc(np.zeros(4), truth) == 0.5
    assert np.isnan(bench.auc(score, np.ones(4, dtype=int)))


def test_the_error_of_an_auc_of_a_half_is_that_of_a_rank_sum(bench):
    # with nothing to tell, Var = (m + n + 1) / (12 m n); Hanley and McNeil's form agrees
    assert bench.auc_error(0.5, 40, 60) == pytest.approx(np.sqrt(101 / (12 * 40 * 60)), rel=1e-12)


def test_the_best_threshold_separates_what_can_be_separated(bench):
    score, truth = np.linspace(0, 1, 100), np.arange(100) >= 90
    threshold = bench.best_threshold(score, truth.astype(int))
    assert bench.balanced_accuracy(score, truth.astype(int), threshold) == pytest.approx(1.0, abs=0.01)


def test_every_fact_changes_pixels_and_a_hat_more_than_a_nose(bench):
    found = bench.changed_pixels(32, count=24)
    assert len(found) == 40
    assert min(found.values()) > 1 / 1024  # a pixel at least
    assert found["Wearing_Hat"] > 5 * found["Pointy_Nose"]


def test_the_page_has_the_worst_first(bench):
    numbers = {"auc": 0.95, "error": 0.01, "balanced_accuracy": 0.9}
    world = {"Bald": numbers, "Young": {**numbers, "auc": 0.6}}
    body = {"size": 32, "net": "convnet", "train": 10, "epochs": 1, "test": 5, "device": "cpu"}
    body |= {"worlds": dict.fromkeys(bench.WORLDS, world), "changed": {"Bald": 0.1, "Young": 0.01}}
    lines = bench.page(body).splitlines()
    assert lines[-2] == "| Young | 1.0% | 0.600 ± 0.010 | 0.900 | 0.600 ± 0.010 | 0.900 | not readable |"
    assert lines[-1].endswith("| readable |")
    assert [bench.verdict(value) for value in (0.9, 0.8, 0.7)] == ["readable", "weak", "not readable"]


def test_faces_are_painted_and_timed(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    found = import_module("benchmarks.faces").run(n=300, size=32, rounds=1)
    assert found["faces"] == 300
    assert len(found["seconds"]) == 1
    assert found["same_bytes_again"]
    assert found["levels_from_cpu_max"] == 0
    assert 0 < found["mean_phi_error"] < found["largest_phi_error"] <= 2
    assert 0 < found["largest_share_error"] < 0.2  # 300 faces: five standard errors of a share of one half
