"""Count metrics of one grouping: point values, per class, who decided them, bounds, intervals, chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.checks import shortened
from evenhand.evaluation.options import Options
from evenhand.evaluation.reasons import reasons_for
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import Draws, chance_level, draw_metrics, interval
from evenhand.metrics.label_rows import LabelRows
from evenhand.metrics.margins import Margins, margins_of_everyone, margins_of_tables
from evenhand.metrics.metric import Metric
from evenhand.metrics.view import Extremes, View

MOST_NAMED = 10


@dataclass(frozen=True)
class Frame:
    """The counts of one grouping, ready to be looked at: names, classes, and which groups take part."""

    counts: Counts
    names: tuple[str, ...]
    classes: tuple[str, ...]
    chosen: Array
    present: Array
    options: Options
    label_rows: LabelRows | None = None

    @property
    def chosen_names(self) -> tuple[str, ...]:
        """Names of the groups that take part."""
        return tuple(self.names[group] for group in self.chosen)

    def view(self, groups: Array | None = None) -> View:
        """The margins of the chosen groups (or of others) under the conventions of the audit."""
        picked = self.chosen if groups is None else groups
        everyone = margins_of_everyone(self.counts.cells, self.counts.multilabel)
        return View(
            margins=self.counts.margins().groups(picked),
            everyone=everyone,
            convention=self.options.convention,
            privileged=self.privileged(picked),
            smoothing=self.options.smoothing,
            legacy=self.options.legacy,
        )

    def privileged(self, picked: Array) -> int:
        """Place of the privileged group among the picked ones, -1 if it is not there."""
        wanted = (
            self.names.index(self.options.privileged)
            if self.options.privileged
            else next(iter(self.present), -1)
        )
        found = np.flatnonzero(picked == wanted)
        return int(found[0]) if len(found) else -1


def frame_of(
    counts: Counts, rows: Array, names: tuple[str, ...], classes: tuple[str, ...], options: Options
) -> Frame:
    """Choose the groups that take part: those with rows, and with at least `min_count` of them."""
    present = np.flatnonzero(rows > 0)
    chosen = np.flatnonzero(rows >= max(options.min_count, 1))
    if options.privileged is not None and options.privileged not in names:
        known = ", ".join(shortened(name) for name in names[:MOST_NAMED])
        raise ValueError(f"there is no group '{options.privileged}' to be the privileged one: {known}")
    if options.convention == "artifact" and not counts.multilabel:
        counts = without_unseen_classes(counts)
    return Frame(counts, names, classes, chosen, present, options)


def without_unseen_classes(counts: Counts) -> Counts:
    """As the released code of S0: rows predicted as a class that never is the truth are dropped."""
    seen = counts.cells.sum(axis=(-1, -3), keepdims=True) > 0
    return Counts(*(kind * np.swapaxes(seen, -1, -2) for kind in counts._kinds))


def measure(frame: Frame, metrics: Sequence[Metric]) -> dict[str, MetricValue]:
    """All metrics of one set of predictions, with intervals if the options ask for replicates."""
    usable = [metric for metric in metrics if _can_serve(metric, frame)]
    draws: dict[str, Draws] = {}
    if frame.options.replicates and len(frame.chosen):
        draws = draw_metrics(
            frame.counts,
            usable,
            frame.view(),
            frame.chosen,
            replicates=frame.options.replicates,
            seed=frame.options.seed,
            how=frame.options.resampling,
            rows=frame.label_rows,
            values=False,
        )
    found = {metric.key: _measure_one(metric, frame, draws.get(metric.key)) for metric in usable}
    return {metric.key: found.get(metric.key) or _not_served(metric, frame) for metric in metrics}


def _can_serve(metric: Metric, frame: Frame) -> bool:
    return len(frame.chosen) > 0 and not (metric.needs_privileged and frame.privileged(frame.chosen) < 0)


def _not_served(metric: Metric, frame: Frame) -> MetricValue:
    why = "no group has enough rows" if not len(frame.chosen) else "the privileged group has too few rows"
    return MetricValue(metric.key, NAN, undefined=(why,))


def _measure_one(metric: Metric, frame: Frame, draws: Draws | None) -> MetricValue:
    view = frame.view()
    per_class = metric.per_class(view)
    value = float(metric.reduce(per_class, view))
    reasons = reasons_for(metric, view, per_class, value, frame.chosen_names, frame.classes)
    decided_by, decided_in = _decided(metric, view, per_class, frame)
    result = MetricValue(
        metric.key,
        value,
        decided_by=decided_by,
        decided_in=decided_in,
        per_class=tuple(per_class.tolist()) if per_class.size > 1 else None,
        undefined=reasons.texts,
        skipped_classes=reasons.classes,
        skipped_groups=reasons.groups,
        bounds=_bounds(metric, frame, view),
        with_small=_with_small(metric, frame),
    )
    return result if draws is None else with_interval(result, metric, draws, frame.options.confidence)


def with_interval(result: MetricValue, metric: Metric, draws: Draws, confidence: float) -> MetricValue:
    """The result with its interval, and what shuffled group labels would give."""
    low, high = interval(result.value, draws, metric, confidence)
    if not draws.chance.size:
        return replace(result, low=low, high=high)
    chance, chance_p = chance_level(result.value, draws, metric, confidence)
    compares = metric.statistic is not None and bool(metric.statistic.rates()) and metric.better != "none"
    return replace(
        result,
        low=low,
        high=high,
        chance=chance if compares else None,
        chance_p=chance_p if compares else None,
    )


def _decided(
    metric: Metric, view: View, per_class: FloatArray, frame: Frame
) -> tuple[tuple[str, ...] | None, str | None]:
    """The groups that decided the value, and the class they decided it in."""
    groups = metric.statistic.deciders(view) if metric.statistic else None
    place = _deciding_class(metric, view, per_class)
    if groups is None or np.isnan(per_class[place]):
        return None, None
    named = tuple(frame.chosen_names[group] for group in groups[place] if group >= 0)
    classes = frame.classes[place] if len(per_class) > 1 else None
    return named or None, classes


def _deciding_class(metric: Metric, view: View, per_class: FloatArray) -> int:
    """The positive class where only that counts; else the class farthest from the ideal (last on ties)."""
    if len(per_class) == 1:
        return 0
    if metric.average == "positive" and view.margins.binary:
        return 1
    ideal = 0.0 if np.isnan(metric.ideal) else metric.ideal
    distance = np.where(np.isnan(per_class), -np.inf, np.abs(per_class - ideal))
    return int(len(distance) - 1 - distance[::-1].argmax())


def _bounds(metric: Metric, frame: Frame, view: View) -> tuple[float, float] | None:
    unknown = unknown_margins(frame.counts)
    if metric.statistic is None or not unknown.n.any() or frame.options.convention != "strict":
        return None
    found = metric.statistic.bounds(Extremes(view, unknown))
    if found is None:
        return None
    low, high = _reduce_bounds(metric, view, found)
    if np.isnan(low + high):
        return None
    return max(low, metric.low) + 0.0, min(high, metric.high) + 0.0  # no bound reads "-0"


def _reduce_bounds(metric: Metric, view: View, found: tuple[FloatArray, FloatArray]) -> tuple[float, float]:
    """Bounds of the mean over classes, of which some may or may not become defined by the unknown rows."""
    low, high = found
    if len(low) == 1 or (metric.average == "positive" and view.margins.binary):
        return float(metric.reduce(low, view)), float(metric.reduce(high, view))
    sure = ~np.isnan(metric.per_class(view))
    return -_highest_mean(-low, sure), _highest_mean(high, sure)


def _highest_mean(values: FloatArray, sure: Array) -> float:
    """Highest mean of the sure values and any choice of the others."""
    others = sorted(values[~sure & ~np.isnan(values)], reverse=True)
    chosen = list(values[sure & ~np.isnan(values)])
    for value in others:
        if not chosen or value > np.mean(chosen):
            chosen.append(value)
    return float(np.mean(chosen)) if chosen else NAN


def unknown_margins(counts: Counts) -> Margins:
    """Margins of the rows of unknown group, as one group."""
    return margins_of_tables(counts.cells[..., -1:, :, :], multilabel=counts.multilabel)


def _with_small(metric: Metric, frame: Frame) -> float | None:
    """The value that includes the groups under the minimum count; None if there are none."""
    if len(frame.present) == len(frame.chosen) or (
        frame.privileged(frame.present) < 0 and metric.needs_privileged
    ):
        return None
    return float(metric(frame.view(frame.present)))
