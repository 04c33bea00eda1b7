"""The model of a fit as a torch module of its own: to look at its weights, to compress it, to ship it."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from typing import TYPE_CHECKING

from evenhand.data.task import Scaling
from evenhand.errors import InputError
from evenhand.train.trained import Trained

if TYPE_CHECKING:
    from torch import nn

    from evenhand.train.stack import Stack


def module_of(models: Sequence[Trained], scalings: Sequence[Scaling], run: int) -> nn.Module:
    """A copy of the model of one run, in evaluation, with its scaling before it."""
    from evenhand.nets.scaled import Scaled

    places = [(model, place) for model in models for place in range(model.n_runs)]
    if not 0 <= run < len(places):
        raise InputError(f"there is no run {run}; this fit has {len(places)}, the first is 0")
    model, place = places[run]
    method = model.predictor.method
    if any(phase.prepared for phase in method.phases()):
        raise InputError(f"the model of '{method.key}' reads a code that another network makes; use .predict")
    net = _copied(model.predictor.stack, place)
    return Scaled(net, scalings[0] if len(scalings) == 1 else scalings[run]).eval()


def _copied(stack: Stack, place: int) -> nn.Module:
    """The model of one run of a stack, with parameters and batch statistics of its own."""
    import torch

    net = deepcopy(stack.templates["model"])
    own = dict(net.named_parameters())
    with torch.no_grad():
        for name, value in stack.parameters["model"].items():
            own[name].copy_(value[place] if stack.stacked else value)
    return net
