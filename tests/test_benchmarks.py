"""The benchmarks run at tiny sizes and return a ratio; nothing here depends on how long they take."""

from __future__ import annotations

import json
import math
import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def found_from_here(monkeypatch):
    """The benchmarks import each other as a package, and start processes that must find it and evenhand."""
    monkeypatch.syspath_prepend(str(ROOT))
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}:{ROOT / 'src'}")
    # run.py takes these settings for itself when it is started; here they must not outlast the test
    monkeypatch.setattr(sys, "path", list(sys.path))


def assert_rows(rows, *, some_ratio: bool = True) -> None:
    assert rows
    assert all(math.isfinite(row.value) and row.value >= 0 for row in rows)
    assert all(row.target is None for row in rows)  # tiny sizes prove nothing
    assert any(row.unit == "x" for row in rows) or not some_ratio


@pytest.mark.filterwarnings("ignore")  # those of the peers
def test_the_peers_agree_with_us_and_are_timed():
    rows = import_module("benchmarks.counts_vs_peers").run(small=True)
    assert_rows(rows)
    assert any("fairlearn" in row.what for row in rows)


def test_a_peer_that_disagrees_is_not_timed():
    module = import_module("benchmarks.counts_vs_peers")
    codes = import_module("benchmarks.codes").made_up(1000, 3, 2)
    answer = module.ours(codes)()
    wrong = answer | {"tpr": answer["tpr"] + 0.01}
    with pytest.raises(AssertionError, match="somebody gives another tpr"):
        module._agree("somebody", wrong, answer)


def test_large_counts_are_timed_and_their_memory_is_read():
    rows = import_module("benchmarks.counts_large").run(small=True)
    assert_rows(rows)
    assert sum(row.unit == "MB" for row in rows) == 2


@pytest.mark.filterwarnings("ignore")
def test_every_count_metric_is_drawn():
    assert_rows(import_module("benchmarks.bootstrap").run(small=True))


def test_a_parquet_is_made_audited_and_deleted(tmp_path):
    pytest.importorskip("pyarrow")
    rows = import_module("benchmarks.parquet_100m").run(small=True, rows=5000, tmp=tmp_path)
    assert_rows(rows)
    assert not list(tmp_path.iterdir())


def test_a_file_for_which_there_is_no_room_is_refused(tmp_path):
    with pytest.raises(OSError, match="GB of disk"):
        import_module("benchmarks.parquet_100m").run(rows=10**15, tmp=tmp_path)


def test_fresh_interpreters_are_timed():
    assert_rows(import_module("benchmarks.startup").run(small=True), some_ratio=False)


def test_the_made_up_groups_differ():
    codes = import_module("benchmarks.codes").made_up(20_000, 4, 2)
    right = [np.mean((codes.y == codes.p)[codes.g == group]) for group in range(4)]
    assert right == sorted(right)


def test_results_are_kept_until_their_benchmark_runs_again(tmp_path, monkeypatch):
    run, table = import_module("benchmarks.run"), import_module("benchmarks.table")
    row = import_module("benchmarks.rows").Row
    monkeypatch.setattr(run, "RESULTS", tmp_path / "results" / "latest.json")
    for page in ("README", "FRONT"):  # neither the table of benchmarks/ nor that of the front page is touched
        monkeypatch.setattr(table, page, tmp_path / f"{page}.md")
        (tmp_path / f"{page}.md").write_text(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
    machine = run.facts()
    run.save(
        [row("startup", "import", 0.1, "s", "<=", 0.3), row("bootstrap", "draws", 5.0, "s", "<=", 1.0)],
        machine,
    )
    run.save([row("startup", "import", 0.2, "s", "<=", 0.3)], machine)
    saved = json.loads((tmp_path / "results" / "latest.json").read_text())
    assert [(entry["benchmark"], entry["value"], entry["holds"]) for entry in saved["rows"]] == [
        ("bootstrap", 5.0, False),
        ("startup", 0.2, True),
    ]
    text = (tmp_path / "README.md").read_text()
    assert text.startswith("before\n")
    assert text.endswith("after\n")
    assert "| startup | import | 0.2 s | at most 0.3 s | PASS |" in text
    assert "FALLS SHORT" in text
    assert "old" not in text


def test_a_stack_is_timed_beside_the_plain_loop(tmp_path, monkeypatch):
    stacked = import_module("benchmarks.stacked")
    small = stacked.Setting("tiny", 5, (4,), 1, 8, 1.0, image=True)
    monkeypatch.setattr(stacked, "SETTINGS", (small,))
    rows = stacked.run(stacked.torch.device("cpu"), [1, 3], 0.01, 1, 64, "float32")
    assert [row["what"] for row in rows] == [
        "plain loop",
        *(f"stack of {n}, {kind}" for kind in ("own batches", "one batch for all") for n in (1, 3)),
    ]
    assert all(row["rate"] > 0 and row["ratio"] > 0 for row in rows)
    assert "| tiny | plain loop |" in stacked.table(rows, "here", "so")


def test_the_flops_of_a_setting_are_counted_by_hand():
    stacked = import_module("benchmarks.stacked")
    # forward 2 * 8 * (5*4 + 4*1), as much again for the weights, and for the inputs of the second layer alone
    assert stacked.Setting("tiny", 5, (4,), 1, 8, 1.0).flops == 2 * 8 * (24 + 24 + 4)
