"""What the training rows of a user's table say about its encoding; what was done is told, for the card."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from torch import Tensor

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.data.encode import Block, join, shift_and_scale
from evenhand.data.encoding import Numbers, TableEncoding, Texts
from evenhand.data.table_features import equals_label, read_numbers, read_texts, values_of
from evenhand.errors import InputError

MANY_NUMBERS = 10  # texts that spell numbers and are still likely codes
MOST_LEVELS = 200  # one-hot columns of one text column; more are likely names of single rows

Notes = list[str]


def learn_table(
    columns: Mapping[str, Any], train: IntArray, y: IntArray, label: str
) -> tuple[TableEncoding, Tensor, tuple[str, ...]]:
    """The encoding, the inputs of all rows by it, and notes for the card.

    Inputs that are constant in the training rows are left out.
    """
    rules, blocks, notes = list[Numbers | Texts](), list[Block](), Notes()
    for name, column in columns.items():
        rule, block, told = learn_column(name, column, train)
        rules.append(rule)
        blocks.append(block)
        notes += told
        if equals_label(column, y):
            note = f"'{name}' tells the label '{label}' exactly: is it known when a prediction is made?"
            notes.append(note)
            warnings.warn(f"the column {note}", UserWarning, stacklevel=4)
    if not blocks:
        raise InputError("no column is left to learn from; name some in `features`")
    everything = join(blocks)
    varies = np.ptp(everything.values[train], axis=0) > 0
    if not varies.any():
        raise InputError("every input is constant in the training rows; there is nothing to learn from")
    names = np.array(everything.names, dtype=object)
    if not varies.all():
        notes.append(f"Left out, constant in the training rows: {', '.join(names[~varies])}.")
    values = everything.values[:, varies]
    shift, scale = shift_and_scale(values, train)
    used, places = _kept(rules, blocks, varies)
    encoding = TableEncoding(used, tuple(names[varies]), places, tuple(shift.tolist()), tuple(scale.tolist()))
    return encoding, encoding.scaled(values), tuple(notes)


def _kept(
    rules: Sequence[Numbers | Texts], blocks: Sequence[Block], varies: Array
) -> tuple[tuple[Numbers | Texts, ...], tuple[int, ...]]:
    """The columns with inputs that vary, as no others are needed later; the places of these inputs."""
    parts = np.split(varies, np.cumsum([len(block.names) for block in blocks])[:-1])
    used = [(rule, part) for rule, part in zip(rules, parts, strict=True) if part.any()]
    places = np.flatnonzero(np.concatenate([part for _, part in used]))
    return tuple(rule for rule, _ in used), tuple(places.tolist())


def learn_column(name: str, column: Any, train: IntArray) -> tuple[Numbers | Texts, Block, Notes]:
    """Numbers with gaps filled by the training median, texts as one-hot training levels.

    A filled column is followed by a column that says where it was filled. A missing text is a level of its
    own. A level that no training row has gets no column: such a row has 0 in all of them.

    >>> rule, block, _ = learn_column("fare", [1.0, None, 3.0], np.array([0, 1, 2]))
    >>> rule
    Numbers(name='fare', fill=2.0, told=True)
    >>> block.names, block.values.tolist()
    (('fare', 'fare missing'), [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]])
    """
    values = values_of(name, column)
    found = read_numbers(name, values)
    if found is not None:
        number, told = _learn_numbers(name, found, train)
        return number, number.block(found), told
    texts = read_texts(values)
    text, told = _learn_texts(name, texts, train)
    return text, text.block(texts), told


def _learn_numbers(name: str, values: FloatArray, train: IntArray) -> tuple[Numbers, Notes]:
    gaps = np.isnan(values)
    if gaps[train].all():
        raise InputError(f"the column '{name}' is missing in every training row; leave it out")
    rule = Numbers(name, float(np.median(values[train][~gaps[train]])), told=bool(gaps.any()))
    note = f"'{name}' lacks {int(gaps.sum()):,} values: filled with the training median, told by a column."
    return rule, [note] if rule.told else []


def _learn_texts(name: str, texts: Sequence[str], train: IntArray) -> tuple[Texts, Notes]:
    levels = sorted({texts[row] for row in train})
    spelled = sum(map(_is_number, levels)) > 0.9 * len(levels)  # a few may be signs for what is missing
    if len(levels) > MOST_LEVELS:
        advice = "make numbers of them" if spelled else "group its values"
        raise InputError(
            f"the column '{name}' has {len(levels):,} different texts in the training rows, at most "
            f"{MOST_LEVELS} become inputs; leave it out (without=['{name}']) or {advice}"
        )
    notes = Notes()
    if spelled and len(levels) > MANY_NUMBERS:
        notes.append(
            f"'{name}' holds numbers written as texts: each of {len(levels)} is a level of its own, without "
            "order; make numbers of them if they are amounts."
        )
    if unseen := len(set(texts).difference(levels)):
        told = f"'{name}' has {unseen} levels that no training row has: such rows have 0 in all its columns."
        notes.append(told)
    return Texts(name, tuple(levels)), notes


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
