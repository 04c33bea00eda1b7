"""The benchmark of generating CI-MNIST runs at a tiny size; nothing here depends on how long it takes."""

import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_images_are_generated_and_timed(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    rows = import_module("benchmarks.ci_mnist").run(rows=200, rounds=2)
    assert [row["look"] for row in rows] == ["A", "A, one shade an image", "B"]
    assert all(0 < row["best_s"] <= row["median_s"] and row["images"] == 200 for row in rows)
