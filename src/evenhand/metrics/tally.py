"""Counting rows into cells (group, truth, prediction): fast, exact, and with no copy of the rows.

The joint code of a row is built block by block in a buffer that stays in the cache, checked there and
counted there; two or more threads share the blocks of a long array. Torch tensors are counted on the device
they live on, and only the small table comes over.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np

from evenhand.arrays import Array, is_torch

BLOCK = 1 << 16  # rows whose codes fit the second-level cache
THREAD_ROWS = 1 << 19  # below this a second thread costs more than it saves
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
    count = partial(_count_range, g, y, p, n_groups, n_classes, weights)
    rows, workers = len(g), min(4, _cores())
    if rows < THREAD_ROWS or workers == 1:
        return count(0, rows)
    edges = [rows * worker // workers for worker in range(workers + 1)]
    with ThreadPoolExecutor(workers) as pool:
        parts = list(pool.map(count, edges[:-1], edges[1:]))
    return [np.sum(tables, axis=0) for tables in zip(*parts, strict=True)]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _count_range(
    g: Array, y: Array, p: Array, n_groups: int, n_classes: int, weights: list[Array], start: int, stop: int
) -> list[Array]:
    n_cells = (n_groups + 1) * n_classes * n_classes
    block = max(BLOCK, 4 * n_cells)  # a table larger than the block would cost more than the rows
    wide = max(n_cells > np.iinfo(np.int32).max, g.dtype.itemsize == 8, y.dtype.itemsize == 8)
    buffer = np.empty(min(block, stop - start), dtype=np.int64 if wide else np.int32)
    totals: list[Array] = [np.zeros(n_cells, dtype=np.float64 if weights else np.int64) for _ in weights or [0]]
    for first in range(start, stop, block):
        rows = slice(first, min(first + block, stop))
        code = _codes(g[rows], y[rows], p[rows], n_groups, n_classes, buffer[: rows.stop - first], first)
        for total, weight in zip(totals, weights or [None], strict=True):
            total += np.bincount(code, None if weight is None else weight[rows], minlength=n_cells)
    return totals


def _codes(g: Array, y: Array, p: Array, n_groups: int, n_classes: int, code: Array, first: int) -> Array:
    check_codes(y, n_classes, "label", first)
    check_codes(p, n_classes, "prediction", first)
    if _largest(g) >= n_groups:
        g = _with_unknown_last(g, n_groups, first)
    _set_product(g, n_classes, code)
    code += y
    code *= n_classes
    code += p
    return code


def _set_product(values: Array, factor: int, out: Array) -> None:
    if values.dtype == out.dtype:
        np.multiply(values, factor, out=out)  # one pass instead of a copy and a product
    else:
        np.copyto(out, values, casting="unsafe")
        out *= factor


def _largest(values: Array) -> int:
    """Largest value read as an unsigned number, so that a negative one shows up as a huge one."""
    unsigned = values.view(f"u{values.dtype.itemsize}") if values.dtype.kind == "i" else values
    return int(unsigned.max())


def check_codes(values: Array, limit: int, what: str, first: int = 0) -> None:
    """Refuse codes outside 0 .. limit - 1, naming the first row at fault."""
    if values.size and _largest(values) >= limit:
        row = int(np.argmax((values < 0) | (values >= limit)))
        raise ValueError(
            f"{what} {values[row]} in row {first + row} is outside 0..{limit - 1}; "
            f"codes run from 0 to the number of {'groups' if what == 'group' else 'classes'} minus 1"
        )


def _with_unknown_last(g: Array, n_groups: int, first: int) -> Array:
    """Move the unknown group, code -1, to the extra row at the end; any other code is a mistake."""
    moved: Array = np.where(g == -1, n_groups, g) if g.dtype.kind == "i" else g
    check_codes(moved, n_groups + 1, "group", first)
    if g.dtype.kind != "i" or bool((g == n_groups).any()):
        check_codes(g[g != -1] if g.dtype.kind == "i" else g, n_groups, "group", first)
    return moved.astype(np.int64)


def _tally_torch(g, y, p, n_groups, n_classes, weights) -> list[Array]:  # type: ignore[no-untyped-def]
    import torch  # only reached with a tensor in hand, so torch is loaded already

    n_cells = (n_groups + 1) * n_classes * n_classes
    totals = [torch.zeros(n_cells, dtype=torch.float64 if weights else torch.int64, device=g.device)
              for _ in weights or [0]]
    for first in range(0, len(g), DEVICE_BLOCK):
        rows = slice(first, first + DEVICE_BLOCK)
        code = _torch_codes(torch, g[rows].long(), y[rows].long(), p[rows].long(), n_groups, n_classes, first)
        for total, weight in zip(totals, weights or [None], strict=True):
            total += torch.bincount(code, None if weight is None else weight[rows].double(), minlength=n_cells)
    return [total.cpu().numpy() for total in totals]


def _torch_codes(torch, g, y, p, n_groups, n_classes, first):  # type: ignore[no-untyped-def]
    for values, low, limit, what in ((y, 0, n_classes, "label"), (p, 0, n_classes, "prediction"),
                                     (g, -1, n_groups, "group")):
        outside = (values < low) | (values >= limit)
        if bool(outside.any()):
            row = int(outside.nonzero()[0])
            check_codes(np.array([int(values[row])]), limit, what, first + row)
    return (torch.where(g < 0, n_groups, g) * n_classes + y) * n_classes + p

