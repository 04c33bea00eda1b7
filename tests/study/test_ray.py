"""The Ray backend on a real cluster of several processes: nodes that come and go, workers that are killed."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from tests.study.test_driver import STUDY

from evenhand.errors import InputError
from evenhand.study.backends import ray_crew
from evenhand.study.backends.base import STOPPED, Began, Ended, Job, Made, Standing
from evenhand.study.backends.listening import heard, job_for, require_made, require_no_process_left
from evenhand.study.backends.ray import RayBackend
from evenhand.study.backends.ray_cluster import room, shipped
from evenhand.study.backends.ray_worker import Worker
from evenhand.study.backends.toy_work import toy_bucket, toy_record
from evenhand.study.driver import Options, run_study
from evenhand.study.store import Store

ray = pytest.importorskip("ray")
STORE = 80 * 2**20  # bytes; the least that Ray takes is 75 MiB
HERE = {"env_vars": {"PYTHONPATH": str(Path(__file__).parent)}}
SMALL = {"object_store_memory": STORE, "include_dashboard": False}


@pytest.fixture(scope="module")
def cluster() -> Iterator:
    """A head that works on nothing, and two nodes with one CPU each; the second says that it has GPUs."""
    from ray.cluster_utils import Cluster

    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "num_gpus": 0, **SMALL})
    made.add_node(num_cpus=1, num_gpus=0, object_store_memory=STORE)
    made.add_node(num_cpus=1, num_gpus=2, object_store_memory=STORE)
    yield made
    made.shutdown()


def children(process: int) -> set[int]:
    """The living processes that descend from this one."""
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, parent = path.read_text().rpartition(")")[2].split()[:2]
        except (FileNotFoundError, ProcessLookupError):  # it has just ended
            continue
        if state != "Z":
            parents[int(path.parent.name)] = int(parent)
    found, new = set(), {process}
    while new:
        new = {child for child, parent in parents.items() if parent in new}
        found |= new
    return found


def workers_of(folder: Path, bucket: str) -> set[int]:
    """The processes that have worked on a bucket."""
    return {int(path.name.split(".")[1]) for path in folder.glob(f"{bucket}.*.process")}


class AllAtWork:
    """Does something once, when buckets `a` and `b` are both at work; lets them end when one began anew."""

    def __init__(self, folder, act):
        self.folder, self.act, self.standing, self.done = folder, act, set(), False

    def __call__(self, message):
        if isinstance(message, Standing):
            self.standing.add(message.bucket)
        if self.standing == {"a", "b"} and not self.done:
            self.done = True
            self.act()
        if isinstance(message, Began) and message.attempt == 2:
            (self.folder / "a.go").touch()
            (self.folder / "b.go").touch()


def test_a_killed_worker_costs_only_its_bucket(cluster, tmp_path, capfd):
    """Both nodes work (each has room for one bucket); the worker of one is killed from outside."""
    handler = signal.getsignal(signal.SIGTERM)
    buckets, job = [toy_bucket(name, 3) for name in "ab"], job_for(tmp_path, "waits")
    killed = AllAtWork(tmp_path, lambda: os.kill(*workers_of(tmp_path, "b"), signal.SIGKILL))
    told = heard(RayBackend(cluster.address), buckets, job, killed)
    require_made(told, buckets, job)
    assert (told.attempts("a"), told.attempts("b")) == ([1], [1, 2])
    assert workers_of(tmp_path, "a").isdisjoint(workers_of(tmp_path, "b"))
    assert len(workers_of(tmp_path, "b")) == 2
    require_no_process_left(tmp_path)
    # somebody else's cluster goes on, and this program is as it was before
    assert not ray.is_initialized()
    assert all(node.all_processes for node in cluster.list_all_nodes())
    assert signal.getsignal(signal.SIGTERM) is handler
    assert capfd.readouterr().out == ""


def test_gpus_are_resources(cluster, tmp_path):
    backend = RayBackend(cluster.address, gpus_per_bucket=0.5, cpus_per_bucket=0.5)
    job = job_for(tmp_path, "echoes", device="cuda")
    told = heard(backend, [toy_bucket(name) for name in "abcd"], job)
    reached = [json.loads(record.detail)["job"]["device"] for record in told.records().values()]
    assert reached == ["cuda:0"] * 4  # Ray shows a worker only its own
    assert all(", GPU " in message.worker for message in told.messages if isinstance(message, Began))
    assert len({record.host for record in told.records().values()}) <= 2  # half a CPU each, of one


def test_where_no_node_has_room(cluster, tmp_path):
    backend = RayBackend(cluster.address, cpus_per_bucket=3, patience=0.0)
    with pytest.raises(InputError, match="no node of the Ray cluster has 3 CPU for a bucket; 'ray status'"):
        heard(backend, [toy_bucket("a")], job_for(tmp_path, "works"))


def test_work_or_versions_that_are_not_there(cluster, tmp_path, monkeypatch):
    backend = RayBackend(cluster.address, workers=1)
    with pytest.raises(InputError, match=r"workers do not start .*no_such_module"):
        heard(backend, [toy_bucket("a")], Job(str(tmp_path), work="no_such_module:work"))
    monkeypatch.setattr(ray_crew, "__version__", "9.9.9")
    with pytest.raises(InputError, match=r"and this is 9\.9\.9; install the same on every node"):
        heard(backend, [toy_bucket("a")], job_for(tmp_path, "works"))


def deaf(bucket, job, tell):
    """Work that never looks up."""
    Path(job.folder, f"{bucket.id}.{os.getpid()}.process").touch()
    yield toy_record(bucket.runs[0])
    time.sleep(60)


def unsayable(bucket, job, tell):
    """A record that cannot travel."""
    import threading
    from dataclasses import replace

    yield replace(toy_record(bucket.runs[0]), predictions={"test": threading.Lock()})


@pytest.fixture
def own_work(monkeypatch):
    """This file as a module that can be imported here, and by workers that are given HERE."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    return Path(__file__).stem


