"""Problem: what a method may know of a task before training, and how many rows there are of what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from evenhand.arrays import as_codes
from evenhand.data.task import Task
from evenhand.groups import Groups
from evenhand.records import Sizes


@dataclass(frozen=True)
class Problem:
    """Labels, groups and attributes of the training rows, and the fixed numbers of the task.

    >>> problem = Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 1, -1])
    >>> problem.sizes.n_classes, problem.sizes.n_groups, problem.group_counts().tolist()
    (2, 2, [2, 1])
    >>> problem.cell_counts().tolist()
    [[1, 1], [0, 1]]
    """

    sizes: Sizes
    y: Tensor = field(repr=False)
    g: Tensor = field(repr=False)
    a: Tensor = field(repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @classmethod
    def from_labels(
        cls,
        y: object,
        g: object | None = None,
        a: object | None = None,
        *,
        n_classes: int | None = None,
        n_groups: int | None = None,
        inputs: tuple[int, ...] = (),
    ) -> Problem:
        """A problem from labels and groups alone, for one's own training loop."""
        labels = _codes(y, "labels")
        groups = torch.full((len(labels),), -1) if g is None else _codes(g, "groups")
        codes = groups[:, None] if a is None else _codes(a, "attributes")
        classes = labels.shape[1] if labels.ndim == 2 else int(labels.max()) + 1
        total = n_groups or max(int(groups.max()) + 1, 1)
        levels = tuple(max(int(column.max()) + 1, 1) for column in codes.T)
        sizes = Sizes(inputs, n_classes or classes, total, levels, labels.ndim == 2)
        return cls(sizes, labels, groups, codes)

    @classmethod
    def of(cls, task: Task, protect: Sequence[str], part: str = "train") -> Problem:
        """The problem that a task poses when these attributes are protected."""
        groups = groups_of(task, protect)
        rows = task.rows(part)
        codes = [torch.as_tensor(task.attribute(name).codes) for name in protect]
        stacked = torch.stack(codes, dim=1) if codes else torch.zeros((len(task), 0), dtype=torch.int64)
        levels = tuple(len(task.attribute(name).levels) for name in protect)
        n_groups = groups.n_groups if groups is not None else 1
        ids = torch.as_tensor(groups.ids) if groups is not None else torch.full((len(task),), -1)
        sizes = Sizes(task.input_shape, task.n_classes, n_groups, levels, task.multi_label)
        y, g, a = (part[rows].to(torch.int64) for part in (task.y, ids, stacked))
        return cls(sizes, y, g, a)

    def group_counts(self) -> Tensor:
        """Rows of each group `[G]`; rows of unknown group are in none."""
        return torch.bincount(self.g[self.g >= 0], minlength=self.sizes.n_groups)

    def cell_counts(self) -> Tensor:
        """Rows of each group and class `[G, C]`; for a multi-label task the positives of each label."""
        known = self.g >= 0
        if self.sizes.multi_label:
            table = torch.zeros(self.sizes.n_groups, self.sizes.n_classes, dtype=torch.int64)
            return table.index_add_(0, self.g[known], self.y[known].to(torch.int64))
        cells = self.g[known] * self.sizes.n_classes + self.y[known]
        shape = (self.sizes.n_groups, self.sizes.n_classes)
        return torch.bincount(cells, minlength=shape[0] * shape[1]).view(shape)

    def level_counts(self) -> tuple[Tensor, ...]:
        """Rows of each level, for each attribute."""
        columns = zip(self.a.T, self.sizes.n_levels, strict=True)
        return tuple(torch.bincount(column[column >= 0], minlength=n) for column, n in columns)


def _codes(values: object, what: str) -> Tensor:
    return torch.as_tensor(as_codes(values, what)).to(torch.int64)


def groups_of(task: Task, protect: Sequence[str]) -> Groups | None:
    """The intersections of the protected attributes, or None where nothing is protected."""
    return task.groups(list(protect)) if protect else None
