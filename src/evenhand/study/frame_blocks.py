"""The stacked counts of one part of the data, seen as metrics see them: every metric for all runs at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.metric import Metric
from evenhand.metrics.rates import over_classes
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.scores import Scores
from evenhand.metrics.view import Convention, View
from evenhand.study.frame_rows import Place, Rows
from evenhand.study.told import SINGLE, told_values


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
    """A block with the rows of the frame that its runs are; what was worked out is kept.

    `told` are values `[R]` of metrics of scores, for runs that came with these in place of their scores.
    """

    rows: Array
    counts: Counts
    scores: Scores | None
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    convention: Convention
    told: Mapping[str, FloatArray] = field(default_factory=dict, repr=False)
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
                return self.told.get(metric.key, np.full(len(self.rows), np.nan))
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
    part: str, blocks: Sequence[Block], by: str | None, rows: Rows, done: Array, convention: Convention
) -> list[Look]:
    """The blocks of a part with their runs found in the frame, measured by `by`, else each row by its own.

    Only runs that are done take part. Where a study's own grouping was not measured, the first one that was
    stands for it.
    """
    names: dict[tuple[str, str], list[str]] = {}
    for block in blocks:
        names.setdefault((block.task, block.grouping_name), []).append(block.by)
    found, finished = list[Look](), done.tolist()
    for block in blocks:
        measured = names[block.task, block.grouping_name]
        pairs = [
            (row, number)
            for number, run in enumerate(block.run_ids)
            for row in rows.of_run.get(run, ())
            if finished[row] and block.by == _asked(rows.places[row], by, measured)
        ]
        found += _looks(part, block, pairs, rows, convention)
    return found


def _asked(place: Place, by: str | None, measured: Sequence[str]) -> str | None:
    """The grouping that a row is measured by; None where it is not by the one that is asked for."""
    if by is not None:
        return by if place.measured is None or by in place.measured else None
    return place.own if place.own in measured else measured[0]


def _looks(
    part: str, block: Block, pairs: Sequence[tuple[int, int]], rows: Rows, convention: Convention
) -> Iterator[Look]:
    """The rows of a block; apart where a grouping leaves other labels out."""
    alike: dict[tuple[str, ...], list[tuple[int, int]]] = {}
    for row, number in pairs:
        alike.setdefault(tuple(n for n in block.classes if n in rows.dropped[row]), []).append((row, number))
    for dropped, found in alike.items():
        places, inside = np.array(found, dtype=np.int64).T
        counts, scores, classes = block.counts, block.scores, tuple(block.classes)
        if not np.array_equal(inside, np.arange(len(block.run_ids))):
            counts, scores = counts[inside], None if scores is None else scores[inside]
        if dropped and counts.multilabel:
            counts, scores = _without(counts, classes, dropped), _without(scores, classes, dropped)
            classes = tuple(name for name in classes if name not in dropped)
        whole = scores is None and len(classes) == len(block.classes)  # what was told is of all labels
        told = told_values(_numbers(rows, places), part, block.by) if whole else {}
        yield Look(places, counts, scores, tuple(block.groups), classes, convention, told)


def _numbers(rows: Rows, places: Array) -> list[Mapping[str, float] | None]:
    """The numbers of the runs at these places; a store may have none of any."""
    known = rows.columns.get("numbers")
    return [known[place] if known else None for place in places.tolist()]


Tables = TypeVar("Tables", Counts, Scores, Scores | None)


def _without(tables: Tables, classes: Sequence[str], dropped: Sequence[str]) -> Tables:
    """Stacked tables `[R, L, ...]` of the labels that are left."""
    if tables is None:
        return tables
    kept = [place for place, name in enumerate(classes) if name not in dropped]
    held = {item.name: getattr(tables, item.name) for item in fields(tables)}
    left: dict[str, Any] = {name: v[:, kept] for name, v in held.items() if isinstance(v, np.ndarray)}
    return replace(tables, **left)