def test_work_that_does_not_hear_is_ended(cluster, tmp_path, own_work):
    heard_of = []
    job = Job(str(tmp_path), work=f"{own_work}:deaf")
    backend = RayBackend(cluster.address, grace=0.5, runtime_env=HERE)
    stop = lambda: any(isinstance(message, Made) for message in heard_of)  # noqa: E731
    told = heard(backend, [toy_bucket("a")], job, heard_of.append, stop)
    assert told.ends() == {"a": Ended("a", STOPPED)}
    require_no_process_left(tmp_path)


def test_a_record_that_cannot_travel_ends_its_bucket(cluster, tmp_path, own_work):
    job = Job(str(tmp_path), work=f"{own_work}:unsayable")
    told = heard(RayBackend(cluster.address, runtime_env=HERE), [toy_bucket("a")], job)
    assert "pickle" in told.ends()["a"].reason
    assert told.attempts("a") == [1]


def test_a_node_that_goes_away_and_one_that_joins(cluster, tmp_path):
    """Last of those on the cluster: the bucket of the removed node is worked on by a node that came later."""
    buckets, job = [toy_bucket(name, 2) for name in "ab"], job_for(tmp_path, "waits")

    def exchange():
        homes = {child: node for node in cluster.worker_nodes for child in descendants(node)}
        (worker,) = workers_of(tmp_path, "b")
        cluster.remove_node(homes[worker], allow_graceful=False)
        cluster.add_node(num_cpus=1, num_gpus=0, object_store_memory=STORE)

    told = heard(RayBackend(cluster.address), buckets, job, AllAtWork(tmp_path, exchange))
    require_made(told, buckets, job)
    assert (told.attempts("a"), told.attempts("b")) == ([1], [1, 2])
    require_no_process_left(tmp_path)


def descendants(node) -> set[int]:
    """The processes of a node: its raylet is the parent of its workers."""
    raylets = [info.process.pid for infos in node.all_processes.values() for info in infos]
    return {child for raylet in raylets for child in {raylet, *children(raylet)}}


def test_a_cluster_of_our_own_leaves_nothing_behind(tmp_path):
    before = children(os.getpid())
    backend, job = RayBackend(workers=1), job_for(tmp_path, "works")
    told = heard(backend, buckets := [toy_bucket("a", 2)], job)
    require_made(told, buckets, job)
    assert not ray.is_initialized()
    assert children(os.getpid()) <= before


