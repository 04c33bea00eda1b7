"""Several processes on one folder: every bucket has one owner, and what a dead one held is taken over."""

import os
import random
import runpy
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.study import store_owners
from evenhand.study.records import Bucket
from evenhand.study.store import Store
from evenhand.study.store_owners import is_alive, make_owner

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))
SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="asks /proc about processes")

# claims every bucket that it can get, printing each; then waits to be ended
CLAIMING = """
import random, sys, time
from pathlib import Path
from evenhand.study.store import Store
from evenhand.study.store_owners import make_owner
store, owner = Store.open(Path(sys.argv[1])), make_owner()
store.enter(owner)
print("ready", flush=True)
sys.stdin.readline()
names = [f"b{k}" for k in range(int(sys.argv[2]))]
random.Random(int(sys.argv[3])).shuffle(names)
for name in names:
    if store.claim(name, owner):
        print(name, flush=True)
        time.sleep(0.002)  # on a busy machine the other one would otherwise find everything taken
print("end", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path, create=True) as opened:
        opened.add_study(make.STUDY, "0.1.0")
        yield opened


def start(folder, buckets, seed):
    command = [sys.executable, "-c", CLAIMING, str(folder), str(buckets), str(seed)]
    return subprocess.Popen(
        command, env=ENVIRONMENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )


def go(*processes):
    """All at once, when the slowest has opened the store."""
    assert [process.stdout.readline() for process in processes] == ["ready\n"] * len(processes)
    for process in processes:
        begin(process)


def begin(process):
    process.stdin.write("\n")
    process.stdin.flush()


def claimed(process):
    names = []
    for line in process.stdout:
        if line == "end\n":
            return names
        names.append(line.strip())
    return names


def end(*processes):
    for process in processes:
        process.kill()
        process.communicate()


def test_two_processes_share_500_buckets_each_exactly_once(store):
    processes = [start(store.folder, 500, seed) for seed in (1, 2)]
    go(*processes)
    first, second = (claimed(process) for process in processes)
    assert sorted(first + second) == sorted(f"b{k}" for k in range(500))
    assert first
    assert second
    held = {owner["pid"]: owner for owner in store.live()["owners"]}
    assert {pid: len(owner["claims"]) for pid, owner in held.items()} == {
        processes[0].pid: len(first), processes[1].pid: len(second)
    }  # fmt: skip
    assert all(owner["alive"] for owner in held.values())
    end(*processes)


@linux
def test_the_buckets_of_a_killed_process_are_taken_over_at_once(store):
    victim, heir = start(store.folder, 500, 1), start(store.folder, 500, 1)
    go(victim)
    held = [victim.stdout.readline().strip() for _ in range(random.Random(0).randint(20, 200))]
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    victim.stdout.close()
    victim.stdin.close()
    go(heir)
    found = claimed(heir)
    assert len(held) >= 20
    assert sorted(found) == sorted(f"b{k}" for k in range(500))
    end(heir)


@linux
def test_a_process_that_lives_keeps_its_claims_however_long_it_is_silent(store):
    process = start(store.folder, 5, 0)
    go(process)
    assert len(claimed(process)) == 5
    store.database.connection.execute("UPDATE owners SET beat = 0")
    assert not store.claim("b0", make_owner())
    process.kill()  # ended, but its parent has not asked yet
    deadline = time.monotonic() + 5
    while not store.claim("b0", make_owner()):
        assert time.monotonic() < deadline
        time.sleep(0.01)
    end(process)


def test_an_owner_elsewhere_is_dead_after_a_minute_without_a_beat(store):
    assert store.claim("b", "farm-7:12:ab-34")
    assert not store.claim("b", make_owner())
    store.beat("farm-7:12:ab-34")
    store.database.connection.execute("UPDATE owners SET beat = beat - 59")
    assert not store.claim("b", make_owner())
    store.database.connection.execute("UPDATE owners SET beat = beat - 2")
    assert store.claim("b", make_owner())
    assert not store.claim("b", "farm-8:1:ab-35")


def test_a_machine_of_the_same_name_is_not_taken_for_this_one():
    mine = f"{socket.gethostname()}:{os.getpid()}:00000000-1"  # another boot, or another container
    assert is_alive(mine, time.time())
    assert not is_alive(mine, time.time() - 100)


@linux
def test_a_later_process_with_the_same_pid_is_not_taken_for_the_owner():
    owner = make_owner()
    later = owner.rpartition("-")[0] + "-1"
    assert is_alive(owner, beat=0.0)
    assert not is_alive(later, beat=time.time())


@linux
def test_an_owner_that_did_not_say_when_it_began_is_told_by_its_pid_alone():
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert not is_alive(f"{socket.gethostname()}:{gone.pid}:7f3a", time.time())
    assert is_alive(f"{socket.gethostname()}:{os.getpid()}:7f3a", time.time())


def test_without_proc_everybody_is_told_by_beats(monkeypatch):
    monkeypatch.setattr(store_owners, "started", lambda pid: "")
    monkeypatch.setattr(store_owners, "_machine", lambda: "")
    monkeypatch.setattr(store_owners.os.path, "isdir", lambda path: False)
    owner = make_owner()
    assert owner == make_owner()
    assert is_alive(owner, time.time())
    assert not is_alive(owner, time.time() - 100)


@pytest.mark.parametrize("owner", ["", "somebody", "a:b:c", "a:b:c:d:5:e-f", "é:1:"])
def test_any_text_will_do_for_an_owner(store, owner):
    store.enter(owner)
    assert store.claim("b", owner)
    assert store.claim("b", owner)  # still its own
    store.leave(owner)
    assert store.live() == {"owners": [], "standings": {}}


def test_whoever_leaves_gives_everything_back(store):
    assert store.claim("b", "one:1:x")
    assert not store.claim("b", "two:2:x")
    store.leave("one:1:x")
    assert store.claim("b", "two:2:x")


def test_who_enters_strikes_off_the_dead(store):
    store.claim("b", "one:1:x")
    store.database.connection.execute("UPDATE owners SET beat = 0")
    store.enter("two:2:x")
    assert [owner["owner"] for owner in store.live()["owners"]] == ["two:2:x"]


def test_a_bucket_whose_runs_are_all_done_is_nobodys(store):
    runs = make.planned(3)
    store.add_runs(runs)
    store.add_buckets([Bucket("b", tuple(runs), stack=3)])
    me = make_owner()
    assert store.claim("b", me)
    assert store.counts_of_states()["running"] == 3
    for run in runs[:2]:
        store.commit(make.record(run))
    store.commit(make.failed(runs[2]))
    assert store.counts_of_states() == {"planned": 3, "done": 2, "failed": 1, "waiting": 0, "running": 0}
    store.leave(me)
    assert store.claim("b", me)  # a failure may be tried again
    store.commit(make.record(runs[2]))
    store.leave(me)
    assert not store.claim("b", me)


def test_standings_are_seen_from_another_connection_and_go_with_their_owner(store):
    me = make_owner()
    store.enter(me)
    store.standing(me, {"b1": {"done": 0.25, "words": "epoch 1 of 4"}, "b2": {"done": 0.5}})
    with Store.open(store.folder, readonly=True) as other:
        seen = other.live()
        assert seen["standings"]["b1"] == {"done": 0.25, "words": "epoch 1 of 4", "owner": me}
        assert abs(seen["owners"][0]["beat"] - time.time()) < 5
        store.standing(me, {"b2": {"done": 0.75}})
        assert other.live()["standings"] == {"b2": {"done": 0.75, "owner": me}}
        store.leave(me)
        assert other.live()["standings"] == {}
