"""What is audited: counts (and scores) of one or several groupings of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from evenhand.arrays import Array
from evenhand.levels import level_name
from evenhand.metrics.counts import Counts
from evenhand.metrics.label_rows import LabelRows

Task = Literal["binary", "multiclass", "multilabel"]


@dataclass(frozen=True)
class Grouping:
    """One way to divide the rows: by an attribute, or by the intersection of several.

    `counts` is `[G, C, C]`, or `[R, G, C, C]` with several runs. `label_rows` keeps the rows of a multi-label
    task for the bootstrap.
    """

    attributes: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[dict[str, str], ...]
    counts: Counts
    scores: object | None = None
    label_rows: LabelRows | None = None

    @property
    def runs(self) -> int:
        """Number of runs; 0 when there is just one set of predictions."""
        extra = self.counts.cells.ndim - (4 if self.counts.multilabel else 3)
        return int(self.counts.cells.shape[0]) if extra else 0

    @property
    def rows(self) -> Array:
        """Rows of each group (of one run: every run predicts the same rows)."""
        cells = self.counts.rows[0] if self.runs else self.counts.rows
        cells = cells[0] if self.counts.multilabel else cells
        return np.asarray(cells[:-1].sum(axis=(-1, -2)))

    @property
    def unknown_rows(self) -> int:
        """Rows whose group is not known."""
        cells = self.counts.rows[0] if self.runs else self.counts.rows
        cells = cells[0] if self.counts.multilabel else cells
        return int(cells[-1].sum())


@dataclass(frozen=True)
class Subject:
    """The rows under audit: the main grouping, each attribute alone, the classes, and what was left out."""

    grouping: Grouping
    classes: tuple[str, ...]
    task: Task
    alone: tuple[Grouping, ...] = ()
    missing: int = 0
    run_names: tuple[str, ...] = ()
    name: str | None = None
    files: tuple[dict[str, object], ...] = ()
    warnings: tuple[str, ...] = ()
    score_kind: Literal["exact", "binned"] | None = None
    extra: dict[str, object] = field(default_factory=dict)

    @property
    def positive(self) -> str | None:
        """The class whose rates a binary task reports."""
        return self.classes[1] if self.task == "binary" else None


def task_of(counts: Counts) -> Task:
    """Binary, multi-class or multi-label, by the shape of the counts."""
    if counts.multilabel:
        return "multilabel"
    return "binary" if counts.n_classes == 2 else "multiclass"


def subject_of_counts(
    counts: Counts,
    group_names: Sequence[object] | None = None,
    class_names: Sequence[object] | None = None,
    attribute: str = "group",
    name: str | None = None,
) -> Subject:
    """Ready counts as a subject; groups and classes are called by their numbers unless they are named."""
    names = _names(group_names, counts.n_groups, "groups")
    classes = _names(class_names, counts.n_classes, "classes")
    grouping = Grouping((attribute,), names, tuple({attribute: level} for level in names), counts)
    runs = tuple(f"run {run + 1}" for run in range(grouping.runs))
    return Subject(grouping, classes, task_of(counts), run_names=runs, name=name)


def _names(given: Sequence[object] | None, count: int, what: str) -> tuple[str, ...]:
    names = range(count) if given is None else given
    if len(names) != count:
        raise ValueError(f"{len(names)} names for {count} {what}")
    return tuple(level_name(entry) for entry in names)
