"""Other rows of the same task: groups rebalanced to a ratio, label and group mixed, a balanced test draw.

S0's C-R1 to C-R3 and I-R1 to I-R3 train on rebalanced rows (Wang et al. 2019), its N-* on mixed ones
(Kehrenberg et al. 2020). Inputs, labels and the other parts stay; the card says what was left out.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import torch

from evenhand.arrays import Array, IntArray
from evenhand.data.rebalancing_greedy import rows_within
from evenhand.data.rebalancing_rows import (
    check_mixing,
    check_ratio,
    codes_of,
    rank_of,
    told_unknown,
    with_rows,
)
from evenhand.data.shares import exact_count
from evenhand.data.task import Task
from evenhand.errors import InputError

TRAIN = "train"


def rebalanced(task: Task, attribute: str, ratio: float, seed: int = 0) -> Task:
    """The same task with fewer training rows: max over groups / min over groups <= `ratio` for every label.

    One label a row: of each class min(n_g, ratio * min_h n_h) rows of every group g are kept (rounded down),
    drawn by the seed; those of a smaller ratio are among those of a larger. Several labels a row: rows are
    taken away greedily, see `rebalancing_greedy.rows_within`; then a ratio of exactly 1 is a knife's edge
    that may leave next to nothing where most rows have many labels, and 1.02 leaves much. A class or label
    that a group has no row of loses all its rows: the card's notes name it. Rows of unknown group are kept
    and counted nowhere.

    >>> from evenhand.data import load
    >>> task = rebalanced(load("titanic"), "sex", 2)
    >>> rows = task.rows("train")
    >>> cells = 2 * task.y[rows] + torch.from_numpy(task.attribute("sex").codes[rows])
    >>> torch.bincount(cells).tolist()  # women and men who died, women and men who survived
    [100, 200, 242, 121]
    """
    check_ratio(ratio)
    found, rows = task.attribute(attribute), task.rows(TRAIN)
    y, g, rank = task.y[rows].numpy(), codes_of(found, rows), rank_of(rows, seed, "ratio")
    if task.multi_label:
        kept = rows_within(y, g, len(found.levels), ratio, rank)
    else:
        kept = _rows_of_classes(y, g, (task.n_classes, len(found.levels)), ratio, rank)
    emptied = _emptied(task, y[kept])
    if len(emptied) == task.n_classes:
        hint = " (try 1.02)" if ratio == 1 and task.multi_label else ""
        raise InputError(
            f"a ratio of {ratio:g} by '{attribute}' leaves no training row of any of the {task.n_classes} "
            f"{_kind(task)}; name a larger one{hint}, or another attribute"
        )
    gone = f" Nothing is left of: {', '.join(emptied)}." if emptied else ""
    note = (
        f"Training rows were left out until no level of '{attribute}' had more than {ratio:g} times the rows "
        f"of another in any of the {_kind(task)}: {int(kept.sum()):,} of {len(rows):,} are kept"
        f"{told_unknown(g, 'kept')}.{gone}"
    )
    return with_rows(task, TRAIN, rows[torch.from_numpy(kept)], note, {"ratio": float(ratio)})


def mixed(task: Task, attribute: str, factor: float, seed: int = 0) -> Task:
    """The same task with training rows in which the attribute s tells the label y, or its opposite.

    Of the training rows with s = y (equal codes) the share min(1, 2 * (1 - factor)) is kept, of those with
    s != y the share min(1, 2 * factor), rounded down and drawn by the seed: 0 keeps s = y alone, 0.5 every
    row, 1 s != y alone, and the shares change linearly in between, as the mixing factor of NIFR's code does
    with as many rows as there are. Attribute and label need the same number of values. Rows of unknown group
    are left out and counted in the card's notes.

    >>> from evenhand.data import load
    >>> task = mixed(load("titanic"), "sex", 0.25)  # women are 0, and so are those who died
    >>> rows = task.rows("train")
    >>> torch.bincount((task.y[rows] == torch.from_numpy(task.attribute("sex").codes[rows])).long()).tolist()
    [413, 221]
    """
    check_mixing(factor)
    found, rows = task.attribute(attribute), task.rows(TRAIN)
    if task.multi_label or len(found.levels) != task.n_classes:
        raise InputError(
            f"mixing compares one label a row with '{attribute}' ({len(found.levels)} levels), and the task "
            f"'{task.name}' has {task.n_classes} {_kind(task)}; both need the same number of values"
        )
    y, g, rank = task.y[rows].numpy(), codes_of(found, rows), rank_of(rows, seed, "mixing")
    kept = np.zeros(len(rows), dtype=bool)
    # of the numbers as they are written: 2 * (1 - 0.7) is 0.6, and not a little more
    share = Fraction(str(factor))
    for these, most in ((g == y, 2 * (1 - share)), ((g != y) & (g >= 0), 2 * share)):
        members = np.flatnonzero(these)
        n_kept = int(min(Fraction(1), most) * len(members))
        kept[members[rank[members].argsort()[:n_kept]]] = True
    if not kept.any():
        raise InputError(f"mixing={factor:g} by '{attribute}' leaves no training row of '{task.name}'")
    same = int((g == y)[kept].sum())
    note = (
        f"Training rows were mixed by the factor {factor:g}: '{attribute}' has the label's code in {same:,} "
        f"of the {int(kept.sum()):,} that are kept of {len(rows):,}{told_unknown(g, 'left out')}."
    )
    return with_rows(task, TRAIN, rows[torch.from_numpy(kept)], note, {"mixing": float(factor)})


def balanced_test(task: Task, attribute: str, per_group: int, seed: int = 0) -> Task:
    """The same task with `per_group` test rows of every level of the attribute, drawn by the seed.

    S0 measures C-* on 1,500 men and 1,500 women, I-* on 3,000 of each. The rows of a smaller number are among
    those of a larger.

    >>> from evenhand.data import load
    >>> len(balanced_test(load("titanic"), "sex", 50).rows("test"))
    100
    """
    found, rows = task.attribute(attribute), task.rows("test")
    g, rank = codes_of(found, rows), rank_of(rows, seed, "balanced")
    sizes = {level: int((g == code).sum()) for code, level in enumerate(found.levels)}
    few = min(sizes, key=lambda level: sizes[level])
    if (
        isinstance(per_group, bool)
        or not isinstance(per_group, (int, np.integer))
        or not 1 <= per_group <= sizes[few]
    ):
        raise InputError(
            f"a balanced test needs a whole number of rows of each level of '{attribute}', from 1 to "
            f"{sizes[few]:,} (those of '{few}'), not {per_group!r}"
        )
    order = rank.argsort()
    kept = np.zeros(len(rows), dtype=bool)
    for code in range(len(found.levels)):
        kept[order[g[order] == code][:per_group]] = True
    note = f"The test has {per_group:,} rows of each level of '{attribute}', drawn from {len(rows):,}."
    return with_rows(task, "test", rows[torch.from_numpy(kept)], note, {})


def composed(
    task: Task, by: str, usual: str, *, ratio: float | None = None, mixing: float | None = None, seed: int = 0
) -> Task:
    """What the knobs `mixing` and `ratio` of a loader ask for, in this order; without them the task itself.

    `by` is the attribute that they are about, the `usual` one where it is empty.
    """
    if by and ratio is None and mixing is None:
        raise InputError(f"the knob by={by!r} says what ratio or mixing is about; name one of these, too")
    if by:
        task = replace(task, card=replace(task.card, knobs={**task.card.knobs, "by": by}))
    if mixing is not None:
        task = mixed(task, by or usual, mixing, seed)
    return task if ratio is None else rebalanced(task, by or usual, ratio, seed)


def _rows_of_classes(y: IntArray, g: IntArray, sizes: tuple[int, int], ratio: float, rank: IntArray) -> Array:
    """Of every class and group the first rows by rank, as many as the class's smallest group allows."""
    n_classes, n_groups = sizes
    kept = g < 0
    for label in range(n_classes):
        members = [np.flatnonzero((y == label) & (g == group)) for group in range(n_groups)]
        most = exact_count(ratio, min(map(len, members)))
        for rows in members:
            kept[rows[rank[rows].argsort()[:most]]] = True
    return kept


def _emptied(task: Task, y: IntArray) -> list[str]:
    """The classes or labels that none of the rows has."""
    counts = y.sum(axis=0) if task.multi_label else np.bincount(y, minlength=task.n_classes)
    return [name for name, count in zip(task.classes, counts, strict=True) if not count]


def _kind(task: Task) -> str:
    return "labels" if task.multi_label else "classes"
