"""The masks in the state of a method that is pruned, and how the method itself is kept from seeing them.

A method may ask whether its state is empty, or answer with a state of its own names; so it is handed its own
part, and the masks are put back beside what it returns.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.records import Batch, State

MASK = "kept/"  # before the names of the parameters, in the state


def masks_in(state: State) -> dict[str, Tensor]:
    """The masks of a state, by the names of the model's parameters; none before the model is pruned.

    >>> import torch
    >>> masks_in({"q": torch.ones(2), "kept/layers.0.weight": torch.ones(1, dtype=torch.bool)})
    {'layers.0.weight': tensor([True])}
    """
    return {name.removeprefix(MASK): value for name, value in state.items() if name.startswith(MASK)}


def with_masks(own: State, masks: Mapping[str, Tensor]) -> State:
    """A method's state, and the masks beside it."""
    return {**own, **{MASK + name: mask for name, mask in masks.items()}} if masks else own


def without_masks(state: State) -> State:
    """The state as the method itself knows it.

    >>> import torch
    >>> without_masks({"q": torch.ones(2), "kept/layers.0.weight": torch.ones(1, dtype=torch.bool)})
    {'q': tensor([1., 1.])}
    """
    return {name: value for name, value in state.items() if not name.startswith(MASK)}


class OwnPredict(Method):
    """A method's own rule, of its own state."""

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The method's own rule."""
        return super().predict(nets, batch, without_masks(state))


class OwnEvidence(Method):
    """What a method's own rule for all rows is given, of its own state."""

    def evidence(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The method's own."""
        return super().evidence(nets, batch, without_masks(state))


class OwnAfter(Method):
    """What a method makes of a phase that has ended, of its own state."""

    def after(self, phase: str, problem: Problem, scores: Tensor, state: State) -> State:
        """The method's own; masks stay what they are."""
        return with_masks(super().after(phase, problem, scores, without_masks(state)), masks_in(state))


_OWN: dict[str, Any] = {"predict": OwnPredict, "evidence": OwnEvidence, "after": OwnAfter}


def own_forms(kind: type[Method]) -> tuple[type[Method], ...]:
    """The classes to put before a method's, for what it has of its own and for nothing else.

    Who asks whether a method has a rule of its own then hears the same as before.

    >>> from evenhand.methods import ERM, JTT
    >>> own_forms(ERM), [form.__name__ for form in own_forms(JTT)]
    ((), ['OwnAfter'])
    """
    return tuple(form for name, form in _OWN.items() if getattr(kind, name) is not getattr(Method, name))
