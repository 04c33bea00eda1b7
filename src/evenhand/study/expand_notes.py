"""What is said of runs that a study would make twice: they are made once, and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from evenhand.study.records import PlannedRun


def notes_of(twice: Iterable[tuple[PlannedRun, PlannedRun]]) -> tuple[str, ...]:
    """A sentence for all runs (each with the one that came first) of one setting that are there twice."""
    found = Counter((_called(later), _called(first), _both(later, first)) for later, first in twice)
    return tuple(
        f"{count} run{'s' if count > 1 else ''} of {later} would be the same as of {first} and are made once"
        f"{both}"
        for (later, first, both), count in found.items()
    )


def _both(later: PlannedRun, first: PlannedRun) -> str:
    """Runs that differ in the name of their grouping alone stand in the tables of both."""
    alike = replace(later, grouping=first.grouping, place=first.place, spec=first.spec) == first
    return "; they stand for both" if alike else ""


def _called(run: PlannedRun) -> str:
    setting = ", ".join(f"{name}={value}" for name, value in run.setting.items())
    return f"{run.task} by {run.grouping}, {run.net}, {run.method}{f' ({setting})' if setting else ''}"
