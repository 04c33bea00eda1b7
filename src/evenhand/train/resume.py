"""What a checkpoint holds, and how a trainer is put back to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.nets import NetSpec
from evenhand.train.progress import Position

if TYPE_CHECKING:
    from evenhand.train.trainer import Trainer

FORMAT = 1
SELECTION = ("best", "best_epoch", "waited", "stopped")
SOME_ROWS = 64  # of a task's inputs that are looked at to tell it from another


def tensors_of(trainer: Trainer) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Everything that changes while training; all that is random follows from the position."""
    tensors = {f"parameter/{name}": leaf.detach() for name, leaf in _leaves(trainer).items()}
    tensors |= {f"buffer/{name}": value for name, value in trainer.stack.buffers().items()}
    tensors |= {f"state/{name}": value for name, value in trainer.state.items()}
    tensors |= {f"kept/{name}": value for name, value in trainer.selection.kept.items()}
    tensors |= {f"selection/{name}": getattr(trainer.selection, name) for name in SELECTION}
    tensors |= {f"sum/{name}": value for name, value in trainer.sums.items()}
    clocks = {}
    if trainer.step is not None:
        for player, optimizer in trainer.step.optimizers.items():
            clocks[player] = optimizer.steps
            for slot, values in optimizer.slots.items():
                tensors |= {f"optimizer/{player}/{slot}/{place}": value for place, value in enumerate(values)}
    facts = {
        "format": FORMAT,
        "fingerprint": fingerprint(trainer),
        "position": asdict(trainer.position),
        "history": trainer.history,
        "clocks": clocks,
        "in_phase": trainer.step is not None,
    }
    return tensors, facts


def _leaves(trainer: Trainer) -> dict[str, Tensor]:
    return {f"{n}/{k}": leaf for n, values in trainer.stack.parameters.items() for k, leaf in values.items()}


def fingerprint(trainer: Trainer) -> str:
    """What must be equal for a checkpoint to be gone on with."""
    shapes = [(name, tuple(leaf.shape)) for name, leaf in _leaves(trainer).items()]
    # A module of one's own is told by its layers; the text of a function would change with its address.
    net = repr(trainer.net) if isinstance(trainer.net, NetSpec) else repr(trainer.stack.templates)
    tasks = [(task.name, len(task), digest(task)) for task in trainer.tasks]
    runs = [(repr(run.method), run.seeds, run.task) for run in trainer.runs]
    return repr((shapes, net, tasks, runs, trainer.recipe, trainer.protect))


def digest(task: Task) -> str:
    """A checksum of what a task holds: all labels, attributes and parts, and some of the inputs."""
    some = torch.linspace(0, len(task) - 1, min(len(task), SOME_ROWS)).to(torch.int64)
    inputs = task.x[some] if isinstance(task.x, Tensor) else task.x.take(some)
    found = sha256(repr((task.scaling, task.classes, sorted(task.split))).encode())
    attributes = (np.asarray(attribute.codes) for attribute in task.attributes)
    parts = (task.split[part].numpy() for part in sorted(task.split))
    for array in (inputs.numpy(), task.y.numpy(), *attributes, *parts):
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def put_back(trainer: Trainer, tensors: Mapping[str, Tensor], facts: Mapping[str, Any], path: Path) -> None:
    """Set a new trainer of the same runs to where the checkpoint was taken."""
    if facts.get("format") != FORMAT:
        raise InputError(f"{path} was written by another version of evenhand; delete it to begin anew")
    if facts.get("fingerprint") != fingerprint(trainer):
        raise InputError(
            f"{path} is of other runs (another method, network, recipe, seed or task); "
            "name another folder, or delete it"
        )
    try:
        _put_back(trainer, tensors, facts)
    except KeyError as error:
        raise InputError(f"{path} is damaged: it lacks {error}; delete it to begin anew") from error


def _put_back(trainer: Trainer, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    trainer.position = Position(**facts["position"])
    trainer.history = list(facts["history"])
    _copy(tensors, "parameter/", _leaves(trainer))
    _copy(tensors, "buffer/", trainer.stack.buffers())
    trainer.state = _part(tensors, "state/", trainer.device)
    trainer.selection.kept = _part(tensors, "kept/", trainer.device)
    for name in SELECTION:
        setattr(trainer.selection, name, tensors[f"selection/{name}"])
    trainer.sums = _part(tensors, "sum/", trainer.device)
    if not facts["in_phase"]:
        return
    trainer.step = trainer.new_step(trainer.phases[trainer.position.phase])
    for player, optimizer in trainer.step.optimizers.items():
        optimizer.steps = facts["clocks"][player]
        for slot, values in optimizer.slots.items():
            numbered = {str(place): value for place, value in enumerate(values)}
            _copy(tensors, f"optimizer/{player}/{slot}/", numbered)


def _part(tensors: Mapping[str, Tensor], prefix: str, device: torch.device) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): v.to(device) for name, v in tensors.items() if name.startswith(prefix)}


def _copy(tensors: Mapping[str, Tensor], prefix: str, targets: Mapping[str, Tensor]) -> None:
    with torch.no_grad():
        for name, target in targets.items():
            target.copy_(tensors[prefix + name])
