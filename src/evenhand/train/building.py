"""From runs to what is trained: their networks, their states side by side, and what cannot be stacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.problem import Problem
from evenhand.records import Sizes, State
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.stack import Stack


class Buildable(Protocol):
    """Anything that builds a network: see `evenhand.nets.NetSpec`."""

    def build(self, input_shape: tuple[int, ...], outputs: int) -> nn.Module:
        """A network for inputs of this shape with this many outputs, drawn from torch's generator."""
        ...


def builder(net: Buildable, run: Run, problem: Problem) -> Callable[[], dict[str, nn.Module]]:
    """What makes the networks of one run: the model, and those that its method wants beside it."""

    def build() -> dict[str, nn.Module]:
        return networks_of(net, run.method, problem)

    return build


def networks_of(net: Buildable, method: Method, problem: Problem) -> dict[str, nn.Module]:
    """All networks of a method by name: the model, on what the method has it read, and those beside it."""
    shape = method.model_inputs(problem)
    try:
        model = net.build(shape, method.outputs(problem))
        method.check_model(model)
        siblings = {name: net.build(shape, n) for name, n in method.siblings(problem).items()}
    except InputError as error:
        if shape == problem.sizes.inputs:
            raise
        raise InputError(
            f"under the method '{method.key}' the network reads a code, not the task's inputs; choose one "
            f"that takes a vector, such as mlp or s3-mlp ({error})"
        ) from error
    return {"model": model, **siblings, **method.extra(problem, width_at(model, method.features_at(), shape))}


@torch.no_grad()
def width_at(model: nn.Module, point: str, shape: tuple[int, ...]) -> int:
    """How many numbers a row has at a point of a network, or at its split point where none is named.

    >>> from evenhand.nets import NetSpec
    >>> width_at(NetSpec("convnet", widths=(4, 8)).build((3, 8, 8), 2), "conv1", (3, 8, 8))
    64
    """
    if not point:
        return int(getattr(model, "n_features", 0))
    first, learning = next(model.parameters()), model.training
    zeros = torch.zeros((1, *shape), dtype=first.dtype, device=first.device)
    _, (found,) = model.eval()(zeros, taps=(point,))  # in evaluation, where batch statistics stay as they are
    model.train(learning)
    return int(found[0].numel())


def check_recipe(recipe: Recipe, sizes: Sizes, n_tasks: int) -> None:
    """Refuse what a recipe asks for and these tasks cannot give."""
    if recipe.augment != "none" and len(sizes.inputs) != 3:
        raise InputError(
            f"augment='{recipe.augment}' is for images; an input of this task has the shape {sizes.inputs}"
        )
    if recipe.share_batches and n_tasks > 1:
        raise InputError("runs on different tasks have no batches to share; leave share_batches out")


def check_stackable(method: Method, stack: Stack) -> None:
    """Refuse to stack a method or a network that says it cannot be."""
    if not stack.stacked:
        return
    if not method.needs.stackable:
        raise InputError(f"the method '{method.key}' cannot be stacked; train its runs one at a time")
    for name, template in stack.templates.items():
        if not getattr(template, "stackable", True):
            raise InputError(f"the network '{name}' cannot be stacked (it keeps batch statistics)")


def joined_state(states: Sequence[State], stack: Stack) -> dict[str, Tensor]:
    """The states of all runs side by side on the device, or the one state of a single run."""

    def place(value: Tensor) -> Tensor:
        return value.to(stack.device, stack.dtype if value.is_floating_point() else value.dtype)

    if not stack.stacked:
        return {key: place(value) for key, value in states[0].items()}
    return {key: torch.stack([place(state[key]) for state in states]) for key in states[0]}


def next_state(
    runs: Sequence[Run],
    problems: Sequence[Problem],
    phase: str,
    scores: Tensor,
    state: State,
    stack: Stack,
) -> dict[str, Tensor]:
    """What the methods make of a phase that has ended, given the scores of all training rows `[R, N, C]`."""
    found = []
    for number, run in enumerate(runs):
        own = {key: (value[number] if stack.stacked else value).cpu() for key, value in state.items()}
        found.append(run.method.after(phase, problems[run.task], scores[number], own))
    return joined_state(found, stack)
