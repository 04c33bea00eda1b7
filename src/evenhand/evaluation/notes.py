"""What a reader must be told beside the numbers: warnings in plain words."""

from __future__ import annotations

from collections.abc import Sequence

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


def _rows(n: int) -> str:
    return f"{n:,} row" if n == 1 else f"{n:,} rows"


def _groups(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MOST_NAMES]) + (
        f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    )
    return f"group {shown} has" if len(names) == 1 else f"groups {shown} have"
