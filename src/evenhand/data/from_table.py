"""A task from a user's own table: `Task.from_table(frame, label="hired", attributes=["sex"])`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from evenhand.arrays import IntArray, as_array, as_codes
from evenhand.data.card import DataCard
from evenhand.data.splits import as_split, check_share, stratified
from evenhand.data.table_columns import check_columns, code_attribute, code_label, columns_of
from evenhand.data.table_learning import learn_table
from evenhand.data.task import PARTS, Task
from evenhand.errors import InputError

PART_NAMES = {"val": "validation", "valid": "validation", "dev": "validation"}

Split = float | str | Mapping[str, Any]


def task_from_table(
    table: Any,
    label: str,
    attributes: Sequence[str] | str,
    *,
    features: Sequence[str] | None = None,
    without: Sequence[str] = (),
    split: Split = 0.2,
    validation: float = 0.0,
    seed: int = 0,
    positive: object = None,
    attributes_in_x: bool = False,
    name: str = "table",
) -> Task:
    """A task from a pandas or polars data frame, or a dict of columns.

    label: any values; classes are sorted, and `positive` names the one of two that is class 1.
    attributes: any values; missing ones are unknown. They are no inputs unless `attributes_in_x`: a model
    that is not given the group can be used where the group is not known.
    features: the columns to learn from (default: all others), less those of `without`. Numbers are z-scored
    with gaps filled by the median, texts become one-hot columns; all by the training rows, all told on the
    card. Columns that are constant there are left out. The task's `encoding` does the same to other rows.
    split: the share of test rows, drawn by `seed` class by class (`validation` is a share of the rest); or
    the name of a column that holds train, validation and test; or a dict of row numbers or masks.

    >>> table = {"age": [20, 30, 40, 50], "sex": ["f", "m", "f", "m"], "hired": ["no", "no", "yes", "yes"]}
    >>> task = task_from_table(table, "hired", ["sex"], split={"train": [0, 1, 2], "test": [3]})
    >>> task.classes, task.columns, task.x.flatten().round(decimals=2)
    (('no', 'yes'), ('age',), tensor([-1.2200,  0.0000,  1.2200,  2.4500]))
    """
    columns, label = columns_of(table), str(label)
    protected = _names(attributes)
    check_columns(columns, [label], "label")
    check_columns(columns, protected, "attributes")
    classes, y = code_label(columns[label], label, positive)
    parts = _split(columns, split, validation, seed, y)
    if not len(parts.get("train", ())):
        raise InputError("the split leaves no rows for training; give it a part 'train'")
    apart = {label, *([split] if isinstance(split, str) else []), *(() if attributes_in_x else protected)}
    used = _features(columns, features, without, apart, label)
    inputs = {feature: columns[feature] for feature in used}
    encoding, x, notes = learn_table(inputs, parts["train"], y, label)
    knobs = {
        "label": label,
        "attributes": tuple(protected),
        "features": tuple(used),
        "split": split if isinstance(split, (int, float, str)) else "given",
        "validation": validation,
        "seed": seed,
        "positive": positive,
        "attributes_in_x": attributes_in_x,
    }
    return Task(
        name,
        x,
        torch.from_numpy(np.asarray(y, dtype=np.int64)),
        tuple(code_attribute(columns[attribute], attribute) for attribute in protected),
        as_split(parts),
        _card(name, label, classes, notes, knobs),
        classes=classes,
        columns=encoding.names,
        encoding=encoding,
    ).check()


def _features(
    columns: Iterable[str],
    features: Sequence[str] | None,
    without: Sequence[str],
    apart: set[str],
    label: str,
) -> list[str]:
    names = list(columns)
    left_out = _names(without)
    check_columns(names, left_out, "knob without")
    if features is None:
        return [name for name in names if name not in apart and name not in left_out]
    chosen = _names(features)
    check_columns(names, chosen, "features")
    if label in chosen:
        raise InputError(f"the label '{label}' is among the features; leave it out")
    return [name for name in chosen if name not in left_out]


def _names(given: Sequence[str] | str) -> list[str]:
    """Names of columns as `columns_of` has them: texts, also where the table's own are numbers."""
    return [given] if isinstance(given, str) else [str(name) for name in given]


def _split(
    columns: Mapping[str, Any], split: Split, validation: float, seed: int, y: IntArray
) -> dict[str, IntArray]:
    if validation and isinstance(split, (str, Mapping)):
        raise InputError("the split says which rows are for validation; leave the share `validation` out")
    if isinstance(split, str):
        check_columns(columns, [split], "split")
        return _split_by_column(as_array(columns[split]).tolist(), split)
    if isinstance(split, Mapping):
        return {_part(part): _rows(part, rows, len(y)) for part, rows in split.items()}
    return stratified(y, check_share("split", split), validation, seed)


def _split_by_column(values: Sequence[object], name: str) -> dict[str, IntArray]:
    parts: dict[str, list[int]] = {part: [] for part in PARTS}
    for row, value in enumerate(values):
        parts[_part(value, f" in row {row} of the column '{name}'")].append(row)
    return {part: np.array(rows, dtype=np.int64) for part, rows in parts.items() if rows or part == "train"}


def _part(value: object, where: str = "") -> str:
    text = str(value).strip().lower()
    part = PART_NAMES.get(text, text)
    if part not in PARTS:
        raise InputError(f"{value!r}{where} is no part of a split; the parts are {', '.join(PARTS)}")
    return part


def _rows(part: str, rows: Any, n_rows: int) -> IntArray:
    values = as_array(rows)
    if values.dtype.kind == "b":
        if len(values) != n_rows:
            raise InputError(f"a mask of the split has {len(values)} values for {n_rows} rows")
        return np.flatnonzero(values)
    try:
        found = np.asarray(as_codes(values, "rows"), dtype=np.int64)
    except ValueError as error:
        raise InputError(f"the part '{part}' of the split must hold row numbers, or a mask") from error
    wrong = found[(found < 0) | (found >= n_rows)]
    if len(wrong):
        raise InputError(f"the part '{part}' of the split has row {wrong[0]}; rows are 0 to {n_rows - 1}")
    return found


def _card(
    name: str, label: str, classes: Sequence[str], notes: tuple[str, ...], knobs: Mapping[str, object]
) -> DataCard:
    return DataCard(
        title=name,
        about="A table given by its user.",
        origin="the user's own table",
        licence="as the user's table",
        target=f"{label}: {', '.join(classes)}"
        + (f" (class 1 is {classes[1]})" if len(classes) == 2 else ""),
        notes=notes,
        knobs=knobs,
    )
