"""Optimisers against torch.optim on the same gradients; every run with its own numbers, as if alone."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from evenhand.train.optim import Optimizer
from evenhand.train.recipe import Recipe

SHAPES = [(3, 5), (7,), (1,)]
RECIPES = {
    "sgd": Recipe(optimizer="sgd", rate=0.1, momentum=0.9, weight_decay=0.02),
    "sgd without momentum": Recipe(optimizer="sgd", rate=0.1, momentum=0.0, weight_decay=0.02),
    "adam": Recipe(optimizer="adam", rate=0.01, weight_decay=0.03),
    "adam plain": Recipe(optimizer="adam", rate=0.01, betas=(0.8, 0.95), eps=1e-6),
    "adamw": Recipe(optimizer="adamw", rate=0.01, weight_decay=0.1),
    "adadelta": Recipe(optimizer="adadelta", rate=0.5, weight_decay=0.01, rho=0.85),
}


def torch_optimizer(recipe, parameters, rate, decay):
    """What torch calls the same thing."""
    common = {"lr": rate, "weight_decay": decay}
    if recipe.optimizer == "sgd":
        return torch.optim.SGD(parameters, momentum=recipe.momentum, **common)
    if recipe.optimizer == "adadelta":
        return torch.optim.Adadelta(parameters, rho=recipe.rho, eps=1e-6, **common)
    kind = torch.optim.Adam if recipe.optimizer == "adam" else torch.optim.AdamW
    return kind(parameters, betas=recipe.betas, eps=recipe.eps, **common)


def numbers(n_runs, dtype=torch.float64, steps=20):
    """Starting points and gradients `[R, n]` of every step."""
    source = torch.Generator().manual_seed(3)
    make = lambda: [torch.randn(n_runs, torch.Size(s).numel(), generator=source, dtype=dtype) for s in SHAPES]  # noqa: E731
    return make(), [make() for _ in range(steps)]


def ours(recipe, start, grads, factors=None):
    parameters = [value.clone() for value in start]
    optimizer = Optimizer(recipe)
    optimizer.start(parameters)
    for step, grad in enumerate(grads):
        before = [value.clone() for value in grad]
        optimizer.update(parameters, grad, 1.0 if factors is None else factors[step])
        assert all(torch.equal(a, b) for a, b in zip(before, grad, strict=True)), "gradients were written to"
    return parameters


def theirs(recipe, start, grads, run, *, rate, decay, clip=0.0, factors=None):
    """One run by torch, with its clipping and schedule."""
    parameters = [torch.nn.Parameter(value[run].clone()) for value in start]
    optimizer = torch_optimizer(recipe, parameters, rate, decay)
    for step, grad in enumerate(grads):
        for parameter, value in zip(parameters, grad, strict=True):
            parameter.grad = value[run].clone()
        if clip:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        for group in optimizer.param_groups:
            group["lr"] = rate * (1.0 if factors is None else factors[step])
        optimizer.step()
    return [parameter.detach() for parameter in parameters]


def assert_near(found, expected, run, within=1e-12):
    for one, other in zip(found, expected, strict=True):
        assert (one[run] - other).abs().max() <= within


@pytest.mark.parametrize("name", RECIPES)
def test_one_run_is_torchs_own(name):
    recipe = RECIPES[name]
    start, grads = numbers(1)
    factors = [1.0 - step / 40 for step in range(20)]
    found = ours(recipe, start, grads, factors)
    assert_near(
        found,
        theirs(recipe, start, grads, 0, rate=recipe.rate, decay=recipe.weight_decay, factors=factors),
        run=0,
    )
    assert all((one - other).abs().max() > 1e-3 for one, other in zip(found, start, strict=True))


@pytest.mark.parametrize("name", RECIPES)
def test_runs_with_their_own_rates_decays_and_clips_are_torchs_own(name):
    rates, decays, clips = (0.1, 0.01, 0.003), (0.0, 0.1, 0.02), (0.0, 0.5, 100.0)
    recipe = replace(RECIPES[name], rate=rates, weight_decay=decays, clip=clips)
    start, grads = numbers(3)
    factors = [0.5 + step / 20 for step in range(20)]
    found = ours(recipe, start, grads, factors)
    for run, (rate, decay, clip) in enumerate(zip(rates, decays, clips, strict=True)):
        expected = theirs(recipe, start, grads, run, rate=rate, decay=decay, clip=clip, factors=factors)
        assert_near(found, expected, run)


@pytest.mark.parametrize("name", RECIPES)
def test_a_stack_ends_where_its_runs_end_alone(name):
    recipe = RECIPES[name]
    start, grads = numbers(4, torch.float32)
    start, grads = [in_lines(v) for v in start], [[in_lines(v) for v in grad] for grad in grads]
    together = ours(recipe, start, grads)
    for run in range(4):
        own = slice(run, run + 1)
        alone = ours(recipe, [v[own] for v in start], [[v[own] for v in grad] for grad in grads])
        for one, other in zip(together, alone, strict=True):
            assert torch.equal(one[run], other[0])


def in_lines(rows):
    from evenhand.train.stack import in_lines as padded

    return padded(rows)


@pytest.mark.parametrize("name", RECIPES)
def test_written_out_and_fused_rules_agree_in_single_precision(name):
    """Rates that differ are no reason for another bias correction: 1 - 0.999^t must not lose its digits."""
    recipe = RECIPES[name]
    start, grads = numbers(2, torch.float32, steps=3)
    zeros = [torch.zeros_like(value) for value in start]  # from where even a small step shows all its digits
    apart = replace(recipe, rate=(recipe.rate, recipe.rate / 2))
    for steps in (1, 3):
        one, other = ours(recipe, zeros, grads[:steps]), ours(apart, zeros, grads[:steps])
        for a, b in zip(one, other, strict=True):
            assert torch.allclose(a[0], b[0], rtol=2e-6, atol=2e-6 * recipe.rate * (steps > 1))


def test_numbers_that_are_all_equal_take_the_fast_way():
    start, grads = numbers(2, torch.float32)
    one = ours(Recipe(rate=0.01, weight_decay=0.1), start, grads)
    other = ours(Recipe(rate=(0.01, 0.01), weight_decay=(0.1, 0.1)), start, grads)
    assert all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def test_clipping_looks_at_each_run_alone():
    grads = [torch.tensor([[3.0, 0.0], [0.3, 0.0]]), torch.tensor([[4.0], [0.4]])]
    clipped = Optimizer(Recipe(clip=1.0))._clipped(grads)
    assert torch.allclose(clipped[0], torch.tensor([[0.6, 0.0], [0.3, 0.0]]))
    assert torch.allclose(clipped[1], torch.tensor([[0.8], [0.4]]))
    off = Optimizer(Recipe(clip=(0.0, 0.25)))._clipped(grads)
    assert torch.equal(off[0][0], grads[0][0])
    assert torch.allclose(off[0][1], torch.tensor([0.15, 0.0]))


@pytest.mark.parametrize("name", ["sgd", "adam", "adamw", "adadelta"])
def test_an_optimiser_set_to_its_numbers_goes_on_as_if_never_stopped(name):
    for recipe in (RECIPES[name], replace(RECIPES[name], rate=(0.1, 0.2))):
        start, grads = numbers(2, torch.float32)
        whole = ours(recipe, start, grads)
        first = Optimizer(recipe)
        parameters = [value.clone() for value in start]
        first.start(parameters)
        for grad in grads[:8]:
            first.update(parameters, grad, 1.0)
        second = Optimizer(recipe)
        second.start(parameters)
        second.steps = first.steps
        second.slots = {key: [v.clone() for v in values] for key, values in first.slots.items()}
        for grad in grads[8:]:
            second.update(parameters, grad, 1.0)
        assert all(torch.equal(a, b) for a, b in zip(whole, parameters, strict=True))
        assert second.steps == 20
