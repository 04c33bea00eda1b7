"""The benchmark of the matrices runs at a tiny size, and the kept result reaches its targets."""

import json
import math
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'src'}")
    return import_module("benchmarks.model_matrices")


def test_arrays_and_files_are_timed(module):
    rows = module.run(small=True)
    assert [row.unit for row in rows] == ["s", "MB", "s", "MB"]
    assert all(math.isfinite(row.value) and row.value > 0 and row.target is None for row in rows)


def test_the_kept_result_reaches_its_targets(module):
    kept = json.loads(module.RESULTS.read_text("utf-8"))["rows"]
    wanted = {"s": module.AT_MOST_SECONDS, "MB": module.AT_MOST_MB}
    arrays = [row for row in kept if "arrays" in row["what"]]
    assert len(arrays) == 2
    for row in arrays:
        assert "12 models x 50,000 predictions x 1000 classes" in row["what"]
        assert row["value"] <= row["target"] == wanted[row["unit"]]
