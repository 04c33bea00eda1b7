"""The rows of the group table: size, share, rates with intervals, confusion."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.options import SMALL_GROUP, Options
from evenhand.evaluation.scored import ScoreData
from evenhand.evaluation.values import GroupRow
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import wilson
from evenhand.metrics.margins import Margins, margins_of_tables
from evenhand.metrics.rates import RATES, over_classes
from evenhand.metrics.undefined import mean_defined

DENOMINATOR = {
    "selection": "n",
    "tpr": "actual",
    "fnr": "actual",
    "fpr": "negatives",
    "tnr": "negatives",
    "ppv": "predicted",
    "accuracy": "n",
}
FEW_CLASSES = 12  # confusion tables beyond this are not printed


def group_rows(
    counts: Counts,
    names: tuple[str, ...],
    levels: tuple[dict[str, str], ...],
    options: Options,
    scores: ScoreData | None = None,
) -> list[GroupRow]:
    """One record a group of counts without leading axes."""
    return _rows(
        counts.table,
        counts.rows[..., :-1, :, :],
        counts,
        names,
        levels,
        options,
        None if scores is None else scores.rates,
    )


def overall_row(counts: Counts, options: Options, scores: ScoreData | None = None) -> GroupRow:
    """All rows together, those of unknown group included."""
    table, rows = (kind.sum(axis=-3, keepdims=True) for kind in (counts.cells, counts.rows))
    return _rows(
        table, rows, counts, ("all rows",), ({},), options, None if scores is None else scores.pooled
    )[0]


def _rows(
    table: Array,
    rows: Array,
    counts: Counts,
    names: tuple[str, ...],
    levels: tuple[dict[str, str], ...],
    options: Options,
    scores: dict[str, FloatArray] | None,
) -> list[GroupRow]:
    margins = margins_of_tables(table, multilabel=counts.multilabel)
    cases = margins_of_tables(rows, multilabel=counts.multilabel)
    per_class = {key: rate.of(margins) for key, rate in RATES.items()}
    rates = {key: over_classes(values, margins, axis=-2) for key, values in per_class.items()}
    for key, values in (scores or {}).items():
        per_class[key], rates[key] = values, mean_defined(values, axis=-2)
    limits = {
        key: wilson(rates[key], _cases(cases, name), options.confidence)
        for key, name in DENOMINATOR.items()
        if margins.binary or key == "accuracy"
    }
    sizes = np.rint((rows[0] if counts.multilabel else rows).sum(axis=(-1, -2)))  # a mean over runs is whole
    everyone = max(round(float((counts.rows[0] if counts.multilabel else counts.rows).sum())), 1)
    shown = not counts.multilabel and counts.n_classes <= FEW_CLASSES
    return [
        GroupRow(
            name=name,
            levels=levels[g],
            n=int(sizes[g]),
            share=float(sizes[g] / everyone),
            small=bool(sizes[g] < SMALL_GROUP),
            excluded=bool(sizes[g] < max(options.min_count, 1)),
            rates={key: float(values[g]) for key, values in rates.items()},
            intervals={key: (float(low[g]), float(high[g])) for key, (low, high) in limits.items()},
            per_class={
                key: tuple(values[:, g].tolist()) for key, values in per_class.items() if len(values) > 1
            },
            confusion=tuple(tuple(row) for row in table[g].tolist()) if shown else None,
            weight=float(table[g].sum()) if counts.weighted and not counts.multilabel else None,
        )
        for g, name in enumerate(names)
    ]


def _cases(margins: Margins, name: str) -> FloatArray:
    """Rows that a rate of the positive class is a share of."""
    values = np.asarray(getattr(margins, name), dtype=np.float64)
    return np.asarray(values[1] if margins.binary else values[0])
