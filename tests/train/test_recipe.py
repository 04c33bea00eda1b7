"""Recipes and schedules: what is refused, with which words, and what the rate is at each step."""

from __future__ import annotations

import math

import pytest

from evenhand.errors import InputError
from evenhand.train.recipe import Recipe
from evenhand.train.schedule import rate_factor


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"optimizer": "adan"}, "must be one of sgd, adam, adamw, adadelta, not 'adan'; did you mean 'adam'"),
        ({"schedule": "cosin"}, "did you mean 'cosine'"),
        ({"precision": "float16"}, "'precision' must be one of float32, float64, tf32, bfloat16"),
        ({"augment": "flop"}, "did you mean 'flip'"),
        ({"keep": "all"}, "'keep' must be one of last, best, not 'all'"),
        ({"epochs": 0}, "'epochs' must be a whole number of at least 1, not 0"),
        ({"epochs": 2.5}, "'epochs' must be a whole number"),
        ({"epochs": True}, "'epochs' must be a whole number"),
        ({"batch_size": -4}, "'batch_size' must be a whole number of at least 1"),
        ({"patience": 1.5}, "'patience' must be a whole number of at least 0, not 1.5"),
        ({"rate": -1e-3}, "'rate' must be a number of at least 0, not -0.001"),
        ({"rate": math.nan}, "'rate' must be a number of at least 0, not nan"),
        ({"rate": math.inf}, "'rate' must be a number of at least 0, not inf"),
        ({"rate": (0.1, "x")}, "'rate' must be a number of at least 0, not 'x'"),
        ({"weight_decay": (0.1, -0.1)}, "'weight_decay' must be a number of at least 0, not -0.1"),
        ({"momentum": 1.0}, "'momentum' must be a number of at least 0 and below 1, not 1.0"),
        ({"momentum": (0.1, 0.2)}, "'momentum' must be a number"),
        ({"betas": (0.9, 1.0)}, "'betas' must be a number of at least 0 and below 1, not 1.0"),
        ({"betas": (0.9,)}, "'betas' must be two numbers"),
        ({"min_drop": -1.0}, "'min_drop' must be a number of at least 0"),
        ({"epoch": 3}, "a recipe has no 'epoch'; did you mean 'epochs'"),
        ({"zzz": 3}, "a recipe has no 'zzz'$"),
    ],
)  # fmt: skip
def test_impossible_values_are_refused_with_the_reason(values, message):
    with pytest.raises(InputError, match=message):
        Recipe.of(**values)


def test_lists_are_taken_for_tuples_and_all_else_is_kept():
    recipe = Recipe.of(rate=[0.1, 0.2], milestones=[0.3], epochs=7)
    assert recipe == Recipe(rate=(0.1, 0.2), milestones=(0.3,), epochs=7)
    assert hash(recipe)


def test_every_default_is_allowed():
    assert Recipe().check() == Recipe()


def test_constant():
    assert [rate_factor(Recipe(), step, 10) for step in range(10)] == [1.0] * 10


def test_cosine_falls_from_one_to_almost_zero():
    values = [rate_factor(Recipe(schedule="cosine"), step, 100) for step in range(100)]
    expected = [0.5 * (1 + math.cos(math.pi * step / 100)) for step in range(100)]
    assert values == pytest.approx(expected, abs=1e-15)
    assert values == sorted(values, reverse=True)
    assert (values[0], values[50]) == (1.0, pytest.approx(0.5))
    assert 0 < values[-1] < 3e-4


def test_steps_fall_at_the_milestones():
    recipe = Recipe(schedule="step", milestones=(0.3, 0.6), decay=0.5)
    values = [rate_factor(recipe, step, 10) for step in range(10)]
    assert values == [1.0] * 3 + [0.5] * 3 + [0.25] * 4


def test_a_schedule_of_no_steps_is_no_error():
    assert rate_factor(Recipe(schedule="cosine"), 0, 0) == 1.0
