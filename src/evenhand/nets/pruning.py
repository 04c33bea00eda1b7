"""Pruning: which filters or weights of a network are zero, by masks that only ever grow.

    s_t = s_f + (s_i - s_f) (1 - t / T)^3,    the share that is pruned at time t (AGP; Zhu and Gupta 2017)

Filters are ranked by their L1 norm within each layer (Li et al. 2017), single weights by their size; every
layer loses the same share. A mask is a tensor of booleans that broadcasts over the parameter of its name:
True is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from evenhand.nets.prunable import filter_layers, weight_names
from evenhand.nets.smallest import kept_largest

Masks = dict[str, Tensor]
KINDS = ("filter", "magnitude")


def agp(share_at_start: Any, share_at_end: Any, t: Any, T: Any) -> Any:  # as in the paper
    """The share that is pruned at time t of T: fast at first, flat in the end; numbers or tensors.

    >>> [round(agp(0.10, 0.45, t, 120), 4) for t in (0, 5, 60, 115, 120, 200)]
    [0.1, 0.142, 0.4062, 0.45, 0.45, 0.45]
    """
    rest: Any
    if isinstance(T, Tensor):
        rest = torch.where(T > 0, 1 - t / T.clamp(min=1), 0).clamp(min=0)
    else:
        rest = max(1 - t / T, 0.0) if T > 0 else 0.0
    return share_at_end + (share_at_start - share_at_end) * rest**3


def filter_masks(
    module: nn.Module,
    share: float | Tensor,
    layers: Sequence[str] | None = None,
    *,
    masks: Mapping[str, Tensor] | None = None,
    parameters: Mapping[str, Tensor] | None = None,
) -> Masks:
    """Masks that take this share of the filters of each layer away, those with the smallest L1 norm.

    Layers are all 3x3 convolutions but the first convolution, or those that are named; the convolution's bias
    and the scale and shift of the norm that follows it go with a filter. `masks` are earlier ones: what they
    took away stays away. `parameters` stand in for the module's own.

    >>> from evenhand.nets import NetSpec
    >>> masks = filter_masks(NetSpec("convnet", widths=(4, 8)).build((1, 8, 8), 2), 0.25)
    >>> {name: (tuple(mask.shape), int(mask.sum())) for name, mask in masks.items()}["norms.1.bias"]
    ((8,), 6)
    """
    values = _values(module, parameters)
    found: Masks = {}
    for names in filter_layers(module, layers).values():
        weight = values[names[0]]
        old = _earlier(masks, names[0])
        kept = kept_largest(_norms(weight), share, None if old is None else old.flatten())
        for name in names:
            found[name] = kept.view(-1, *[1] * (values[name].dim() - 1))
    return found


def magnitude_masks(
    module: nn.Module,
    share: float | Tensor,
    *,
    masks: Mapping[str, Tensor] | None = None,
    parameters: Mapping[str, Tensor] | None = None,
    frozen: bool = False,
) -> Masks:
    """Masks that take this share of the weights of each layer away, the smallest; biases and norms stay.

    Weights that are not trained (`requires_grad` is off) stay too, unless `frozen`.

    >>> from evenhand.nets import NetSpec
    >>> masks = magnitude_masks(NetSpec("mlp", widths=(8,)).build((5,), 2), 0.5)
    >>> {name: int(mask.sum()) for name, mask in masks.items()}
    {'layers.0.weight': 20, 'layers.1.weight': 8}
    """
    values = _values(module, parameters)
    found: Masks = {}
    for name in weight_names(module, frozen=frozen):
        old = _earlier(masks, name)
        kept = kept_largest(values[name].abs().flatten(), share, None if old is None else old.flatten())
        found[name] = kept.view(values[name].shape)
    return found


def masks_of(
    kind: str,
    module: nn.Module,
    share: float | Tensor,
    masks: Mapping[str, Tensor] | None = None,
    parameters: Mapping[str, Tensor] | None = None,
) -> Masks:
    """The masks of a kind: "filter" or "magnitude"."""
    chosen = filter_masks if kind == "filter" else magnitude_masks
    return chosen(module, share, masks=masks, parameters=parameters)


def masked(parameters: Mapping[str, Tensor], masks: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The parameters that have a mask, with zeros where it says so, as new tensors.

    >>> masked({"w": torch.ones(2), "b": torch.ones(1)}, {"w": torch.tensor([True, False])})
    {'w': tensor([1., 0.])}
    """
    return {name: torch.where(mask, parameters[name], 0.0) for name, mask in masks.items()}


@torch.no_grad()
def apply_masks(module: nn.Module, masks: Mapping[str, Tensor]) -> nn.Module:
    """Put the zeros into the module itself: in one's own loop after every step of the optimiser.

    >>> layer = nn.Linear(3, 1)
    >>> _ = apply_masks(layer, magnitude_masks(layer, 0.3))
    >>> int((layer.weight == 0).sum())
    1
    """
    own = dict(module.named_parameters())
    for name, value in masked(own, masks).items():
        own[name].copy_(value)
    return module


def _norms(weight: Tensor) -> Tensor:
    """The L1 norm of each filter `[n]`, of 32 bits at least: in 16 many would be equal."""
    return weight.abs().flatten(1).sum(1, dtype=torch.promote_types(weight.dtype, torch.float32))


def _values(module: nn.Module, parameters: Mapping[str, Tensor] | None) -> Mapping[str, Tensor]:
    found = dict(module.named_parameters()) if parameters is None else parameters
    return {name: value.detach() for name, value in found.items()}


def _earlier(masks: Mapping[str, Tensor] | None, name: str) -> Tensor | None:
    return None if masks is None else masks.get(name)
