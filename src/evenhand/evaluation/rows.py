"""From a user's columns to a subject: coding labels, predictions, scores and groups of rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.evaluation.checks import checked_groups, checked_weights, column, numbers
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.labels import Labels, check_kinds, code_labels
from evenhand.evaluation.scored import EXACT_VALUES, score_data
from evenhand.evaluation.subject import Grouping, Subject, task_of
from evenhand.groups import Groups
from evenhand.levels import level_name
from evenhand.metrics.counts import Counts
from evenhand.metrics.label_rows import LabelRows

MOST_CELLS = 256  # intersections beyond this keep only the groups that occur


def subject_of_rows(
    y_true: object,
    y_pred: object,
    groups: object,
    scores: object | None,
    weights: object | None,
    *,
    positive: object | None = None,
    classes: object | None = None,
    name: str | None = None,
    topk: int = 5,
) -> Subject:
    """Code the rows and count them, for the intersection of all attributes and for each one alone."""
    labels = code_labels(y_true, y_pred, classes, positive)
    names, grouped = labels.classes, checked_groups(groups, len(labels.y))
    w = checked_weights(weights, len(labels.y))
    s = None if scores is None else _as_scores(scores, labels)
    y, p, grouped, w, s, missing = _without_missing(labels.y, labels.p, grouped, w, s)
    main = grouping_of_rows(y, p, grouped, w, s, names, topk)
    alone = (
        tuple(
            grouping_of_rows(y, p, Groups.from_attributes([attribute]), w, s, names, topk)
            for attribute in grouped.attributes
        )
        if len(grouped.attributes) > 1
        else ()
    )
    runs = tuple(f"run {run + 1}" for run in range(p.shape[0])) if p.ndim > y.ndim else ()
    kind: Any = None if s is None else ("exact" if s.size <= EXACT_VALUES else "binned")
    return Subject(main, names, task_of(main.counts), alone, missing, runs, name, score_kind=kind)


def _without_missing(
    y: Array, p: Array, groups: Groups, w: Array | None, s: Array | None
) -> tuple[Array, Array, Groups, Array | None, Array | None, int]:
    """Leave out the rows that lack a label or a prediction; they are counted, and the audit says so."""
    if p.shape[-y.ndim :] != y.shape or 0 in p.shape:
        raise ValueError(
            f"{len(y)} labels but predictions of the shape {p.shape}: they must have the same rows"
        )
    lacking = (y < 0).reshape(len(y), -1).any(axis=1)
    guess = p if p.ndim > y.ndim else p[None]
    lacking |= (guess < 0).reshape(guess.shape[0], len(y), -1).any(axis=(0, 2))
    if not lacking.any():
        return y, p, groups, w, s, 0
    kept = np.asarray(~lacking)
    p = p[:, kept] if p.ndim > y.ndim else p[kept]
    if not kept.any():
        raise ValueError("no row has both a label and a prediction")
    groups = groups.keep(kept)
    return (
        y[kept],
        p,
        groups,
        None if w is None else w[kept],
        None if s is None else s[kept],
        int(lacking.sum()),
    )


def _as_scores(scores: object, labels: Labels) -> Array:
    """Scores as numbers: one column for the positive class, or one a class in the order of the classes."""
    values = numbers(scores, "scores")
    rows = len(labels.y)
    if values.ndim not in (1, 2) or values.shape[0] != rows:
        raise ValueError(f"scores of the shape {values.shape} for {rows} rows")
    if values.ndim == 1 and labels.y.ndim == 1 and len(labels.classes) > 2:
        raise ValueError(
            f"one score a row for {len(labels.classes)} classes: scores need a column for each class"
        )
    if values.ndim == 2 and values.shape[1] != len(labels.classes):
        raise ValueError(
            f"{values.shape[1]} columns of scores for {len(labels.classes)} classes: {labels.classes}"
        )
    needed = (labels.y >= 0).reshape(rows, -1).all(axis=1)
    outside = ~((values >= 0) & (values <= 1)).reshape(rows, -1).all(axis=1) & needed
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"score {values[row].tolist()} in row {row} is outside [0, 1]: scores are probabilities"
        )
    if values.ndim == 1 or labels.y.ndim == 2:
        return values
    ordered = values[:, labels.columns]
    return ordered[:, 1] if len(labels.classes) == 2 else ordered


def grouping_of_rows(
    y: Array, p: Array, groups: Groups, w: Array | None, s: Array | None, names: tuple[str, ...], topk: int
) -> Grouping:
    """Coded rows counted by group; `p` is `[N]`, or one row a run."""
    groups = Groups.from_attributes(groups.attributes, most=MOST_CELLS)
    counts = Counts.from_predictions(y, p, groups.ids, n_classes=len(names), n_groups=len(groups), weights=w)
    data = None if s is None else score_data(y, s, groups.ids, len(groups), w, topk=topk)
    whole = LabelRows.from_rows(y, p, groups.ids, len(groups), w) if y.ndim == 2 and p.ndim == 2 else None
    return Grouping(*describe(groups), counts, data, whole)


def describe(groups: Groups) -> tuple[tuple[str, ...], tuple[str, ...], tuple[dict[str, str], ...]]:
    """Attributes, names and levels of the groups, as a grouping holds them."""
    levels = tuple(groups.levels_of(group) for group in range(len(groups)))
    return tuple(attribute.name for attribute in groups.attributes), groups.names, levels


def models_of_rows(
    y_true: object,
    predictions: Any,
    groups: object | None,
    weights: object | None,
    *,
    positive: object | None = None,
    classes: object | None = None,
) -> Rows:
    """Code labels, the predictions of every model and the groups for a comparison."""
    if not isinstance(predictions, Mapping) and not hasattr(predictions, "columns"):
        raise ValueError("give the models by name: a dict of predictions, or a data frame with a column each")
    names_of = getattr(predictions, "columns", predictions)
    arrays = {level_name(name): column(predictions[name], f"model '{name}'") for name in names_of}
    if not arrays:
        raise ValueError("a comparison needs at least two models")
    truth = column(y_true, "labels")
    if truth.size == 0:
        raise ValueError("there are no rows: the labels are empty")
    _check_models(truth, arrays)
    flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
    labels = code_labels(truth, flat, classes, positive)
    y, p, names = labels.y, labels.p, labels.classes
    edges = np.cumsum([0, *(array.size for array in arrays.values())])
    coded = {
        name: p[start:stop].reshape(arrays[name].shape)
        for name, start, stop in zip(arrays, edges[:-1], edges[1:], strict=True)
    }
    grouped = None if groups is None else checked_groups(groups, len(y))
    ids = np.zeros(len(y), dtype=np.int64) if grouped is None else grouped.ids
    w = checked_weights(weights, len(y))
    kept = (y >= 0) & np.all([np.atleast_2d(part >= 0).all(axis=0) for part in coded.values()], axis=0)
    if not kept.any():
        raise ValueError("no row has a label and a prediction of every model")
    return Rows(
        y[kept],
        {name: part[..., kept] for name, part in coded.items()},
        names,
        ids[kept],
        () if grouped is None else grouped.names,
        None if w is None else w[kept],
        int((~kept).sum()),
        () if grouped is None else tuple(a.name for a in grouped.attributes),
        attributes=() if grouped is None else tuple(a.at(kept) for a in grouped.attributes),
    )


def _check_models(y: Array, predictions: Mapping[str, Array]) -> None:
    if y.ndim != 1:
        raise ValueError(
            "a comparison takes one label a row; compare the labels of a multi-label task one by one"
        )
    for name, array in predictions.items():
        check_kinds(y, array)
        if array.ndim not in (1, 2) or array.shape[-1] != len(y) or 0 in array.shape:
            raise ValueError(f"model '{name}' has predictions of the shape {array.shape} for {len(y)} labels")
