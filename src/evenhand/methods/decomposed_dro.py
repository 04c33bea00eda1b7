"""Group DRO by attribute: weights over the values of each attribute in place of all intersections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch

from evenhand.methods.attribute_parts import (
    batches_by_attribute,
    check_attributes,
    outputs_as_nets,
    problems_by_attribute,
    sizes_by_attribute,
)
from evenhand.methods.base import Sampling
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import known_rows
from evenhand.records import Batch, Out, Sizes, State


@dataclass(frozen=True)
class GroupDROByAttribute(GroupDRO):
    """Group DRO with one q for each attribute, over its values: decomposed.

    Objective: `mean_a sum_v q_{a,v} L_{a,v}`, `L_{a,v}` the mean loss of the batch's rows with value v of
    attribute a, and before that `q_{a,v} <- q_{a,v} exp(eta (L_{a,v} + C / sqrt(n_{a,v})))`, divided by the
    sum over v: each attribute's q is a distribution of its own. Values are crossed with the label by default,
    as `gdro` crosses groups. With one attribute it is `gdro`. sum_a |A_a| weights instead of prod_a |A_a|:
    with many attributes most intersections are absent from a batch, values seldom are.

    Needs the attributes of training rows; a row counts for the attributes that are known of it. `balanced`
    draws one of all values (crossed with the label) and then one of its rows, again and again. S1 has no such
    form of its Group DRO: this one is ours.

    >>> problem = Problem.from_labels(y=[0, 0, 1], g=[0, 1, 5], a=[[0, 0], [0, 1], [1, 2]])
    >>> GroupDROByAttribute(by="group").init(problem)["q"].tolist()
    [0.5, 0.5, 0.3333333432674408, 0.3333333432674408, 0.3333333432674408]
    """

    key: ClassVar[str] = "gdro-ad"
    title: ClassVar[str] = "Group DRO by attribute"

    def init(self, problem: Problem) -> State:
        """The weights q of each attribute and `1 / sqrt(n)`, one attribute behind the other."""
        parts = [super(GroupDROByAttribute, self).init(part) for part in problems_by_attribute(problem)]
        return {name: torch.cat([part[name] for part in parts]) for name in parts[0]}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean over attributes of Group DRO's loss, each with its own q."""
        logits, _ = nets["model"](batch.x)
        places = self._places(nets.sizes)
        states = zip(*(torch.split(state[name], places) for name in ("q", "spread")), strict=True)
        seen = zip(sizes_by_attribute(nets.sizes), batches_by_attribute(batch, self.key), states, strict=True)
        outs = [
            super(GroupDROByAttribute, self).loss(
                outputs_as_nets(logits, sizes), part, {"q": q, "spread": spread}
            )
            for sizes, part, (q, spread) in seen
        ]
        q = torch.cat([out.state["q"] for out in outs])
        return Out({"model": torch.stack([out.losses["model"] for out in outs]).mean()}, {**state, "q": q})

    def _places(self, sizes: Sizes) -> list[int]:
        """How many numbers of q belong to each attribute."""
        labels = 1 if self.by == "group" or sizes.multi_label else sizes.n_classes
        return [n * labels for n in sizes.n_levels]

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every value equally often, or every row once of which an attribute is known."""
        if not self.balanced:
            return Sampling(rows=known_rows((problem.a >= 0).any(1)))
        parts = [
            super(GroupDROByAttribute, self).sampling(p, seed, phase) for p in problems_by_attribute(problem)
        ]
        weights = [part.weights for part in parts if part.weights is not None]
        return Sampling(weights=torch.stack(weights).sum(0))

    def check(self, problem: Problem) -> None:
        """Refuse a task without attributes."""
        super().check(problem)
        check_attributes(problem, self.key)
