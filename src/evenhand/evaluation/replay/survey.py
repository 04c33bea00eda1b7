"""Tables that S0 printed, shipped as CSV: Table 4 cell by cell, and Table 5, its survey of 32 papers."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from importlib import resources

from evenhand.evaluation.replay.rows import TABLE4, Row

SURVEY = ("paper", "multiple_runs", "mean", "stdev", "range")


def survey() -> list[dict[str, str]]:
    """Table 5: what each surveyed paper reports ("Y", "N"; "-" where a single run leaves nothing to report).

    >>> len(survey()), survey()[3]["paper"]
    (32, 'Wang et al. [99]')
    """
    return _packaged("fixed_seed_survey.csv")


def survey_counts() -> dict[str, int]:
    """How many of the surveyed papers do what.

    >>> survey_counts()
    {'papers': 32, 'multiple_runs': 11, 'mean': 11, 'stdev': 5, 'range': 8}
    """
    rows = survey()
    return {"papers": len(rows)} | {key: sum(row[key] == "Y" for row in rows) for key in SURVEY[1:]}


def printed_table4() -> list[dict[str, str]]:
    """Table 4 as it stands in the paper, in percent.

    >>> printed_table4()[3]
    {'technique': 'S-GR', 'max_diff': '11.8', 'stdev': '3.5', 'class_max_diff': '50.1', 'class_stdev': '12.7'}
    """
    return _packaged("fixed_seed_table4.csv")


def differing_cells(found: Sequence[Row]) -> list[str]:
    """Cells of our Table 4 that are not the printed ones, each in a few words."""
    printed = {row["technique"]: row for row in printed_table4()}
    ours = {row["technique"]: row for row in found}
    if printed.keys() != ours.keys():
        return [f"{name}: only in one of the tables" for name in sorted(printed.keys() ^ ours.keys())]
    return [
        f"{name}, {key}: printed {row[key]}, found {ours[name][key]}"
        for name, row in printed.items()
        for key in TABLE4
        if row[key] != ours[name][key]
    ]


def _packaged(name: str) -> list[dict[str, str]]:
    path = resources.files("evenhand").joinpath("studies", "data", name)
    return list(csv.DictReader(path.read_text("utf-8").splitlines()))
