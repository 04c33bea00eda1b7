"""compress: a smaller copy of a trained module, by pruning or by eight bits; the module stays as it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import deepcopy

from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.int8 import to_int8
from evenhand.nets.names import no_such
from evenhand.nets.pruning import apply_masks, filter_masks, magnitude_masks

KINDS = ("filter", "magnitude", "int8")


def compressed(
    module: nn.Module,
    kind: str = "filter",
    share: float | None = None,
    *,
    layers: Sequence[str] | None = None,
    calibration: Tensor | Iterable[Tensor] | None = None,
) -> nn.Module:
    """A copy of the module that is pruned or has eight bits: see `evenhand.compress`.

    >>> from evenhand.nets.sparsity import sparsity
    >>> small = compressed(nn.Sequential(nn.Linear(4, 5), nn.ReLU(), nn.Linear(5, 2)), "magnitude", 0.5)
    >>> sparsity(small).total.zero_weights
    15
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"a torch module is compressed, not {type(module).__name__}")
    if kind not in KINDS:
        raise InputError(no_such("there is no kind of compression", kind, KINDS, "There are"))
    _check_options(kind, share, layers, calibration)
    copy = deepcopy(module)
    if kind == "int8":
        return to_int8(copy, calibration)
    gone = 0.45 if share is None else share
    masks = filter_masks(copy, gone, layers) if kind == "filter" else magnitude_masks(copy, gone)
    return apply_masks(copy, masks)


def _check_options(kind: str, share: object, layers: object, calibration: object) -> None:
    """Refuse what the kind would not look at: better than to let it be overlooked."""
    if share is not None and (
        isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share < 1
    ):
        raise InputError(f"'share' must be at least 0 and less than 1, not {share!r}")
    given = {"share": share, "layers": layers, "calibration": calibration}
    serves = {"filter": ("share", "layers"), "magnitude": ("share",), "int8": ("calibration",)}[kind]
    for name, value in given.items():
        if value is not None and name not in serves:
            raise InputError(f"kind='{kind}' has no '{name}'; it takes {' and '.join(serves)}")
