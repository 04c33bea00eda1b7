"""Fields of a method with what they mean, what is allowed, and where a search would look."""

from __future__ import annotations

import math
from dataclasses import Field, dataclass, field, fields
from difflib import get_close_matches
from typing import Any

from evenhand.errors import InputError


def number(
    default: float,
    about: str,
    *,
    at_least: float | None = 0.0,
    at_most: float | None = None,
    search: tuple[float, float] | None = None,
    log: bool = True,
) -> Any:
    """A number of a method; `search` is the range of a random search, on a log scale unless told."""
    facts = {"about": about, "at_least": at_least, "at_most": at_most, "search": search, "log": log}
    return field(default=default, metadata=facts)


def choice(default: str, options: tuple[str, ...], about: str) -> Any:
    """One of a few named forms of a method."""
    return field(default=default, metadata={"about": about, "options": options})


def text(default: str, allowed: str, about: str) -> Any:
    """Words that the method reads itself; `allowed` says what they may be."""
    return field(default=default, metadata={"about": about, "allowed": allowed})


def switch(default: bool, about: str) -> Any:
    """Something that is on or off."""
    return field(default=default, metadata={"about": about})


def check_fields(method: Any) -> None:
    """Refuse a value outside what its field allows."""
    for item in fields(method):
        _check(item, getattr(method, item.name), getattr(method, "key", "") or type(method).__name__)


def _check(item: Field[Any], value: Any, name: str) -> None:
    facts = item.metadata
    options = facts.get("options")
    if options and value not in options:
        near = get_close_matches(str(value), options, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise InputError(
            f"'{item.name}' of '{name}' must be one of {', '.join(options)}, not {value!r}{hint}"
        )
    if "at_least" in facts:
        _check_number(item, value, name)


def _check_number(item: Field[Any], value: Any, name: str) -> None:
    """Refuse what is no finite number, or outside its bounds; whole numbers where the default is one."""
    low, high = item.metadata["at_least"], item.metadata["at_most"]
    whole = isinstance(item.default, int)
    plain = isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
    if plain and math.isfinite(value) and (low is None or value >= low) and (high is None or value <= high):
        return
    kind = "a whole number" if whole else "a number"
    bounds = " and ".join(
        f"at {side} {bound}" for side, bound in (("least", low), ("most", high)) if bound is not None
    )
    of = f" of {bounds}" if bounds else ""
    raise InputError(f"'{item.name}' of '{name}' must be {kind}{of}, not {value!r}")


@dataclass(frozen=True)
class _Example:
    """
    >>> check_fields(_Example(-1.0))
    Traceback (most recent call last):
    evenhand.errors.InputError: 'lam' of '_Example' must be a number of at least 0.0, not -1.0
    """

    lam: float = number(1.0, "weight")
