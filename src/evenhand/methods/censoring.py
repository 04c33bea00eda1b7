"""Adversarial censoring: features from which an adversary cannot tell the group, by uniform confusion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from evenhand.methods.adversary_nets import checked_width
from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.group_adversary import (
    EVERY,
    GroupAdversary,
    alternation,
    codes_of,
    confusion_loss,
    head_sizes,
    met_levels,
    spotting_loss,
)
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class AdversarialCensoring(Method):
    """Uniform confusion: an adversary learns the group from features, the model makes it unsure (A-Cens).

    Objective of the model: `mean_i l_i + alpha L_conf`, `L_conf = -mean_n mean_d log p_d(n)`, p the softmax
    of the adversary's logits: least where all groups are equally likely. Of the adversary: the cross-entropy
    of the group. The adversary is linear unless `depth` gives it hidden layers of `width`. With `decompose`
    it has a head for each attribute instead of one for all intersections, and their losses are summed.

    Needs the groups of training rows and the network's features; rows of unknown group serve the task only.
    Any number of groups, classes or labels. Groups without training rows do not count in `mean_d`: no
    adversary ever names them. alpha = 0 is ERM.

    `every`: "batch" (the default) takes one step of the model and then `ratio` of the adversary on each
    batch, so that the model takes as many steps as under ERM; with "step" each of these turns has a batch of
    its own, the literal reading of S1's 3:1, and with "epoch" an epoch of its own. S0's code (epoch mod 3)
    is every="epoch", ratio=2: there the parameter is called 3, and the adversary gets two epochs of three.

    >>> AdversarialCensoring(ratio=2).phases()[0].turns
    (('model',), ('adversary',), ('adversary',))
    """

    key: ClassVar[str] = "a-cens"
    title: ClassVar[str] = "Adversarial censoring by uniform confusion"
    citation: ClassVar[str] = (
        "Wang et al., Towards fairness in visual recognition: effective strategies for bias mitigation, "
        "CVPR 2020; confusion loss: Alvi, Zisserman, Nellaker, Turning a blind eye, ECCV workshops 2018"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True)
    adversarial: ClassVar[bool] = True

    alpha: float = number(1.0, "weight of the confusion in the model's loss", search=(0.1, 10.0))
    ratio: int = number(3, "steps (or epochs) of the adversary for one of the model", at_least=1)
    every: str = choice("batch", EVERY, "what the turns are taken on: one batch, a batch each, an epoch each")
    decompose: bool = switch(False, "a head for each attribute instead of one for the intersections")
    depth: int = number(0, "hidden layers of the adversary; 0: it is linear")
    width: int = number(64, "width of its hidden layers", at_least=1)

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task and the confusion for the model; the group for the adversary, which may move alone."""
        logits, features = nets["model"](batch.x)
        codes, sizes = codes_of(batch, self.decompose), head_sizes(nets.sizes, self.decompose)
        if "model" not in nets.turn:
            guess = nets["adversary"](features.detach())
            return Out({"adversary": spotting_loss(guess, codes, sizes)}, state)
        guess = nets["adversary"](features)
        spotting = spotting_loss(guess, codes, sizes)
        confusion = confusion_loss(guess, codes, sizes, state["met"])
        task = row_losses(logits, batch.y).mean()
        logs = {"confusion": confusion.detach(), "adversary": spotting.detach()}
        return Out({"model": task + self.alpha * confusion, "adversary": spotting}, state, logs)

    def init(self, problem: Problem) -> State:
        """Which groups training has; it stays so."""
        return {"met": met_levels(problem, self.decompose)}

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary."""
        inputs, sizes = checked_width(n_features, self.key), head_sizes(problem.sizes, self.decompose)
        return {"adversary": GroupAdversary(inputs, sizes, width=self.width, depth=self.depth)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """Model and adversary, each with its own loss."""
        return {"model": ("model",), "adversary": ("adversary",)}

    def phases(self) -> tuple[Phase, ...]:
        """One turn of the model, then `ratio` of the adversary."""
        return alternation(self.every, ("model",), self.ratio)
