"""What a reader must be told beside the numbers: warnings in plain words."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.arrays import Array
from evenhand.evaluation.options import SMALL_GROUP, Options, chosen_metrics
from evenhand.evaluation.subject import Subject
from evenhand.evaluation.values import GroupRow, MetricValue
from evenhand.metrics.catalogue import CATALOGUE

MOST_NAMES = 5
UNEVEN = 10  # weights that make this many rows count as one are told


def notes_on(
    subject: Subject, groups: Sequence[GroupRow], metrics: dict[str, MetricValue], options: Options
) -> list[str]:
    """The warnings of an audit, most important first."""
    notes: list[str] = []
    total = max(sum(row.n for row in groups) + subject.grouping.unknown_rows, 1)
    if subject.missing:
        verb = "was" if subject.missing == 1 else "were"
        notes.append(f"{_rows(subject.missing)} without a label or a prediction {verb} left out")
    if foreign := _only_predicted(subject):
        notes.append(foreign)
    if unknown := subject.grouping.unknown_rows:
        verb = "has" if unknown == 1 else "have"
        notes.append(
            f"{_rows(unknown)} ({unknown / total:.1%}) {verb} no known group: counted, but in no gap; every "
            "gap has bounds for what they could be"
        )
    if (effective := _effective_rows(subject)) < total / UNEVEN:
        notes.append(
            f"the weights are very uneven: {_rows(total)} count as about {effective:,.0f} equal ones, so "
            "intervals may be too narrow"
        )
    occurring = [row for row in groups if row.n]
    absent = [row.name for row in groups if not row.n]
    if absent:
        notes.append(f"{_groups(absent)} no rows")
    if excluded := [row.name for row in occurring if row.excluded]:
        notes.append(
            f"{_groups(excluded)} fewer than {options.min_count} rows and "
            f"{'is' if len(excluded) == 1 else 'are'} left out of comparisons"
        )
    if small := [row.name for row in occurring if row.small and not row.excluded]:
        notes.append(f"{_groups(small)} fewer than {SMALL_GROUP} rows: rates there are uncertain")
    if len(occurring) < 2:
        notes.append("fewer than two groups have rows: there is nothing to compare")
    partly = [key for key in ("tpr.gap", "fpr.gap", "ppv.gap") if key in metrics and metrics[key].undefined]
    notes += [f"{key}: {'; '.join(metrics[key].undefined[:2])}" for key in partly]
    return notes + [
        f"{key}: it needs {need}, and there are none here" for key, need in _lacking(metrics, options)
    ]


def _lacking(metrics: dict[str, MetricValue], options: Options) -> list[tuple[str, str]]:
    """Metrics that were named and are not there, each with what it needs."""
    named = chosen_metrics(options.metrics, list(CATALOGUE)) if options.metrics is not None else []
    return [(key, CATALOGUE[key].needs) for key in named if key not in metrics]


def _effective_rows(subject: Subject) -> float:
    """Kish's effective sample size, (sum of weights)^2 / sum of squared weights."""
    counts = subject.grouping.counts
    if counts.square_cells is None or not counts.square_cells.any():
        return float("inf")
    share = 1.0 / max(subject.grouping.runs, 1) / (counts.n_classes if counts.multilabel else 1)
    return float(counts.cells.sum() ** 2 / counts.square_cells.sum() * share)


def _only_predicted(subject: Subject) -> str:
    """What to say of classes that no row has as its label: mostly two ways to write one class."""
    counts = subject.grouping.counts
    if counts.multilabel:
        return ""
    cells = counts.rows.reshape(-1, *counts.rows.shape[-2:]).sum(axis=0)  # [label, prediction]
    return words_on_foreign(subject.classes, cells.sum(axis=1), cells.sum(axis=0))


def words_on_foreign(classes: Sequence[str], labels: Array, predictions: Array) -> str:
    """A sentence about classes with predictions and no label, empty where there are none.

    >>> import numpy as np
    >>> words_on_foreign(("1", "Yes", "yes"), np.array([4, 0, 2]), np.array([3, 3, 0]))
    "class 'Yes' is predicted 3 times, but is no row's label: are labels and predictions written alike?"
    >>> words_on_foreign(("0", "1"), np.array([4, 2]), np.array([6, 0]))
    ''
    """
    places = [k for k in range(len(classes)) if predictions[k] > 0 and not labels[k]]
    if not places:
        return ""
    times = int(sum(int(predictions[k]) for k in places))
    names = ", ".join(f"'{classes[k]}'" for k in places[:MOST_NAMES])
    names += f" and {len(places) - MOST_NAMES} more" if len(places) > MOST_NAMES else ""
    verb, end = ("is", "is no row's label") if len(places) == 1 else ("are", "are no row's label")
    often = "once" if times == 1 else f"{times:,} times"
    what = "class" if len(places) == 1 else "classes"
    return f"{what} {names} {verb} predicted {often}, but {end}: are labels and predictions written alike?"


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


def _groups(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES]) + (
        f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    )
    return f"group {shown} has" if len(names) == 1 else f"groups {shown} have"
