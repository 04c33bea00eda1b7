"""`evenhand study status`: what another terminal sees, while somebody works on a study and afterwards."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from evenhand.cli.live_study import Board, Log, facts, line
from evenhand.cli.study_state import State, Work
from evenhand.study.records import Bucket, PlannedRun, RunRecord, RunSpec
from evenhand.study.store import Store
from evenhand.study.store_owners import make_owner

SOURCE = Path(__file__).parents[2] / "src"
GOING = State(
    "adult-methods", planned=48, done=12, failed=2, running=16, reused=4, rate=3.5, seconds_left=9.7,
    failures={"the loss is NaN": 2},
    work=tuple(Work(f"b{n}", 0.1 * n, 1000.0 * n, "gdro on adult by sex × race, 8 runs") for n in range(10)),
)  # fmt: skip


def planned(seed):
    spec = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, seed)
    return PlannedRun(f"run{seed}", spec, "adult", "sex", "mlp", "erm", {}, "00", seed)


@pytest.fixture
def folder(tmp_path):
    """Four runs: one done, one failed, two in a bucket that this process has claimed."""
    runs = [planned(seed) for seed in range(4)]
    with Store.open(tmp_path / "s", create=True) as store:
        store.add_study({"name": "small"}, "0")
        store.add_runs(runs)
        store.add_buckets([Bucket("b1", tuple(runs[2:]), 2)])
        store.commit(RunRecord("run0", "done", finished="2026-01-01T00:00:00+00:00"))
        store.commit(RunRecord("run1", "failed", "the loss is NaN"))
        owner = make_owner()
        store.enter(owner)
        store.claim("b1", owner)
        store.standing(owner, {"b1": {"bucket": "b1", "done": 0.5, "rate": 20.0, "words": "erm on adult"}})
    return tmp_path / "s"


def test_what_stands_there_is_shown(run, folder):
    ran = run("study", "status", folder)
    assert ran.code == 0, ran.err
    for words in ("small", "1/4 runs", "1 failed", "50%  erm on adult  20 steps/s", "the loss is NaN (1)"):
        assert words in ran.out
    assert "nobody works" not in ran.out


def test_json_holds_the_same(run, folder):
    found = run("study", "status", folder, "--json").json
    assert (found["planned"], found["done"], found["failed"], found["running"], found["left"]) == (
        4,
        1,
        1,
        2,
        2,
    )
    assert found["failures"] == {"the loss is NaN": 1}
    assert found["work"] == [{"name": "b1", "done": 0.5, "rate": 20.0, "words": "erm on adult"}]
    assert not found["finished"]


def test_nobody_at_work_and_the_end(run, folder):
    with Store.open(folder) as store:
        store.leave(make_owner())
        assert "nobody works on it now" in run("study", "status", folder).out
        for seed in (2, 3):
            store.commit(RunRecord(f"run{seed}", "done"))
    ended = run("study", "status", folder)
    assert "finished; 'evenhand study report" in ended.out
    assert run("study", "status", folder, "--json").json["finished"]


def test_watching_ends_with_the_study(run, folder):
    with Store.open(folder) as store:
        for seed in (2, 3):
            store.commit(RunRecord(f"run{seed}", "done"))
    ran = run("study", "status", folder, "--watch")
    assert ran.code == 0
    assert ran.out == "small: 100%, 3/4 runs, 1 failed; failed: the loss is NaN (1)\n"
    assert json.loads(run("study", "status", folder, "-w", "--json").out)["finished"]


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_watching_ends_with_ctrl_c(folder):
    command = [sys.executable, "-m", "evenhand.cli", "study", "status", str(folder), "--watch", "--json"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(SOURCE)}
    ) as process:
        first = json.loads(process.stdout.readline())
        with Store.open(folder) as store:
            store.commit(RunRecord("run2", "done"))
        deadline = time.monotonic() + 20
        second = json.loads(process.stdout.readline())
        while second["done"] == 1 and time.monotonic() < deadline:
            second = json.loads(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        err = process.stderr.read().decode()
        assert process.wait() == 130
    assert (first["done"], second["done"]) == (1, 2)
    assert err == ""


WRONG = {
    "nowhere": "is not there",
    "file": "is a file; name the folder of a study",
    "empty": "is not the folder of a study",
    "smoll": "did you mean",
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("command", ["status", "report", "diff", "export"])
def test_a_wrong_folder_is_told_in_a_sentence(run, folder, tmp_path, monkeypatch, name, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "empty").mkdir()
    folder.rename(tmp_path / "small")
    more = {"diff": ["small"], "export": ["runs.csv"]}.get(command, [])
    ran = run("study", command, name, *more)
    assert ran.code == 2, ran.err
    assert WRONG[name] in ran.err
    assert ran.err.count("\n") == 1


@pytest.mark.parametrize("width", [20, 40, 60, 110])
def test_the_board_fits_any_terminal(width):
    out = io.StringIO()
    Console(file=out, width=width).print(Board(GOING, lambda: "stopping; what is finished is kept"))
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    assert len(lines) == 1 + 8 + 1 + 1 + 1 or width < 60
    assert "and 2 more" in out.getvalue()


def test_a_line_says_what_matters():
    assert [text for text, _ in facts(GOING)] == [
        "12/48 runs", "2 failed", "10 s left", "3.5 runs/s", "4 taken over",
    ]  # fmt: skip
    assert line(State("s", planned=3, done=3)) == "s: 100%, 3/3 runs"
    assert State("s").share == 1.0


def test_a_log_has_a_line_now_and_then(monkeypatch):
    out, clock = io.StringIO(), [0.0]
    monkeypatch.setattr("evenhand.cli.live_study.time.monotonic", lambda: clock[0])
    log = Log(file=out)
    for second in range(25):
        clock[0] = float(second)
        log.show(State("s", planned=30, done=second))
    clock[0] = 25.0
    log.show(State("s", planned=30, done=29))
    log.show(State("s", planned=30, done=30))
    log.close()
    log.close()
    assert [text.split(",")[1].strip() for text in out.getvalue().splitlines()] == [
        "0/30 runs", "10/30 runs", "20/30 runs", "30/30 runs",
    ]  # fmt: skip
