"""Buckets worked on by a Ray cluster: several machines, GPUs as resources, nodes that may come and go.

One actor is one worker, and holds its CPUs and its share of a GPU until there is nothing left to do. The
driver gives a bucket to whoever is free, so that their order is ours and not the scheduler's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenhand.errors import InputError
from evenhand.study.backends.base import Hear, Job
from evenhand.study.backends.ray_cluster import connected, import_ray, shipped
from evenhand.study.backends.ray_crew import Crew
from evenhand.study.backends.ray_driver import Driver
from evenhand.study.records import Bucket


class RayBackend:
    """Works on the cluster at `address`: "host:port", "auto", "ray://host:10001"; None starts one right here.

    A worker asks Ray for `cpus_per_bucket` CPUs (None: as many as the buckets have threads) and, where the
    device is "cuda", for `gpus_per_bucket` of one GPU: 0.5 puts two workers on each. `workers` is how many
    are asked for, also of a cluster that grows on demand; None: as many as the nodes hold. `patience` is how
    many seconds there may be no node with room before the study gives up, `grace` how many seconds workers
    have to save when they are asked to stop. `ship` sends this evenhand to nodes that have none (torch they
    must have); `runtime_env` is Ray's own. In a program that has called `ray.init` already, its session is
    used, and left as it is.
    """

    name = "ray"

    def __init__(
        self,
        address: str | None = None,
        gpus_per_bucket: float = 1.0,
        cpus_per_bucket: float | None = None,
        *,
        workers: int | None = None,
        patience: float = 60.0,
        grace: float = 60.0,
        ship: bool = False,
        runtime_env: Mapping[str, Any] | None = None,
    ) -> None:
        import_ray()
        if not 0 < gpus_per_bucket <= 1:
            raise InputError(f"a bucket works on one GPU: its share is in (0, 1], not {gpus_per_bucket}")
        if cpus_per_bucket is not None and not cpus_per_bucket > 0:
            raise InputError(f"a bucket needs more than no CPU; cpus_per_bucket is {cpus_per_bucket}")
        if workers is not None and workers < 1:
            raise InputError(f"a study needs a worker at least; workers is {workers}")
        self._address, self._gpus, self._cpus = address, gpus_per_bucket, cpus_per_bucket
        self._workers, self._patience, self._grace = workers, patience, grace
        self._runtime_env = shipped(runtime_env) if ship else runtime_env

    def run(self, buckets: Sequence[Bucket], job: Job, hear: Hear, stop: Callable[[], bool]) -> None:
        """Work on all buckets; returns when each has ended or `stop()` is true."""
        gpus = self._gpus if job.device != "cpu" else 0.0
        if not buckets or stop():
            return
        cpus = self._cpus or float(max(bucket.threads for bucket in buckets))
        job = replace(job, device=_device(job.device))
        own_cpus = None if self._workers is None else self._workers * cpus
        with connected(self._address, own_cpus, self._runtime_env) as ray:
            crew = Crew(ray, cpus, gpus, self._workers, self._patience, job.work)
            Driver(ray, crew, buckets, job, hear).run(stop, self._grace)


def _device(device: str) -> str:
    """What a worker calls it: Ray shows it only the GPU that it was given.

    >>> _device("cuda"), _device("cpu")
    ('cuda:0', 'cpu')
    """
    if device not in {"cpu", "cuda"}:
        raise InputError(f"Ray hands out the GPUs itself: the device is 'cpu' or 'cuda', not {device!r}")
    return "cuda:0" if device == "cuda" else device
