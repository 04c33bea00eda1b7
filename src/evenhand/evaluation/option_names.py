"""The names of options that a function hands on: a misspelt one is told as the caller wrote it, at once."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable
from dataclasses import fields
from inspect import Parameter, signature
from typing import Any

from evenhand.evaluation.options import Options


def refuse_unknown(
    function: Callable[..., Any], given: Iterable[str], further: Callable[..., Any] | None = None
) -> None:
    """Refuse a name that is no option of the function, of the one that it hands them on to, or of an audit.

    >>> import evenhand
    >>> refuse_unknown(evenhand.compare, ["mincount"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    TypeError: compare has no option 'mincount'; did you mean 'min_count'? Its options are: groups, base, ...
    """
    handed_on = [] if further is None else _options(further)
    known = dict.fromkeys([*_options(function), *handed_on, *(item.name for item in fields(Options))])
    for name in given:
        if name not in known:
            known.pop("privileged_index")  # a comparison works it out itself
            near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
            hint = f"; did you mean '{near[0]}'?" if near else "."
            called = function.__qualname__
            raise TypeError(f"{called} has no option '{name}'{hint} Its options are: {', '.join(known)}")


def _options(function: Callable[..., Any]) -> list[str]:
    parameters = signature(function).parameters.values()
    return [one.name for one in parameters if one.default is not Parameter.empty]
