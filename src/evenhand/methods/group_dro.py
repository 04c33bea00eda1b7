"""Group DRO: the groups with the larger loss get the larger weight, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import cells_of, group_means, mask_of, row_losses
from evenhand.records import Batch, Needs, Out, State


@dataclass(frozen=True)
class GroupDRO(Method):
    """Distributionally robust optimisation over groups: S1's WA-GDRO.

    Objective: `sum_g q_g L_g` with q held constant, `L_g` the mean loss of group g in the batch (0 if it is
    absent), and before that `q_g <- q_g exp(eta (L_g + C / sqrt(n_g)))`, divided by its sum. q is uniform at
    first and never reset. Groups are crossed with the label by default, as the authors' are; where a row has
    several labels they are the groups alone, and `L_g` is the mean over labels.

    Needs the groups of training rows; rows of unknown group are left out. `balanced` draws rows with
    replacement, every group equally often (the authors' sampler).

    Differs from the authors' code: the adjustment C enters the update of q alone and not the value of the
    loss (the gradient is the same), groups without training rows have no share of q, and the update is a
    softmax of logarithms, so a large loss cannot overflow.

    >>> from evenhand.methods.problem import Problem
    >>> problem = Problem.from_labels(y=[0, 0, 1], g=[0, 1, 1])
    >>> GroupDRO().init(problem)["q"].tolist()  # group 0 has no row of label 1
    [0.3333333432674408, 0.0, 0.3333333432674408, 0.3333333432674408]
    """

    key: ClassVar[str] = "gdro"
    title: ClassVar[str] = "Group DRO"
    citation: ClassVar[str] = (
        "Sagawa, Koh, Hashimoto, Liang, Distributionally robust neural networks for group shifts, ICLR 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True)
    reweights: ClassVar[bool] = True
    adversarial: ClassVar[bool] = True

    eta: float = number(0.01, "step size of the group weights q", search=(0.01, 1.0))
    adjustment: float = number(0.0, "C: small groups count as if their loss were C / sqrt(n) higher")
    by: str = choice("label-group", ("label-group", "group"), "what the groups are")
    balanced: bool = switch(True, "rows are drawn so that every group comes equally often")

    def init(self, problem: Problem) -> State:
        """q, uniform over the groups that have training rows, and `1 / sqrt(n_g)`."""
        counts = self._counts(problem).to(torch.get_default_dtype())
        present = (counts > 0).to(counts.dtype)
        return {"q": present / present.sum(), "spread": present / counts.clamp(min=1).sqrt()}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The losses of the groups, weighted by q after its step."""
        losses = row_losses(nets["model"](batch.x)[0], batch.y)
        means = group_means(losses, mask_of(*cells_of(batch, nets.sizes, self.by), losses.dtype)).means
        rise = self.eta * (means.detach() + self.adjustment * state["spread"])
        q = torch.softmax(state["q"].log() + rise, 0)
        return Out({"model": (q * means).sum()}, {**state, "q": q})

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every group equally often, or every row of known group once."""
        known = problem.g >= 0
        if not self.balanced:
            return Sampling() if bool(known.all()) else Sampling(rows=known.nonzero()[:, 0])
        cells, _ = cells_of(Batch(problem.y, problem.y, problem.g), problem.sizes, self.by)
        share = 1.0 / self._counts(problem).clamp(min=1).to(torch.float64)
        return Sampling(weights=torch.where(known, share[cells.clamp(min=0)], 0.0))

    def _counts(self, problem: Problem) -> Tensor:
        """Training rows of each group, in the order of `cells_of`."""
        plain = self.by == "group" or problem.sizes.multi_label
        return problem.group_counts() if plain else problem.cell_counts().flatten()
