"""Gradient reversal: an adversary on features whose gradient reaches the model with its sign turned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from evenhand.methods.adversary_nets import checked_width
from evenhand.methods.base import Method
from evenhand.methods.fields import number, switch
from evenhand.methods.group_adversary import GroupAdversary, codes_of, head_sizes, spotting_loss
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class GradientReversal(Method):
    """Gradient reversal: one loss and one optimiser for the model and the adversary that it works against.

    Objective: `mean_i l_i + CE(adversary(h), g)`, where the gradient of the second term reaches the features
    h multiplied by -lam. The adversary itself always sees the weight 1, whatever lam. It reads the features
    at the split point of the network (its option `split`), maps `[B, C, H, W]` flattened without pooling,
    through `depth` hidden layers of `width` with LeakyReLU; depth 0 is linear. With `decompose` it has a head
    for each attribute, and their losses are summed.

    Needs the groups of training rows and the network's features; rows of unknown group serve the task only.
    Any number of groups, classes or labels. lam = 0 is ERM beside an adversary that only watches.

    `warm_up` epochs come first in which the adversary learns alone while the model stands still: for a model
    that was trained before. Differs from S0's C-A4 and C-A5 (lam 2 for COCO, 1 for imSitu): their adversary
    normalises by batch statistics, which cannot be stacked; their first stage also trains the new last layer
    of the model; and they draw as many rows of one group as of the other.

    >>> [phase.name for phase in GradientReversal(warm_up=2).phases()]
    ['warm up', 'train']
    """

    key: ClassVar[str] = "grl"
    title: ClassVar[str] = "Gradient reversal"
    citation: ClassVar[str] = (
        "Ganin and Lempitsky, Unsupervised domain adaptation by backpropagation, ICML 2015; for groups: "
        "Wang et al., Balanced datasets are not enough, ICCV 2019"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True)
    adversarial: ClassVar[bool] = True

    lam: float = number(1.0, "how strongly the model works against the adversary", search=(0.1, 10.0))
    decompose: bool = switch(False, "a head for each attribute instead of one for the intersections")
    depth: int = number(3, "hidden layers of the adversary; 0: it is linear")
    width: int = number(300, "width of its hidden layers", at_least=1)
    warm_up: int = number(0, "epochs of the adversary alone before the model moves")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task, and the group behind the reversal."""
        logits, features = nets["model"](batch.x)
        codes, sizes = codes_of(batch, self.decompose), head_sizes(nets.sizes, self.decompose)
        if "model" not in nets.turn:  # warm-up
            guess = nets["adversary"](features.detach())
            return Out({"adversary": spotting_loss(guess, codes, sizes)}, state)
        spotting = spotting_loss(nets["adversary"](reverse(features, self.lam)), codes, sizes)
        task = row_losses(logits, batch.y).mean()
        return Out({"model": task + spotting}, state, {"adversary": spotting.detach()})

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary."""
        inputs, sizes = checked_width(n_features, self.key), head_sizes(problem.sizes, self.decompose)
        return {"adversary": GroupAdversary(inputs, sizes, width=self.width, depth=self.depth)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """One player owns both networks; where there is a warm-up the adversary is one of its own as well."""
        alone = {"adversary": ("adversary",)} if self.warm_up else {}
        return {"model": ("model", "adversary"), **alone}

    def phases(self) -> tuple[Phase, ...]:
        """The adversary alone, if asked for, and both together."""
        if not self.warm_up:
            return (Phase(),)
        return Phase("warm up", turns=(("adversary",),), epochs=self.warm_up, select=False), Phase()
