"""A compressed module in a file that is no pickle: its numbers, and what was done to which layers.

The module's code is not saved: whoever loads builds the module again, as it was before compression.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from evenhand.errors import InputError
from evenhand.nets.int8 import Int8Weight, int8_layers
from evenhand.nets.plain_copy import plain_copy
from evenhand.train.checkpoint import load_tensors, save_tensors

FORMAT = "evenhand compressed module 1"


def save_compressed(module: nn.Module, path: str | Path) -> Path:
    """Write a module that `evenhand.compress` made, or any other: parameters, buffers, layers of eight bits.

    >>> import tempfile, evenhand
    >>> net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> small = evenhand.compress(net, "int8")
    >>> file = save_compressed(small, Path(tempfile.mkdtemp()) / "small.npz")
    >>> torch.equal(load_compressed(net, file)(torch.ones(1, 4)), small(torch.ones(1, 4)))
    True
    """
    tensors = module.state_dict()
    if any(value.dtype == torch.bfloat16 for value in tensors.values()):
        raise InputError(
            "a file has no bfloat16; make it float32 first, module.float(), which changes nothing"
        )
    layers = {name: part for name, part in module.named_modules() if isinstance(part, Int8Weight)}
    facts = {
        "format": FORMAT,
        "int8": list(layers),
        "calibrated": [name for name, part in layers.items() if part.calibrated],
    }
    save_tensors(Path(path), tensors, facts)
    return Path(path)


def load_compressed(module: nn.Module, path: str | Path) -> nn.Module:
    """The module of a file, in evaluation; `module` is one of the same kind, uncompressed, and stays so."""
    if not Path(path).is_file():
        raise InputError(f"there is no file {path}")
    try:
        tensors, facts = load_tensors(Path(path))
    except InputError as error:  # it would advise to delete a checkpoint
        raise InputError(
            f"{path} is not a compressed module, or is damaged; save_compressed writes one, and what "
            "torch.save wrote is read by torch.load"
        ) from error
    if facts.get("format") != FORMAT:
        raise InputError(f"{path} is not a compressed module; write it with save_compressed")
    found = plain_copy(module)  # as the module was when it was compressed
    if facts["int8"]:
        int8_layers(found, facts["int8"], facts["calibrated"])
    try:
        found.load_state_dict(tensors)
    except RuntimeError as error:
        differs = _first_difference(tensors, found.state_dict()) or " ".join(str(error).split())
        raise InputError(
            f"{path} is of another network than this {type(module).__name__}: {differs}; build the same one"
        ) from error
    return found.eval()


def _first_difference(held: Mapping[str, Tensor], own: Mapping[str, Tensor]) -> str | None:
    """Which tensor tells that file and module are of two networks: a head of other classes, one layer more.

    >>> _first_difference({"0.weight": torch.zeros(4, 3)}, {"0.weight": torch.zeros(2, 3)})
    "'0.weight' has the shape (4, 3) in the file and (2, 3) in the module"
    """
    for name, value in own.items():
        if name not in held:
            return f"the module's {name!r} is not in the file"
        if not is_lazy(value) and value.shape != held[name].shape:
            shapes = tuple(held[name].shape), tuple(value.shape)
            return f"{name!r} has the shape {shapes[0]} in the file and {shapes[1]} in the module"
    return next((f"the file's {name!r} is not in the module" for name in held if name not in own), None)
