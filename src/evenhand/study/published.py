"""PublishedRuns: the runs of a committed `runs.parquet` as a store that is only read, without any database.

A published folder (`studies/results/NAME`) has every finished run with its counts and what its scores told;
how settings are chosen and what the base is stands in the study of that name, if the package has it. A
`Frame` reads either alike.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.study.export_rows import COUNT_COLUMNS, KIND, NUMBER, read_layout
from evenhand.study.library import study_names
from evenhand.study.parquet_files import column_names, read_parquet
from evenhand.study.plain import study_to_dict
from evenhand.study.results import RUNS
from evenhand.study.store_blocks import MeasuredBlock
from evenhand.study.told import SINGLE, told_by

LABELS = ("id", "task", "grouping", "net", "method", "seed", "status", "seconds")
NEEDED = (
    "kind",
    "study",
    *LABELS,
    "setting",
    "protect",
    "split",
    "measured_by",
    "groups",
    "classes",
    "layout",
)
REPEATED = ("repeat", "vary", "weights")  # of identical runs; older files have none


class PublishedRuns:
    """The runs of a published folder, for a `Frame`.

    >>> from evenhand.study.results import find_results
    >>> file = find_results("first-look")
    >>> file is None or PublishedRuns(file.parent).study()["report"]["base"] == "erm"
    True
    """

    def __init__(self, folder: Path) -> None:
        self.folder, path = folder, folder / RUNS
        if not path.is_file():
            raise InputError(f"{folder} has no {RUNS}; 'evenhand study publish' writes one")
        there = column_names(path)
        lacks = [name for name in NEEDED if name not in there]
        numbers = [name for name in there if name.startswith(NUMBER)]
        self._columns = read_parquet(path, [*NEEDED, *REPEATED, *COUNT_COLUMNS.values(), *SINGLE, *numbers])
        if lacks or any(kind != KIND for kind in self._columns["kind"]):
            why = f"it has no column {lacks[0]!r}" if lacks else f"its rows do not say {KIND!r}"
            raise InputError(f"{path} is no export of evenhand's runs ({why})")
        self._rows = _first_rows(self._columns["id"])

    def study(self) -> dict[str, Any]:
        """The study as the package declares it; only its name where it is none of the package's."""
        from evenhand.study.read import read_study

        name = str(next(iter(self._columns["study"]), ""))
        return study_to_dict(read_study(name)) if name in study_names() else {"name": name}

    def table(self) -> dict[str, list[Any]]:
        """One row a run, in the order of the file, which is that of the study."""
        rows, columns = self._rows, self._columns
        found: dict[str, list[Any]] = {name: [columns[name][row] for row in rows] for name in LABELS}
        found["place"] = list(range(len(rows)))
        found["setting"] = [json.loads(columns["setting"][row]) for row in rows]
        found["spec"] = [{"protect": json.loads(columns["protect"][row])} for row in rows]
        if "repeat" in columns:
            for spec, row in zip(found["spec"], rows, strict=True):
                spec |= {"repeat": columns["repeat"][row], "seed": columns["seed"][row]}
                if "vary" in columns:
                    spec["vary"] = [one for one in (columns["vary"][row] or "").split(", ") if one]
            found["weights"] = [columns["weights"][row] for row in rows]
        keys = [name for name in columns if name.startswith(NUMBER)]
        told = self._told()
        found["numbers"] = [
            {key.removeprefix(NUMBER): columns[key][row] for key in keys if columns[key][row] is not None}
            | told[columns["id"][row]]
            for row in rows
        ]
        return found

    def _told(self) -> dict[str, dict[str, float]]:
        """What scores told of each run; scores themselves are not read, so that a file need not have them."""
        names = ("split", "measured_by", *(key for key in SINGLE if key in self._columns))
        told: dict[str, dict[str, float]] = {}
        for id, *values in zip(self._columns["id"], *(self._columns[name] for name in names), strict=True):
            told.setdefault(id, {}).update(told_by(dict(zip(names, values, strict=True))))
        return told

    def measured(self, part: str) -> list[MeasuredBlock]:
        """All runs of a part, stacked where names and shapes are the same."""
        columns, blocks = self._columns, dict[tuple[Any, ...], list[int]]()
        for row, split in enumerate(columns["split"]):
            if split == part:
                names = (tuple(columns[name][row]) for name in ("groups", "classes"))
                first = (columns[name][row] for name in ("task", "grouping", "measured_by"))
                blocks.setdefault((*first, *names, columns["layout"][row]), []).append(row)
        ids = columns["id"]
        return [
            MeasuredBlock(
                task, name, by, groups, classes, [ids[row] for row in rows], self._counts(layout, rows)
            )
            for (task, name, by, groups, classes, layout), rows in blocks.items()
        ]

    def failures(self) -> list[dict[str, Any]]:
        """What failed is counted in the table, without its reasons."""
        return []

    def _counts(self, layout: str, rows: list[int]) -> Counts:
        shapes, multilabel = read_layout(layout)
        arrays = {
            kind: np.array([self._columns[COUNT_COLUMNS[kind]][row] for row in rows])
            .astype(np.dtype(dtype).newbyteorder("="))
            .reshape(len(rows), *shape)
            for kind, (dtype, shape) in shapes.items()
        }
        return Counts(**arrays, multilabel=multilabel)


def _first_rows(ids: list[str]) -> list[int]:
    """The first row of every run."""
    first: dict[str, int] = {}
    for row, id in enumerate(ids):
        first.setdefault(id, row)
    return list(first.values())
