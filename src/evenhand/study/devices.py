"""Which devices a study runs on, with how many workers, and how many threads each of them has."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass

import torch

from evenhand.errors import InputError
from evenhand.train.fit import device_of


@dataclass(frozen=True)
class Place:
    """The kind of device ("cpu" or "cuda"), the devices by name, the number of workers, threads of each."""

    kind: str
    devices: tuple[str, ...]
    workers: int
    threads: int
    of_a_cluster: bool = False  # which lends every worker a GPU, or a part of one, by itself

    @property
    def gpu_share(self) -> float:
        """How much of a GPU's memory each worker may hold: its part of nine tenths where several share one.

        What torch keeps for later would otherwise be missing elsewhere.

        >>> Place("cuda", ("cuda:0", "cuda:1"), 2, 1).gpu_share, Place("cuda", ("cuda:0",), 9, 1).gpu_share
        (1.0, 0.1)
        >>> Place("cuda", ("cuda:0", "cuda:1"), 3, 1).gpu_share  # two of the three share a GPU
        0.45
        """
        crowd = math.ceil(self.workers / len(self.devices))
        return 1.0 if crowd <= 1 or self.of_a_cluster else 0.9 / crowd


def place_for(device: str = "auto", workers: int | None = None, backend: str = "local") -> Place:
    """Where to run: every GPU where there is one, else the CPU with one worker for each core.

    One thread for each worker: small models gain nothing from more, and results do not depend on how many
    workers there happened to be.

    >>> place_for("cpu", workers=3)
    Place(kind='cpu', devices=('cpu',), workers=3, threads=1, of_a_cluster=False)
    """
    if workers is not None and workers < 1:
        raise InputError(f"there must be at least one worker, not {workers}")
    if backend == "ray" and device in ("cpu", "cuda"):  # the cluster's, not ours
        return Place(device, (device,), workers or 1, 1, of_a_cluster=True)
    if device == "auto" and torch.cuda.is_available():
        device = ",".join(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    names = [str(device_of(name.strip())) for name in device.split(",")]
    kinds = {torch.device(name).type for name in names}
    if len(kinds) > 1:
        raise InputError(f"a study runs on one kind of device, not on {device}")
    if kinds == {"cuda"}:
        n_workers = workers or len(names)
        return Place("cuda", tuple(names), n_workers, max(1, cores() // n_workers))
    return Place("cpu", ("cpu",), workers or cores(), 1)


def cores() -> int:
    """How many cores this process may use.

    >>> cores() >= 1
    True
    """
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
