"""Ten million rows: ours beside one bincount of a ready joint code, and beside coding then counting.

The ready code is a luxury: it takes a pass over three columns and an array as long as the table. Memory is
measured in a process of its own, both as numpy allocates it and as the system sees it.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from benchmarks.codes import Codes, made_up
from benchmarks.measure import in_process, take_turns
from benchmarks.rows import Row
from evenhand.metrics.counts import Counts

CASES = ((16, 2), (196, 10))
KINDS = ("int64", "int32", "int16", "int8")
AT_MOST_BINCOUNT, AT_MOST_MB = 2.2, 100.0

MEMORY = """
import pathlib, sys, threading, tracemalloc
from benchmarks.codes import made_up
from benchmarks.counts_large import count

def status(name):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1000 for line in lines if line.startswith(name))

codes = made_up(*map(int, sys.argv[1:4]))
pathlib.Path("/proc/self/clear_refs").write_text("5")  # the peak starts again from here
before = status("VmRSS")
count(codes)
resident = status("VmHWM") - before
tracemalloc.start()
count(codes)
told = {"resident_mb": max(resident, 0.0), "allocated_mb": tracemalloc.get_traced_memory()[1] / 1e6}
"""


def run(small: bool = False) -> list[Row]:
    rows = 200_000 if small else 10_000_000
    return [row for groups, classes in CASES for row in _case(rows, groups, classes, small)]


def count(codes: Codes) -> Counts:
    return Counts.from_predictions(codes.y, codes.p, codes.g, codes.n_classes, codes.n_groups)


def _case(rows: int, groups: int, classes: int, small: bool) -> list[Row]:
    codes = made_up(rows, groups, classes)
    kinds = {kind: codes.astype(kind) for kind in KINDS if groups <= np.iinfo(kind).max}
    ready = (codes.g * classes + codes.y) * classes + codes.p
    cells = groups * classes**2

    def code_then_count() -> np.ndarray:
        return np.bincount((codes.g * classes + codes.y) * classes + codes.p, minlength=cells)

    if not np.array_equal(count(codes).table.ravel(), code_then_count()):
        raise AssertionError("the counts differ from those of numpy.bincount")
    candidates: dict[str, Callable[[], object]] = {kind: partial(count, own) for kind, own in kinds.items()}
    candidates |= {"ready": lambda: np.bincount(ready, minlength=cells), "coded": code_then_count}
    times = take_turns(candidates, rounds=3 if small else 40, budget=20.0)
    detail = {name: taken.to_dict() for name, taken in times.items()}
    where = f"{groups} groups, {classes} classes"
    target = None if small else AT_MOST_BINCOUNT
    found = [
        Row(
            "counts_large",
            f"{where}, {kind}: times the time of a ready bincount",
            times[kind].best / times["ready"].best,
            "x",
            "<=",
            target,
            detail,
        )
        for kind in kinds
    ]
    found.append(
        Row(
            "counts_large",
            f"{where}: times faster than coding then counting",
            times["coded"].best / times["int64"].best,
            "x",
            ">=",
            None if small else 1.0,
            detail,
        )
    )
    return [*found, _memory(rows, groups, classes, where, small)]


def _memory(rows: int, groups: int, classes: int, where: str, small: bool) -> Row:
    told = in_process(MEMORY, [str(rows), str(groups), str(classes)]).told
    return Row(
        "counts_large",
        f"{where}: memory on top of the rows",
        max(told.values()),
        "MB",
        "<=",
        None if small else AT_MOST_MB,
        told,
    )
