"""From a user's columns to a subject: coding labels, predictions, scores and groups of rows in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.scored import EXACT_VALUES, score_data
from evenhand.evaluation.subject import Grouping, Subject, task_of
from evenhand.groups import Groups
from evenhand.levels import code_values
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
    y, p, names = code_labels(y_true, y_pred, classes, positive)
    rows = y.shape[0]
    grouped = Groups.from_any(groups, rows)
    w = None if weights is None else as_array(weights).astype(np.float64)
    y, p, grouped, w, s, missing = _without_missing(y, p, grouped, w, scores)
    main = _grouping(y, p, grouped, w, s, names, topk)
    alone = (
        tuple(
            _grouping(y, p, Groups.from_attributes([attribute]), w, s, names, topk)
            for attribute in grouped.attributes
        )
        if len(grouped.attributes) > 1
        else ()
    )
    runs = tuple(f"run {run + 1}" for run in range(p.shape[0])) if p.ndim > y.ndim else ()
    kind: Any = None if s is None else ("exact" if s.size <= EXACT_VALUES else "binned")
    return Subject(main, names, task_of(main.counts), alone, missing, runs, name, score_kind=kind)


def code_labels(
    y_true: object, y_pred: object, classes: object | None = None, positive: object | None = None
) -> tuple[Array, Array, tuple[str, ...]]:
    """Codes of labels and predictions over one set of classes, -1 where either is missing.

    The classes are the sorted values of both (or those given); the positive class comes last.

    >>> code_labels(["no", "yes"], ["yes", "yes"])
    (array([0, 1]), array([1, 1]), ('no', 'yes'))
    """
    y, p = (as_array(values) for values in (y_true, y_pred))
    if y.size == 0:
        raise ValueError("there are no rows: labels and predictions are empty")
    _check_kinds(y, p)
    if y.ndim == 2:
        return _multilabel(y), _multilabel(p), tuple(f"label {k}" for k in range(y.shape[1]))
    stacked = np.concatenate([y.reshape(-1), p.reshape(-1)])
    order = None if classes is None else list(as_array(classes).tolist())
    names, codes = code_values(stacked, order, "labels")
    if len(names) < 2:
        names, codes = _two_classes(names, codes)
    if positive is not None:
        names, codes = _positive_last(names, codes, str(positive))
    return codes[: y.size].reshape(y.shape), codes[y.size :].reshape(p.shape), names


def _check_kinds(y: Array, p: Array) -> None:
    if p.dtype.kind == "f" and p.ndim == y.ndim + 1 and p.shape[0] == y.shape[0]:
        raise ValueError(
            f"predictions of the shape {p.shape} look like scores, one column a class; pass them "
            "as scores= and their largest column as predictions"
        )
    if p.dtype.kind == "f" and not bool(np.all(np.isnan(p) | (p == np.round(p)))):
        raise ValueError(
            "the predictions are not whole numbers: pass scores as scores=, and predicted classes here"
        )
    texts = [array.dtype.kind in "US" or (array.dtype.kind == "O" and _holds_text(array)) for array in (y, p)]
    if texts[0] != texts[1]:
        kinds = ["text" if text else "numbers" for text in texts]
        raise ValueError(
            f"labels hold {kinds[0]} (like {_first(y)!r}) and predictions {kinds[1]} (like {_first(p)!r}): "
            "both must use the same classes"
        )


def _holds_text(array: Array) -> bool:
    return isinstance(_first(array), str)


def _first(array: Array) -> Any:
    return next(
        (value for value in array.reshape(-1)[:1000].tolist() if value is not None and value == value), None
    )


def _multilabel(values: Array) -> Array:
    codes = values.astype(np.float64)
    if not bool(np.all(np.isnan(codes) | (codes == 0) | (codes == 1))):
        raise ValueError("labels with one column each must be 0 or 1 everywhere (multi-label)")
    return np.nan_to_num(codes, nan=-1).astype(np.int64)


def _two_classes(names: tuple[str, ...], codes: Array) -> tuple[tuple[str, ...], Array]:
    """A single class in all rows is still one of two: 0/1 if it is one of them, else it and its absence."""
    only = names[0] if names else "0"
    if only in ("0", "False"):
        return (only, "1" if only == "0" else "True"), codes
    if only in ("1", "True"):
        return ("0" if only == "1" else "False", only), np.where(codes < 0, codes, 1)
    return (f"not {only}", only), np.where(codes < 0, codes, 1)


def _positive_last(names: tuple[str, ...], codes: Array, positive: str) -> tuple[tuple[str, ...], Array]:
    if positive not in names:
        raise ValueError(
            f"the positive class '{positive}' does not occur; the classes are {', '.join(names)}"
        )
    order = [k for k, name in enumerate(names) if name != positive] + [names.index(positive)]
    place = np.full(len(names) + 1, -1)
    place[order] = np.arange(len(names))
    return tuple(names[k] for k in order), place[codes]


def _without_missing(
    y: Array, p: Array, groups: Groups, w: Array | None, scores: object | None
) -> tuple[Array, Array, Groups, Array | None, Array | None, int]:
    """Leave out the rows that lack a label or a prediction; they are counted, and the audit says so."""
    if p.shape[-y.ndim :] != y.shape:
        raise ValueError(
            f"{len(y)} labels but predictions of the shape {p.shape}: they must have the same rows"
        )
    s = None if scores is None else _as_scores(scores, y)
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


def _as_scores(scores: object, y: Array) -> Array:
    values = as_array(scores).astype(np.float64)
    if values.shape[0] != len(y):
        raise ValueError(f"{values.shape[0]} scores for {len(y)} rows")
    outside = ~((values >= 0) & (values <= 1))
    if outside.any():
        row = int(np.argmax(outside.reshape(len(y), -1).any(axis=1)))
        raise ValueError(
            f"score {np.atleast_2d(values.T).T[row].tolist()} in row {row} is outside [0, 1]: "
            "scores must be probabilities"
        )
    return values[:, 1] if values.ndim == 2 and values.shape[1] == 2 and y.ndim == 1 else values


def _grouping(
    y: Array, p: Array, groups: Groups, w: Array | None, s: Array | None, names: tuple[str, ...], topk: int
) -> Grouping:
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
    predictions: Mapping[str, object],
    groups: object | None,
    weights: object | None,
    *,
    positive: object | None = None,
    classes: object | None = None,
) -> Rows:
    """Code labels, the predictions of every model and the groups for a comparison."""
    arrays = {name: as_array(values) for name, values in predictions.items()}
    truth = as_array(y_true)
    _check_models(truth, arrays)
    flat = np.concatenate([array.reshape(-1) for array in arrays.values()])
    y, p, names = code_labels(truth, flat, classes, positive)
    edges = np.cumsum([0, *(array.size for array in arrays.values())])
    coded = {
        name: p[start:stop].reshape(arrays[name].shape)
        for name, start, stop in zip(arrays, edges[:-1], edges[1:], strict=True)
    }
    grouped = None if groups is None else Groups.from_any(groups, len(y))
    ids = np.zeros(len(y), dtype=np.int64) if grouped is None else grouped.ids
    w = None if weights is None else as_array(weights).astype(np.float64)
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
    )


def _check_models(y: Array, predictions: Mapping[str, Array]) -> None:
    if y.ndim != 1:
        raise ValueError(
            "a comparison takes one label a row; compare the labels of a multi-label task one by one"
        )
    for name, array in predictions.items():
        _check_kinds(y, array)
        if array.ndim not in (1, 2) or array.shape[-1] != len(y):
            raise ValueError(f"model '{name}' has predictions of the shape {array.shape} for {len(y)} labels")
