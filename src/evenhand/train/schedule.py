"""Schedules: the learning rate of a phase, and the factor on it at each step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from evenhand.methods.base import Method
from evenhand.train.recipe import Recipe


def rate_factor(recipe: Recipe, step: int, steps: int) -> float:
    """What the rate is multiplied with at step 0 .. steps-1.

    >>> [round(rate_factor(Recipe(schedule="cosine"), step, 4), 3) for step in range(4)]
    [1.0, 0.854, 0.5, 0.146]
    >>> [round(rate_factor(Recipe(schedule="step"), step, 4), 4) for step in range(4)]
    [1.0, 1.0, 0.1, 0.01]
    """
    share = step / max(steps, 1)
    if recipe.schedule == "cosine":
        return 0.5 * (1 + math.cos(math.pi * share))
    if recipe.schedule == "step":
        return float(recipe.decay ** sum(share >= milestone for milestone in recipe.milestones))
    return 1.0


def recipe_of_phase(recipe: Recipe, methods: Sequence[Method], phase: str) -> Recipe:
    """The recipe with the rates of a phase: a share of the recipe's, which each run's method may set.

    >>> from evenhand.methods import ERM, with_stages
    >>> methods = [with_stages(ERM(), rate_share=share) for share in (0.5, 0.1)]
    >>> recipe_of_phase(Recipe(rate=1.0), methods, "train").rate
    (0.5, 0.1)
    >>> recipe_of_phase(Recipe(rate=1.0), methods, "head").rate
    1.0
    """
    shares = [next(item.rate for item in method.phases() if item.name == phase) for method in methods]
    if all(share == 1 for share in shares):
        return recipe
    rates = recipe.rate if isinstance(recipe.rate, tuple) else (recipe.rate,) * len(shares)
    return replace(recipe, rate=tuple(rate * share for rate, share in zip(rates, shares, strict=True)))
