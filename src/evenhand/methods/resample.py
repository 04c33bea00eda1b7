"""Resampling: another choice of rows instead of another loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.row_choice import FAR, copies_of, even_labels, without_gaps
from evenhand.methods.terms import cells_of, row_losses
from evenhand.records import Batch, Needs, Out, State

KINDS = ("over", "under", "balanced")
WITHIN = ("within-label", "label-group", "group")


@dataclass(frozen=True)
class Resample(Method):
    """Rows of small groups come more often, rows of large ones less often, or batches are balanced.

    Objective: ERM's mean loss, over other rows. `kind` says which:

    - "over": rows of a smaller group are repeated until it is as large as the largest: whole copies, and with
      `fill` a random part of one more. Without it each row comes `n_largest // n` times (S0's S-RS).
    - "under": a group keeps at most `ratio` times as many rows as the smallest, chosen at random (S0's R1,
      R2, R3). Where a row has several labels, that must hold for the positives of every label: rows are
      removed one group and label at a time, the worst first, those first that relieve most labels.
    - "balanced": each batch has equally many rows of every group, crossed with the label unless by="group".

    `by` says within what groups are compared: the rows of each label (the default, S0's), all cells of label
    and group, or all rows. Over and balanced compare whole groups where a row has several labels.

    Needs the groups of training rows. Rows of unknown group are left out unless `unknown` is "keep" (once
    each; never in balanced batches). Differs from the authors' lists: a group without any row of a label is
    not compared there, where theirs empty the label (`absent_counts`); with several labels they do not say
    how rows were removed.

    >>> from evenhand.methods.problem import Problem
    >>> problem = Problem.from_labels(y=[0, 0, 0, 1, 1], g=[0, 0, 1, 0, 1])
    >>> Resample("over").sampling(problem, seed=0).rows.tolist()
    [0, 1, 2, 2, 3, 4]
    """

    key: ClassVar[str] = "resample"
    title: ClassVar[str] = "Resampling"
    citation: ClassVar[str] = (
        "Wang et al., Towards fairness in visual recognition, CVPR 2020 (over); "
        "Wang et al., Balanced datasets are not enough, ICCV 2019 (under)"
    )
    needs: ClassVar[Needs] = Needs(groups=True)
    reweights: ClassVar[bool] = True

    kind: str = choice("over", KINDS, "repeat rows, leave rows out, or balance batches")
    by: str = choice("within-label", WITHIN, "within what groups are compared")
    ratio: int = number(1, "under: how many times the smallest group the others may be", at_least=1)
    fill: bool = switch(True, "over: make groups equal where whole copies do not")
    absent_counts: bool = switch(False, "under: a group without rows of a label is its smallest, of size 0")
    unknown: str = choice("drop", ("drop", "keep"), "rows of unknown group: left out, or once each")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss: what changes is which rows are in the batch."""
        logits, _ = nets["model"](batch.x)
        return Out({"model": row_losses(logits, batch.y).mean()}, state)

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """The rows of an epoch, the random part of the choice drawn from the seed."""
        cells, _ = cells_of(Batch(problem.y, problem.y, problem.g), problem.sizes, self.by)
        if self.kind == "balanced":
            return Sampling(strata=without_gaps(cells))
        generator = torch.Generator().manual_seed(seed)
        if self.kind == "under" and problem.sizes.multi_label and self.by != "group":
            copies = even_labels(problem.y, problem.g, self.ratio, self.absent_counts, generator)
        else:
            counts = self._counts(problem)
            copies = copies_of(cells, counts.flatten(), self._wanted(counts).flatten(), generator)
        copies = torch.where(cells < 0, int(self.unknown == "keep"), copies)
        return Sampling(rows=torch.arange(len(cells)).repeat_interleave(copies))

    def _counts(self, problem: Problem) -> Tensor:
        """Rows by group and label `[G, C]`, or by group `[G, 1]`, in the order of `cells_of`."""
        plain = self.by == "group" or problem.sizes.multi_label
        return problem.group_counts()[:, None] if plain else problem.cell_counts()

    def _wanted(self, counts: Tensor) -> Tensor:
        """How many rows each cell shall have."""
        if self.kind == "over":
            largest = counts.amax(0, keepdim=True) if self.by == "within-label" else counts.max()
            return largest.expand_as(counts) if self.fill else largest // counts.clamp(min=1) * counts
        return torch.minimum(counts, self.ratio * self._smallest(counts))

    def _smallest(self, counts: Tensor) -> Tensor:
        """The smallest count among those that are compared, for each label or for all."""
        compared = counts.sum(1, keepdim=True) > 0 if self.absent_counts else counts > 0
        counts = torch.where(compared, counts, FAR)
        least = counts.amin(0, keepdim=True) if self.by != "label-group" else counts.min()
        return torch.where(least == FAR, 0, least)
