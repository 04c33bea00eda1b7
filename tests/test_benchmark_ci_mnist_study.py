"""What the benchmark of the ci-mnist study makes of its measurements; nothing here is timed."""

import sys
from datetime import datetime
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture
def table(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return import_module("benchmarks.ci_mnist_study_table")


def row(method, net, alone, stack=10, together=5.0):
    return {"method": method, "net": net, "alone_ms": alone, "stack": stack, "stack_ms": together}


def test_the_whole_study_is_its_runs_times_their_steps(table):
    counts = table.declared()
    assert sum(counts.values()) == 2280
    assert (counts["mlp", "width 32"], counts["laftr-dp", "width 64"]) == (30, 150)
    assert table.steps_of("mlp") == 20 * 781
    assert table.steps_of("mlp", fewest=True) == 6 * 781
    assert table.steps_of("ffvae") == table.steps_of("ffvae", fewest=True) == 10 * 781
    rows = [row("mlp", "width 32", 2.0)]
    only = {("mlp", "width 32"): 30}
    assert table.hours(rows, only, "alone") == pytest.approx(30 * 20 * 781 * 2.0 / 3.6e6)
    assert table.hours(rows, only, "together") == pytest.approx(30 * 20 * 781 * 0.5 / 3.6e6)


def test_variants_that_were_not_measured_are_the_mean_of_the_others(table):
    rows = [row("laftr-dp", "width 32", 2.0), row("laftr-eqodd", "width 32", 4.0)]
    assert table.row_for(rows, "laftr-eqopp1", "width 32")["alone"] == 3.0
    assert table.row_for(rows, "laftr-dp", "width 32")["alone"] == 2.0
    assert table.row_for(rows, "laftr-dp", "width 64") is None
    assert table.row_for([row("ffvae", "first phase", 7.0)], "ffvae", "width 64")["alone"] == 7.0
    page = table.markdown({"machine": "m", "command": "c", "rows": []})
    assert page.count("| not measured") == 6  # three columns of two rows: nothing is made up


def test_time_that_stacks_shared_counts_once(table):
    times = [datetime.fromisoformat(f"2026-01-01T00:00:{second:02}") for second in range(60)]
    spans = [(times[0], times[10]), (times[2], times[5]), (times[8], times[12]), (times[20], times[21])]
    assert table._covered(spans) == 13
    assert table._same("cuda (NVIDIA H200)", "NVIDIA H200, torch 2")
    assert not table._same("cuda (NVIDIA H200)", "1 CPU threads, torch 2")
