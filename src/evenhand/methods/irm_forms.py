"""Two forms of IRM: environments drawn uniformly for each batch (S1), and environments by attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.attribute_parts import batches_by_attribute, check_attributes, sizes_by_attribute
from evenhand.methods.base import Sampling
from evenhand.methods.irm import IRM
from evenhand.methods.problem import Problem
from evenhand.methods.terms import known_rows
from evenhand.records import Batch, Sizes


@dataclass(frozen=True)
class UniformIRM(IRM):
    """IRM on batches with equally many rows of environments drawn at random: S1's "Uniform IRM".

    Objective: that of `irm`, `mean_e R_e + lam mean_e pen_e`, on batches for which `groups_per_batch` (16, as
    in S1) of the groups with training rows are drawn without replacement, every group as likely as another,
    and then equally many rows of each, with replacement; 0 takes all groups. With hundreds of groups a plain
    batch has one row of most: no pair of rows for the penalty, and few of the small groups at all.

    Needs and differences: those of `irm`.

    >>> problem = Problem.from_labels(y=[0, 1, 0], g=[0, 1, -1])
    >>> UniformIRM().sampling(problem, seed=0)
    Sampling(rows=None, weights=None, strata=tensor([ 0,  1, -1]), strata_per_batch=16)
    """

    key: ClassVar[str] = "irm-uniform"
    title: ClassVar[str] = "Invariant risk minimisation, environments drawn uniformly"
    uniform: ClassVar[bool] = True  # type: ignore[misc]  # no choice here: the key says so


@dataclass(frozen=True)
class IRMByAttribute(IRM):
    """IRM whose environments are the values of each attribute: decomposed.

    Objective: that of `irm`, with an environment for each value of each attribute in place of each
    intersection: a row is in one environment of every attribute that is known of it. Means run over all
    environments that a batch has. With one attribute it is `irm` without `uniform`.

    Needs the attributes of training rows; rows of which none is known are left out. S1 has no such form: this
    one is ours.

    >>> y, g, a = torch.tensor([0, 1]), torch.tensor([5, -1]), torch.tensor([[1, 2], [0, -1]])
    >>> batch = Batch(torch.zeros(2, 1), y, g, a)
    >>> IRMByAttribute().environments(batch, Sizes((1,), 2, 6, (2, 3)), torch.float32).tolist()
    [[0.0, 1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 0.0, 0.0]]
    """

    key: ClassVar[str] = "irm-ad"
    title: ClassVar[str] = "Invariant risk minimisation by attribute"
    uniform: ClassVar[bool] = False  # type: ignore[misc]  # environments overlap: they are no strata
    groups_per_batch: ClassVar[int] = 0  # type: ignore[misc]

    def environments(self, batch: Batch, sizes: Sizes, dtype: torch.dtype) -> Tensor:
        """Which row is in which environment `[B, sum of levels]`."""
        parts = zip(batches_by_attribute(batch, self.key), sizes_by_attribute(sizes), strict=True)
        return torch.cat([super(IRMByAttribute, self).environments(*part, dtype) for part in parts], dim=1)

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row of which an attribute is known."""
        return Sampling(rows=known_rows((problem.a >= 0).any(1)))

    def check(self, problem: Problem) -> None:
        """Refuse a task without attributes."""
        super().check(problem)
        check_attributes(problem, self.key)
