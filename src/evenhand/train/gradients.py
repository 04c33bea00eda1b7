"""Which gradient moves which network: ordinary autograd, outside the vmap that makes the losses of a stack.

Runs are independent, so the gradient of the sum of their losses is the stack of their gradients.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from evenhand.methods.base import Method
from evenhand.train.stack import Stack

Grads = dict[tuple[str, str], dict[str, Tensor]]  # of a player's loss on a network, by parameter


class Gradients:
    """The gradients of a method's players on the networks of a stack."""

    def __init__(self, method: Method, hyper: Mapping[str, Tensor], stack: Stack) -> None:
        self.method, self.hyper, self.stack = method, dict(hyper), stack
        self.players = method.players()

    def of(self, losses: Mapping[str, Tensor], turn: tuple[str, ...]) -> Grads:
        """The gradient of each moving player's loss on its own networks, and what the method asked for."""
        wanted = [(player, network) for player in turn for network in self.players[player]]
        crossed = self.crossed(turn)
        if self.method.needs.separate_losses and not crossed:
            together = torch.stack([losses[player] for player in turn])
            grads = self._gradient_of(together, wanted, keep=False)
        else:
            grads = self._one_by_one(losses, [*wanted, *crossed])
        if type(self.method).combine is Method.combine or (self.method.needs.cross_gradients and not crossed):
            return grads
        combine = vmap(self._combine) if self.stack.stacked else self._combine
        return combine(self.hyper, grads)

    def _one_by_one(self, losses: Mapping[str, Tensor], wanted: Sequence[tuple[str, str]]) -> Grads:
        """A backward pass for each player's loss."""
        by_player: dict[str, list[tuple[str, str]]] = {}
        for player, network in dict.fromkeys(wanted):
            by_player.setdefault(player, []).append((player, network))
        grads: Grads = {}
        for place, (player, pairs) in enumerate(by_player.items()):
            last = place == len(by_player) - 1
            grads.update(self._gradient_of(losses[player], pairs, keep=not last))
        return grads

    def _combine(self, hyper: Mapping[str, Any], grads: Grads) -> Grads:
        found = replace(self.method, **hyper).combine(grads)
        return {pair: dict(tensors) for pair, tensors in found.items()}

    def networks(self, turn: tuple[str, ...]) -> set[str]:
        """Those that move in this turn."""
        return {network for player in turn for network in self.players[player]}

    def crossed(self, turn: tuple[str, ...]) -> list[tuple[str, str]]:
        """The crossed gradients that matter in this turn: those of networks that move."""
        moving = self.networks(turn)
        return [pair for pair in self.method.needs.cross_gradients if pair[1] in moving]

    def _gradient_of(self, loss: Tensor, pairs: Sequence[tuple[str, str]], keep: bool) -> Grads:
        """The gradient of a loss on the networks of these (player, network)."""
        leaves = [
            (pair, key, leaf)
            for pair in pairs
            for key, leaf in self.stack.parameters[pair[1]].items()
            if leaf.requires_grad
        ]
        inputs = [leaf for _, _, leaf in leaves]
        if not inputs or not loss.requires_grad:  # a loss that no moving network has a part in
            found: tuple[Tensor | None, ...] = (None,) * len(inputs)
        else:
            found = torch.autograd.grad(loss.sum(), inputs, retain_graph=keep, allow_unused=True)
        grads: Grads = {pair: {} for pair in pairs}
        for (pair, key, leaf), grad in zip(leaves, found, strict=True):
            grads[pair][key] = torch.zeros_like(leaf) if grad is None else grad
        return grads
