"""Counting rows into cells (group, truth, prediction): fast, exact, and with no copy of the rows.

The joint code of a row is built block by block in a buffer that stays in the cache, in the narrowest type
that holds it, and counted there; two or more threads share the pieces of a long array. Torch tensors are
counted on the device they live on, and only the small table comes over.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from evenhand.arrays import Array, is_torch

BLOCK = 1 << 17  # bytes of codes made and counted at a time: they fit the second-level cache
THREAD_ROWS = 1 << 20  # the fewest rows worth handing to a thread
PIECES = 4  # of a long array: the most threads that share it
PAIRED_CELLS = 256  # up to here the table of all pairs of cells fits the cache as well
SPARSE = 16  # a table with so many times more cells than rows is written only where rows fall
DEVICE_BLOCK = 1 << 24


def tally(g: Array, y: Array, p: Array, n_groups: int, n_classes: int, weights: list[Array]) -> list[Array]:
    """Tables `[G + 1, C, C]`, the last group row holding the rows of unknown group (code -1).

    Without weights one table of whole numbers; with them one float table for each weight vector.

    >>> one = np.array([0, 1, 1])
    >>> tally(np.array([0, 0, -1]), one, one, 1, 2, [])[0].tolist()
    [[[1, 0], [0, 1]], [[0, 0], [0, 1]]]
    """
    if is_torch(g):
        cells = _tally_torch(g, y, p, n_groups, n_classes, weights)
    else:
        cells = _tally_numpy(g, y, p, n_groups, n_classes, weights)
    return [table.reshape(n_groups + 1, n_classes, n_classes) for table in cells]


def _tally_numpy(
    g: Array, y: Array, p: Array, n_groups: int, n_classes: int, weights: list[Array]
) -> list[Array]:
    """Count in pieces: the rounding of sums of weights then does not depend on the number of threads."""
    count = partial(_count_range, g, y, p, n_groups, n_classes, weights)
    piece = max(THREAD_ROWS, len(g) // PIECES, 4 * (n_groups + 1) * n_classes**2)
    piece += -piece % BLOCK  # whole blocks, which begin where a cache line does
    starts = range(0, len(g), piece) or range(1)
    stops = [min(start + piece, len(g)) for start in starts]
    workers = min(PIECES, cores(), len(starts))
    if workers == 1:
        return _sum_parts(list(map(count, starts, stops)))
    with ThreadPoolExecutor(workers) as pool:
        return _sum_parts(list(pool.map(count, starts, stops)))


def _sum_parts(parts: list[list[Array]]) -> list[Array]:
    return [kind[0] if len(kind) == 1 else np.sum(kind, axis=0) for kind in zip(*parts, strict=True)]


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count_range(
    g: Array, y: Array, p: Array, n_groups: int, n_classes: int, weights: list[Array], start: int, stop: int
) -> list[Array]:
    columns = (
        _Column(g, n_groups, "group"),
        _Column(y, n_classes, "label"),
        _Column(p, n_classes, "prediction"),
    )
    n_cells = (n_groups + 1) * n_classes**2
    kind = np.dtype(_code_type(n_cells))
    block = max(BLOCK // kind.itemsize, 2 * n_cells)  # a table larger than this would cost more than the rows
    buffer = np.empty((3, min(block, stop - start)), dtype=kind)
    counter = _Counter(n_cells)
    sums = [np.zeros(n_cells) for _ in weights]
    for first in range(start, stop, block):
        rows = slice(first, min(first + block, stop))
        code = _codes(columns, rows, n_classes, buffer[:, : rows.stop - first])
        for total, weight in zip(sums, weights, strict=True):
            total += np.bincount(code, weight[rows], minlength=n_cells)
        if not weights:
            counter.add(code)
    return sums if weights else [counter.total()]


def _code_type(n_cells: int) -> type[np.integer[Any]]:
    """The narrowest type for the codes 0 .. n_cells - 1: the narrower, the more of them in one step."""
    for most, kind in ((1 << 8, np.uint8), (1 << 16, np.uint16), (1 << 32, np.uint32)):
        if n_cells <= most:
            return kind
    raise ValueError(f"{n_cells} cells (groups x classes x classes) are more than one table can hold")


class _Counter:
    """Counts codes; those of a small table two at a time, which halves the work."""

    def __init__(self, n_cells: int) -> None:
        self.n_cells = n_cells
        self.single = np.zeros(n_cells, dtype=np.int64)
        self.paired = np.zeros(n_cells**2 if n_cells <= PAIRED_CELLS else 0, dtype=np.int64)

    def add(self, code: Array) -> None:
        if self.n_cells > SPARSE * len(code):  # 284 classes and 196 groups: 127 MB, nearly all of it empty
            np.add.at(self.single, code, 1)
            return
        half = len(code) // 2 if self.paired.size else 0
        if half:
            pair = np.multiply(code[:half], self.n_cells, dtype=np.uint16)
            pair += code[half : 2 * half]
            self.paired += np.bincount(pair, minlength=self.paired.size)
        if 2 * half < len(code):
            self.single += np.bincount(code[2 * half :], minlength=self.n_cells)

    def total(self) -> Array:
        if not self.paired.size:
            return self.single
        pairs = self.paired.reshape(self.n_cells, self.n_cells)
        return np.asarray(self.single + pairs.sum(axis=0) + pairs.sum(axis=1))


class _Column:
    """Codes 0 .. limit - 1, of which blocks are checked and brought into a narrow type."""

    def __init__(self, values: Array, limit: int, what: str) -> None:
        self.values, self.limit, self.what = values, limit, what
        # read as an unsigned number a negative code is a huge one, so that one comparison finds both faults
        self.unsigned = values.view(values.dtype.str.replace("i", "u"))
        self.sure = min(limit, 1 << (8 * values.dtype.itemsize - (values.dtype.kind == "i")))

    def narrow(self, rows: slice, out: Array) -> None:
        doubtful = np.maximum.reduce(self.unsigned[rows]) >= self.sure
        if doubtful:
            check_codes(self.values[rows], self.limit, self.what, rows.start)
        np.copyto(out, self.values[rows], casting="unsafe")  # checked, so nothing is lost
        if doubtful:  # the unknown group, -1, which has wrapped round to the largest number
            np.minimum(out, self.limit, out=out)


def _codes(columns: tuple[_Column, _Column, _Column], rows: slice, n_classes: int, buffer: Array) -> Array:
    """(group C + truth) C + prediction; the unknown group comes last."""
    for column, out in zip(columns, buffer, strict=True):
        column.narrow(rows, out)
    code, *others = buffer
    for digit in others:
        code *= n_classes
        code += digit
    return np.asarray(code)


def check_codes(values: Array, limit: int, what: str, first: int = 0) -> None:
    """Refuse codes outside 0 .. limit - 1 (a group may be -1, unknown), naming the first row at fault."""
    outside = (values < (-1 if what == "group" else 0)) | (values >= limit)
    if outside.any():
        row = int(np.argmax(outside))
        raise ValueError(
            f"{what} {values[row]} in row {first + row} is outside 0..{limit - 1}; "
            f"codes run from 0 to the number of {'groups' if what == 'group' else 'classes'} minus 1"
        )


def _tally_torch(g: Any, y: Any, p: Any, n_groups: int, n_classes: int, weights: list[Any]) -> list[Array]:
    import torch  # only reached with a tensor in hand, so torch is loaded already

    n_cells = (n_groups + 1) * n_classes * n_classes
    totals = [
        torch.zeros(n_cells, dtype=torch.float64 if weights else torch.int64, device=g.device)
        for _ in weights or [0]
    ]
    for first in range(0, len(g), DEVICE_BLOCK):
        rows = slice(first, first + DEVICE_BLOCK)
        code = _torch_codes(torch, g[rows].long(), y[rows].long(), p[rows].long(), n_groups, n_classes, first)
        for total, weight in zip(totals, weights or [None], strict=True):
            total += torch.bincount(
                code, None if weight is None else weight[rows].double(), minlength=n_cells
            )
    return [total.cpu().numpy() for total in totals]


def _torch_codes(torch: Any, g: Any, y: Any, p: Any, n_groups: int, n_classes: int, first: int) -> Any:
    for values, low, limit, what in (
        (y, 0, n_classes, "label"),
        (p, 0, n_classes, "prediction"),
        (g, -1, n_groups, "group"),
    ):
        outside = (values < low) | (values >= limit)
        if bool(outside.any()):
            row = int(outside.nonzero()[0])
            check_codes(np.array([int(values[row])]), limit, what, first + row)
    return (torch.where(g < 0, n_groups, g) * n_classes + y) * n_classes + p