def test_no_cluster_at_the_address(tmp_path):
    with pytest.raises(InputError, match=r"no Ray cluster answers at '127\.0\.0\.1:1'.*refused"):
        heard(RayBackend("127.0.0.1:1"), [toy_bucket("a")], job_for(tmp_path, "works"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gpus_per_bucket": 2}, "its share is in"),
        ({"cpus_per_bucket": 0}, "more than no CPU"),
        ({"workers": 0}, "a worker at least"),
    ],
)
def test_impossible_options(options, message):
    with pytest.raises(InputError, match=message):
        RayBackend(**options)


def test_a_gpu_by_number_is_refused(tmp_path):
    with pytest.raises(InputError, match="Ray hands out the GPUs itself"):
        heard(RayBackend(), [toy_bucket("a")], job_for(tmp_path, "works", device="cuda:1"))


def test_room_on_nodes():
    node = {"Alive": True, "Resources": {"CPU": 16.0, "GPU": 4.0}}
    assert room([node], cpus=3, gpus=0) == 5
    assert room([node], cpus=1, gpus=1 / 3) == 12
    assert room([node, {"Alive": True, "Resources": {}}], cpus=8, gpus=1) == 2


def test_evenhand_is_shipped_beside_what_else_is(tmp_path):
    environment = shipped({"py_modules": ["mine"], "env_vars": {"EVENHAND_DATA": "/data"}})
    assert environment["env_vars"] == {"EVENHAND_DATA": "/data"}
    assert [Path(path).name for path in environment["py_modules"]] == ["mine", "evenhand"]
    assert (Path(environment["py_modules"][1]) / "study" / "execute.py").exists()


def test_a_worker_without_ray(own_work, tmp_path):
    """What the actor does can be looked at in this process."""
    worker, bucket = Worker(), toy_bucket("a", 2).to_dict()
    worker.begin(bucket, vars(job_for(tmp_path, "works")))
    kinds = [type(message) for message in worker.take(0.0)]
    assert kinds == [Standing, Made, Made, Ended]  # the second standing came too soon to be told
    assert worker.take(0.0) == []
    worker.begin(bucket, {**vars(job_for(tmp_path, "works")), "work": f"{own_work}:leaves"})
    (end,) = worker.take(0.0)
    assert end.reason == "SystemExit: 3"
    worker.stop()
    worker.begin(bucket, vars(job_for(tmp_path, "works")))
    assert worker.take(0.0) == [Ended("a", STOPPED)]


def leaves(bucket, job, tell):
    """A script that calls sys.exit."""
    raise SystemExit(3)
    yield


def ray_workers(cluster) -> set[int]:
    """The processes of Ray's actors that work on buckets, on the nodes of this cluster alone."""
    found = set()
    for process in {child for node in cluster.worker_nodes for child in descendants(node)}:
        with suppress(FileNotFoundError, ProcessLookupError):
            if Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"ray::Worker"):
                found.add(process)
    return found


def test_a_study_has_the_records_of_a_local_one_though_a_worker_is_killed(cluster, tmp_path, monkeypatch):
    """The same study on two nodes of Ray, one worker of it killed in the middle, and in this process."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "src"))
    long = replace(STUDY, recipe={"epochs": 15, "batch_size": 8})
    run_study(long, Options(tmp_path / "here", backend="inline", device="cpu"))
    killed: list[int] = []

    def kill_one(status):
        if not killed and any(standing.done > 0.2 for standing in status.standings.values()):
            killed.append(min(ray_workers(cluster)))
            os.kill(killed[0], signal.SIGKILL)

    options = Options(tmp_path / "ray", backend="ray", address=cluster.address, device="cpu")
    status = run_study(long, options, kill_one)
    assert killed
    assert (status.failed, status.waiting) == (0, 0)
    found = []
    for folder in ("here", "ray"):
        with Store.open(tmp_path / folder, readonly=True) as store:
            found.append(store.digests())
    assert found[0] == found[1]
