"""The study `fixed-seed-replay`: the published runs of S0 through our statistics, table by table."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.evaluation.replay import cost, rows, sensitivity, survey
from evenhand.evaluation.replay.files import BODY, read_body, write_all, write_page
from evenhand.evaluation.replay.published import ORIGIN, PERFORMANCE, RUNS, Published, read_published
from evenhand.evaluation.values import plain

NAME = "fixed-seed-replay"
Progress = Callable[[str], None]


def replay(
    folder: Path | str, progress: Progress | None = None, *, data: Path | str | None = None
) -> dict[str, Any]:
    """Read the published runs, compute S0's tables again, and write them with a page into the folder.

    `data` is the folder of the two files (else `EVENHAND_DATA`, else the cache); `progress` is called with a
    line of text before each step. Gives back what the page shows; the same is in `replay.json`.
    """
    tell = progress or (lambda line: None)
    tell("reading the published runs")
    published = read_published(data)
    tell(f"{len(published.techniques)} techniques: variation over runs, tests, costs")
    body = compute(published)
    tell("writing tables, figure and page")
    write_all(Path(folder), body)
    return body


def compute(published: Published) -> dict[str, Any]:
    """The whole replay as plain values; NaN is None."""
    from evenhand import __version__

    variance, tests = rows.variance_rows(published), rows.comparison_rows(published)
    table4, costs = rows.table4(variance), cost.cost_rows(published, tests)
    body = {
        "kind": "replay",
        "evenhand": __version__,
        "name": NAME,
        "title": "Identical trainings, different bias: the published runs of S0 again",
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "origin": ORIGIN,
        "files": {source.name: source.checksum for source in (RUNS, PERFORMANCE)},
        "techniques": published.techniques,
        "runs": sum(len(runs) for runs in published.performance.values()),
        "variance": variance,
        "tests": tests,
        "table4": table4,
        "table4_differs": survey.differing_cells(table4),
        "survey": survey.survey(),
        "survey_counts": survey.survey_counts(),
        "performance": rows.performance_rows(published),
        "cost": costs,
        "venn": cost.venn_rows(tests, costs),
        "sensitivity": sensitivity.sensitivity_rows(published, tests),
        "overlap": sensitivity.overlap(published, tests),
        "realigned": sensitivity.realigned_rows(published),
        "fpsf_share": sensitivity.fpsf_share(published),
    }
    clean: dict[str, Any] = plain(body)
    return clean


def is_replay(folder: Path | str) -> bool:
    """Whether a folder holds what `replay` leaves."""
    return (Path(folder) / BODY).is_file()


def report(folder: Path | str) -> Path:
    """Draw the page of a finished replay again; the path of the page."""
    folder = Path(folder)
    write_page(folder, read_body(folder))
    return folder / "report.html"
