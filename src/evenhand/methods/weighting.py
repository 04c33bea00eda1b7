"""Importance weighting: a row counts the more, the rarer its group (and label) is in training."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import label_losses, row_losses
from evenhand.methods.weight_tables import count_cells, look_up, mean_by_value, ratio
from evenhand.records import Batch, Needs, Out, Sizes, State

CELLS = ("label-group", "within-label", "group")


@dataclass(frozen=True)
class Weighting(Method):
    """What the weighted methods share: tables of weights from the counts of training rows, looked up by row.

    A weight is `scale[label, y] * prod_a table[a, label, y, v_a]`, where v_a is the row's group or, with
    `decompose`, its level of attribute a. So all forms of weights are one product, and what is remembered
    grows with the number of levels and not with the number of rows.
    """

    citation: ClassVar[str] = (
        "Shimodaira, Improving predictive inference under covariate shift, J. Stat. Plan. Inference 2000; "
        "weights for each label: Wang et al., Towards fairness in visual recognition, CVPR 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True)
    reweights: ClassVar[bool] = True

    by: str = choice("label-group", CELLS, "whose share of the rows a weight is the inverse of")
    decompose: bool = switch(False, "a product of one weight for each attribute, not one for each group")
    normalise: bool = switch(True, "weights have the mean 1 over the training rows")
    unknown: str = choice("drop", ("drop", "keep"), "rows of unknown group: left out, or with weight 1")

    @abstractmethod
    def weigh(self, rarity: Tensor) -> Tensor:
        """The weight of a share of the rows, given its inverse."""

    def init(self, problem: Problem) -> State:
        """The tables: `table [attributes, labels, values, levels]` and `scale [labels, values]`."""
        codes, labels, known = self._place(problem.g, problem.a, problem.y, problem.sizes)
        codes, labels = codes[known], labels[known]
        counts = count_cells(codes, labels, *self._sizes(problem.sizes))
        totals = counts[0].sum(-1)
        joint = self.by == "label-group" and not problem.sizes.multi_label  # the label's own share counts too
        scale = self.weigh(ratio(totals.sum(-1, keepdim=True), totals)) if joint else torch.ones_like(totals)
        table = self.weigh(ratio(totals[..., None], counts))
        if self.normalise:
            weights = look_up(table, scale, codes, labels)
            scale = scale / (weights.mean() if joint else mean_by_value(weights, labels, totals.shape[1]))
        dtype = torch.get_default_dtype()
        return {"table": table.to(dtype), "scale": scale.to(dtype)}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean of weighted losses over the rows that count."""
        logits, _ = nets["model"](batch.x)
        weights, counted = self.weights(batch, state, nets.sizes)
        single = weights.shape[1] == 1
        losses = row_losses(logits, batch.y)[:, None] if single else label_losses(logits, batch.y)
        share = counted.to(losses.dtype).mean()
        mean = (weights.to(losses.dtype) * losses).mean(-1).mean() / torch.where(share > 0, share, 1.0)
        return Out({"model": mean}, state)

    def weights(self, batch: Batch, state: State, sizes: Sizes) -> tuple[Tensor, Tensor]:
        """The weight of each row `[B, 1]`, or of each of its labels `[B, L]`, and which rows count `[B]`."""
        if self.decompose and batch.a is None:
            raise InputError("decompose=True needs the codes of the attributes: give them as the batch's 'a'")
        codes, labels, known = self._place(batch.g, batch.a, batch.y, sizes)
        found = look_up(state["table"], state["scale"], codes.clamp(min=0), labels)
        if self.unknown == "keep":
            return torch.where(known[:, None], found, 1.0), torch.ones_like(known)
        return torch.where(known[:, None], found, 0.0), known

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row once, or those that count."""
        _, _, known = self._place(problem.g, problem.a, problem.y, problem.sizes)
        if self.unknown == "keep" or bool(known.all()):
            return Sampling()
        return Sampling(rows=known.nonzero()[:, 0])

    def _place(self, g: Tensor, a: Tensor | None, y: Tensor, sizes: Sizes) -> tuple[Tensor, Tensor, Tensor]:
        """Codes `[B, A]` and labels `[B, L]` that weights go by, and whether all codes of a row are known."""
        codes = a if self.decompose and a is not None else g[:, None]
        labels = y if sizes.multi_label else y[:, None]
        if self.by == "group":
            labels = torch.zeros_like(codes[:, :1])
        return codes, labels.to(torch.int64), (codes >= 0).all(-1)

    def _sizes(self, sizes: Sizes) -> tuple[int, int]:
        """How many values a label has in the tables, and how many levels an attribute."""
        n_values = 1 if self.by == "group" else 2 if sizes.multi_label else sizes.n_classes
        return n_values, max(sizes.n_levels) if self.decompose else sizes.n_groups


@dataclass(frozen=True)
class WeightedERM(Weighting):
    """Weights inverse to the share of the row's cell: S1's W-ERM.

    Objective: `(1/B) sum_i w_i l_i` with `w = n / n_cell`, divided by its mean over the training rows so that
    the learning rate keeps its meaning. `by` says what a cell is:

    - "label-group" (the default: what S1's tables 4 to 6 need): `w = n / (n_{y,g} * cells)`;
    - "within-label": `w = n_y / (n_{y,g} * groups)`, so that the labels keep their shares;
    - "group": `w = n / (n_g * groups)`.

    With several labels a row the first two are the same: each label has its own weight
    `w_ij = N_{y_ij} / (groups * N_{y_ij, g_i})`, and the loss is the mean over labels; "group" is one weight
    for the row. `decompose` replaces the group's share by the product of its attributes' shares (given the
    label, where labels count): finite for intersections without rows, and the same with one attribute.

    Needs the groups of training rows; rows of unknown group are left out unless `unknown` is "keep".
    Differs from the code of Wang et al.: with several labels they sum over labels, we take the mean.

    >>> from evenhand.methods.problem import Problem
    >>> people = Problem.from_labels(y=[0] * 10, g=[0] * 5 + [1] * 3 + [3] * 2, n_groups=4)
    >>> WeightedERM(by="group", normalise=False).init(people)["table"].flatten()[[0, 3]].tolist()
    [2.0, 5.0]
    """

    key: ClassVar[str] = "w-erm"
    title: ClassVar[str] = "Importance weighting"

    def weigh(self, rarity: Tensor) -> Tensor:
        """The inverse of the share itself."""
        return rarity


@dataclass(frozen=True)
class SqrtWeightedERM(Weighting):
    """Weights inverse to the square root of the share of the row's cell: S1's W-SqrtERM.

    Objective: that of `w-erm` with `w = sqrt(n / n_cell)` in place of `n / n_cell`, again divided by its mean
    over the training rows: half-way, on the log scale, between no weights and full ones. All else as there.

    >>> from evenhand.methods.problem import Problem
    >>> people = Problem.from_labels(y=[0] * 5, g=[0] * 4 + [1])
    >>> SqrtWeightedERM(by="group", normalise=False).init(people)["table"].flatten().tolist()
    [1.1180340051651, 2.2360680103302]
    """

    key: ClassVar[str] = "w-sqrt-erm"
    title: ClassVar[str] = "Importance weighting, square root"

    def weigh(self, rarity: Tensor) -> Tensor:
        """The root of the inverse of the share."""
        return rarity.sqrt()
