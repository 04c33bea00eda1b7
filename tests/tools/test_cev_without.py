"""CEV without a class: with all of them it is what the study publishes, and a wrong class is told."""

import json
import runpy
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "studies" / "results" / "compression-cifar10-small"
tool = SimpleNamespace(**runpy.run_path(str(ROOT / "tools" / "cev_without.py")))


def test_with_all_classes_it_is_what_the_study_publishes():
    study = json.loads((FOLDER / "study.json").read_text("utf-8"))["study"]
    found, classes = tool.tables(FOLDER)
    assert classes == study["problems"][0]["classes"]
    for row in study["problems"][0]["rows"]:
        pairs = [(found["base", "", seed], found[row["method"], row["level"], seed]) for seed in row["seeds"]]
        values = np.array([tool.measured(*pair, 0) for pair in pairs])
        assert values[:, 0] == pytest.approx(row["by_seed"]["cev"])
        assert values[:, 1] == pytest.approx(row["by_seed"]["sde"])


def test_without_a_class_its_changes_play_no_part():
    base = np.array([[90.0, 10, 1], [20, 80, 2], [10, 30, 60]])
    other = base + np.array([[-9, 5, 4], [3, -7, 4], [0, 0, 0]])
    *_, cev, sde = tool.measured(base, other, 2)
    rates = [
        [(t.sum(0) - np.diag(t)) / (t.sum() - t.sum(1)), 1 - np.diag(t) / t.sum(1)] for t in (base, other)
    ]
    fpr, fnr = ((after - before)[:2] / before[:2] for before, after in zip(*rates, strict=True))
    assert cev == pytest.approx(fpr.var() + fnr.var())
    assert sde == pytest.approx(np.abs(fnr - fpr).mean())


def test_seeds_that_order_methods_alike_are_counted():
    assert tool.same_order(np.array([[1.0, 2.0, 3.0], [2.0, 3.0, 4.0]])) == 1.0
    assert tool.same_order(np.array([[1.0, 4.0, 3.0], [2.0, 3.0, 4.0]])) == pytest.approx(1 / 3)


def test_a_class_that_is_not_there_is_told(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["cev_without.py", str(FOLDER), "cow"])
    with pytest.raises(SystemExit, match="no class 'cow'; there are airplane"):
        tool.main()
