"""The distinct values of a column as plain Python values, whatever file they came from.

true, 1 and 1.0 are one value. Text from a CSV becomes numbers or booleans where all of it is: judged by the
distinct values of the whole column, not by its first lines, so that the order of rows does not matter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

import polars as pl

WHOLE = re.compile(r"[+-]?(0|[1-9][0-9]*)")  # not 007, which is a code and no number
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]*)?([eE][+-]?[0-9]+)?")
TRUTH = {"true": True, "false": False}
NOT_AVAILABLE = {"na", "nan", "n/a", "null", "none", "<na>"}  # missing among numbers; may be a name in text
RUNS_SHOWN = 5  # names of runs listed in a message

Value = Any  # bool, int, float, str, a date or a time; None where the value is missing


def plain_values(distinct: pl.Series, *, parse: bool) -> list[Value]:
    """One plain value for each of the distinct values, None for null, NaN and empty text.

    `parse`: the text comes from a CSV.

    >>> plain_values(pl.Series([0.0, 1.0, None, float("nan")]), parse=False)
    [0, 1, None, None]
    """
    if parse and distinct.dtype == pl.String:
        return parse_texts(distinct.to_list())
    return [_plain(value) for value in distinct.to_list()]


def parse_texts(texts: Sequence[str | None]) -> list[Value]:
    """Numbers or booleans where every text is one, else text without the spaces around it.

    >>> parse_texts(["1", "0", " 2", "NA", None]), parse_texts(["1.0", "0.5"]), parse_texts(["True", ""])
    ([1, 0, 2, None, None], [1, 0.5], [True, None])
    >>> parse_texts(["02139", "1", "NA"])
    ['02139', '1', 'NA']
    """
    trimmed = [text.strip() if text is not None else "" for text in texts]
    present = {text for text in trimmed if text and text.lower() not in NOT_AVAILABLE}
    if present and all(_is_number(text) for text in present):
        return [_number(text) if text in present else None for text in trimmed]
    if all(text.lower() in TRUTH for text in present):  # also a column of nothing but NA: all missing
        return [TRUTH.get(text.lower()) for text in trimmed]
    return [text or None for text in trimmed]


def is_text(values: Iterable[Value]) -> bool:
    """Whether any of the values is neither a number nor a boolean."""
    return any(not isinstance(value, (bool, int, float)) for value in values if value is not None)


def natural_order(values: Iterable[Value]) -> list[Value]:
    """Numbers by size, text by its characters, dates by time; each value once, missing ones left out.

    >>> natural_order([10, 9, None, True, 1]), natural_order(["b", "a10", "a9"])
    ([True, 9, 10], ['a10', 'a9', 'b'])
    """
    distinct = {value for value in values if value is not None}
    try:
        return sorted(distinct)
    except TypeError:
        return sorted(distinct, key=lambda value: (str(type(value)), str(value)))


def shown(values: Iterable[Value], most: int = 3) -> str:
    """Some of the values as a message shows them.

    >>> shown(["yes", "no"]), shown(range(9))
    ("'no', 'yes'", '0, 1, 2, ...')
    """
    ordered = natural_order(values)
    return ", ".join(repr(value) for value in ordered[:most]) + (", ..." if len(ordered) > most else "")


def _plain(value: Value) -> Value:
    if isinstance(value, (float, Decimal)):
        value = float(value)
        if math.isnan(value):
            return None
        return int(value) if value.is_integer() else value
    return None if isinstance(value, str) and not value.strip() else value


def _is_number(text: str) -> bool:
    return NUMBER.fullmatch(text) is not None and any(sign.isdigit() for sign in text.lower().split("e")[0])


def _number(text: str) -> int | float:
    return int(text) if WHOLE.fullmatch(text) else _plain(float(text))
