"""Domain discriminative training: learn class and group together, then sum the group out."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import known_rows, label_losses, mask_of, weighted_mean
from evenhand.records import Batch, Needs, Out, State

KNEE = 0.01  # how far below 1 a sum of probabilities begins to be bent


@dataclass(frozen=True)
class DomainDiscriminative(Method):
    """Domain discriminative training ("fairness through awareness").

    Objective: `mean_i -log p(y_i, g_i | x_i)`, one softmax over all pairs of class and group. With several
    labels a row: a sigmoid for each pair of label and group, with the target `y [g]`, and the mean of their
    logistic losses. Outputs are laid out `[G, C]`.

    Scores, by `inference`: "sum-prob" is `sum_g p(y, g)`; "max-prob-shift" is `max_g w(y, g) p(y, g)` and
    "sum-prob-shift" is `sum_g w(y, g) p(y, g)`, with `w = 1 / (share of g within class y in training)`, as
    if every class had all groups equally. A pair that training never showed has no weight. Rows of scores
    are scaled to sum to 1. For several labels a row only "sum-prob" is defined; a sum that passes .99 is bent
    to stay below 1 without ties, because the sigmoids do not know of each other.

    Needs groups in training only; rows of unknown group are left out. The authors' weights are constants for
    a 95/5 skew; ours come from the training rows and are the same there up to scale.

    >>> problem = Problem.from_labels(y=[0] * 4 + [1] * 4, g=[0, 1, 1, 1, 0, 0, 0, 1])
    >>> weights = DomainDiscriminative(inference="sum-prob-shift").init(problem)["weights"]
    >>> [round(weight, 4) for weight in weights[0].tolist()]  # of group 0, by class
    [4.0, 1.3333]
    """

    key: ClassVar[str] = "disc"
    title: ClassVar[str] = "Domain discriminative training"
    citation: ClassVar[str] = "Wang et al., Towards fairness in visual recognition, CVPR 2020"
    needs: ClassVar[Needs] = Needs(groups=True)

    inference: str = choice(
        "sum-prob",
        ("sum-prob", "max-prob-shift", "sum-prob-shift"),
        "how the group is taken out; shift weighs groups as if each class had all of them equally",
    )

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss of telling class and group, over rows of known group."""
        logits, _ = nets["model"](batch.x)
        sizes, known = nets.sizes, (batch.g >= 0).to(logits.dtype)
        if sizes.multi_label:
            mask = mask_of(batch.g, sizes.n_groups, logits.dtype)
            targets = mask[:, :, None] * batch.y[:, None, :].to(logits.dtype)
            values = label_losses(logits, targets.flatten(1)).mean(-1)
        else:
            pair = batch.g.clamp(min=0) * sizes.n_classes + batch.y
            values = functional.cross_entropy(logits, pair, reduction="none")
        return Out({"model": weighted_mean(values, known)}, state)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """Scores with the group taken out by the chosen rule."""
        logits, _ = nets["model"](batch.x)
        pairs = logits.unflatten(-1, (nets.sizes.n_groups, nets.sizes.n_classes))
        if nets.sizes.multi_label:
            return bent(torch.sigmoid(pairs).sum(1))
        if self.inference != "sum-prob":
            pairs = pairs + state["weights"].to(logits.dtype).log()
        # In logarithms, since all weighted probabilities of a row may underflow; the softmax scales to sum 1.
        merged = pairs.amax(1) if self.inference == "max-prob-shift" else pairs.logsumexp(1)
        return torch.softmax(merged, dim=-1)

    def init(self, problem: Problem) -> State:
        """Where a shift is asked for, the weight of each pair `[G, C]`."""
        if self.inference == "sum-prob":
            return {}
        counts = problem.cell_counts().to(torch.get_default_dtype())
        seen = counts > 0
        return {"weights": torch.where(seen, counts.sum(0) / counts.clamp(min=1), torch.zeros_like(counts))}

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row of known group."""
        return Sampling(rows=known_rows(problem.g >= 0))

    def outputs(self, problem: Problem) -> int:
        """One for each pair of group and class, or of group and label."""
        return problem.sizes.n_groups * problem.sizes.n_classes

    def trains_as(self) -> Method:
        """One network serves all rules; not so in classes made of this one, whose loss may look at scores."""
        return replace(self, inference="sum-prob") if type(self) is DomainDiscriminative else self

    def check(self, problem: Problem) -> None:
        """Refuse a shift where a row has several labels."""
        super().check(problem)
        if problem.sizes.multi_label and self.inference != "sum-prob":
            raise InputError(
                f"inference='{self.inference}' of 'disc' compares classes, and rows have several labels; "
                "use inference='sum-prob'"
            )


def bent(total: Tensor) -> Tensor:
    """A sum of probabilities as a score below 1: itself up to .99, then bent smoothly, order kept.

    >>> [round(score, 4) for score in bent(torch.tensor([0.5, 0.99, 1.0, 2.0])).tolist()]
    [0.5, 0.99, 0.995, 0.9999]
    """
    over = (total - (1 - KNEE)).clamp(min=0)
    return torch.where(over > 0, 1 - KNEE**2 / (over + KNEE), total)
