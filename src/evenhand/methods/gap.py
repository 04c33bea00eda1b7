"""Gap penalties: the distance between groups in a rate, made differentiable and added to the loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import label_losses, mask_of, probabilities, row_losses, weighted_mean
from evenhand.records import Batch, Needs, Out, Sizes, State

TARGETS = ("parity", "opportunity", "odds")


@dataclass(frozen=True)
class GapPenalty(Method):
    """The mean loss plus a penalty on how far groups are apart in a rate.

    Objective: `(1/B) sum_i l_i + lam * mean_{c,k} mean_g |2 (r_gck - mean_h r_hck)|^p`. The rate r_gck is the
    mean probability of class k among rows of group g under condition c: all rows ("parity"), those of class k
    ("opportunity"), or those of class k and, as a second condition, the others ("odds"). p is 1 ("absolute")
    or 2 ("squared"). Of two classes k is the second; of more, each against the rest; of labels, each. The
    greatest gap of many groups is not smooth, so each group is held against the mean of the groups; the 2
    makes that the gap itself (or its square) where there are two groups.

    form="loss" compares mean losses instead of rates, and halves the square: with target "opportunity", two
    groups and momentum 0 it is FairALM's penalty `(lam/2) (L_10 - L_11)^2` (S0's A-L2).

    A batch may lack a group. So the rate is a running one: sums and counts of earlier batches, which fade by
    `momentum` each time the group is met, and this batch's. Its gradient is that of the batch's own mean, at
    full weight, so that lam means the same whatever the momentum (stochastic compositional gradient). A group
    the batch lacks is compared by what it was; one not met yet is left out; momentum 0 uses the batch alone.

    Needs the groups of training rows; rows of unknown group serve the mean loss only. Differs from the
    published codes of such penalties, which are undefined where a batch lacks a group.

    >>> from evenhand.methods.problem import Problem
    >>> problem = Problem.from_labels(y=[0, 1, 1], g=[0, 0, 1])
    >>> method, state = GapPenalty(lam=10.0), GapPenalty().init(problem)
    >>> nets = Nets({"model": lambda x: (x, None)}, problem.sizes)
    >>> logits = torch.tensor([[0.0, 0.0], [0.0, 0.0], [20.0, -20.0]])  # rates 0.5, 0.5 and 0
    >>> out = method.loss(nets, Batch(logits, problem.y, problem.g), state)
    >>> round(float(out.logs["gap"]), 4)
    0.5
    """

    key: ClassVar[str] = "gap"
    title: ClassVar[str] = "Gap penalty"
    citation: ClassVar[str] = (
        "Padala and Gujar, FNNC: achieving fairness through neural networks, IJCAI 2020; loss form: "
        "Lokhande et al., FairALM, ECCV 2020; running rates: Wang, Fang, Liu, Stochastic compositional "
        "gradient descent, Math. Program. 2017"
    )
    needs: ClassVar[Needs] = Needs(groups=True)

    lam: float = number(1.0, "weight of the penalty", search=(0.1, 10.0))
    momentum: float = number(0.9, "how much of the earlier sums stays", at_most=0.9999, log=False)
    target: str = choice("parity", TARGETS, "the rate that is compared between groups")
    form: str = choice("absolute", ("absolute", "squared", "loss"), "how a distance counts")

    def init(self, problem: Problem) -> State:
        """Running sums and counts, for each `[condition, group, class]`; nothing has been met yet."""
        shape = (2 if self.target == "odds" else 1, problem.sizes.n_groups, _n_columns(problem.sizes))
        return {"sums": torch.zeros(shape), "counts": torch.zeros(shape)}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss and lam times the penalty."""
        logits, _ = nets["model"](batch.x)
        values = self._values(logits, batch.y, nets.sizes)
        conditions = self._conditions(batch.y, values.dtype, nets.sizes)
        members = mask_of(batch.g, nets.sizes.n_groups, values.dtype).T
        rates, state = self._running(members @ (conditions * values), members @ conditions, state)
        penalty = self._distance(rates, (state["counts"] > 0).to(rates.dtype))
        mean = row_losses(logits, batch.y).mean()
        return Out({"model": mean + self.lam * penalty}, state, {"gap": penalty.detach()})

    def _values(self, logits: Tensor, y: Tensor, sizes: Sizes) -> Tensor:
        """What groups are compared in, for each row and class `[B, K]`."""
        if self.form == "loss":
            return label_losses(logits, y) if sizes.multi_label else row_losses(logits, y)[:, None]
        scores = probabilities(logits, sizes)
        return scores[:, 1:] if _n_columns(sizes) == 1 and not sizes.multi_label else scores

    def _conditions(self, y: Tensor, dtype: torch.dtype, sizes: Sizes) -> Tensor:
        """Which rows count for each condition and class `[Q, B, K]`, 0 or 1."""
        if sizes.multi_label:
            actual = y.to(dtype)
        else:
            actual = mask_of(y, sizes.n_classes, dtype)[:, -_n_columns(sizes) :]
        kinds = {"parity": (torch.ones_like(actual),), "opportunity": (actual,), "odds": (actual, 1 - actual)}
        return torch.stack(kinds[self.target])

    def _running(self, sums: Tensor, counts: Tensor, state: State) -> tuple[Tensor, State]:
        """Rates with the value of the running means and the gradient of the batch's, and the new state."""
        fade = 1 - (counts > 0).to(counts.dtype) * (1 - self.momentum)
        later = {"sums": fade * state["sums"] + sums.detach(), "counts": fade * state["counts"] + counts}
        running = later["sums"] / later["counts"].clamp(min=1)  # once met, a group has at least one row
        batch = sums / counts.clamp(min=1)
        return running + (batch - batch.detach()), later

    def _distance(self, rates: Tensor, met: Tensor) -> Tensor:
        """How far groups are from their mean: of those met, over conditions and classes with two of them."""
        groups = met.sum(1, keepdim=True)
        centre = (met * rates).sum(1, keepdim=True) / groups.clamp(min=1)
        apart = met * 2 * (rates - centre)
        size = {"absolute": apart.abs(), "squared": apart.square(), "loss": apart.square() / 2}[self.form]
        means = size.sum(1) / groups[:, 0].clamp(min=1)
        return weighted_mean(means, (groups[:, 0] > 1).to(means.dtype))


def _n_columns(sizes: Sizes) -> int:
    """One column serves two classes; otherwise there is one for each class or label."""
    return 1 if sizes.n_classes == 2 and not sizes.multi_label else sizes.n_classes
