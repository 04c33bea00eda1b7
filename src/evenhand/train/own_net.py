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
    """A function `(input_shape, outputs) -> module`, or a module, from which every run then starts.

    What is trained is a copy: a function may give the same module again, and it starts as it was.
    """

    source: Callable[[tuple[int, ...], int], nn.Module] | nn.Module

    def build(self, input_shape: tuple[int, ...], outputs: int) -> nn.Module:
        """The module, wrapped so that it gives `(logits, features)`."""
        source = self.source
        made = source if isinstance(source, nn.Module) else source(input_shape, outputs)
        if not isinstance(made, nn.Module):
            raise InputError(f"the function that makes networks gave a {type(made).__name__}, not a module")
        net = as_net(copy.deepcopy(made))
        _check_outputs(_trial(net, input_shape), outputs)
        if not any(parameter.requires_grad for parameter in net.parameters()):
            raise InputError("the network has no parameters that can be trained")
        return net


@torch.no_grad()
def _trial(net: nn.Module, input_shape: tuple[int, ...]) -> torch.Tensor:
    """What a module says to two rows of zeros; one that cannot read them is refused now, not later."""
    first = next(net.parameters(), torch.zeros(()))
    zeros = torch.zeros((2, *input_shape), dtype=first.dtype, device=first.device)
    training = net.training
    try:
        logits: torch.Tensor = net.eval()(zeros)[0]
    except InputError:
        raise
    except Exception as error:
        raise InputError(
            f"the network fails on inputs of the shape {tuple(zeros.shape)}: {type(error).__name__}, {error}"
        ) from error
    net.train(training)
    return logits


def _check_outputs(logits: torch.Tensor, outputs: int) -> None:
    """Refuse a module with another number of outputs than the method needs; one output serves two classes."""
    if logits.ndim != 2 or len(logits) != 2:
        raise InputError(
            f"the network makes the shape {tuple(logits.shape)} of 2 rows; (2, {outputs}) is needed here"
        )
    if logits.shape[1] != outputs and (logits.shape[1], outputs) != (1, 2):
        raise InputError(f"the network has {logits.shape[1]} outputs, and {outputs} are needed here")


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
