"""Class weights #neg/#pos: a label or class counts the more, the rarer it is in training; groups unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method, Sampling
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.resample import Resample
from evenhand.methods.terms import label_losses, row_losses, weighted_mean
from evenhand.methods.weight_tables import ratio
from evenhand.records import Batch, Out, State


def posneg_weights(problem: Problem, rows: Tensor | None = None) -> Tensor:
    """`#neg / #pos` of each class or label `[C]` over the training rows, or over those that are listed.

    A row that is listed twice counts twice. A class or label without positives has the weight 0.

    >>> posneg_weights(Problem.from_labels([0, 0, 0, 1, 2, 2], n_classes=4)).tolist()
    [1.0, 5.0, 2.0, 0.0]
    >>> posneg_weights(Problem.from_labels([[1, 0], [0, 0], [0, 0], [1, 1]])).tolist()
    [1.0, 3.0]
    """
    y = problem.y if rows is None else problem.y[rows]
    counts = y.sum(0) if problem.sizes.multi_label else torch.bincount(y, minlength=problem.sizes.n_classes)
    positives = counts.double()
    return ratio(len(y) - positives, positives).to(torch.get_default_dtype())


def posneg_loss(logits: Tensor, y: Tensor, weights: Tensor) -> Tensor:
    """The weighted loss of a batch, as torch's own losses with `weight=` have it.

    Several labels a row: `mean_{i,j} w_j bce(z_ij, y_ij)`, so that a label's weight multiplies both terms of
    its cross-entropy. One label: `sum_i w_{y_i} ce_i / sum_i w_{y_i}`.

    >>> z, w = torch.zeros(2, 2), torch.tensor([1.0, 3.0])
    >>> round(posneg_loss(z, torch.tensor([[0, 1], [0, 0]]), w).item() / torch.tensor(2.0).log().item(), 4)
    2.0
    >>> round(posneg_loss(z, torch.tensor([0, 1]), w).item() / torch.tensor(2.0).log().item(), 4)
    1.0
    """
    scale = weights.to(logits.dtype)
    if y.ndim == 2:
        return (scale * label_losses(logits, y)).mean()
    return weighted_mean(row_losses(logits, y), scale.gather(0, y))


@dataclass(frozen=True)
class PosNegERM(Method):
    """ERM with the class weights of S0's C-* and I-*: every class or label by `w_c = #neg_c / #pos_c`.

    Objective, several labels a row: `mean_{i,j} w_j bce(z_ij, y_ij)`, where the weight multiplies the terms
    of positives and of negatives alike. One label a row: `sum_i w_{y_i} l_i / sum_i w_{y_i}` over the batch.

    Needs no groups and uses every row. The counts are those of the training part as the data set gives it,
    rebalanced or not. A label without positives has no such weight and takes no part in the loss; nor does a
    label without negatives, whose weight is 0. Where all classes are equally large this is ERM.

    With `staged+erm-posneg` it is the base of S0's C-* and I-*: first a new head on a frozen backbone.

    >>> PosNegERM().init(Problem.from_labels([0, 0, 0, 1]))["posneg"].tolist()
    [0.3333333432674408, 3.0]
    """

    key: ClassVar[str] = "erm-posneg"
    title: ClassVar[str] = "ERM with weights of classes"
    citation: ClassVar[str] = (
        "Wang et al., Balanced datasets are not enough, ICCV 2019 (its training loss); S0: Qian et al., "
        "Are my deep learning systems fair? An empirical study of fixed-seed training, NeurIPS 2021"
    )
    reweights: ClassVar[bool] = True

    def init(self, problem: Problem) -> State:
        """The weights of classes or labels."""
        return {"posneg": posneg_weights(problem)}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The weighted loss."""
        logits, _ = nets["model"](batch.x)
        return Out({"model": posneg_loss(logits, batch.y, state["posneg"])}, state)


@dataclass(frozen=True)
class PosNegResample(Resample):
    """Resampling with the class weights of `erm-posneg`, counted over the chosen rows: S0's R1, R2 and R3.

    Objective: that of `erm-posneg` over the rows of `resample`, whose fields it has. `w_c = #neg_c / #pos_c`
    counts the rows that an epoch is made of; with kind="balanced", whose batches are drawn, all rows.

    Needs the groups of training rows, as there. Differs from `resample`: which rows are chosen does not
    depend on the seed, so that all runs have the same training set, as S0's lists are the same for all.

    >>> problem = Problem.from_labels(y=[0, 0, 0, 0, 1, 1], g=[0, 0, 0, 1, 0, 1])
    >>> PosNegResample("under").init(problem)["posneg"].tolist()  # two rows of each class are left
    [1.0, 1.0]
    """

    key: ClassVar[str] = "resample-posneg"
    title: ClassVar[str] = "Resampling with weights of classes"
    citation: ClassVar[str] = PosNegERM.citation

    def init(self, problem: Problem) -> State:
        """The weights of classes or labels among the chosen rows."""
        return {"posneg": posneg_weights(problem, self.sampling(problem, 0).rows)}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The weighted loss."""
        logits, _ = nets["model"](batch.x)
        return Out({"model": posneg_loss(logits, batch.y, state["posneg"])}, state)

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """The same rows for every seed; their order is the run's own."""
        return super().sampling(problem, 0, phase)
