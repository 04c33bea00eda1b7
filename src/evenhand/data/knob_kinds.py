"""A knob's value is of the kind that its loader declares: told before anything is read or downloaded."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


# what a loader writes behind the colon: how a person says it, and whether a value is one
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _whole),
    "float": ("a number", lambda value: _whole(value) or (isinstance(value, float) and math.isfinite(value))),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "Path": ("a path", lambda value: isinstance(value, Path)),
    "None": ("None", lambda value: value is None),
}


def checked_knob(name: str, value: Any, declared: str) -> Any:
    """The value itself (numpy's numbers as Python's) if it is of a declared kind; a seed is at least 0.

    A kind that is not known here is the loader's own to check.

    >>> checked_knob("validation", 0.1, "float | None")
    0.1
    >>> checked_knob("seed", None, "int")
    Traceback (most recent call last):
    evenhand.errors.InputError: the knob seed=None must be a whole number of at least 0
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    kinds = [kind.strip() for kind in declared.split("|")]
    if any(kind not in KINDS for kind in kinds):
        return value
    least = " of at least 0" if name == "seed" else ""
    if any(KINDS[kind][1](value) for kind in kinds) and not (least and value < 0):
        return value
    words = " or ".join(KINDS[kind][0] for kind in kinds)
    raise InputError(f"the knob {name}={value!r} must be {words}{least}")
