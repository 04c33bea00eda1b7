"""Whether a value is of the kind that a function declares for it: told before any work is done with it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _widths(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(_whole(item) and item > 0 for item in value)


def _blocks(value: Any) -> bool:
    return isinstance(value, (tuple, list)) and all(map(_widths, value))


# what a function writes behind the colon: how a person says it, and whether a value is one
KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "int": ("a whole number", _whole),
    "float": ("a number", lambda value: _whole(value) or (isinstance(value, float) and math.isfinite(value))),
    "bool": ("true or false", lambda value: isinstance(value, bool)),
    "str": ("a text", lambda value: isinstance(value, str)),
    "Path": ("a path", lambda value: isinstance(value, Path)),
    "None": ("None", lambda value: value is None),
    "Sequence[int]": ("a list of whole numbers of at least 1", _widths),
    "Sequence[Sequence[int]]": ("a list of lists of whole numbers of at least 1", _blocks),
}


def checked_kind(what: str, value: Any, declared: str, least: int | None = None) -> Any:
    """The value itself (numpy's numbers as Python's) if it is of a declared kind, and not below `least`.

    A kind that is not known here is left to whoever declared it.

    >>> checked_kind("the knob validation", 0.1, "float | None")
    0.1
    >>> checked_kind("the knob seed", None, "int", least=0)
    Traceback (most recent call last):
    evenhand.errors.InputError: the knob seed=None must be a whole number of at least 0
    """
    if getattr(value, "ndim", None) == 0 and hasattr(value, "item"):
        value = value.item()
    kinds: Sequence[str] = [kind.strip() for kind in declared.split("|")]
    if any(kind not in KINDS for kind in kinds):
        return value
    if any(KINDS[kind][1](value) for kind in kinds) and (least is None or value >= least):
        return value
    words = " or ".join(KINDS[kind][0] for kind in kinds)
    raise InputError(f"{what}={value!r} must be {words}{'' if least is None else f' of at least {least}'}")
