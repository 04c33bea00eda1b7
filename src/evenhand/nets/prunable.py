"""What of a network can be pruned: its layers of filters with what hangs on them, and its weights.

By default filters are those of the 3x3 convolutions but the stem, which is the first convolution; 1x1
convolutions, such as those of short cuts, and linear layers are left alone. With a filter go its bias and the
scale and shift of the norm that follows (`evenhand.nets.following`).
"""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.jit import ScriptModule
from torch.nn.modules.conv import _ConvNd

from evenhand.errors import InputError
from evenhand.nets.following import following_norms
from evenhand.nets.names import no_such
from evenhand.nets.plain_copy import refuse_made_weights


def filter_layers(module: nn.Module, layers: Sequence[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Convolutions that lose filters, by name, and the parameters that a filter is part of, weight first.

    Convolutions that share a weight share its name, the first one's.

    >>> from evenhand.nets import NetSpec
    >>> net = NetSpec("cifar-resnet18").build((3, 32, 32), 10)
    >>> len(filter_layers(net)), filter_layers(net, ["stages.0.0.conv2"])["stages.0.0.conv2"]
    (16, ('stages.0.0.conv2.weight', 'stages.0.0.norm2.weight', 'stages.0.0.norm2.bias'))
    """
    refuse_scripted(module)
    refuse_made_weights(module)
    known, norms, found = _first_names(module), following_norms(module), {}
    for name in _chosen(module, layers):
        parts = [f"{name}.weight", f"{name}.bias"]
        parts += [f"{norms[name]}.{part}" for part in ("weight", "bias")] if name in norms else []
        if f"{name}.weight" not in known:
            raise InputError(f"the weights of the convolution {name!r} are no parameters; prune before int8")
        found[name] = tuple(known[part] for part in parts if part in known)
    return found


def _chosen(module: nn.Module, layers: Sequence[str] | None) -> list[str]:
    """The convolutions named, or the usual ones."""
    every = _convolutions(module)
    if layers is not None:
        chosen = [_checked(name, list(every)) for name in ([layers] if isinstance(layers, str) else layers)]
        if not chosen:
            raise InputError("'layers' names no convolution; leave it out for all 3x3 ones but the first")
        return chosen
    if usual := usual_layers(module):
        return usual
    named = f", or name some of its convolutions, as in layers={list(every)[:1]}" if every else ""
    raise InputError(
        f"the network {type(module).__name__} has no 3x3 convolution after its first one, so there is no "
        f"filter to prune; use kind='magnitude' (in a loop of your own, magnitude_masks){named}"
    )


def usual_layers(module: nn.Module) -> list[str]:
    """The convolutions that lose filters unless others are named: all of 3x3 but the first convolution.

    >>> usual_layers(nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 3), nn.Conv2d(4, 4, 1)))
    ['1']
    """
    found = _convolutions(module)
    return [name for name in list(found)[1:] if found[name].kernel_size == (3, 3)]


def _convolutions(module: nn.Module) -> dict[str, nn.Conv2d]:
    return {name: part for name, part in module.named_modules() if isinstance(part, nn.Conv2d)}


def refuse_scripted(module: nn.Module) -> None:
    """Where layers are told by their class, which TorchScript hides: they would be passed by in silence."""
    for name, part in module.named_modules():
        weighs = not name or any(value.dim() > 1 for value in part.parameters())
        if weighs and isinstance(part, ScriptModule):
            what = f"the part {name!r} of the network" if name else "the network"
            raise InputError(
                f"{what} is a scripted or traced module, whose layers cannot be read; give the module that "
                "was scripted or traced"
            )


def _first_names(module: nn.Module) -> dict[str, str]:
    """Each parameter's name, and that by which `named_parameters` has it: other than its own if shared."""
    first = {id(value): name for name, value in module.named_parameters()}
    every = module.named_parameters(remove_duplicate=False)
    return {name: first[id(value)] for name, value in every}


def weight_names(module: nn.Module, *, frozen: bool = False) -> tuple[str, ...]:
    """The parameters whose single weights can be pruned: matrices and kernels, trained ones or all.

    >>> weight_names(nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2)))
    ('0.weight',)
    """
    refuse_made_weights(module)
    found = [
        f"{prefix}.{name}".lstrip(".")
        for prefix, part in module.named_modules()
        for name, value in part.named_parameters(recurse=False)
        if is_matrix(part, value) and (frozen or value.requires_grad)
    ]
    known = _first_names(module)
    names = tuple(dict.fromkeys(known[name] for name in found))
    if not names:
        raise InputError(f"the network {type(module).__name__} has no weights that could be pruned")
    return names


def is_matrix(part: nn.Module, value: Tensor) -> bool:
    """Whether a tensor of a part is a matrix or a kernel: no scale of a norm, nor one such as `[C, 1, 1]`.

    >>> import torch
    >>> [is_matrix(nn.Module(), torch.zeros(shape)) for shape in ((4, 1), (1, 4), (4, 1, 1), (4,))]
    [True, True, False, False]
    """
    if value.dim() < 2 or isinstance(part, nn.LayerNorm):
        return False
    return value.dim() == 2 or isinstance(part, _ConvNd) or value.numel() > max(value.shape)


def _checked(name: str, known: Sequence[str]) -> str:
    if name not in known:
        raise InputError(no_such("the network has no convolution", name, known, "It has"))
    return name
