"""A whole study: run, stopped, limited, killed, run twice at once; it ends as one that was left alone."""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.driver import Options, run_study
from evenhand.study.spec import Grid, GroupingSpec, MethodSpec, NetEntry, Study, TaskSpec
from evenhand.study.store import Store

SMALL = {"n_train": 300, "n_validation": 200, "n_test": 200}
STUDY = Study(
    "small",
    tasks=(TaskSpec("synthetic", "one", SMALL), TaskSpec("synthetic", "two", {**SMALL, "seed": 1})),
    groupings=(GroupingSpec(("a0",)),),
    nets=(NetEntry("mlp", options={"widths": [8]}),),
    methods=(MethodSpec("erm"), MethodSpec("gdro", fields={"eta": Grid((0.1, 1.0))})),
    recipe={"epochs": 2, "batch_size": 32},
    seeds=(0, 1, 2),
)
N_RUNS = 2 * 3 * 3


def options(folder, **values):
    return Options(Path(folder), backend="inline", device="cpu", **values)


def digests(folder):
    with Store.open(Path(folder), readonly=True) as store:
        return store.digests()


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("alone")
    status = run_study(STUDY, options(folder))
    assert (status.planned, status.done, status.failed, status.waiting) == (N_RUNS, N_RUNS, 0, 0)
    return digests(folder)


def test_every_run_has_its_record(alone):
    assert len(alone) == N_RUNS


def test_a_finished_study_does_nothing(tmp_path):
    run_study(STUDY, options(tmp_path))
    before = digests(tmp_path)
    status = run_study(STUDY, options(tmp_path))
    assert (status.done, status.running, status.runs_per_second) == (N_RUNS, 0, 0.0)
    assert digests(tmp_path) == before


def test_nothing_is_left_in_the_checkpoints(tmp_path):
    run_study(STUDY, options(tmp_path))
    assert not list(tmp_path.rglob("checkpoint-*.npz"))


@pytest.mark.parametrize("limit", [1, 7])
def test_limited_and_gone_on_with(tmp_path, alone, limit):
    assert run_study(STUDY, options(tmp_path, limit=limit)).done == limit
    run_study(STUDY, options(tmp_path))
    assert digests(tmp_path) == alone


def test_stopped_and_gone_on_with(tmp_path, alone):
    asked = []

    def soon():
        asked.append(None)
        return len(asked) > 4

    status = run_study(STUDY, options(tmp_path), stop=soon)
    assert status.stopped
    assert status.done < N_RUNS
    run_study(STUDY, options(tmp_path))
    assert digests(tmp_path) == alone


def test_more_seeds_keep_what_is_there(tmp_path):
    run_study(replace(STUDY, seeds=(0, 1)), options(tmp_path))
    first = digests(tmp_path)
    status = run_study(replace(STUDY, seeds=(0, 1, 2)), options(tmp_path))
    again = digests(tmp_path)
    assert status.planned == N_RUNS
    assert {run: again[run] for run in first} == first
    assert status.done - len(first) == N_RUNS // 3


def test_status_is_told_and_adds_up(tmp_path):
    told = []
    run_study(STUDY, options(tmp_path), tell=told.append)
    assert told
    assert all(each.done + each.failed + each.waiting == each.planned for each in told)


OWN_METHOD = '''
from dataclasses import dataclass

from evenhand.methods.erm import ERM


@dataclass(frozen=True)
class Mine(ERM):
    """ERM under another name."""

    key = "mine"


@dataclass(frozen=True)
class Broken(ERM):
    key = "broken"

    def loss(self, nets, batch, state):
        raise RuntimeError("this method is broken")
'''


def test_a_method_of_ones_own_runs_beside_the_others(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN_METHOD)
    status = run_study(STUDY, options(tmp_path / "out", add=(f"{file}:Mine",)))
    assert (status.done, status.failed) == (N_RUNS + 6, 0)
    with Store.open(tmp_path / "out", readonly=True) as store:
        table = store.table()
    weights = {
        (task, seed, method): digest
        for task, seed, method, digest in zip(
            table["task"], table["seed"], table["method"], table["weights"], strict=True
        )
    }
    assert all(weights["one", seed, "Mine"] == weights["one", seed, "erm"] for seed in range(3))


def test_a_method_that_fails_stops_nobody(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text(OWN_METHOD)
    status = run_study(STUDY, options(tmp_path / "out", add=(f"{file}:Broken",)))
    assert (status.done, status.failed, status.waiting) == (N_RUNS, 6, 0)
    assert status.failures == {"RuntimeError: this method is broken": 6}
    again = run_study(STUDY, options(tmp_path / "out", add=(f"{file}:Broken",)))
    assert again.failed == 6
    assert again.runs_per_second == 0  # failed runs are made again only when that is asked for
    retried = run_study(STUDY, options(tmp_path / "out", add=(f"{file}:Broken",), retry_failed=True))
    assert retried.runs_per_second > 0


@pytest.mark.parametrize("wrong", ["mine.py", "nowhere.py:Mine"])
def test_a_method_that_is_not_there(tmp_path, wrong):
    with pytest.raises(InputError, match=r"mine\.py|nowhere\.py"):
        run_study(STUDY, options(tmp_path, add=(wrong,)))


# -- real processes ------------------------------------------------------------------------------------------

DRIVEN = """
    import sys
    from pathlib import Path
    from evenhand.study.driver import Options, run_study
    from tests.study.test_driver import KILLED

    if __name__ == "__main__":
        run_study(KILLED, Options(Path(sys.argv[1]), device="cpu", workers=2, checkpoint_every=0.05))
"""
KILLED = replace(
    STUDY,
    methods=(*STUDY.methods, MethodSpec("gap"), MethodSpec("jtt")),
    recipe={"epochs": 20, "batch_size": 8},
)


def start(script, folder):
    return subprocess.Popen([sys.executable, str(script), str(folder)], cwd=Path(__file__).parents[2],
                            env={**os.environ, "PYTHONPATH": "src:."})  # fmt: skip


@pytest.fixture
def script(tmp_path):
    file = tmp_path / "drive.py"
    file.write_text(textwrap.dedent(DRIVEN))
    return file


@pytest.fixture(scope="module")
def killed_alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed-alone")
    run_study(KILLED, options(folder))
    return digests(folder)


def test_killed_and_gone_on_with_to_the_same_bits(tmp_path, script, killed_alone):
    rng = random.Random(0)
    for _ in range(3):
        process = start(script, tmp_path / "out")
        time.sleep(rng.uniform(3.0, 7.0))
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert start(script, tmp_path / "out").wait() == 0
    assert digests(tmp_path / "out") == killed_alone


def test_two_at_once_make_every_run_once(tmp_path, script, killed_alone):
    both = [start(script, tmp_path / "out") for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert start(script, tmp_path / "out").wait() == 0  # what one had claimed when the other looked
    assert digests(tmp_path / "out") == killed_alone
