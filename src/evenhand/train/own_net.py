"""Networks of one's own as something that can be built again for every run."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from evenhand.errors import InputError
from evenhand.nets import NetSpec
from evenhand.nets.wrap import as_net
from evenhand.train.building import Buildable


@dataclass(frozen=True)
class OwnNet:
    """A function `(input_shape, outputs) -> module`, or a module, from which every run then starts."""

    source: Callable[[tuple[int, ...], int], nn.Module] | nn.Module

    def build(self, input_shape: tuple[int, ...], outputs: int) -> nn.Module:
        """The module, wrapped so that it gives `(logits, features)`."""
        source = self.source
        made = copy.deepcopy(source) if isinstance(source, nn.Module) else source(input_shape, outputs)
        net = as_net(made)
        _check_outputs(net, input_shape, outputs)
        return net


@torch.no_grad()
def _check_outputs(net: nn.Module, input_shape: tuple[int, ...], outputs: int) -> None:
    """Refuse a module with another number of outputs than the method needs; one output serves two classes."""
    first = next(net.parameters(), torch.zeros(()))
    training = net.training
    logits, _ = net.eval()(torch.zeros((1, *input_shape), dtype=first.dtype, device=first.device))
    net.train(training)
    if logits.shape[-1] != outputs and (logits.shape[-1], outputs) != (1, 2):
        raise InputError(f"the network has {logits.shape[-1]} outputs, and {outputs} are needed here")


def buildable(net: Any) -> Buildable:
    """A name, a `NetSpec`, a module, or a function that makes one, as something that builds networks.

    >>> buildable("mlp")
    NetSpec(name='mlp', options=())
    """
    if isinstance(net, str):
        return NetSpec(net)
    if isinstance(net, nn.Module) or (callable(net) and not inspect.isclass(net)):
        return OwnNet(net)
    if hasattr(net, "build"):
        found: Buildable = net
        return found
    raise InputError(f"a network is a name, a NetSpec, a module or a function that makes one, not {net!r}")
