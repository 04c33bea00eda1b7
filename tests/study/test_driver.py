"""A whole study: run, stopped, limited, killed, run twice at once; it ends as one that was left alone."""

import errno
import os
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
from evenhand.study.store_owners import started

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


def test_a_task_of_ones_own_that_cannot_be_made(tmp_path):
    file = tmp_path / "mine.py"
    file.write_text("def table():\n    raise OSError('the table is gone')\n")
    study = replace(STUDY, tasks=(TaskSpec(f"{file}:table", "mine"),))
    with pytest.raises(
        InputError, match=r"mine\.py:table cannot make its task \(OSError: the table is gone\)"
    ):
        run_study(study, options(tmp_path / "out"))


@pytest.mark.parametrize("wrong", ["mine.py", "nowhere.py:Mine"])
def test_a_method_that_is_not_there(tmp_path, wrong):
    with pytest.raises(InputError, match=r"mine\.py|nowhere\.py"):
        run_study(STUDY, options(tmp_path, add=(wrong,)))


def test_a_full_disk_stops_the_study_and_fails_nobody(tmp_path, alone, monkeypatch):
    from evenhand.train import trainer

    def full(path, *_):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(trainer, "save_tensors", full)
        with pytest.raises(InputError, match=r"no room is left to write .*npz"):
            run_study(STUDY, options(tmp_path))
    with Store.open(tmp_path, readonly=True) as store:
        assert store.counts_of_states()["failed"] == 0
    run_study(STUDY, options(tmp_path))
    assert digests(tmp_path) == alone


def test_checkpoints_that_a_killed_driver_left_go_at_the_end(tmp_path):
    left = tmp_path / "checkpoints" / "finished" / "checkpoint-0000-0001.npz"
    left.parent.mkdir(parents=True)
    left.touch()
    run_study(STUDY, options(tmp_path, limit=2))
    assert left.exists()  # as long as something waits, it may be needed
    run_study(STUDY, options(tmp_path))
    assert not (tmp_path / "checkpoints").exists()


def test_a_study_that_was_edited_goes_on_with_what_it_still_has(tmp_path, alone):
    """A bucket that was stopped, and of which members are gone: the others are planned anew."""
    asked = iter([False] * 4)
    run_study(STUDY, options(tmp_path), stop=lambda: next(asked, True))
    smaller = replace(STUDY, seeds=(0, 2), methods=STUDY.methods[1:])
    status = run_study(smaller, options(tmp_path))
    assert (status.planned, status.done, status.waiting) == (8, 8, 0)
    assert digests(tmp_path).items() <= alone.items()
    run_study(STUDY, options(tmp_path))
    assert digests(tmp_path) == alone


def test_counting_is_not_done_five_times_a_second(tmp_path, monkeypatch):
    counted, told = [], []
    real = Store.counts_of_states
    monkeypatch.setattr(Store, "counts_of_states", lambda store: counted.append(None) or real(store))
    monkeypatch.setattr("evenhand.study.conduct.TOLD_EVERY", 0.0)
    run_study(STUDY, options(tmp_path), tell=told.append)
    assert len(counted) < len(told) / 2


# -- real processes ------------------------------------------------------------------------------------------

KILLED = replace(
    STUDY, methods=(*STUDY.methods, MethodSpec("jtt")), recipe={"epochs": 8, "batch_size": 16}, seeds=(0, 1)
)
DRIVEN = """
    import sys
    from pathlib import Path
    from evenhand.study.driver import Options, run_study
    from tests.study.test_driver import KILLED

    if __name__ == "__main__":
        run_study(KILLED, Options(Path(sys.argv[1]), device="cpu", workers=1, checkpoint_every=0.02))
"""
LONGEST = 60.0  # seconds for what takes two


@pytest.fixture
def start(tmp_path):
    """Starts a driver of its own process on a folder."""
    script = tmp_path / "drive.py"
    script.write_text(textwrap.dedent(DRIVEN))

    def started(folder):
        return subprocess.Popen([sys.executable, str(script), str(folder)], cwd=Path(__file__).parents[2],
                                env={**os.environ, "PYTHONPATH": "src:."})  # fmt: skip

    return started


@pytest.fixture(scope="module")
def killed_alone(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed-alone")
    run_study(KILLED, options(folder))
    return digests(folder)


def wait_for(true):
    end = time.monotonic() + LONGEST
    while not true():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.01)


def in_the_middle_of_a_bucket(folder):
    return any(folder.glob("checkpoints/*/checkpoint-*.npz"))


def children(process):
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="looks for processes in /proc")
def test_killed_again_and_again_it_ends_as_one_left_alone(tmp_path, start, killed_alone):
    """A driver inside a bucket; a worker, while a second driver looks in; a driver after a record."""
    folder = tmp_path / "out"
    process = start(folder)
    wait_for(lambda: in_the_middle_of_a_bucket(folder))
    workers = children(process)
    process.kill()
    process.wait()
    wait_for(lambda: not any(started(int(number)) for number in workers))

    process = start(folder)
    wait_for(lambda: children(process))
    wait_for(lambda: in_the_middle_of_a_bucket(folder))
    os.kill(int(children(process)[0]), signal.SIGKILL)
    second = run_study(KILLED, options(folder))
    assert (second.failed, second.planned) == (0, len(killed_alone))
    wait_for(lambda: digests(folder))
    process.kill()
    process.wait()

    run_study(KILLED, options(folder))
    assert digests(folder) == killed_alone
