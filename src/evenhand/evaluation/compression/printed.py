"""Table 1 of S2 as data: `studies/data/compression_table1.csv`; CEV and SDE there are normalised."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files

FILE = "compression_table1.csv"
COLUMNS = ("cie", "cev", "sde", "accuracy")


@cache
def table_1() -> dict[str, dict[str, float]]:
    """What S2 prints for CIFAR-100, ResNet32x4 pruned to 45 %, by the method's role; accuracy in [0, 1].

    >>> table_1()["pruning"]["cie"], table_1()["at-kd"]["cev"]
    (887.0, 0.00187)
    """
    text = files("evenhand").joinpath("studies", "data", FILE).read_text(encoding="utf-8")
    return {
        row["method"]: {key: float(row[key]) for key in COLUMNS} for row in csv.DictReader(text.splitlines())
    }
