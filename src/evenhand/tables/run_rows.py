"""Which line of the joined files is which row of which run: every run predicts the same rows."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from evenhand.arrays import FloatArray, IntArray
from evenhand.errors import InputError
from evenhand.tables.aligned import Aligned
from evenhand.tables.coding import Column, code_runs
from evenhand.tables.columns import Columns
from evenhand.tables.values import RUNS_SHOWN, shown

Codes = NDArray[np.int16]
ROUNDING = 1e-6  # weights that were worked out for each run by itself may differ by that share


@dataclass(frozen=True)
class RunRows:
    """Some lines of the joined files; those of one row have the same number, one line in each run."""

    aligned: Aligned = field(repr=False)
    names: tuple[str, ...]  # of the runs; none when there is no run column
    line: IntArray = field(repr=False)  # places in the joined files
    run: Codes = field(repr=False)
    row: IntArray = field(repr=False)
    missing: int  # rows that were left out, each counted once

    def refuse_difference(self, part: str, name: str, values: Codes | FloatArray) -> None:
        """The values (one for each of the lines) of a row must be the same in every run."""
        first = self.run == 0
        base = np.zeros(int(self.row.max()) + 1, dtype=values.dtype)
        base[self.row[first]] = values[first]
        wrong = ~np.isclose(values, base[self.row], rtol=ROUNDING, atol=0)
        if not wrong.any():
            return
        at = int(wrong.argmax())
        keyed = self.aligned.keyed
        where = f"key {self.aligned.key(self.line[at])!r}" if keyed else f"row {self.row[at] + 1}"
        raise InputError(
            f"the {part} column '{name}' of {self.aligned.files[0]} differs at {where} between run "
            f"'{self.names[self.run[at]]}' and run '{self.names[0]}'; every run must hold the same rows, "
            "each with one label, group and weight"
            + ("" if keyed else ", in the same order or with a key column")
        )


def complete_rows(aligned: Aligned, columns: Columns, known: NDArray[np.bool_]) -> RunRows:
    """The lines of the rows that are known in every run: one that is not known in some run leaves all."""
    names, run = _runs(aligned, columns)
    if (run[known] < 0).any():
        raise InputError(f"the run column '{columns.run}' of {aligned.files[0]} is empty in some rows")
    row, placed = _numbers(aligned, names, run), run >= 0
    lost = np.unique(row[placed & ~known])
    line = np.flatnonzero(placed & ~np.isin(row, lost))
    if not len(line):
        ending = " in every run" if len(names) > 1 else ""
        raise InputError(
            f"no row of {aligned.files[0]} has a label and a prediction of every model{ending}; "
            "name columns that are filled"
        )
    return RunRows(aligned, names, line, run[line], row[line], len(lost) + int((~placed).sum()))


def _runs(aligned: Aligned, columns: Columns) -> tuple[tuple[str, ...], Codes]:
    if columns.run is None:
        return (), np.zeros(aligned.frame.height, dtype=np.int16)
    own = Column.of("run", columns.run, aligned.files[0], aligned.frame["run0"], parse=aligned.parse[0])
    coding = code_runs(own)
    if aligned.keyed and len(coding.names) < len(own.distinct):  # 1 and 1.0 were joined as two runs
        raise InputError(
            f"the run column '{columns.run}' of {aligned.files[0]} writes one run in several ways "
            f"({shown(own.distinct, RUNS_SHOWN)}) or leaves it out; write each run in one way, in every row"
        )
    return coding.names, own.codes(coding.place).astype(np.int16)


def _numbers(aligned: Aligned, names: tuple[str, ...], run: Codes) -> IntArray:
    """The place of each line's row in the first run: found by the key; without one, the place in its run."""
    if aligned.keyed:
        keys = aligned.frame.select("key")
        first = keys.filter(pl.Series(run == 0)).with_row_index("row")
        found = keys.join(first, on="key", how="left", maintain_order="left")["row"]
    else:
        _refuse_sizes(aligned, names, run)
        found = pl.DataFrame({"run": run}).select(pl.int_range(pl.len()).over("run")).to_series()
    numbers: IntArray = found.cast(pl.Int64).to_numpy()
    return numbers


def _refuse_sizes(aligned: Aligned, names: tuple[str, ...], run: Codes) -> None:
    sizes = np.bincount(run[run >= 0], minlength=1)
    if (sizes == sizes[0]).all():
        return
    odd = int(np.argmax(sizes != sizes[0]))
    raise InputError(
        f"run '{names[odd]}' of {aligned.files[0]} has {sizes[odd]:,} rows but run '{names[0]}' has "
        f"{sizes[0]:,}; every run must hold the same rows, those without a prediction too"
    )
