"""Optimisers over stacked parameters: a rate, a weight decay and a clip for each run, one update for all.

Parameters are lists of blocks `[R, n]` (R = 1 for a single run). Runs that share their numbers take torch's
fused kernels; runs that differ take the same formulas written out (`rules.py`), with a number for each run.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from evenhand.train.recipe import Recipe
from evenhand.train.rules import SLOTS, rule_of

Number = float | tuple[float, ...]


@dataclass
class Optimizer:
    """The moving averages of one player's parameters and the update rule."""

    recipe: Recipe
    steps: int = 0
    slots: dict[str, list[Tensor]] = field(default_factory=dict)
    _clock: Tensor | None = None
    _columns: dict[str, Tensor] = field(default_factory=dict)

    def start(self, parameters: list[Tensor]) -> None:
        """Forget everything."""
        self.steps, self._clock = 0, None
        names = SLOTS[self.recipe.optimizer]
        self.slots = {name: [torch.zeros_like(p, requires_grad=False) for p in parameters] for name in names}

    @torch.no_grad()
    def update(self, parameters: list[Tensor], grads: list[Tensor], factor: float) -> None:
        """One step, in place; `factor` is the schedule's."""
        grads = self._clipped(grads)
        rate, decay = common(self.recipe.rate), common(self.recipe.weight_decay)
        if rate is not None and decay is not None and self.recipe.optimizer != "adadelta":
            self._fused(parameters, grads, rate * factor, decay)
        else:
            self._by_rule(parameters, grads, factor)
        self.steps += 1

    def _clipped(self, grads: list[Tensor]) -> list[Tensor]:
        """Gradients whose norm within a run is at most the run's clip."""
        clip = self.recipe.clip
        if not (any(clip) if isinstance(clip, tuple) else clip):
            return grads
        norm = torch.stack([grad.square().sum(1, keepdim=True) for grad in grads]).sum(0).sqrt()
        largest = self._column("clip", norm)
        scale = torch.where(largest > 0, (largest / (norm + 1e-6)).clamp(max=1.0), 1.0)
        return [grad * scale for grad in grads]

    def _column(self, name: str, like: Tensor, factor: float = 1.0) -> Tensor:
        """A number of the recipe for each run, `[R, 1]`, or `[1, 1]` for all.

        Kept on the device in float64: sending them there at every step would make a GPU wait.
        """
        if name not in self._columns:
            value: Number = getattr(self.recipe, name)
            numbers = value if isinstance(value, tuple) else (value,)
            column = torch.tensor([[number] for number in numbers], dtype=torch.float64, device=like.device)
            self._columns[name] = column
        return (self._columns[name] * factor).to(like.dtype)

    def _by_rule(self, parameters: list[Tensor], grads: list[Tensor], factor: float) -> None:
        """The written-out formula, tensor by tensor; compiled into one pass over memory on a GPU."""
        first = parameters[0]
        rate, decay = self._column("rate", first, factor), self._column("weight_decay", first)
        time = torch.full((), float(self.steps + 1), dtype=torch.float64, device=first.device)
        rule = rule_of(self.recipe, on_gpu=first.is_cuda)
        for parameter, grad, *moving in zip(parameters, grads, *self.slots.values(), strict=True):
            rule(parameter, grad, moving, rate, decay, time, self.recipe)

    def _fused(self, parameters: list[Tensor], grads: list[Tensor], rate: float, decay: float) -> None:
        """Torch's own kernels: one pass over memory."""
        recipe = self.recipe
        if recipe.optimizer == "sgd":
            torch._fused_sgd_(
                parameters, grads, self.slots["momentum"] if recipe.momentum else [],
                weight_decay=decay, momentum=recipe.momentum, lr=rate, dampening=0.0, nesterov=False,
                maximize=False, is_first_step=False,
            )  # fmt: skip
            return
        kernel: Any = torch._fused_adam_ if recipe.optimizer == "adam" else torch._fused_adamw_
        clocks = [self._tick(parameters[0])] * len(parameters)
        kernel(
            parameters, grads, self.slots["mean"], self.slots["square"], [], clocks,
            lr=rate, beta1=recipe.betas[0], beta2=recipe.betas[1], weight_decay=decay,
            eps=recipe.eps, amsgrad=False, maximize=False,
        )  # fmt: skip

    def _tick(self, like: Tensor) -> Tensor:
        """The number of this step, kept on the device: sending it there every time would make it wait."""
        if self._clock is None:
            self._clock = torch.tensor(float(self.steps), device=like.device)
        return self._clock.add_(1)


def common(value: Number) -> float | None:
    """The number that all runs share, or None.

    >>> common((0.1, 0.1)), common((0.1, 0.2)), common(0.3)
    (0.1, None, 0.3)
    """
    if not isinstance(value, tuple):
        return value
    return value[0] if len(set(value)) == 1 else None
