"""Domain discriminative training by attribute: class and value told together, for one attribute at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.attribute_parts import (
    batches_by_attribute,
    check_attributes,
    outputs_as_nets,
    problems_by_attribute,
    sizes_by_attribute,
)
from evenhand.methods.base import Sampling
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import known_rows
from evenhand.records import Batch, Out, Sizes, State


@dataclass(frozen=True)
class DiscriminativeByAttribute(DomainDiscriminative):
    """A softmax over pairs of class and value for each attribute, summed: `disc` decomposed.

    Objective: `sum_a mean_i -log p_a(y_i, v_ia | x_i)`, a head of `C |A_a|` outputs for each attribute; with
    several labels a row, sigmoids as of `disc`. C sum_a |A_a| outputs instead of C prod_a |A_a|.

    Scores: the mean over attributes of what `disc` makes of each head (its sum decides alike), by "sum-prob",
    "max-prob-shift" or "sum-prob-shift". With one attribute it is `disc`.

    Needs the attributes of training rows; a row trains the heads of those that are known of it. S1 has no
    such form: this one is ours.

    >>> problem = Problem.from_labels([0, 1], g=[5, 0], a=[[1, 2], [0, 0]])
    >>> DiscriminativeByAttribute().outputs(problem), DomainDiscriminative().outputs(problem)
    (10, 12)
    """

    key: ClassVar[str] = "disc-ad"
    title: ClassVar[str] = "Domain discriminative training by attribute"

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The losses of the heads, summed."""
        logits, _ = nets["model"](batch.x)
        parts = zip(self._heads(logits, nets.sizes), batches_by_attribute(batch, self.key), strict=True)
        found = [super(DiscriminativeByAttribute, self).loss(head, part, {}) for head, part in parts]
        return Out({"model": torch.stack([out.losses["model"] for out in found]).sum()}, state)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The mean over heads of the scores with the attribute taken out."""
        logits, _ = nets["model"](batch.x)
        levels = list(nets.sizes.n_levels)
        weights = torch.split(state["weights"], levels) if state else [None] * len(levels)
        parts = zip(self._heads(logits, nets.sizes), weights, strict=True)
        found = [
            super(DiscriminativeByAttribute, self).predict(
                head, batch, {} if own is None else {"weights": own}
            )
            for head, own in parts
        ]
        return torch.stack(found).mean(0)

    def _heads(self, logits: Tensor, sizes: Sizes) -> Iterator[Nets]:
        """The outputs of each attribute, as networks of a task with that attribute alone."""
        widths = [n * sizes.n_classes for n in sizes.n_levels]
        for part, own in zip(torch.split(logits, widths, dim=-1), sizes_by_attribute(sizes), strict=True):
            yield outputs_as_nets(part, own)

    def init(self, problem: Problem) -> State:
        """Where a shift is asked for, the weight of each value and class `[sum of levels, C]`."""
        parts = [super(DiscriminativeByAttribute, self).init(part) for part in problems_by_attribute(problem)]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row of which an attribute is known."""
        return Sampling(rows=known_rows((problem.a >= 0).any(1)))

    def outputs(self, problem: Problem) -> int:
        """One for each pair of value and class, or of value and label."""
        return sum(problem.sizes.n_levels) * problem.sizes.n_classes

    def check(self, problem: Problem) -> None:
        """Refuse a task without attributes."""
        super().check(problem)
        check_attributes(problem, self.key)
