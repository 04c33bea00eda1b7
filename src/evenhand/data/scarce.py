"""Scarce group labels: who somebody is stays known for a share of the rows, what is predicted for all.

S1 (Section 5) trains where fewer than 10 % of the images say who is on them. `hide_groups` makes that of any
task, so that methods for scarce labels can be compared where the truth is known.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.shift_counters import Counters
from evenhand.data.splits import check_seed
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN, Attribute

STREAM = "scarce"


def hide_groups(task: Task, share: float, seed: int = 0, part: str = "train") -> Task:
    """The same task, its attributes known for a `share` of the rows of one part and -1 for the others.

    All attributes of a row are hidden together; labels, inputs and the other parts stay. Which rows keep
    theirs is decided by the seed and a row's number alone, in an order that the share does not change: the
    rows of a smaller share are among those of a larger. A share of 1 gives back the task itself.

    >>> from evenhand.data import load
    >>> task = load("titanic")
    >>> few, more = hide_groups(task, 0.05), hide_groups(task, 0.1)
    >>> train = task.rows("train")
    >>> known = [one.attribute("sex").codes[train] >= 0 for one in (few, more)]
    >>> int(known[0].sum()), int(known[1].sum()), bool((known[0] <= known[1]).all())
    (52, 105, True)
    """
    check_labelled(share)
    check_seed(seed)
    rows = task.rows(part)
    if share == 1.0:
        return task
    n_kept = round(share * len(rows))
    if share and not n_kept:
        raise InputError(
            f"a share of {share} keeps the group labels of none of the {len(rows):,} rows of '{part}'; "
            f"name at least {1 / len(rows):.2g}, or 0 to hide all"
        )
    hidden = _order(rows, seed)[n_kept:].numpy()
    note = f"Attributes are known for {n_kept:,} of the {len(rows):,} rows of '{part}', hidden in the others."
    card = replace(
        task.card, notes=(*task.card.notes, note), knobs={**task.card.knobs, "labelled": float(share)}
    )
    return replace(task, attributes=tuple(_without(a, hidden) for a in task.attributes), card=card)


def check_labelled(share: float) -> float:
    """The value itself if it can be a share of the rows whose group labels are known."""
    if isinstance(share, bool) or not isinstance(share, (int, float, np.floating)) or not 0.0 <= share <= 1.0:
        raise InputError(f"the share of rows with group labels must be a number from 0 to 1, not {share!r}")
    return share


def _order(rows: Tensor, seed: int) -> Tensor:
    """The rows in a drawn order that does not depend on the order in which they are given."""
    keys = Counters.of(int(seed), STREAM, rows.cpu()).keys  # no two rows have the same
    return rows.cpu()[torch.argsort(keys)]


def _without(attribute: Attribute, rows: IntArray) -> Attribute:
    codes = np.array(attribute.codes, dtype=np.int64)
    codes[rows] = UNKNOWN
    return Attribute(attribute.name, attribute.levels, codes)
