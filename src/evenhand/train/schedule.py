"""Schedules: the factor on the learning rate at each step of a phase."""

from __future__ import annotations

import math

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
