"""The stacked counts of one part of the data, seen as metrics see them: every metric for all runs at once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics import binned
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.metric import Metric
from evenhand.metrics.rates import over_classes
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.scores import Scores
from evenhand.metrics.view import Convention, View

ALL = "all"  # the measured grouping that has one group of everybody
SINGLE = {
    "map": binned.mean_average_precision, "map_u": binned.mean_average_precision_u,
    "dims": binned.dims, "diamr": binned.diamr,
}  # fmt: skip


class Block(Protocol):
    """What a store gives for the runs of one task and grouping that were measured alike."""

    task: str
    grouping_name: str
    by: str
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    run_ids: list[str]
    counts: Counts
    scores: Scores | None


class StoreLike(Protocol):
    """What a frame reads of a store."""

    def table(self) -> dict[str, list[Any]]:
        """One row a run."""
        ...

    def measured(self, part: str) -> Sequence[Any]:
        """The blocks of a part."""
        ...

    def study(self) -> dict[str, Any]:
        """The study as declared."""
        ...

    def failures(self) -> list[dict[str, Any]]:
        """The reasons of failed runs."""
        ...


@dataclass(frozen=True, eq=False)
class Look:
    """A block with the rows of the frame that its runs are; what was worked out is kept."""

    rows: Array
    counts: Counts
    scores: Scores | None
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    convention: Convention
    kept: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    @cached_property
    def view(self) -> View:
        """The runs' margins `[R, K, G]`; the first group is the privileged one where a metric needs one."""
        everyone = margins_of_everyone(self.counts.cells, self.counts.multilabel)
        return View(self.counts.margins(), everyone, self.convention)

    def per_class(self, metric: Metric) -> FloatArray:
        """A metric of each run and class, `[R, K]`; NaN for what these counts and scores cannot tell."""
        if metric.key not in self.kept:
            known = metric.statistic is not None and (metric.needs == "counts" or self._score_rates(metric))
            nothing = np.full((len(self.rows), 1), np.nan)
            self.kept[metric.key] = metric.per_class(self.view) if known else nothing
        return self.kept[metric.key]

    def values(self, metric: Metric) -> FloatArray:
        """A metric of each run, `[R]`."""
        if metric.key in SINGLE:
            if self.scores is None:
                return np.full(len(self.rows), np.nan)
            return np.asarray(SINGLE[metric.key](self.scores), dtype=np.float64)
        return metric.reduce(self.per_class(metric), self.view)

    def rate(self, key: str) -> FloatArray:
        """A rate of each run and group, `[R, G]`: of the positive class, or the mean over classes."""
        return over_classes(self.view.rate(key), self.view.margins, axis=-2)

    def _score_rates(self, metric: Metric) -> bool:
        """Put the rates of scores that a metric compares into the view; whether they can be had."""
        wanted = metric.statistic.rates() if metric.statistic else ()
        if self.scores is None or metric.needs != "scores" or not set(wanted) <= set(SCORE_RATES):
            return False
        for key in wanted:
            if key not in self.view.known_rates:
                self.view.known_rates[key] = _by_class(self.scores, key)
                self.view.known_pooled[key] = _by_class(self.scores.pooled, key)
        return True


def _by_class(scores: Scores, key: str) -> FloatArray:
    found = SCORE_RATES[key](scores, per_class=True)
    return found if scores.per_label else found[..., None, :]


def looks_of(
    blocks: Sequence[Block], place: Mapping[str, int], done: Array, convention: Convention
) -> list[Look]:
    """Blocks with their runs found in the frame; only runs that are done take part."""
    found = []
    for block in blocks:
        rows = np.array([place.get(run, -1) for run in block.run_ids], dtype=np.int64)
        kept = (rows >= 0) & done[rows]
        counts, scores = block.counts, block.scores
        if not kept.all():
            counts, scores = counts[kept], None if scores is None else scores[kept]
        if kept.any():
            found.append(
                Look(rows[kept], counts, scores, tuple(block.groups), tuple(block.classes), convention)
            )
    return found


def own_blocks(blocks: Sequence[Block], by: str | None, own: Mapping[tuple[str, str], str]) -> list[Block]:
    """The blocks that are measured by `by`; without one, each by the grouping that its runs protect.

    Where a study's own grouping was not measured, the first one that was stands for it.
    """
    if by is not None:
        return [block for block in blocks if block.by == by]
    measured: dict[tuple[str, str], list[str]] = {}
    for block in blocks:
        measured.setdefault((block.task, block.grouping_name), []).append(block.by)
    chosen = {
        key: own.get(key, ALL) if own.get(key, ALL) in names else names[0] for key, names in measured.items()
    }
    return [block for block in blocks if block.by == chosen[block.task, block.grouping_name]]
