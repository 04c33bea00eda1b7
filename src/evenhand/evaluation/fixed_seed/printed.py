"""What S0 published for the same techniques: Table 4 as printed; the rest if its runs are at hand."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.replay.cost import cost_rows
from evenhand.evaluation.replay.published import Published, read_published
from evenhand.evaluation.replay.rows import (
    TABLE4,
    Row,
    comparison_rows,
    performance_rows,
    variance_rows,
)
from evenhand.evaluation.replay.survey import printed_table4
from evenhand.metrics.undefined import divide

NAN = float("nan")


@dataclass(frozen=True)
class Printed:
    """Rows of the published runs; `whole` is False where only the printed Table 4 was at hand.

    `variance[technique, metric]`, `tests[technique, metric]`, `cost[technique]`, `performance[technique]`.
    """

    whole: bool
    variance: dict[tuple[str, str], Row] = field(default_factory=dict)
    tests: dict[tuple[str, str], Row] = field(default_factory=dict)
    cost: dict[str, Row] = field(default_factory=dict)
    performance: dict[str, Row] = field(default_factory=dict)


def read_printed() -> Printed:
    """What is at hand: the published values in `EVENHAND_DATA`, else the cells of Table 4."""
    try:
        return from_published(read_published())
    except InputError:
        return from_table4()


def from_published(published: Published) -> Printed:
    """Everything, computed from the published values by the code of the replay."""
    tests = comparison_rows(published)
    return Printed(
        True,
        {(row["technique"], row["metric"]): row for row in variance_rows(published)},
        {(row["technique"], row["metric"]): row for row in tests},
        {row["technique"]: row for row in cost_rows(published, tests)},
        {row["technique"]: row for row in performance_rows(published)},
    )


def from_table4() -> Printed:
    """Normalised disparate impact alone, in fractions; `<0.1` has no number.

    >>> round(from_table4().variance["S-GR", "di"]["max_diff"], 6)
    0.118
    """
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for row in printed_table4():
        cells = {key: _fraction(row[key]) for key in TABLE4}
        rows[row["technique"], "di"] = {"technique": row["technique"], "metric": "di", "mean": NAN, **cells}
    return Printed(False, rows)


def _fraction(cell: str) -> float:
    return NAN if cell.startswith("<") else float(divide(float(cell), 100.0))
