"""What the ways to choose other rows of a task share: checks, the draw of rows, and the card's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.shift_counters import Counters
from evenhand.data.splits import check_seed
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

NUMBER = (int, float, np.integer, np.floating)


def check_ratio(ratio: float) -> float:
    """The value itself if it can be the number of rows of the largest group for one of the smallest."""
    if isinstance(ratio, bool) or not isinstance(ratio, NUMBER) or not 1.0 <= ratio < float("inf"):
        raise InputError(f"the ratio of the largest group to the smallest must be at least 1, not {ratio!r}")
    return ratio


def check_mixing(factor: float) -> float:
    """The value itself if it can be a mixing factor."""
    if isinstance(factor, bool) or not isinstance(factor, NUMBER) or not 0.0 <= factor <= 1.0:
        raise InputError(f"the mixing factor must be a number from 0 (s = y) to 1 (s != y), not {factor!r}")
    return factor


def codes_of(attribute: Attribute, rows: Tensor) -> IntArray:
    """The attribute's codes of these rows."""
    codes: IntArray = np.asarray(attribute.codes, dtype=np.int64)[rows.numpy()]
    return codes


def rank_of(rows: Tensor, seed: int, stream: str) -> IntArray:
    """A drawn place for each row, in an order that depends on the seed and on the rows' numbers alone.

    >>> rows = torch.tensor([5, 2, 9])
    >>> rank_of(rows, 0, "ratio").tolist() == rank_of(rows.flip(0), 0, "ratio")[::-1].tolist()
    True
    """
    keys = Counters.of(int(check_seed(seed)), stream, rows.cpu()).keys  # no two rows have the same
    return torch.argsort(torch.argsort(keys)).numpy()


def told_unknown(g: IntArray, what: str) -> str:
    """How many rows have no known group, and what was done with them; nothing where there are none.

    >>> told_unknown(np.array([0, -1]), "kept")
    ' (1 of unknown group: kept)'
    """
    number = int((g < 0).sum())
    return f" ({number:,} of unknown group: {what})" if number else ""


def with_rows(task: Task, part: str, rows: Tensor, note: str, knobs: Mapping[str, object]) -> Task:
    """The task with these rows for a part; its card tells so."""
    card = replace(task.card, notes=(*task.card.notes, note), knobs={**task.card.knobs, **knobs})
    return replace(task.with_split(**{part: rows}), card=card)
