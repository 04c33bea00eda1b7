"""Coding labels and predictions of any kind over one set of classes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array
from evenhand.evaluation.checks import column, refuse_ids
from evenhand.levels import code_values, is_missing, level_name


@dataclass(frozen=True)
class Labels:
    """Codes of labels and predictions, -1 where missing; `columns` tells where each class stands in order.

    A positive class comes last, whatever its place among the sorted classes; score columns follow the latter.
    """

    y: Array
    p: Array
    classes: tuple[str, ...]
    columns: tuple[int, ...]


def code_labels(
    y_true: object, y_pred: object, classes: object | None = None, positive: object | None = None
) -> Labels:
    """Codes of labels and predictions over one set of classes, -1 where either is missing.

    The classes are the sorted values of both (or those given); the positive class comes last.

    >>> found = code_labels(["no", "yes"], ["yes", "yes"], positive="no")
    >>> found.y.tolist(), found.p.tolist(), found.classes, found.columns
    ([1, 0], [0, 0], ('yes', 'no'), (1, 0))
    """
    y, p = column(y_true, "labels"), column(y_pred, "predictions")
    if y.size == 0:
        raise ValueError("there are no rows: labels and predictions are empty")
    if p.size == 0:
        raise ValueError(f"there are no predictions: their shape is {p.shape}")
    if y.ndim == 2 and y.shape[1] == 1 and p.ndim == 1:  # `frame[["y"]]`; no multi-label task
        raise ValueError(
            f"labels of the shape {y.shape} are a table, predictions of the shape {p.shape} a column; give "
            "the column of the labels, one value a row"
        )
    check_kinds(y, p)
    if y.ndim == 2:
        names = tuple(f"label {k}" for k in range(y.shape[1]))
        return Labels(_multilabel(y), _multilabel(p), names, tuple(range(len(names))))
    stacked = _together(y.reshape(-1), p.reshape(-1))
    order = None if classes is None else list(as_array(classes).tolist())
    names, codes = code_values(stacked, order, "labels", unknown=None)
    if len(names) < 2:
        names, codes = _two_classes(names, codes)
    refuse_ids(names)
    columns = tuple(range(len(names)))
    if positive is not None:
        columns = _positive_last(names, level_name(positive))
        place = np.append(np.argsort(columns), -1)
        names, codes = tuple(names[k] for k in columns), place[codes]
    return Labels(codes[: y.size].reshape(y.shape), codes[y.size :].reshape(p.shape), names, columns)


def _together(y: Array, p: Array) -> Array:
    """One array of both; signed and unsigned whole numbers must not meet as floats."""
    if {y.dtype.kind, p.dtype.kind} == {"i", "u"} and np.result_type(y, p).kind == "f":
        y, p = y.astype(object), p.astype(object)
    return np.concatenate([y, p])


def check_kinds(y: Array, p: Array) -> None:
    """Refuse scores in the place of predictions, and texts beside numbers."""
    if p.dtype.kind == "f" and p.ndim == y.ndim + 1 and p.shape[0] == y.shape[0]:
        raise ValueError(
            f"predictions of the shape {p.shape} look like scores, one column a class; pass them "
            "as scores= and their largest column as predictions"
        )
    if y.dtype.kind == "f" and not bool(np.all(np.isnan(y) | (y == np.round(y)))):
        raise ValueError("the labels are not whole numbers: these look like scores, not classes")
    if p.dtype.kind == "f" and not bool(np.all(np.isnan(p) | (p == np.round(p)))):
        raise ValueError(
            "the predictions are not whole numbers: pass scores as scores=, and predicted classes here"
        )
    _refuse_infinite(y, "label", "labels")
    _refuse_infinite(p, "prediction", "predictions")
    texts = [array.dtype.kind in "US" or (array.dtype.kind == "O" and _holds_text(array)) for array in (y, p)]
    if texts[0] != texts[1]:
        kinds = ["text" if text else "numbers" for text in texts]
        raise ValueError(
            f"labels hold {kinds[0]} (like {_first(y)!r}) and predictions {kinds[1]} (like {_first(p)!r}): "
            "both must use the same classes"
        )


def _refuse_infinite(array: Array, one: str, all_of_them: str) -> None:
    """An infinite number is whole, but of no class: it comes of a division or of a cast."""
    if array.dtype.kind == "f":
        infinite = np.isinf(array)
    elif array.dtype.kind == "O":
        flat = [isinstance(value, float | np.floating) and math.isinf(value) for value in array.flat]
        infinite = np.array(flat, dtype=bool).reshape(array.shape)
    else:
        return
    if infinite.any():
        place = tuple(int(k) for k in np.argwhere(infinite)[0])
        where = f"row {place[0]}" if len(place) == 1 else f"place {place}"
        raise ValueError(
            f"{one} {array[place]} in {where}: {all_of_them} are classes, and none is infinite; give what is "
            "not known as NaN or None, which are counted as missing"
        )


def _holds_text(array: Array) -> bool:
    return isinstance(_first(array), str)


def _first(array: Array) -> Any:
    return next((value for value in array.reshape(-1).tolist() if not is_missing(value)), None)


def _multilabel(values: Array) -> Array:
    try:
        codes = values.astype(np.float64)
    except (TypeError, ValueError):
        codes = np.full(values.shape, 2.0)  # a text is neither 0 nor 1
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


def _positive_last(names: tuple[str, ...], positive: str) -> tuple[int, ...]:
    if positive not in names:
        raise ValueError(
            f"the positive class '{positive}' does not occur; the classes are {', '.join(names)}"
        )
    last = names.index(positive)
    return (*(k for k in range(len(names)) if k != last), last)
