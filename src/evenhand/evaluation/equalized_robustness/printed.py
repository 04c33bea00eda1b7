"""The numbers that S4 prints (Tables 1 to 9), as data: `studies/data/equalized_robustness_paper.csv`.

They are printed in percent and are fractions here. The paper has deviations for CUMA alone and says neither
of how many runs nor of what varies between them; two of its cells cannot be right, which `note` tells.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from evenhand.evaluation.equalized_robustness.arms import Arm

FILE = "equalized_robustness_paper.csv"


@dataclass(frozen=True)
class Printed:
    """One printed number: of a method on a task, on clean test rows or under a noise."""

    table: int
    task: str
    method: str
    alpha: float | None
    gamma: float | None
    h: float | None
    part: str
    metric: str
    value: float
    deviation: float | None
    note: str

    @property
    def arm(self) -> Arm:
        """Our runs that it is set beside."""
        return Arm.of(self.task, self.method, alpha=self.alpha, gamma=self.gamma, h=self.h)


@cache
def printed(table: int = 0) -> tuple[Printed, ...]:
    """All printed numbers in the order of the paper, or those of one table.

    >>> first = printed()[0]
    >>> first.table, first.method, first.metric, round(first.value, 4)
    (1, 'normal', 'acc', 0.8905)
    >>> len(printed()), len(printed(7))
    (254, 18)
    """
    text = files("evenhand").joinpath("studies", "data", FILE).read_text(encoding="utf-8")
    rows = [_printed(row) for row in csv.DictReader(text.splitlines())]
    return tuple(row for row in rows if table in (0, row.table))


def _printed(row: dict[str, str]) -> Printed:
    alpha, gamma, h = (_number(row[key]) for key in ("alpha", "gamma", "h"))
    deviation = _number(row["deviation"])
    return Printed(
        int(row["table"]), row["task"], row["method"], alpha, gamma, h, row["part"], row["metric"],
        float(row["percent"]) / 100, None if deviation is None else deviation / 100, row["note"],
    )  # fmt: skip


def _number(text: str) -> float | None:
    return float(text) if text else None
