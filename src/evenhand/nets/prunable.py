"""What of a network can be pruned: its layers of filters with what hangs on them, and its weights.

By default filters are those of the 3x3 convolutions but the stem, which is the first convolution; 1x1
convolutions, such as those of short cuts, and linear layers are left alone. Which norm follows a convolution
is read off the order in which a module names its parts (conv1, bn1, conv2, bn2), or told by an attribute
`followed_by` of a module that has another order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from torch import nn

from evenhand.errors import InputError
from evenhand.nets.names import no_such

NORMS = (nn.BatchNorm2d, nn.GroupNorm, nn.InstanceNorm2d, nn.SyncBatchNorm)


def filter_layers(module: nn.Module, layers: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Convolutions that lose filters, by name, and the parameters that a filter is part of, weight first.

    >>> from evenhand.nets import NetSpec
    >>> net = NetSpec("cifar-resnet18").build((3, 32, 32), 10)
    >>> len(filter_layers(net)), filter_layers(net, ["stages.0.0.conv2"])["stages.0.0.conv2"]
    (16, ('stages.0.0.conv2.weight', 'stages.0.0.norm2.weight', 'stages.0.0.norm2.bias'))
    """
    convolutions = {name: part for name, part in module.named_modules() if isinstance(part, nn.Conv2d)}
    if layers is None:
        chosen = [name for name in list(convolutions)[1:] if convolutions[name].kernel_size == (3, 3)]
    else:
        chosen = [_checked(name, list(convolutions)) for name in layers]
    if not chosen:
        raise InputError(
            f"the network {type(module).__name__} has no 3x3 convolution after its first one, so there is no "
            "filter to prune; use kind='magnitude', or name the convolutions (layers=...)"
        )
    known, norms = {name for name, _ in module.named_parameters()}, following_norms(module)
    found = {}
    for name in chosen:
        parts = [f"{name}.weight", f"{name}.bias"]
        parts += [f"{norms[name]}.{part}" for part in ("weight", "bias")] if name in norms else []
        found[name] = tuple(part for part in parts if part in known)
    return found


def following_norms(module: nn.Module) -> dict[str, str]:
    """The norm that follows each convolution, by name, where there is one of as many channels.

    >>> following_norms(nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3), nn.BatchNorm2d(2)))
    {'2': '3'}
    """
    parts, found = dict(module.named_modules()), {}
    for prefix, part in parts.items():
        start = f"{prefix}." if prefix else ""
        pairs = list(pairwise(name for name, _ in part.named_children()))
        pairs += list(getattr(part, "followed_by", {}).items())
        for before, after in pairs:
            one, other = parts.get(start + before), parts.get(start + after)
            if isinstance(one, nn.Conv2d) and isinstance(other, NORMS) and _width(other) == one.out_channels:
                found[start + before] = start + after
    return found


def _width(norm: nn.Module) -> int:
    return int(getattr(norm, "num_features", 0) or getattr(norm, "num_channels", 0))


def weight_names(module: nn.Module) -> tuple[str, ...]:
    """The parameters whose single weights can be pruned: matrices and kernels that are trained.

    >>> weight_names(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    ('0.weight',)
    """
    named = module.named_parameters()
    found = tuple(name for name, value in named if value.dim() > 1 and value.requires_grad)
    if not found:
        raise InputError(f"the network {type(module).__name__} has no weights that could be pruned")
    return found


def _checked(name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise InputError(no_such("the network has no convolution", name, known, "It has"))
    return name
