"""One step: losses, gradients, updates. The same code for one run and for a stack of thousands.

A stack's losses come from `torch.func.vmap` over the method's pure loss; for gradients see `Gradients`.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor
from torch.func import vmap

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets
from evenhand.records import Batch, EpochStart, Sizes, State
from evenhand.train.gradients import Gradients
from evenhand.train.optim import Optimizer
from evenhand.train.precision import in_bfloat16
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import Recorded
from evenhand.train.stack import Parameters, Stack, in_lines

LAID_OUT = "expected size"  # of what compiled code says where a kernel's result is laid out otherwise


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
        recorded: bool = False,
    ) -> None:
        self.method, self.hyper, self.stack, self.sizes = method, dict(hyper), stack, sizes
        self.recipe, self.phase, self.shared, self.prepared = recipe, phase, shared, prepared
        self.players = method.players()
        self.gradients = Gradients(method, self.hyper, stack)
        self.optimizers = {player: Optimizer(recipe) for player in self.players}
        for player, optimizer in self.optimizers.items():
            optimizer.start(self._blocks(player))
        self._compiled = compiled
        if compiled:  # all steps share their code, and torch compiles one piece of code eight times at most
            torch.compiler.reset()
        self._losses: dict[tuple[str, ...], Callable[..., Any]] = {}
        self._pool = torch.cuda.graph_pool_handle() if recorded else None
        self.recorded: dict[tuple[str, ...], Recorded] = {}

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
        losses, after, logs, rows = self._computed(turn)(state, batch, noise)
        for player in turn:
            self.optimizers[player].update(self._blocks(player), rows[player], factor)
        self._constrain(after)
        return losses, after, logs

    def _computed(self, turn: tuple[str, ...]) -> Callable[..., tuple[Any, ...]]:
        """Losses, the state after them, logs and each player's gradients: all that depends on the batch."""

        def computed(*given: Any) -> tuple[Any, ...]:
            losses, state, logs, grads = self._differentiated(turn, *given)
            rows = {
                player: [
                    in_lines(grads[player, network][key].reshape(self.stack.n_runs, -1))
                    for network, key, _ in self._leaves(player)
                ]
                for player in turn
            }
            plain = [{key: value.detach() for key, value in part.items()} for part in (losses, state)]
            return *plain, logs, rows

        if self._pool is None:
            return computed
        if turn not in self.recorded:
            self.recorded[turn] = Recorded(computed, kept=3, pool=self._pool)
        return self.recorded[turn]

    def close(self) -> None:
        """Let go of what is recorded at once: it holds memory of the GPU, and refers to this step."""
        self.recorded.clear()

    def _differentiated(self, turn: tuple[str, ...], *given: Any) -> tuple[Any, Any, Any, Any]:
        """Losses, state, logs and gradients; plainly from here on where torch cannot compile them.

        No parameter has moved before gradients are there, and statistics are put back, so the step is taken
        again as if for the first time.
        """
        untried = self._compiled and turn not in self._losses
        before = {name: value.clone() for name, value in self.stack.buffers().items()} if untried else {}
        try:
            losses, state, logs = self._loss(turn)(self._moving(turn), self.hyper, *given)
            return losses, state, logs, self.gradients.of(losses, turn)
        except (RuntimeError, AssertionError) as error:
            if not self._compiled or not _of_the_compiler(error):
                raise
            for name, value in before.items():  # the backward pass may be what fails
                self.stack.buffers()[name].copy_(value)
            warnings.warn(
                f"torch could not compile this step: {_first_line(error)}; it is taken as it is, "
                "and takes longer",
                stacklevel=2,
            )
            self._compiled, self._losses = False, {}
            return self._differentiated(turn, *given)

    def _moving(self, turn: tuple[str, ...]) -> Parameters:
        """The parameters, without gradient where a network rests: compiled, it would be computed anyway."""
        moving = self.gradients.networks(turn)
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
        asked = {*turn, *(player for player, _ in self.gradients.crossed(turn))}
        precision = in_bfloat16 if self.recipe.precision == "bfloat16" else None

        def losses(
            parameters: Parameters,
            hyper: Mapping[str, Any],
            state: State,
            batch: Batch,
            noise: Mapping[str, Any],
        ) -> tuple[dict[str, Tensor], dict[str, Tensor], dict[str, Tensor]]:
            nets = Nets(
                self.stack.networks(parameters), self.sizes, phase=self.phase, turn=turn,
                noise=noise, prepared=self.prepared, precision=precision,
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

    def begin_epoch(self, start: EpochStart, state: State) -> dict[str, Tensor]:
        """The state that the method begins an epoch with; parameters follow it."""
        if type(self.method).each_epoch is Method.each_epoch:
            return dict(state)

        def one(hyper: Mapping[str, Any], parameters: Parameters, state: State) -> dict[str, Tensor]:
            return dict(replace(self.method, **hyper).each_epoch(start, parameters, state))

        with torch.no_grad():
            after = (vmap(one) if self.stack.stacked else one)(self.hyper, self.stack.parameters, state)
        self._constrain(after)
        return after

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


def _of_the_compiler(error: Exception) -> bool:
    from torch._dynamo.exc import TorchDynamoException  # seconds to import, and only compiled steps need it

    of_shapes = isinstance(error, AssertionError) and LAID_OUT in str(error)
    return of_shapes or isinstance(error, TorchDynamoException)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _dims(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Every tensor of a nested dictionary has its run dimension in front."""
    return {key: _dims(value) if isinstance(value, Mapping) else 0 for key, value in tree.items()}
