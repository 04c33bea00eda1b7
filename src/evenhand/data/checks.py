"""Whether the parts of a task fit together: one clear sentence for the first thing that does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.data.task import Task


def check_task(task: Task) -> None:
    """Raise `InputError` for the first thing that is wrong with a task; say nothing of a good one."""
    for check in (_lengths, _labels, _attributes, _splits, _inputs):
        for problem in check(task):
            raise InputError(f"the task '{task.name}' {problem}")


def _lengths(task: Task) -> Iterator[str]:
    if not len(task.y):
        yield "has no rows"
    if len(task.x) != len(task.y):
        yield f"has {len(task.x):,} rows of inputs and {len(task.y):,} labels; there must be one label a row"
    for attribute in task.attributes:
        if len(attribute) != len(task.y):
            yield f"has {len(attribute):,} values of '{attribute.name}' for {len(task.y):,} rows"


def _labels(task: Task) -> Iterator[str]:
    if task.y.is_floating_point() or task.y.is_complex() or task.y.ndim not in (1, 2):
        shape = tuple(task.y.shape)
        yield f"has labels of type {task.y.dtype} and shape {shape}; whole numbers [N] or [N, L] are needed"
        return
    if not task.multi_label and task.n_classes < 2:
        yield f"has {task.n_classes} classes; name at least two in `classes`"
    if task.multi_label and task.y.shape[1] != task.n_classes:
        yield f"has {task.y.shape[1]} labels a row and {task.n_classes} names for them in `classes`"
    top = 1 if task.multi_label else task.n_classes - 1
    wrong = ((task.y < 0) | (task.y > top)).nonzero()
    if len(wrong):
        value = int(task.y[tuple(wrong[0])])
        yield f"has the label {value} in row {int(wrong[0, 0])}; labels must be within 0..{top}"


def _attributes(task: Task) -> Iterator[str]:
    names = [attribute.name for attribute in task.attributes]
    for name in names:
        if names.count(name) > 1:
            yield f"has two attributes called '{name}'; rename one"
    for attribute in task.attributes:
        codes = np.asarray(attribute.codes)
        if codes.dtype.kind not in "iu":
            yield f"codes '{attribute.name}' by {codes.dtype}; whole numbers are needed, -1 for unknown"
            continue
        wrong = np.flatnonzero((codes < -1) | (codes >= len(attribute.levels)))
        if len(wrong):
            yield (
                f"codes '{attribute.name}' as {codes[wrong[0]]} in row {wrong[0]}; it has "
                f"{len(attribute.levels)} levels, so codes are -1 (unknown) to {len(attribute.levels) - 1}"
            )


def _splits(task: Task) -> Iterator[str]:
    if not len(task.split.get("train", ())):
        yield "has no rows for training; `split` needs a 'train' part"
    used = torch.zeros(len(task.y), dtype=torch.bool)
    for part, rows in task.split.items():
        problem = _rows_problem(rows, len(task.y))
        if problem:
            yield f"has a part '{part}' {problem}"
            continue
        if used[rows].any():
            row = int(rows[used[rows]][0])
            yield f"has row {row} in the part '{part}' and in another; a row belongs to one part at most"
        used[rows] = True


def _rows_problem(rows: Tensor, n_rows: int) -> str:
    if rows.ndim != 1 or rows.is_floating_point() or rows.dtype == torch.bool:
        return f"of type {rows.dtype} and shape {tuple(rows.shape)}; row numbers [n] are needed"
    outside = rows[(rows < 0) | (rows >= n_rows)]
    if len(outside):
        return f"with row {int(outside[0])}; rows are 0 to {n_rows - 1}"
    if int(torch.bincount(rows, minlength=1).max()) > 1:
        return "that names a row twice"
    return ""


def _inputs(task: Task) -> Iterator[str]:
    if not task.input_shape or not all(task.input_shape):
        yield f"has inputs of the shape {task.input_shape}; each row needs at least one number"
        return
    if not isinstance(task.x, Tensor) or not task.x.is_floating_point():
        return  # bytes are finite, and images in files are looked at when they are decoded
    if task.columns and task.x.shape[1:] != (len(task.columns),):
        yield f"has inputs of shape {tuple(task.x.shape[1:])} and {len(task.columns)} column names"
    # one number tells; only where it is not finite is every entry looked at
    if not torch.isfinite(task.x.sum(dtype=torch.float64)):
        wrong = (~torch.isfinite(task.x)).nonzero()
        if len(wrong):
            row, *place = (int(index) for index in wrong[0])
            column = f"column '{task.columns[place[0]]}'" if task.columns else f"place {place}"
            value = float(task.x[tuple(wrong[0])])
            yield f"has the input {value} in row {row}, {column}; inputs must be finite"
