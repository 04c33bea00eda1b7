"""The columns of whatever table a user has, by name: pandas, polars, or a dict; none of them is imported."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from evenhand.arrays import IntArray, as_array, is_array_like
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.levels import categories_of, code_values, level_name

SHOWN = 20  # column names listed in a message
MOST_NUMBERS = 50  # distinct numbers that may be groups or classes; more are measurements
MOST_TEXTS = 1000  # distinct texts that may be groups or classes; more are names of single rows


def is_table(value: Any) -> bool:
    """Whether a value has columns with names: a data frame, or a dict of columns.

    >>> is_table({"age": [20, 30]}), is_table([20, 30])
    (True, False)
    """
    if type(value).__name__ == "LazyFrame":  # it warns when it is asked for its columns
        return True
    return isinstance(value, Mapping) or (hasattr(value, "columns") and hasattr(value, "__getitem__"))


def columns_of(table: Any, only: Sequence[str] | None = None) -> dict[str, Any]:
    """The columns by name, each as the table's own type; all of one length, and with rows.

    Of a table to predict, `only` the columns that were learned from are looked at; it may have no rows.
    """
    found = _by_name(table.collect() if type(table).__name__ == "LazyFrame" else table, only)
    single = next((name for name, column in found.items() if not is_array_like(column)), None)
    if single is not None:
        raise InputError(f"the column '{single}' must have one value a row, not only {found[single]!r:.40}")
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        short, long = min(lengths, key=lengths.__getitem__), max(lengths, key=lengths.__getitem__)
        raise InputError(
            f"'{short}' has {lengths[short]} rows and '{long}' has {lengths[long]}; make them equal"
        )
    if only is None and not any(lengths.values()):
        raise InputError("the table has no rows; there is nothing to learn from")
    return found


def _by_name(table: Any, only: Sequence[str] | None) -> dict[str, Any]:
    """The columns by name; a name is a text, and two that are then alike are refused."""
    if not is_table(table):
        kind = type(table).__name__
        raise InputError(f"a table is a data frame (pandas, polars) or a dict of columns, not a {kind}")
    own = list(table if isinstance(table, Mapping) else table.columns)
    names = [str(name) for name in own]
    wanted = set(names if only is None else only)
    check_columns(names, only or (), "inputs")
    twice = next((name for name in names if name in wanted and names.count(name) > 1), None)
    if twice is not None:
        raise InputError(f"the table has two columns called '{twice}'; rename one")
    return {str(name): table[name] for name in own if str(name) in wanted}


def check_columns(columns: Iterable[str], wanted: Sequence[str], part: str) -> None:
    """Every wanted name is a column; the nearest right names are told where one is not."""
    names = list(columns)
    for name in wanted:
        if name not in names:
            lower = {known.lower(): known for known in names}
            near = [lower[match] for match in get_close_matches(str(name).lower(), lower, n=3, cutoff=0.5)]
            hint = f"; did you mean {' or '.join(repr(match) for match in near)}?" if near else "."
            more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
            listed = f"{', '.join(names[:SHOWN])}{more}"
            raise InputError(f"there is no column '{name}' for the {part}{hint} The table has: {listed}")


def code_label(column: Any, name: str, positive: object = None) -> tuple[tuple[str, ...], IntArray]:
    """The classes of a label column and each row's class; the positive one of two classes comes last.

    A categorical column orders the classes; a category that no row has is none of them.
    """
    values = as_array(column)
    if values.ndim != 1:
        raise InputError(f"the label '{name}' must have one value a row, not the shape {values.shape}")
    classes, codes = _occurring(*code_values(values, categories_of(column), name, unknown=None))
    missing = (codes < 0).nonzero()[0]
    if len(missing):
        raise InputError(
            f"the label '{name}' is missing in {len(missing):,} rows, the first of them row {missing[0]}; "
            "leave such rows out"
        )
    _refuse_measurement(f"the label '{name}'", values.dtype.kind, classes)
    if len(classes) < 2:
        raise InputError(
            f"the label '{name}' has only the class {classes[0]!r}; there is nothing to tell apart"
        )
    if positive is None:
        return classes, codes
    wanted = level_name(positive)
    if len(classes) != 2 or wanted not in classes:
        listed = ", ".join(classes)
        raise InputError(f"positive={positive!r} must be one of two classes; '{name}' has: {listed}")
    return (classes, codes) if wanted == classes[1] else (classes[::-1], 1 - codes)


def _occurring(classes: tuple[str, ...], codes: IntArray) -> tuple[tuple[str, ...], IntArray]:
    """Without the classes that no row has: rows were taken out of a frame, and their category stayed."""
    used = np.unique(codes[codes >= 0])
    place = np.full(len(classes) + 1, -1)
    place[used] = np.arange(len(used))
    return tuple(classes[number] for number in used), place[codes]


def code_attribute(column: Any, name: str) -> Attribute:
    """A protected attribute; missing values are unknown, a measurement has to be cut into ranges first."""
    found = Attribute.from_values(column, name)
    _refuse_measurement(f"the attribute '{name}'", as_array(column).dtype.kind, found.levels)
    if not found.levels:
        raise InputError(f"the attribute '{name}' is unknown in every row; leave it out")
    return found


def _refuse_measurement(what: str, kind: str, levels: Sequence[str]) -> None:
    limit = MOST_NUMBERS if kind in "iuf" else MOST_TEXTS
    if len(levels) > limit:
        values = "numbers" if kind in "iuf" else "values"
        raise InputError(f"{what} has {len(levels):,} different {values}; cut it into ranges or groups first")
