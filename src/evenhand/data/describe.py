"""A task in plain numbers and texts: its card, rows of each part, shares of classes, sizes of groups."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.data.task import Task
from evenhand.groups import Attribute


def describe(task: Task) -> dict[str, Any]:
    """What `evenhand data` shows, as a dictionary that JSON can hold.

    >>> from evenhand.data import load
    >>> found = describe(load("titanic"))
    >>> found["parts"]["test"]
    {'rows': 262, 'classes': {'died': 162, 'survived': 100}}
    >>> found["attributes"][0]
    {'name': 'sex', 'unknown': 0, 'levels': {'female': 466, 'male': 843}}
    """
    card = task.card
    used = np.concatenate([rows.numpy() for rows in task.split.values()])
    return {
        "name": task.name,
        **{key: getattr(card, key) for key in ("title", "about", "origin", "licence", "citation", "target")},
        "notes": list(card.notes),
        "files": dict(card.files),
        "unchecked": list(card.unchecked),
        "knobs": {name: _plain(value) for name, value in card.knobs.items()},
        "rows": len(task),
        "inputs": list(task.input_shape),
        "columns": list(task.columns),
        "classes": list(task.classes),
        "multi_label": task.multi_label,
        "parts": {part: _part(task, part) for part in task.split},
        "attributes": [_attribute(attribute, used) for attribute in task.attributes],
    }


def _part(task: Task, part: str) -> dict[str, Any]:
    """The number of rows, and of those of each class (multi-label: with each label)."""
    y = task.y[task.rows(part)].numpy()
    counts = y.sum(axis=0) if task.multi_label else np.bincount(y, minlength=task.n_classes)
    return {"rows": len(y), "classes": {n: int(c) for n, c in zip(task.classes, counts, strict=True)}}


def _attribute(attribute: Attribute, rows: Any) -> dict[str, Any]:
    """The rows of each level among those that are in some part."""
    unknown, *counts = np.bincount(attribute.codes[rows] + 1, minlength=len(attribute.levels) + 1).tolist()
    levels = dict(zip(attribute.levels, counts, strict=True))
    return {"name": attribute.name, "unknown": unknown, "levels": levels}


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
