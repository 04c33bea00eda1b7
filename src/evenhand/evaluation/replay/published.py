"""The runs that the fixed-seed paper (S0) published: every bias value, every performance, with checksums.

27 techniques, 7 metrics, 16 identical trainings each. The files are data of others and are not part of this
package; a result is printed only from the very bytes that are on record.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.data.cache import Source, data_folders, on_disk, verified
from evenhand.errors import InputError

RUNS = Source(
    "fixed_seed_runs.parquet", sha256="e10940bd6115970a5b363e6734ba95a4f1c4e6514da00d6d9a31454c2ec5447d"
)
PERFORMANCE = Source(
    "fixed_seed_performance.csv", sha256="a2773cc96058b2492c1170ed5ff47b58ea9f6710b31a05b9e401e1ff52faa439"
)
METRICS = ("dp", "di", "spsf", "fpsf", "eofp", "eotp", "ba")
ORIGIN = "the GitHub repository lin-tan/fairness-variance (BSD-3-Clause), commit c2cc2d3"


@dataclass(frozen=True)
class Published:
    """The published values: `bias[technique, metric]` is `[run, class]`, `performance[technique]` is `[run]`.

    Performance is accuracy (S, A, N) or mean average precision on validation (C, I), always as a fraction.
    """

    techniques: tuple[str, ...]
    bias: Mapping[tuple[str, str], FloatArray] = field(repr=False)
    performance: Mapping[str, FloatArray] = field(repr=False)

    @property
    def mitigations(self) -> tuple[str, ...]:
        """The techniques that are compared with the baseline of their family."""
        return tuple(name for name in self.techniques if name != base_of(name))

    def overall(self, technique: str, metric: str) -> FloatArray:
        """The bias of each run: the plain mean over classes."""
        values: FloatArray = self.bias[technique, metric].mean(axis=1)
        return values


def base_of(technique: str) -> str:
    """The baseline of a technique's family.

    >>> base_of("S-DI2"), base_of("N-Base")
    ('S-Base', 'N-Base')
    """
    return f"{technique.split('-')[0]}-Base"


def read_published(folder: Path | str | None = None) -> Published:
    """The published runs from a folder, else from `EVENHAND_DATA` or the cache; `InputError` if not there."""
    bias = _bias(_path(RUNS, folder))
    performance = _performance(_path(PERFORMANCE, folder))
    techniques = tuple(dict.fromkeys(technique for technique, _ in bias))
    return Published(techniques, bias, performance)


def _path(source: Source, folder: Path | str | None) -> Path:
    """The file with its checksum verified just now."""
    found: Path | None
    if folder is None:
        found = on_disk(source)
    else:
        asked = Path(folder) / source.name
        found = verified(asked, source) if asked.is_file() else None
    if found is None:
        where = folder or ", ".join(map(str, data_folders())) or "EVENHAND_DATA, which is not set"
        raise InputError(
            f"there is no {source.name} in {where}: it holds the published values of {ORIGIN}, as one table "
            f"with the SHA-256 {source.checksum}; put it into a folder and name that by EVENHAND_DATA"
        )
    return found


def _bias(path: Path) -> dict[tuple[str, str], FloatArray]:
    import polars as pl

    columns = [pl.col("technique").cast(pl.String), pl.col("metric").cast(pl.String), "run", "class", "value"]
    table = pl.read_parquet(path).select(columns).sort("run", "class", maintain_order=True)
    found = {}
    for (technique, metric), rows in table.group_by("technique", "metric", maintain_order=True):
        runs = rows["run"].n_unique()
        found[str(technique), str(metric)] = rows["value"].to_numpy().reshape(runs, -1)
    return found


def _performance(path: Path) -> dict[str, FloatArray]:
    found: dict[str, list[float]] = {}
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["technique"], []).append(float(row["performance"]))
    return {technique: np.array(values) for technique, values in found.items()}
