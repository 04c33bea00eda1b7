"""Studies of the kind "replay": published runs are read again, nothing is trained."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import messages
from evenhand.cli.listing_parts import print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.study.spec import Study

REPLAY = "replay"


def run_replay(study: Study, folder: Path, *, quiet: bool, json: bool) -> None:
    """Compute the published tables again, with their page, and say where they are."""
    try:
        from evenhand.evaluation.replay.study import NAME, replay
    except ImportError as error:
        raise InputError(f"a replay needs {error.name}, which is not installed here") from error
    if study.name != NAME:
        raise InputError(f"the only study of the kind 'replay' is '{NAME}', not '{study.name}'")
    with messages.progress(quiet) as tell:
        body = replay(folder, tell)
    if json:
        print_json(body)
    elif not quiet:
        for told in lines(body, folder):
            messages.console().print(told, markup=False, soft_wrap=True)


def lines(body: dict[str, Any], folder: Path) -> list[str]:
    """What was done, for people."""
    runs, techniques = body["runs"], len(body["techniques"])
    rows = f"{len(body['variance'])} rows of variation, {len(body['tests'])} rows of tests"
    return [
        f"{body['name']}: {runs:,} published runs of {techniques} techniques; {rows}",
        f"tables written to {folder / 'tables'}",
        f"report written to {folder / 'report.html'}",
    ]


def report_replay(folder: Path) -> Path | None:
    """Draw the page of a replay again; None if the folder holds none."""
    from evenhand.evaluation.replay.study import is_replay, report

    return report(folder) if is_replay(folder) else None
