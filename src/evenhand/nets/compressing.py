"""compress: a smaller copy of a trained module, by pruning or by eight bits; the module stays as it is."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.parameter import is_lazy

from evenhand.errors import InputError
from evenhand.nets.int8 import Int8Weight, to_int8
from evenhand.nets.names import no_such
from evenhand.nets.plain_copy import plain_copy
from evenhand.nets.pruning import apply_masks, filter_masks, magnitude_masks

KINDS = ("filter", "magnitude", "int8")


def compressed(
    module: nn.Module,
    kind: str = "filter",
    share: float | None = None,
    *,
    layers: Sequence[str] | None = None,
    calibration: Tensor | Iterable[Any] | None = None,
) -> nn.Module:
    """A copy of the module that is pruned or has eight bits: see `evenhand.compress`.

    >>> from evenhand.nets.sparsity import sparsity
    >>> small = compressed(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), "magnitude", 0.5)
    >>> sparsity(small).total.zero_weights
    15
    """
    if not isinstance(module, nn.Module):
        raise InputError(
            f"a torch module is compressed, not {type(module).__name__}; of a fit, give fitted.module()"
        )
    if kind not in KINDS:
        raise InputError(no_such("there is no kind of compression", kind, KINDS, "There are"))
    _check_options(kind, share, layers, calibration)
    with torch.inference_mode(False):  # a copy of ordinary tensors, wherever the module was made
        _check_module(module)
        return _compressed(plain_copy(module), kind, share, layers, calibration)


def _compressed(
    copy: nn.Module,
    kind: str,
    share: float | None,
    layers: Sequence[str] | None,
    calibration: Tensor | Iterable[Any] | None,
) -> nn.Module:
    if kind == "int8":
        return to_int8(copy, calibration)
    gone = 0.45 if share is None else float(share)
    filters = kind == "filter"
    masks = filter_masks(copy, gone, layers) if filters else magnitude_masks(copy, gone, frozen=True)
    if gone and all(bool(mask.all()) for mask in masks.values()):
        sizes = [mask.numel() for mask in masks.values()]
        warnings.warn(_nothing_gone(gone, sizes, "filters" if filters else "weights"), stacklevel=4)
    return apply_masks(copy, masks)


def _nothing_gone(share: float, sizes: Sequence[int], what: str) -> str:
    """What is said of a share that rounds to none in every layer: the copy would pass for a smaller module.

    >>> _nothing_gone(0.1, [4, 3], "filters")
    'share=0.1 prunes nothing: it is none of the 3 to 4 filters of a layer; from share=0.125 on one goes'
    """
    low, high = min(sizes), max(sizes)
    held = f"{low} to {high}" if low < high else f"{high}"
    # rounded up to the millionths in which shares are read (`smallest.exact`), so that the half is reached
    least = math.ceil(0.5 / high * 1e6) / 1e6
    advice = f"from share={least:g} on one goes" if high > 1 else "a layer never loses its last one"
    return f"share={share:g} prunes nothing: it is none of the {held} {what} of a layer; {advice}"


def _check_module(module: nn.Module) -> None:
    """Refuse what has eight bits already, and numbers by which nothing can be ranked or scaled."""
    if any(isinstance(part, Int8Weight) for part in module.modules()):
        raise InputError("the module has eight bits already; prune first, and make that copy int8")
    for name, value in module.named_parameters():
        if not is_lazy(value) and not torch.isfinite(value.detach()).all():
            raise InputError(
                f"{name!r} of the module holds NaN or infinite numbers; compress one whose weights are finite"
            )


def _check_options(kind: str, share: object, layers: object, calibration: object) -> None:
    """Refuse what the kind would not look at: better than to let it be overlooked."""
    if share is not None and (
        isinstance(share, bool) or not isinstance(share, Real) or not 0 <= float(share) < 1
    ):
        raise InputError(f"'share' must be at least 0 and less than 1, not {share!r}")
    given = {"share": share, "layers": layers, "calibration": calibration}
    serves = {"filter": ("share", "layers"), "magnitude": ("share",), "int8": ("calibration",)}[kind]
    for name, value in given.items():
        if value is not None and name not in serves:
            raise InputError(f"kind='{kind}' has no '{name}'; it takes {' and '.join(serves)}")
