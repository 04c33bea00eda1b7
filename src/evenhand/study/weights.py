"""What a run has learnt: its parameters as named tensors, their digest, and a file of them where wanted."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from torch import Tensor

from evenhand.train.checkpoint import load_tensors, save_tensors
from evenhand.train.trainer import Trainer

FOLDER = "weights"


def learnt(trainer: Trainer, place: int) -> dict[str, Tensor]:
    """Parameters ("model/...") of a run, what its method remembers ("state/..."), batch statistics."""
    stack = trainer.stack
    tensors = {f"state/{name}": value for name, value in trainer.state.items()}
    for net, leaves in stack.parameters.items():
        tensors |= {f"{net}/{key}": leaf.detach() for key, leaf in leaves.items()}
    if stack.stacked:
        return {name: value[place] for name, value in tensors.items()}
    return {**tensors, **{f"buffer/{name}": value for name, value in stack.buffers().items()}}


def digest_of(tensors: Mapping[str, Tensor]) -> str:
    """SHA-256 of named tensors: equal for runs that are equal to the bit.

    >>> import torch
    >>> digest_of({"w": torch.zeros(2)}) == digest_of({"w": -torch.zeros(2)})
    False
    """
    found = hashlib.sha256()
    for name in sorted(tensors):
        found.update(name.encode() + np.ascontiguousarray(tensors[name].cpu().numpy()).tobytes())
    return found.hexdigest()


def save_weights(folder: Path, run: str, tensors: Mapping[str, Tensor]) -> None:
    """Write them to `weights/RUN.npz` of the study's folder, whole or not at all."""
    save_tensors(folder / FOLDER / f"{run}.npz", tensors, {"run": run})


def load_weights(folder: Path, run: str) -> dict[str, Tensor]:
    """The tensors of a run that was made with `--keep-weights`."""
    return load_tensors(folder / FOLDER / f"{run}.npz")[0]
