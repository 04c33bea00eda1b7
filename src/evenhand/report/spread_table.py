"""Mean, deviation and range over runs, which S0 asks of every report: as a file, and to be opened on a page.

The lines come from `evenhand.evaluation.study.run_spread`; all lines of a table say where they stand in the
same columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.model_card import escaped
from evenhand.report.numbers import defined, interval, number
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
TITLE = "Runs: mean, deviation, smallest and largest"
NOTE = (
    "Mean ± deviation over runs (smallest to largest). Runs without a value are left out; one run alone has "
    "no deviation."
)
NUMBERS = ("runs", "mean", "deviation", "smallest", "largest")


def spread_table(lines: Sequence[Json], note: str = "") -> Table:
    """Every number by itself with all its digits: what the file holds.

    >>> line = {"method": "erm", "metric": "acc", "runs": 1, "mean": 0.5, "deviation": None}
    >>> spread_table([{**line, "smallest": 0.5, "largest": 0.5}]).rows
    (('erm', 'acc', 1, 0.5, None, 0.5, 0.5),)
    """
    heads = (*_places(lines), "metric", *NUMBERS)
    rows = tuple(tuple(_cell(line[head]) for head in heads) for line in lines)
    return Table(TITLE, heads, rows, f"{NOTE} {note}".rstrip())


def spread_view(
    lines: Sequence[Json], note: str = "", decimals: Mapping[str, int] | None = None, without: str = ""
) -> Table:
    """The same to be read: a row for each place, a column for each metric, of three decimals unless told.

    `without` names a column of the places that says nothing here, such as one that has the same words in
    all these lines.
    """
    digits = decimals or {}
    heads = [head for head in _places(lines) if head != without]
    metrics = list(dict.fromkeys(line["metric"] for line in lines))
    by_place: dict[tuple[str, ...], dict[str, Json]] = {}
    for line in lines:
        by_place.setdefault(tuple(line[head] for head in heads), {})[line["metric"]] = line
    rows = tuple(
        (
            *place, _counted([line["runs"] for line in found.values()]),
            *(told(found.get(metric), digits.get(metric, 3)) for metric in metrics),
        )
        for place, found in by_place.items()
    )  # fmt: skip
    named = tuple(head.capitalize() for head in heads)
    return Table(TITLE, (*named, "Runs", *metrics), rows, f"{NOTE} {note}".rstrip())


def to_be_opened(view: Table) -> str:
    """A view as Markdown that is opened by its title.

    >>> print(to_be_opened(Table("Runs", ("Method",), (("erm",),))).splitlines()[0])
    <details><summary>Runs</summary>
    """
    return f"<details><summary>{escaped(view.title)}</summary>\n\n{to_markdown(view)}\n</details>"


def told(line: Json | None, decimals: int = 3) -> str | None:
    """Mean ± deviation (smallest to largest); None, which is shown as a dash, where no run has a value.

    >>> told({"runs": 2, "mean": 0.5, "deviation": 0.1, "smallest": 0.43, "largest": 0.57})
    '0.500 ± 0.100 (0.430 to 0.570)'
    """
    if line is None or not line["runs"]:
        return None
    ends = interval((line["smallest"], line["largest"]), decimals)
    return f"{number(line['mean'], decimals)} ± {number(line['deviation'], decimals)} ({ends})"


def _places(lines: Sequence[Json]) -> list[str]:
    """The columns that say where a line stands."""
    return [key for key in (lines[0] if lines else ()) if key not in ("metric", *NUMBERS)]


def _counted(runs: Sequence[int]) -> str:
    """How many runs have a value; from least to most where metrics differ in it.

    >>> _counted([3, 3]), _counted([3, 2])
    ('3', '2 to 3')
    """
    least, most = min(runs), max(runs)
    return f"{most:,}" if least == most else f"{least:,} to {most:,}"


def _cell(value: Any) -> Any:
    return value if isinstance(value, str) or defined(value) else None
