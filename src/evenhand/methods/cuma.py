"""CUMA: an adversary on features, and loss surfaces that are equally curved around the rows of all groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import nn

from evenhand.errors import InputError
from evenhand.methods.adversary_nets import checked_width
from evenhand.methods.base import Method
from evenhand.methods.curvature_gap import outputs_gap
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.group_adversary import spotting_loss
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.terms import row_losses
from evenhand.metrics.mmd import KERNELS
from evenhand.nets.head import Head
from evenhand.records import Batch, Needs, Out, State

DROPPED = 0.25  # of the adversary's hidden units, as S4 has it


@dataclass(frozen=True)
class Cuma(Method):
    """Curvature matching (CUMA): gaps that a shift of the inputs shall not open again.

    Objective of encoder and classifier: `L_clf - alpha L_adv + gamma L_cm`; the adversary minimises `L_adv`,
    the cross-entropy of the group, from the features. `L_cm` is the MMD^2 between the curvatures of the loss
    around the rows of two groups in a batch, with five Gaussian kernels (`kernels`: see `delta_er`). The
    curvature of a row is estimated by two gradients for its inputs: `g = dl/dx`, `v = sign(g) / |sign(g)|`,
    `C = |g(x + h v) - g(x)| / h`. v is held constant, nothing is dropped out in these two passes, and `L_cm`
    trains the model alone. The adversary is behind a gradient reversal of strength alpha: both learn at once
    by one backward pass, and the adversary always sees the weight 1.

    Needs the groups of training rows and the network's features; rows of unknown group serve the task only.
    `L_cm` is 0 where a group has fewer than two rows in the batch. S4 has two groups; for more of them it is
    the mean over the pairs that a batch has. Any number of classes or labels. alpha = gamma = 0 is ERM.

    S4's network is `s4-mlp`; its adversary is 64-32-2 with a quarter of its hidden units dropped in training.
    S4 does not say how the adversary moves, how many rows a batch has (64 and 256 here), and whether the
    passes for the curvature drop units; the choices are ours. No code of the authors is public. Networks
    with batch statistics use those they remember in the two passes.

    >>> adversary = Cuma().extra(Problem.from_labels([0, 1], g=[0, 1]), n_features=64)["adversary"]
    >>> [tuple(weight.shape) for weight in adversary.parameters()]
    [(32, 64), (32,), (2, 32), (2,)]
    """

    key: ClassVar[str] = "cuma"
    title: ClassVar[str] = "Curvature matching"
    citation: ClassVar[str] = (
        "Equalized robustness: towards sustainable fairness under distributional shifts (S4), ICLR 2022 "
        "submission; estimate: Moosavi-Dezfooli et al., Robustness via curvature regularization, and vice "
        "versa, CVPR 2019"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True)
    adversarial: ClassVar[bool] = True

    alpha: float = number(1.0, "how strongly the model works against the adversary", search=(0.1, 10.0))
    gamma: float = number(1.0, "weight of the distance between the groups' curvatures", search=(0.1, 10.0))
    h: float = number(1.0, "length of the step between the two gradients", at_least=1e-6)
    kernels: str = choice("default", tuple(KERNELS), "widths of the kernels: 0.25 to 4, 1 to 16, 4 to 64")
    width: int = number(32, "width of the adversary's hidden layers", at_least=1)
    depth: int = number(1, "hidden layers of the adversary; 0: it is linear")
    dropout: bool = switch(True, "a quarter of the adversary's hidden units is dropped in training")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task, the group behind the reversal, and the distance of curvatures."""
        logits, features = nets["model"](batch.x)
        guess = nets["adversary"](reverse(features, self.alpha))
        spotting = spotting_loss(guess, batch.g[:, None], (nets.sizes.n_groups,))
        gap = outputs_gap(nets, batch, h=self.h, kernels=self.kernels)
        task = row_losses(logits, batch.y).mean()
        logs = {"task": task.detach(), "adversary": spotting.detach(), "curvature_gap": gap.detach()}
        return Out({"model": task + spotting + self.gamma * gap}, state, logs)

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary."""
        inputs, widths = checked_width(n_features, self.key), (self.width,) * self.depth
        dropped = DROPPED if self.dropout and self.depth else 0.0
        return {"adversary": Head(inputs, problem.sizes.n_groups, widths, dropout=dropped)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """One player owns both networks; Adam moves each number by its own gradients in any case."""
        return {"model": ("model", "adversary")}

    def check(self, problem: Problem) -> None:
        """Refuse a task with nothing to compare, beside what the contract refuses."""
        super().check(problem)
        if problem.sizes.n_groups < 2:
            raise InputError(f"the method '{self.key}' compares groups; this task has one only")
