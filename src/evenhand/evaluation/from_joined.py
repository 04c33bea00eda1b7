"""From the joined rows of several models' files to what a comparison looks at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.rows import MOST_CELLS
from evenhand.groups import Groups
from evenhand.tables.joined import Joined


def rows_of_joined(joined: Joined, files: Sequence[dict[str, Any]] = ()) -> Rows:
    """Coded rows; where there are several runs, one row of predictions for each: `[R, N]`."""
    joined = _with_two_classes(joined)
    groups = Groups.from_attributes(joined.attributes, most=MOST_CELLS) if joined.attributes else None
    ids = np.zeros(len(joined.y), dtype=np.int64) if groups is None else groups.ids
    rows: slice | Array = slice(None)
    predictions = dict(joined.predictions)
    if len(joined.runs) > 1:
        stack = _stack(joined)
        rows = stack[0]
        predictions = {name: codes[stack] for name, codes in predictions.items()}
    return Rows(
        joined.y[rows],
        predictions,
        joined.classes,
        ids[rows],
        groups.names if groups else (),
        None if joined.weight is None else joined.weight[rows],
        joined.missing,
        tuple(attribute.name for attribute in joined.attributes),
        tuple(_notes(joined)),
        tuple(files),
        tuple(attribute.at(rows) for attribute in joined.attributes),
    )


def _with_two_classes(joined: Joined) -> Joined:
    """A single class in all rows is still one of two: it, and its absence."""
    if len(joined.classes) != 1:
        return joined
    only = joined.classes[0]
    ones = {name: np.ones_like(codes) for name, codes in joined.predictions.items()}
    return replace(joined, classes=(f"not {only}", only), y=np.ones_like(joined.y), predictions=ones)


def _stack(joined: Joined) -> Array:
    """The places of each run's lines, `[R, N]`: a column is one row, as its number says."""
    return np.lexsort((joined.row, joined.run)).reshape(len(joined.runs), -1)


def _notes(joined: Joined) -> list[str]:
    notes = []
    for name, left in joined.unmatched.items():
        if left.base or left.alternative:
            notes.append(
                f"{name}: {left.base:,} rows of the base are not in its file and {left.alternative:,} of its "
                "rows are not in the base's; both were left out"
            )
    if joined.runs_left_out:
        named = ", ".join(f"'{name}'" for name in joined.runs_left_out)
        notes.append(f"runs that are not in every file were left out: {named}")
    if len(joined.runs) == 1:
        notes.append(
            f"there is only one run ('{joined.runs[0]}'): nothing can be said of run-to-run variance"
        )
    return notes
