"""CFAIR: an adversary for each class behind one gradient reversal, and errors that are balanced."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.adversary_nets import BENDS, ClassAdversaries, checked_width
from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import cells_of, mask_of, row_losses, weighted_mean
from evenhand.methods.weight_tables import ratio
from evenhand.records import Batch, Needs, Out, Sizes, State


@dataclass(frozen=True)
class CFair(Method):
    """Conditional learning of fair representations: within a class, features shall not tell the group.

    Objective: `min over encoder, classifier, max over h of L_cls - gamma L_adv`, written as
    `L_cls + gamma L_adv` with the gradient reversed between the representation and the adversaries:
    one player owns everything, one optimiser steps it. `L_cls = sum_i w_i l_i / sum_i w_i` with
    `w = 1 / P(y)`: in expectation the mean of the classes' mean losses (half the balanced error's surrogate).
    `L_adv = (1/C) sum_y sum_{i: y_i = y} v_i l(h_y(z_i), s_i) / sum v_i` with `v = 1 / P(s | y)`: the
    adversary h_y sees rows of class y only. A class that a batch lacks adds 0.

    Needs one label a row, the groups of training rows and a network with features; there may be more than two
    classes (an adversary each) or groups (an output each). Rows of unknown group serve the classifier only.
    Differs from the authors' code: there the adversary of class j has the weights `1/(1-q), 1/q` with
    `q = P(y = 1 | s = j)`, label and group mixed up; `legacy_weights` has these, for two groups and classes.
    Theirs is undefined for a batch without rows of a class. gamma scales the adversaries' step too.

    >>> problem = Problem.from_labels(y=[0, 0, 0, 1], g=[0, 0, 1, 1])
    >>> state = CFair().init(problem)
    >>> state["classes"].tolist(), state["groups"].tolist()  # the first by class, the second [group, class]
    ([1.3333333730697632, 4.0], [[1.5, 0.0], [3.0, 1.0]])
    """

    key: ClassVar[str] = "cfair"
    title: ClassVar[str] = "CFAIR"
    citation: ClassVar[str] = (
        "Zhao, Coston, Adel, Gordon, Conditional learning of fair representations, ICLR 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True, single_label=True)
    reweights: ClassVar[bool] = True
    adversarial: ClassVar[bool] = True
    balanced: ClassVar[bool] = True  # classes count equally in the classifier's loss

    gamma: float = number(1.0, "weight of the adversaries' loss", search=(0.1, 1000.0))
    width: int = number(32, "width of the adversaries' hidden layers", at_least=1)
    depth: int = number(2, "hidden layers of each adversary; 0: it is linear")
    bend: str = choice("leaky", BENDS, "what stands between the adversaries' layers")
    legacy_weights: bool = switch(False, "the authors' weights 1 / P(y | s = index of the class)")

    def init(self, problem: Problem) -> State:
        """The weights: of each class `[C]`, and of each group within a class `[G, C]`."""
        rows = torch.bincount(problem.y, minlength=problem.sizes.n_classes).double()
        classes = ratio(rows.sum(), rows) if self.balanced else torch.ones_like(rows)
        counts = problem.cell_counts().double()
        # theirs: the table of (group, label) shares read with group and label exchanged
        groups = ratio(counts.sum(1), counts.T) if self.legacy_weights else ratio(counts.sum(0), counts)
        dtype = torch.get_default_dtype()
        return {"classes": classes.to(dtype), "groups": groups.to(dtype)}

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversaries, in one network."""
        classes, groups = problem.sizes.n_classes, problem.sizes.n_groups
        inputs = checked_width(n_features, self.key)
        return {"adversary": ClassAdversaries(classes, inputs, groups, self.width, self.depth, self.bend)}

    def players(self) -> dict[str, tuple[str, ...]]:
        """One player for both sides: the reversal sets them against each other."""
        return {"model": ("model", "adversary")}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The classifier's weighted loss, and gamma times that of the adversaries."""
        logits, z = nets["model"](batch.x)
        weights = state["classes"][batch.y].to(logits.dtype)
        task = weighted_mean(row_losses(logits, batch.y), weights)
        against = self._adversaries(nets["adversary"](reverse(z)), batch, state, nets.sizes)
        logs = {"task": task.detach(), "adversary": against.detach()}
        return Out({"model": task + self.gamma * against}, state, logs)

    def _adversaries(self, outputs: Tensor, batch: Batch, state: State, sizes: Sizes) -> Tensor:
        """The mean over classes of the weighted loss of each class's adversary."""
        cells, _ = cells_of(batch, sizes, "label-group")
        weights = state["groups"].flatten()[cells.clamp(min=0)].to(outputs.dtype) * (cells >= 0)
        place = batch.y[:, None, None].expand(-1, 1, sizes.n_groups)
        own = outputs.gather(1, place)[:, 0]  # what the adversary of the row's own class says
        losses = functional.cross_entropy(own, batch.g.clamp(min=0), reduction="none")
        shares = weights[:, None] * mask_of(batch.y, sizes.n_classes, outputs.dtype)
        total = shares.sum(0)
        return ((losses[:, None] * shares).sum(0) / torch.where(total > 0, total, 1.0)).mean()

    def check(self, problem: Problem) -> None:
        """Refuse the authors' weights where they have no meaning."""
        super().check(problem)
        sizes = problem.sizes
        if self.legacy_weights and (sizes.n_classes, sizes.n_groups) != (2, 2):
            raise InputError(
                f"'legacy_weights' of '{self.key}' is for two classes and two groups; this task has "
                f"{sizes.n_classes} and {sizes.n_groups}"
            )


@dataclass(frozen=True)
class CFairEO(CFair):
    """CFAIR for equalised odds alone: the classifier's loss is the plain mean over rows.

    Objective: that of `cfair` with `w = 1`, so that the adversaries are the only change to ERM: with
    gamma = 0 it is ERM. Needs and differences: those of `cfair`.

    >>> CFairEO().init(Problem.from_labels(y=[0, 0, 0, 1], g=[0, 0, 1, 1]))["classes"].tolist()
    [1.0, 1.0]
    """

    key: ClassVar[str] = "cfair-eo"
    title: ClassVar[str] = "CFAIR, equalised odds"
    reweights: ClassVar[bool] = False
    balanced: ClassVar[bool] = False
