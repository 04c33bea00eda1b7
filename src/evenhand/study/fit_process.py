"""How a worker makes one of several identical runs: its seeds, what torch may do, and what is noted of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.nets.registry import NetSpec
from evenhand.study.records import RunSpec, canonical
from evenhand.study.sharing import trained_method
from evenhand.study.tasks import load_task
from evenhand.study.weights import digest_of
from evenhand.train.building import networks_of
from evenhand.train.determinism import deterministic
from evenhand.train.stack import seeded

SEED_OF = {"init": "weight_seed", "order": "order_seed", "dropout": "noise_seed"}  # of `evenhand.train.Run`
_worked = False  # whether this process has worked on a bucket


def own_seeds(spec: RunSpec) -> dict[str, int]:
    """The seeds of a repeat that are its own: those of the sources that vary; repeat 0 has the run's seed.

    >>> one = RunSpec("adult", {}, (), "mlp", {}, "erm", {}, {}, seed=7, repeat=1, vary=("order",))
    >>> own_seeds(one)
    {'order_seed': 259521200034805}
    """
    if not spec.repeat:
        return {}
    return {name: _seed(spec, source) for source, name in SEED_OF.items() if source in spec.vary}


def _seed(spec: RunSpec, source: str) -> int:
    text = f"{spec.seed}/{source}/{spec.repeat}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])


@contextmanager
def implementation(spec: RunSpec) -> Iterator[None]:
    """Torch as an identical run is to have it: what does not vary is held. For other runs nothing changes."""
    if spec.repeat is None:
        yield
        return
    before = torch.backends.cudnn.benchmark
    with deterministic(_held(spec)):
        torch.backends.cudnn.benchmark = "kernels" in spec.vary
        try:
            yield
        finally:
            torch.backends.cudnn.benchmark = before


def _held(spec: RunSpec) -> bool:
    """Whether sums of an identical run are to be taken in one order."""
    return spec.repeat is not None and "reduction" not in spec.vary


def to_be_deterministic(spec: RunSpec) -> bool:
    """Whether a run will be made in deterministic mode, which has to be known before CUDA is first used."""
    return _held(spec) or bool(spec.recipe.get("deterministic"))


def begin_in_fresh_process(fresh: bool) -> None:
    """Refuse to make an identical run where something was made before."""
    global _worked
    if fresh and _worked:
        raise InputError(
            "identical runs need a process each, and this one has worked before: the backend must start a "
            "new one for every bucket that is `fresh`"
        )
    _worked = True


def made_how(spec: RunSpec) -> str:
    """What is noted of an identical run, as JSON: its process, its initial weights, what torch was told.

    `initial` is the SHA-256 of the parameters before the first step.
    """
    facts = {
        "process": os.getpid(),
        "initial": initial_digest(spec),
        "vary": list(spec.vary),
        "cudnn_benchmark": torch.backends.cudnn.benchmark,
        "deterministic": torch.are_deterministic_algorithms_enabled() or bool(spec.recipe["deterministic"]),
    }
    return canonical(facts)


def initial_digest(spec: RunSpec) -> str:
    """The SHA-256 of the networks as they are drawn."""
    problem = Problem.of(load_task(spec.data, spec.knobs), spec.protect)
    method = trained_method(spec).stacked_form()
    with seeded(own_seeds(spec).get("weight_seed", spec.seed)):
        networks = networks_of(NetSpec(spec.net, spec.net_options), method, problem)
    drawn = {f"{n}/{k}": p.detach() for n, net in networks.items() for k, p in net.named_parameters()}
    return digest_of(drawn)


def facts_of_repeat(detail: str) -> Mapping[str, Any]:
    """What `made_how` noted in a record's `detail`; {} where it is no identical run.

    >>> facts_of_repeat('{"process": 12}')["process"], facts_of_repeat("Traceback ...")
    (12, {})
    """
    try:
        found = json.loads(detail)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
