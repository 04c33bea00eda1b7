"""The optimisers' formulas, written out for runs whose numbers differ: in place, on one block `[R, n]`.

`rate` and `decay` are `[R, 1]`, `time` counts steps from 1. Weight decay is added to the gradient, but for
AdamW, which shrinks the parameters instead (Loshchilov and Hutter 2019). Equal to torch.optim's, by test.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor

from evenhand.train.recipe import Recipe

Rule = Callable[[Tensor, Tensor, list[Tensor], Tensor, Tensor, Tensor, Recipe], None]

SLOTS = {
    "sgd": ("momentum",),
    "adam": ("mean", "square"),
    "adamw": ("mean", "square"),
    "adadelta": ("square", "delta"),
}
ADADELTA_EPS = 1e-6


def sgd(
    p: Tensor, grad: Tensor, moving: list[Tensor], rate: Tensor, decay: Tensor, time: Tensor, recipe: Recipe
) -> None:
    """`m <- mu m + g; p <- p - rate m`."""
    momentum = moving[0]
    momentum.mul_(recipe.momentum).add_(grad + p * decay)
    p.sub_(momentum * rate)


def adam(
    p: Tensor, grad: Tensor, moving: list[Tensor], rate: Tensor, decay: Tensor, time: Tensor, recipe: Recipe
) -> None:
    """Kingma and Ba 2015."""
    _moments(p, grad + p * decay, moving, rate, time, recipe)


def adamw(
    p: Tensor, grad: Tensor, moving: list[Tensor], rate: Tensor, decay: Tensor, time: Tensor, recipe: Recipe
) -> None:
    """Adam with the decay taken off the parameters."""
    p.mul_(1 - rate * decay)
    _moments(p, grad, moving, rate, time, recipe)


def _moments(
    p: Tensor, grad: Tensor, moving: list[Tensor], rate: Tensor, time: Tensor, recipe: Recipe
) -> None:
    (mean, square), (first, second) = moving, recipe.betas
    mean.lerp_(grad, 1 - first)
    square.mul_(second).addcmul_(grad, grad, value=1 - second)
    spread = (square / (1 - second**time)).sqrt() + recipe.eps
    p.sub_(mean / spread * (rate / (1 - first**time)))


def adadelta(
    p: Tensor, grad: Tensor, moving: list[Tensor], rate: Tensor, decay: Tensor, time: Tensor, recipe: Recipe
) -> None:
    """Zeiler 2012."""
    square, delta = moving
    grad = grad + p * decay
    square.mul_(recipe.rho).addcmul_(grad, grad, value=1 - recipe.rho)
    step = (delta + ADADELTA_EPS).sqrt() / (square + ADADELTA_EPS).sqrt() * grad
    delta.mul_(recipe.rho).addcmul_(step, step, value=1 - recipe.rho)
    p.sub_(step * rate)


RULES: dict[str, Rule] = {"sgd": sgd, "adam": adam, "adamw": adamw, "adadelta": adadelta}


def rule_of(recipe: Recipe, *, on_gpu: bool) -> Any:
    """The formula of a recipe's optimiser; on a GPU as one kernel, unless the recipe forbids compiling.

    >>> rule_of(Recipe(optimizer="sgd", compile=False), on_gpu=True) is sgd
    True
    """
    name = recipe.optimizer
    return compiled_rule(name) if on_gpu and recipe.compile is not False else RULES[name]


@cache
def compiled_rule(name: str) -> Any:
    """The formula as one kernel."""
    return torch.compile(RULES[name], dynamic=False)
