"""Which norm follows which convolution, read off how a module names its parts; nothing is called.

    conv1 bn1 conv2 bn2       each norm after its convolution, the order of a Sequential too
    conv1 conv2 bn1 bn2       as many norms as convolutions: the first after the first, and so on
    [conv, conv] [bn, bn]     two lists of modules, of one length

A module with another order says so: `followed_by = {"conv1": "bn1"}`, an attribute of its own.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby, pairwise

from torch import nn

NORMS = (nn.BatchNorm2d, nn.GroupNorm, nn.InstanceNorm2d, nn.SyncBatchNorm)


def following_norms(module: nn.Module) -> dict[str, str]:
    """The norm that follows each convolution, by name, where there is one of as many channels.

    >>> following_norms(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3), nn.BatchNorm2d(2)))
    {'2': '3'}
    """
    parts, found = dict(module.named_modules()), {}
    for prefix, part in parts.items():
        start = f"{prefix}." if prefix else ""
        told = getattr(part, "followed_by", {}).items()
        for before, after in (*_side_by_side(part), *_of_two_lists(part), *told):
            one, other = parts.get(start + before), parts.get(start + after)
            if isinstance(one, nn.Conv2d) and isinstance(other, NORMS) and _width(other) == one.out_channels:
                found[start + before] = start + after
    return found


def _side_by_side(part: nn.Module) -> Iterator[tuple[str, str]]:
    """Convolutions and the norms named next: the nearest two, or one to one where they stand in blocks."""
    runs = [(kind, [name for name, _ in run]) for kind, run in groupby(part.named_children(), _kind)]
    for (kind, before), (other, after) in pairwise(runs):
        if (kind, other) == ("convolution", "norm"):
            in_blocks = len(before) == len(after) and not isinstance(part, nn.Sequential)
            yield from zip(before, after, strict=True) if in_blocks else [(before[-1], after[0])]


def _of_two_lists(part: nn.Module) -> Iterator[tuple[str, str]]:
    """A list of convolutions and, next to it, a list of as many norms."""
    for (name, one), (next_name, other) in pairwise(part.named_children()):
        if isinstance(one, nn.ModuleList) and isinstance(other, nn.ModuleList) and len(one) == len(other):
            yield from ((f"{name}.{place}", f"{next_name}.{place}") for place in range(len(one)))


def _kind(child: tuple[str, nn.Module]) -> str:
    if isinstance(child[1], nn.Conv2d):
        return "convolution"
    return "norm" if isinstance(child[1], NORMS) else "other"


def _width(norm: nn.Module) -> int:
    return int(getattr(norm, "num_features", 0) or getattr(norm, "num_channels", 0))
