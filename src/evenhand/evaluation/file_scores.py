"""Scores that were read from files, as an audit takes them: exact from rows, or binned; runs averaged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.scored import ScoreData, score_data
from evenhand.groups import Attribute, Groups
from evenhand.metrics import binned
from evenhand.metrics.score_rows import GRID
from evenhand.metrics.scores import Scores, default_bins
from evenhand.metrics.undefined import mean_defined
from evenhand.tables.scores import RowScores, ScoreBins


def scores_of_cells(
    scores: RowScores | ScoreBins, groups: Groups, weighted: bool, runs: int, chosen: Array, topk: int
) -> ScoreData:
    """The scores by group. Over several runs, every rate is the mean of the runs' rates."""
    if not runs:
        return _one(scores, groups, weighted, topk)
    parts = [_one(_of_run(scores, run), groups, weighted, topk) for run in range(runs)]
    return _mean(parts, chosen)


def _one(scores: RowScores | ScoreBins, groups: Groups, weighted: bool, topk: int) -> ScoreData:
    g = groups.ids_of([_named(scores, attribute.name) for attribute in groups.attributes])
    if isinstance(scores, ScoreBins):
        return ScoreData(_histogram(scores, g, len(groups), weighted))
    two = scores.score.ndim == 2 and scores.score.shape[1] == 2
    values = scores.score[:, 1] if two else scores.score
    return score_data(scores.truth, values, g, len(groups), scores.weight, topk=topk)


def _named(scores: RowScores | ScoreBins, name: str) -> Attribute:
    return next(attribute for attribute in scores.attributes if attribute.name == name)


def _histogram(scores: ScoreBins, g: Array, n_groups: int, weighted: bool) -> Scores:
    bins = default_bins(n_groups)
    return Scores.from_cells(
        g,
        scores.truth,
        scores.bin // (GRID // bins),
        scores.weight if weighted else scores.count,
        scores.sum_score,
        scores.sum_square,
        n_groups=n_groups,
        bins=bins,
        rows=scores.count if weighted else None,
        squares=scores.square if weighted else None,
    )


def _of_run(scores: RowScores | ScoreBins, run: int) -> RowScores | ScoreBins:
    kept = scores.run == run
    attributes = tuple(replace(a, codes=a.codes[kept]) for a in scores.attributes)
    if isinstance(scores, RowScores):
        weight = None if scores.weight is None else scores.weight[kept]
        return replace(
            scores,
            score=scores.score[kept],
            truth=scores.truth[kept],
            run=scores.run[kept],
            attributes=attributes,
            weight=weight,
        )
    columns = ("run", "truth", "bin", "count", "weight", "square", "sum_score", "sum_square")
    return replace(scores, attributes=attributes, **{name: getattr(scores, name)[kept] for name in columns})


def _mean(parts: list[ScoreData], chosen: Array) -> ScoreData:
    """Means over runs. The histogram stays that of one run: it tells how far the sample of rows moves them.

    All runs together would count every row several times, and intervals would be too short.
    """
    exact = {key: _over([part.rates[key] for part in parts]) for key in parts[0].rates}
    overall = {key: _over([part.pooled[key] for part in parts]) for key in parts[0].pooled}
    single = {key: float(np.mean([part.single[key] for part in parts])) for key in parts[0].single}
    if not single:
        single["map"] = float(np.mean([binned.mean_average_precision(part.binned) for part in parts]))
        single["map_u"] = float(np.mean([binned.mean_average_precision_u(part.binned) for part in parts]))
    single["dims"] = float(np.mean([binned.dims(part.binned.only(chosen)) for part in parts]))
    single["diamr"] = float(np.mean([binned.diamr(part.binned.only(chosen)) for part in parts]))
    return ScoreData(parts[0].binned, exact, overall, single)


def _over(values: list[FloatArray]) -> FloatArray:
    return np.asarray(mean_defined(np.stack(values), axis=0))
