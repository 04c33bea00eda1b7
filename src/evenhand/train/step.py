"""One step: losses, gradients, updates. The same code for one run and for a stack of thousands.

A stack's losses come from `torch.func.vmap` over the method's pure loss. Gradients are ordinary autograd
outside it: runs are independent, so the gradient of the sum of their losses is the stack of their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets, Network
from evenhand.records import Batch, Sizes, State
from evenhand.train.optim import Optimizer
from evenhand.train.precision import in_bfloat16
from evenhand.train.recipe import Recipe
from evenhand.train.stack import Parameters, Stack, in_lines

Grads = dict[tuple[str, str], dict[str, Tensor]]


class Step:
    """What happens to a stack on one batch.

    `hyper` holds the method's float fields, a number for each run. A batch has a run dimension in front
    unless it is `shared`: then all runs see the same one.
    """

    def __init__(
        self,
        method: Method,
        hyper: Mapping[str, Tensor],
        stack: Stack,
        sizes: Sizes,
        recipe: Recipe,
        *,
        phase: str = "train",
        shared: bool = False,
        prepared: bool = False,
        compiled: bool = False,
    ) -> None:
        self.method, self.hyper, self.stack, self.sizes = method, dict(hyper), stack, sizes
        self.recipe, self.phase, self.shared, self.prepared = recipe, phase, shared, prepared
        self.players = method.players()
        self.optimizers = {player: Optimizer(recipe) for player in self.players}
        for player, optimizer in self.optimizers.items():
            optimizer.start(self._blocks(player))
        self._compiled = compiled
        self._losses: dict[tuple[str, ...], Callable[..., Any]] = {}

    def _leaves(self, player: str) -> list[tuple[str, str, Tensor]]:
        return [
            (network, key, leaf)
            for network in self.players[player]
            for key, leaf in self.stack.parameters[network].items()
            if leaf.requires_grad
        ]

    def _blocks(self, player: str) -> list[Tensor]:
        return [self.stack.blocks[network][key] for network, key, _ in self._leaves(player)]

    def run(
        self,
        batch: Batch,
        noise: Mapping[str, Mapping[str, Tensor]],
        state: State,
        turn: tuple[str, ...],
        factor: float,
    ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
        """Take one turn: the networks of its players move. Losses before it, state after it, and logs."""
        losses, state, logs = self._loss(turn)(self._moving(turn), self.hyper, state, batch, noise)
        grads = self._gradients(losses, turn)
        for player in turn:
            gradients = [grads[player, network][key] for network, key, _ in self._leaves(player)]
            rows = [in_lines(grad.reshape(self.stack.n_runs, -1)) for grad in gradients]
            self.optimizers[player].update(self._blocks(player), rows, factor)
        after = {key: value.detach() for key, value in state.items()}
        self._constrain(after)
        return {key: value.detach() for key, value in losses.items()}, after, logs

    def _moving(self, turn: tuple[str, ...]) -> Parameters:
        """The parameters, without gradient where a network rests: compiled, it would be computed anyway."""
        moving = self._networks(turn)
        return {
            name: values if name in moving else {key: value.detach() for key, value in values.items()}
            for name, values in self.stack.parameters.items()
        }

    def _loss(self, turn: tuple[str, ...]) -> Callable[..., Any]:
        if turn not in self._losses:
            function = self._vmapped(turn) if self.stack.stacked else self._single(turn)
            self._losses[turn] = torch.compile(function, dynamic=False) if self._compiled else function
        return self._losses[turn]

    def _single(self, turn: tuple[str, ...]) -> Callable[..., Any]:
        asked = {*turn, *(player for player, _ in self._crossed(turn))}

        def losses(
            parameters: Parameters,
            hyper: Mapping[str, Any],
            state: State,
            batch: Batch,
            noise: Mapping[str, Any],
        ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
            networks, resting = self.stack.networks(parameters), self.stack.resting(parameters)
            if self.recipe.precision == "bfloat16":
                networks, resting = _in_bfloat16(networks), _in_bfloat16(resting)
            nets = Nets(
                networks, self.sizes, phase=self.phase, turn=turn,
                noise=noise, prepared=self.prepared, resting=resting,
            )  # fmt: skip
            out = replace(self.method, **hyper).loss(nets, batch, state)
            # a compiled backward pass goes through every loss that has a gradient, asked for or not
            told = {player: loss if player in asked else loss.detach() for player, loss in out.losses.items()}
            return told, dict(out.state), {key: value.detach() for key, value in out.logs.items()}

        return losses

    def _vmapped(self, turn: tuple[str, ...]) -> Callable[..., Any]:
        one, data = self._single(turn), None if self.shared else 0

        def losses(
            parameters: Parameters,
            hyper: Mapping[str, Any],
            state: State,
            batch: Batch,
            noise: Mapping[str, Any],
        ) -> Any:
            parts: list[Any] = [data if isinstance(part, Tensor) else None for part in batch[:5]]
            dims = Batch._make([*parts, _dims(batch.noise)])
            return vmap(one, in_dims=(0, _dims(hyper), _dims(state), dims, _dims(noise)))(
                parameters, hyper, state, batch, noise
            )

        return losses

    def _gradients(self, losses: Mapping[str, Tensor], turn: tuple[str, ...]) -> Grads:
        """The gradient of each moving player's loss on its own networks, and what the method asked for."""
        wanted = [(player, network) for player in turn for network in self.players[player]]
        crossed = self._crossed(turn)
        if self.method.needs.separate_losses:
            return self._gradient_of(torch.stack([losses[player] for player in turn]), wanted, keep=False)
        grads: Grads = {}
        by_player: dict[str, list[tuple[str, str]]] = {}
        for player, network in dict.fromkeys([*wanted, *crossed]):
            by_player.setdefault(player, []).append((player, network))
        for place, (player, pairs) in enumerate(by_player.items()):
            last = place == len(by_player) - 1
            grads.update(self._gradient_of(losses[player], pairs, keep=not last))
        if type(self.method).combine is Method.combine or (self.method.needs.cross_gradients and not crossed):
            return grads
        combine = vmap(self._combine) if self.stack.stacked else self._combine
        return combine(self.hyper, grads)

    def _combine(self, hyper: Mapping[str, Any], grads: Grads) -> Grads:
        found = replace(self.method, **hyper).combine(grads)
        return {pair: dict(tensors) for pair, tensors in found.items()}

    def _networks(self, turn: tuple[str, ...]) -> set[str]:
        return {network for player in turn for network in self.players[player]}

    def _crossed(self, turn: tuple[str, ...]) -> list[tuple[str, str]]:
        """The crossed gradients that matter in this turn: those of networks that move."""
        moving = self._networks(turn)
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

    def _constrain(self, state: State) -> None:
        """Hand the parameters to the method after the step, if it has anything to say about them."""
        if type(self.method).constrain is Method.constrain:
            return
        function = vmap(self._constrained) if self.stack.stacked else self._constrained
        with torch.no_grad():
            changed = function(self.hyper, self.stack.parameters, state)
            for network, values in changed.items():
                for key, value in values.items():
                    self.stack.parameters[network][key].copy_(value)

    def _constrained(self, hyper: Mapping[str, Any], parameters: Parameters, state: State) -> dict[str, Any]:
        return dict(replace(self.method, **hyper).constrain(parameters, state))


def _in_bfloat16(networks: Mapping[str, Network]) -> dict[str, Network]:
    return {name: in_bfloat16(network) for name, network in networks.items()}


def _dims(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Every tensor of a nested dictionary has its run dimension in front."""
    return {key: _dims(value) if isinstance(value, Mapping) else 0 for key, value in tree.items()}
