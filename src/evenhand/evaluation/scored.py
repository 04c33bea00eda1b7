"""Score metrics of one grouping: exact from rows, or binned from a file too large to hold, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.measure import Frame, with_interval
from evenhand.evaluation.reasons import reasons_for
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics import binned
from evenhand.metrics.interval import Draws
from evenhand.metrics.margins import Margins
from evenhand.metrics.metric import Metric
from evenhand.metrics.ranked import by_group, exact_average_precision, top_k_accuracy
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.scores import Scores
from evenhand.metrics.undefined import mean_defined
from evenhand.metrics.view import View

EXACT_VALUES = 5_000_000  # scores up to which sorting them all is quick enough
COARSE = 240
REPLICATES = 400
CHUNK = 1 << 21


@dataclass(frozen=True)
class ScoreData:
    """The scores of one grouping: histograms, and the exact rates `[K, G]` where the rows were at hand."""

    binned: Scores
    exact: dict[str, FloatArray] = field(default_factory=dict)
    overall: dict[str, FloatArray] = field(default_factory=dict)
    single: dict[str, float] = field(default_factory=dict)

    @property
    def rates(self) -> dict[str, FloatArray]:
        """Every score rate `[K, G]`, exact if known."""
        return {**_binned_rates(self.binned), **self.exact}

    @property
    def pooled(self) -> dict[str, FloatArray]:
        """The same over all rows, `[K, 1]`."""
        return {**_binned_rates(self.binned.pooled), **self.overall}


def _binned_rates(scores: Scores) -> dict[str, FloatArray]:
    rates = {key: rate(scores, per_class=True) for key, rate in SCORE_RATES.items()}
    return {key: values if scores.per_label else values[..., None, :] for key, values in rates.items()}


def score_data(
    y: Array, scores: Array, g: Array, n_groups: int, weights: Array | None, *, topk: int = 5
) -> ScoreData:
    """Scores of rows: `scores [N]` for label 1, or `[N, K]` for classes or labels."""
    histogram = Scores.from_scores(y, scores, g, n_groups=n_groups, weights=weights)
    if scores.size > EXACT_VALUES:
        return ScoreData(histogram)
    truths, columns = _one_vs_rest(y, scores)
    exact: dict[str, FloatArray] = {}
    overall: dict[str, FloatArray] = {}
    for key, rate in SCORE_RATES.items():
        found = [
            by_group(rate.exact, t, s, g, n_groups, weights) for t, s in zip(truths, columns, strict=True)
        ]
        exact[key] = np.stack([entry.groups for entry in found])
        overall[key] = np.array([[entry.overall] for entry in found])
    if scores.ndim == 2 and y.ndim == 1 and scores.shape[1] > 2:
        k = min(topk, scores.shape[1])
        top = by_group(lambda t, s, w: top_k_accuracy(t, s, k, w), y, scores, g, n_groups, weights)
        exact["topk"], overall["topk"] = top.groups[None], np.array([[top.overall]])
    even = [
        exact_average_precision(t, s, binned.positive_weights(t, g, weights)) if t.any() else NAN
        for t, s in zip(truths, columns, strict=True)
    ]
    single = {"map": float(mean_defined(overall["ap"][:, 0])), "map_u": float(mean_defined(np.array(even)))}
    return ScoreData(histogram, exact, overall, single)


def _one_vs_rest(y: Array, scores: Array) -> tuple[list[Array], list[Array]]:
    if scores.ndim == 1:
        return [y], [scores]
    columns = [scores[:, label] for label in range(scores.shape[1])]
    return [(y == k).astype(np.int64) if y.ndim == 1 else y[:, k] for k in range(len(columns))], columns


def measure_scores(data: ScoreData, frame: Frame, metrics: Sequence[Metric]) -> dict[str, MetricValue]:
    """All score metrics with intervals."""
    margins = frame.view().margins
    usable = [m for m in metrics if m.statistic is None or set(m.statistic.rates()) <= set(data.rates)]
    if not len(frame.chosen):
        return {metric.key: _without_groups(metric, data) for metric in usable}
    view = _view(data.rates, data.pooled, frame.chosen, margins)
    draws = _draw(data, frame, usable, view) if frame.options.replicates and len(frame.chosen) else {}
    return {metric.key: _measure_one(metric, data, frame, view, draws.get(metric.key)) for metric in usable}


def _without_groups(metric: Metric, data: ScoreData) -> MetricValue:
    """Nothing can be compared; the average precision of all rows is still there."""
    value = data.single.get("map", NAN) if metric.key == "map" else NAN
    return MetricValue(metric.key, value, undefined=() if value == value else ("no group has enough rows",))


def _view(
    rates: dict[str, FloatArray], pooled: dict[str, FloatArray], chosen: Array, margins: Margins
) -> View:
    """Score rates of the chosen groups as a comparison looks at them."""
    picked = {key: values[..., chosen] for key, values in rates.items()}
    return View(margins, known_rates=picked, known_pooled=dict(pooled))


def _measure_one(
    metric: Metric, data: ScoreData, frame: Frame, view: View, draws: Draws | None
) -> MetricValue:
    if metric.statistic is None:
        value = data.single.get(metric.key, float(_single(metric.key, data.binned, frame.chosen)))
        why = () if not np.isnan(value) else ("not defined for these rows",)
        result = MetricValue(metric.key, float(value), undefined=why)
    else:
        per_class = metric.statistic.value(view)
        value = float(metric.reduce(per_class, view))
        reasons = reasons_for(metric, view, per_class, value, frame.chosen_names, frame.classes)
        groups = metric.statistic.deciders(view)
        result = MetricValue(
            metric.key,
            value,
            undefined=reasons.texts,
            skipped_classes=reasons.classes,
            skipped_groups=reasons.groups,
            per_class=tuple(per_class.tolist()) if per_class.size > 1 else None,
        )
        if groups is not None and not np.isnan(value):
            place = int(np.nan_to_num(per_class, nan=-np.inf).argmax())
            result = replace(
                result,
                decided_by=tuple(frame.chosen_names[k] for k in groups[place]),
                decided_in=frame.classes[place] if len(per_class) > 1 else None,
            )
    return result if draws is None else with_interval(result, metric, draws, frame.options.confidence)


def _single(key: str, scores: Scores, chosen: Array) -> FloatArray:
    """The metrics that are one number for all groups together, `[...]`."""
    if key in ("dims", "diamr"):
        return getattr(binned, key)(scores.only(chosen))  # type: ignore[no-any-return]
    return binned.mean_average_precision(scores) if key == "map" else binned.mean_average_precision_u(scores)


def _draw(data: ScoreData, frame: Frame, metrics: Sequence[Metric], view: View) -> dict[str, Draws]:
    """Bootstrap in coarse bins; only the errors are used, so the coarseness does not move the values."""
    coarse = data.binned.coarsen(COARSE) if data.binned.bins % COARSE == 0 else data.binned
    centre = _view(_binned_rates(coarse), _binned_rates(coarse.pooled), frame.chosen, view.margins)
    rng = np.random.default_rng(frame.options.seed)
    parts: dict[str, list[Draws]] = {metric.key: [] for metric in metrics}
    total = min(REPLICATES, frame.options.replicates)
    size = max(1, min(total, CHUNK // coarse.cells.size))
    for first in range(0, total, size):
        drawn = coarse.resample(min(size, total - first), rng, bins=coarse.bins)
        seen = _view(_binned_rates(drawn), _binned_rates(drawn.pooled), frame.chosen, view.margins)
        _add_top_k(data, frame, centre, seen, rng, len(drawn.cells))
        for metric in metrics:
            parts[metric.key].append(_draw_one(metric, view, centre, seen, coarse, drawn, frame.chosen))
    return {key: _join(found) for key, found in parts.items() if found}


def _add_top_k(
    data: ScoreData, frame: Frame, centre: View, seen: View, rng: np.random.Generator, replicates: int
) -> None:
    """Hits among the k highest are binomial in each group; one-vs-rest histograms know nothing of them."""
    if "topk" not in data.exact:
        return
    n = frame.counts.rows[:-1].sum(axis=(-1, -2))[frame.chosen]
    overall = data.overall["topk"][0]
    middle = (data.exact["topk"][0, frame.chosen] * n + overall) / (n + 1)  # borrow a row, as counts do
    hits = rng.binomial(n, middle, size=(replicates, len(n)))
    centre.known_rates["topk"], seen.known_rates["topk"] = middle[None], (hits / n)[:, None, :]
    centre.known_pooled["topk"] = (middle * n).sum(keepdims=True)[None] / n.sum()
    seen.known_pooled["topk"] = hits.sum(axis=-1)[:, None, None] / n.sum()


def _draw_one(
    metric: Metric, view: View, centre: View, seen: View, coarse: Scores, drawn: Scores, chosen: Array
) -> Draws:
    if metric.statistic is None:
        error = np.abs(_single(metric.key, drawn, chosen) - _single(metric.key, coarse, chosen))
        return Draws(error, error, False)
    found = metric.statistic.deviations(centre, seen, view)
    if found is None:
        values, middle = (metric.statistic.value(part) for part in (seen, centre))
        error = np.abs(metric.reduce(values, view) - metric.reduce(middle, view))
        return Draws(error, error, False)
    # labels are drawn apart; sorted, their errors move together, which is the most they can add up to
    down, up = (np.sort(side, axis=0) for side in found)
    return Draws(metric.reduce(down, view), metric.reduce(up, view), True)


def _join(parts: list[Draws]) -> Draws:
    return Draws(
        np.concatenate([part.down for part in parts]),
        np.concatenate([part.up for part in parts]),
        parts[0].ranged,
    )
