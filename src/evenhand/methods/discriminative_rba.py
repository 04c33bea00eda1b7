"""Domain discriminative training, read so that no class is predicted too often for one group (RBA)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.terms import mask_of
from evenhand.records import Batch, Needs, Sizes, State

LARGEST = 600.0  # of a logarithm whose exponential float64 holds, and sums of it
LEAST = 1e-6  # of a row's largest potential: what was lowered below 0 has a score all the same
SLACK = 1e-6  # of a share: fields of stacked runs are float32, and a share that is met is no excess


@dataclass(frozen=True)
class DiscriminativeRBA(DomainDiscriminative):
    """Reducing bias amplification: predicted counts held to a share for each group (S0's S-DD4).

    Objective: that of `disc`, and the same network. Scores: potentials `u(c) = sum_g exp(z(c, g))` of all
    rows of a part are settled together. Of `n_g` rows of group g predicted as class c, the excess over the
    allowed share is `k_g = n_g - (t_g + margin) sum_h n_h`; with two groups `t = (target, 1 - target)`. Up to
    `rounds` times: predict; `l_gc <- max(0, l_gc + rate k_gc)`; then each row's potential of the class c it
    was just given is lowered by `sum_h l_hc ([h = g] - t_h - margin)`, the others are as they were. It ends
    when no `k_gc` is above 0. lowered="all" does so with the potentials of all classes, which is what the
    Lagrangian asks for. Scores are the potentials, at least a millionth of the row's largest, scaled to sum
    to 1: those of `disc` where nothing was lowered.

    Needs groups in training and of the rows to be scored, and one label a row. Rows of unknown group keep
    the scores of `disc` and are not counted. The potentials are exponentials, not probabilities, as the
    authors' are, so that it matters how large a network's outputs are. A part has to be scored as a whole:
    another selection of rows is settled otherwise. With more groups than two, target is the first group's
    odds against each other one; groups without rows in the part do not count.

    Differs from the authors' code: that one lowers potentials once more after the counts are as they should
    be, which may undo it (`balanced(..., once_more=True)`). As there, what is lowered in the predicted class
    alone comes back as soon as another is predicted: rows swing to and fro, the margin need not be reached,
    and the last round's decisions stand. lowered="all" with a small rate comes to it within a row or so.

    >>> potentials = torch.tensor([[3.5, 2.0], [2.5, 2.0], [2.0, 3.5], [2.0, 2.5]])
    >>> g, sizes = torch.tensor([0, 0, 1, 1]), Sizes((), 2, 2)
    >>> DiscriminativeRBA(rate=0.1).settle(potentials.log(), g, sizes).argmax(1).tolist()
    [0, 1, 1, 0]
    """

    key: ClassVar[str] = "disc-rba"
    title: ClassVar[str] = "Domain discriminative training, predictions settled by group (RBA)"
    citation: ClassVar[str] = (
        "Zhao et al., Men also like shopping: reducing gender bias amplification using corpus-level "
        "constraints, EMNLP 2017; this form: Wang et al., Towards fairness in visual recognition, CVPR 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True, groups_at_test=True, single_label=True)
    inference: ClassVar[str] = "sum-prob"  # type: ignore[misc]  # no choice here: the key says so

    target: float = number(0.5, "share of the first group among those given a class", at_most=1.0, log=False)
    margin: float = number(0.05, "how far above its share a group may be", at_most=1.0, log=False)
    rate: float = number(3.0, "step size of the multipliers")
    rounds: int = number(100, "most rounds", at_least=1)
    lowered: str = choice("predicted", ("predicted", "all"), "the classes whose potentials are lowered")

    def evidence(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """Logarithms of the potentials; their softmax is what `predict` says."""
        logits, _ = nets["model"](batch.x)
        pairs: Tensor = logits.unflatten(-1, (nets.sizes.n_groups, nets.sizes.n_classes))
        return pairs.logsumexp(1)

    def settle(self, scores: Tensor, g: Tensor, sizes: Sizes) -> Tensor:
        """Scores of all rows, with no group above its share where that can be had."""
        if not len(scores):
            return scores
        potentials = scores.to(torch.float64).clamp(-LARGEST, LARGEST).exp()
        shares = shares_of(g, sizes.n_groups, self.target)
        facts = (self.margin, self.rate, self.rounds)
        settled = balanced(potentials, g, shares, *facts, everywhere=self.lowered == "all")
        changed = (settled != potentials).any(1, keepdim=True)
        scaled = as_scores(settled, LEAST * potentials.amax(1, keepdim=True))
        return torch.where(changed, scaled.to(scores.dtype), torch.softmax(scores, dim=-1))

    def trains_as(self) -> Method:
        """`disc`, whose network it reads."""
        return DomainDiscriminative() if type(self) is DiscriminativeRBA else self


def as_scores(potentials: Tensor, least: Tensor) -> Tensor:
    """Potentials as positive numbers of sum 1; a row whose largest is below `least` is lifted up to it first.

    >>> as_scores(torch.tensor([[3.0, 1.0], [-2.0, -1.0]]), torch.tensor([[0.5], [0.5]])).round().tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    lifted = potentials + (least - potentials.amax(1, keepdim=True)).clamp(min=0)
    positive = torch.maximum(lifted, LEAST * lifted.amax(1, keepdim=True))
    return positive / positive.sum(1, keepdim=True)


def shares_of(g: Tensor, n_groups: int, target: float) -> Tensor:
    """The share each group should have `[G]`, 0 for one without rows: of two `(target, 1 - target)`.

    >>> shares_of(torch.tensor([0, 1, -1]), 3, 0.5).tolist(), shares_of(torch.tensor([1, 1]), 2, 0.5).tolist()
    ([0.5, 0.5, 0.0], [0.0, 1.0])
    """
    present = mask_of(g, n_groups, torch.float64).amax(0)
    odds = torch.full_like(present, 1 - target)
    odds[0] = target
    return present * odds / (present * odds).sum().clamp(min=torch.finfo(torch.float64).tiny)


def balanced(
    potentials: Tensor,
    g: Tensor,
    shares: Tensor,
    margin: float,
    rate: float,
    rounds: int,
    *,
    everywhere: bool = False,
    once_more: bool = False,
) -> Tensor:
    """Potentials `[N, C]` whose largest in each row are the decisions: no group above `shares + margin`.

    `everywhere` lowers those of all classes, not of the predicted one alone. `once_more` lowers them once
    more when the shares are reached, as the authors' code does.

    >>> u, g, half = torch.tensor([[2.0, 1.0]] * 4), torch.tensor([0, 0, 0, 1]), torch.tensor([0.5, 0.5])
    >>> balanced(u, g, half, margin=0.25, rate=1.0, rounds=9).argmax(1).tolist()  # 3 of 4 are allowed
    [0, 0, 0, 0]
    """
    members = mask_of(g, len(shares), potentials.dtype)
    limits = (shares + margin).to(potentials)[:, None]
    asked = torch.eye(len(shares), dtype=limits.dtype, device=limits.device) - limits  # of each constraint
    multipliers, now = potentials.new_zeros(len(shares), potentials.shape[1]), potentials
    for _ in range(rounds):
        given = mask_of(now.argmax(1), potentials.shape[1], potentials.dtype)
        counts = members.T @ given
        excess = asked @ counts
        met = bool((excess <= SLACK * counts.sum(0).clamp(min=1)).all())
        if met and not once_more:
            break
        multipliers = (multipliers + rate * excess).clamp(min=0)
        costs = members @ (asked.T @ multipliers)
        now = potentials - (costs if everywhere else costs * given)
        if met:
            break
    return now
