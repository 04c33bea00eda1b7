"""Gradient projection: the model's step leaves out what would help an adversary that reads its outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.methods.base import Method, Tensors
from evenhand.methods.fields import choice, number
from evenhand.methods.group_adversary import EVERY, GroupAdversary, alternation, codes_of, spotting_loss
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Needs, Out, Phase, State

FLAT = 1e-5  # S0: below this norm the adversary's gradient has no direction worth leaving out


@dataclass(frozen=True)
class GradientProjection(Method):
    """Gradient projection: the step of each tensor loses its part along the adversary's gradient (S0's S-GR).

    Objective: none that is minimised. For each parameter tensor the model steps along
    `g - proj_h(g) - alpha h`, g the gradient of the mean loss and h that of the adversary's cross-entropy of
    the group, `proj_h(g) = (<g, h> / |h|^2) h` over the whole tensor, left out where `|h| <= 1e-5`. The
    adversary is linear and reads the model's logits.

    Needs the groups of training rows; rows of unknown group serve the task only. Any number of groups,
    classes or labels. alpha = 0 is not ERM: the projection stays.

    The adversary moves in every turn and the model in one of `ratio`, with the adversary; all gradients are
    taken before either steps. (S0's code steps the adversary first and then differentiates through it, which
    torch refuses now.) `every`: "batch" (the default) takes all turns on each batch, so that the model takes
    as many steps as under ERM; with "step" each has a batch of its own, with "epoch" an epoch (S0, ratio 3).

    >>> GradientProjection().phases()[0].turns
    (('model', 'adversary'), ('adversary',), ('adversary',))
    """

    key: ClassVar[str] = "gradproj"
    title: ClassVar[str] = "Gradient projection"
    citation: ClassVar[str] = (
        "Wang et al., Towards fairness in visual recognition: effective strategies for bias mitigation, "
        "CVPR 2020, after Zhang, Lemoine, Mitchell, Mitigating unwanted biases, AIES 2018"
    )
    needs: ClassVar[Needs] = Needs(groups=True, cross_gradients=(("adversary", "model"),))
    adversarial: ClassVar[bool] = True

    alpha: float = number(1.0, "weight of the adversary's gradient, turned round", search=(0.1, 10.0))
    ratio: int = number(3, "steps of the adversary for one of the model", at_least=1)
    every: str = choice("batch", EVERY, "what the turns are taken on: one batch, a batch each, an epoch each")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task for the model, the group for the adversary, which may move alone."""
        logits, _ = nets["model"](batch.x)
        moving = "model" in nets.turn
        guess = nets["adversary"](logits if moving else logits.detach())
        spotting = spotting_loss(guess, codes_of(batch, decompose=False), (nets.sizes.n_groups,))
        task = {"model": row_losses(logits, batch.y).mean()} if moving else {}
        return Out({**task, "adversary": spotting}, state, {"adversary": spotting.detach()})

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary, on the model's outputs."""
        return {"adversary": GroupAdversary(self.outputs(problem), (problem.sizes.n_groups,))}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """Model and adversary, each with its own loss."""
        return {"model": ("model",), "adversary": ("adversary",)}

    def phases(self) -> tuple[Phase, ...]:
        """Both in the first turn, the adversary alone in the others."""
        return alternation(self.every, ("model", "adversary"), self.ratio)

    def combine(self, grads: Mapping[tuple[str, str], Tensors]) -> Mapping[tuple[str, str], Tensors]:
        """The model's gradient without its part along the adversary's, and against that one."""
        own, other = grads["model", "model"], grads["adversary", "model"]
        found = {key: projected(own[key], other[key], self.alpha, flat=FLAT) for key in own}
        return {**grads, ("model", "model"): found}


def projected(task: Tensor, other: Tensor, alpha: float, flat: float = 0.0) -> Tensor:
    """`task - proj_other(task) - alpha other`, without the projection where `|other| <= flat`.

    `other` is divided by its largest entry first: the square of a small gradient is 0 in float32.

    >>> projected(torch.tensor([3.0, 1.0]), torch.tensor([2.0, 0.0]), alpha=1.0).tolist()
    [-2.0, 1.0]
    """
    largest = other.abs().amax()
    scaled = other / torch.where(largest > 0, largest, 1.0)
    square = scaled.square().sum()  # at least 1, or 0 where there is no gradient at all
    along = (task * scaled).sum() / square.clamp(min=1)
    steep = largest * square.sqrt() > flat
    return task - torch.where(steep, along, 0.0) * scaled - alpha * other
