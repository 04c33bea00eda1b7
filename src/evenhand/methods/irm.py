"""IRM: a predictor whose best scale is the same in every environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import cells_of, group_means, known_rows, mask_of, row_losses, weighted_mean
from evenhand.records import Batch, Needs, Out, Sizes, State


@dataclass(frozen=True)
class IRM(Method):
    """Invariant risk minimisation (IRMv1) with groups as environments.

    Objective: `mean_e R_e + lam mean_e pen_e`, where `R_e` is the mean loss of environment e and `pen_e` is
    made of `d/ds R_e(s z)` at s = 1, the slope of its risk along the scale of the logits z. "product" (the
    default) multiplies the slopes of the even and of the odd rows of an environment, an estimate of the
    square without its upward bias; it may be negative, and it skips an environment with one row in the
    batch. "squared" squares the slope of all rows. Means run over the environments that a batch has.

    Needs groups; rows of unknown group are left out. With lam = 0 it is the mean of the environments' risks,
    which is ERM where every environment has as many rows. Several labels a row: the risk is the mean over
    labels, and environments are groups. The slope has a closed form, `sum_c z_c dl/dz_c`, so that no gradient
    is taken inside the loss.

    `uniform` draws `groups_per_batch` environments for each batch and equally many rows of each (S1's
    "Uniform IRM"); otherwise a batch has rows of whatever environments come. `anneal_steps` steps have the
    weight 1 before `lam` begins, as in DomainBed. Differs from DomainBed, which starts its optimiser anew at
    that step and makes a batch for each environment, and from the authors' code for coloured digits, which
    divides the objective by `lam` where it is above 1.

    >>> z, y = torch.tensor([[1.0], [-1.0]]), torch.tensor([1, 0])
    >>> round(slopes(z, y).mean().square().item(), 6)  # both rows have the slope -0.268941
    0.072329
    """

    key: ClassVar[str] = "irm"
    title: ClassVar[str] = "Invariant risk minimisation"
    citation: ClassVar[str] = "Arjovsky et al., Invariant risk minimization, arXiv:1907.02893, 2019"
    needs: ClassVar[Needs] = Needs(groups=True)

    lam: float = number(1.0, "weight of the penalty", search=(0.2, 5.0))
    form: str = choice("product", ("product", "squared"), "slopes of two halves multiplied, or one squared")
    by: str = choice("group", ("group", "label-group"), "what an environment is")
    uniform: bool = switch(False, "each batch has equally many rows of the environments drawn for it")
    groups_per_batch: int = number(16, "uniform: how many environments are drawn for a batch; 0: all of them")
    anneal_steps: int = number(0, "steps with the weight 1 before lam is used")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """Mean risk of the environments, and their penalty."""
        logits, _ = nets["model"](batch.x)
        mask = self.environments(batch, nets.sizes, logits.dtype)
        risks = group_means(row_losses(logits, batch.y), mask)
        risk = weighted_mean(risks.means, risks.present.to(logits.dtype))
        penalty = self._penalty(slopes(logits, batch.y), mask)
        logs = {"risk": risk.detach(), "penalty": penalty.detach()}
        if not self.anneal_steps:
            return Out({"model": risk + self.lam * penalty}, state, logs)
        early = (state["step"] < self.anneal_steps).to(logits.dtype)
        weight = early + (1 - early) * self.lam
        return Out({"model": risk + weight * penalty}, {"step": state["step"] + 1}, logs)

    def environments(self, batch: Batch, sizes: Sizes, dtype: torch.dtype) -> Tensor:
        """Which row is in which environment `[B, environments]`."""
        return mask_of(*cells_of(batch, sizes, self.by), dtype)

    def _penalty(self, slope: Tensor, mask: Tensor) -> Tensor:
        """Mean penalty of the environments for which this form has one."""
        if self.form == "squared":
            whole = group_means(slope, mask)
            return weighted_mean(whole.means.square(), whole.present.to(mask.dtype))
        even, odd = (group_means(slope, half) for half in halves(mask))
        return weighted_mean(even.means * odd.means, odd.present.to(mask.dtype))

    def init(self, problem: Problem) -> State:
        """The number of steps taken, where a step matters."""
        return {"step": torch.zeros((), dtype=torch.int64)} if self.anneal_steps else {}

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row of known group, or equally many of each environment that is drawn for a batch."""
        if not self.uniform:
            return Sampling(rows=known_rows(problem.g >= 0))
        strata, _ = cells_of(Batch(problem.y, problem.y, problem.g), problem.sizes, self.by)
        return Sampling(strata=strata, strata_per_batch=self.groups_per_batch)


def slopes(logits: Tensor, y: Tensor) -> Tensor:
    """`d/ds l(s z, y)` at s = 1 of each row `[B]`, for the losses of `row_losses`.

    >>> round(slopes(torch.tensor([[1.0, 0.0]]), torch.tensor([0])).item(), 6)  # p_0 - 1
    -0.268941
    """
    if y.ndim == 2:
        return (logits * (torch.sigmoid(logits) - y.to(logits.dtype))).mean(-1)
    if logits.shape[-1] == 1:
        margin = logits[:, 0]
        return margin * (torch.sigmoid(margin) - y.to(logits.dtype))
    expected = (logits * torch.softmax(logits, dim=-1)).sum(-1)
    return expected - logits.gather(-1, y[:, None])[:, 0]


def halves(mask: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of each group with an even and with an odd place in it, in the order of the batch.

    >>> even, odd = halves(mask_of(torch.tensor([0, 1, 0, 0]), 2))
    >>> even[:, 0].tolist(), odd[:, 0].tolist()
    ([1.0, 0.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0])
    """
    odd_place = torch.remainder(mask.cumsum(0) - 1, 2)  # exact in floats: a batch has few rows
    return mask * (1 - odd_place), mask * odd_place
