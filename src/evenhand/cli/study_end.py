"""How `study run` ends: the report is written, the leaders are printed, failures are told; an exit code."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from evenhand.cli import messages
from evenhand.cli.listing_parts import print_json
from evenhand.cli.live_study import failure_words
from evenhand.cli.study_folder import reading
from evenhand.cli.study_report import summary_of, write_paper
from evenhand.cli.study_state import State
from evenhand.errors import DamagedFileError


def stopped(state: State, folder: Path, quiet: bool) -> None:
    """After Ctrl-C: what is kept and how to go on."""
    if not quiet:
        kept = f"{state.done:,} of {state.planned:,} runs are finished and kept in {folder}"
        print(f"stopped; {kept}; the same command goes on", file=sys.stderr)


def finish(state: State, folder: Path, *, no_report: bool, quiet: bool, json: bool) -> None:
    """Write the report, print what came out of it; leave with 1 if runs failed, 2 if a file is damaged."""
    body, page, lines, damage = (None, None, [], None) if no_report else _reported(folder)
    if json:
        leaders = body["leaders"] if body else None
        print_json({"folder": str(folder), "report": page, **state.to_dict(), "leaders": leaders})
    elif not quiet:
        _print_summary(body, [*lines, *_rest(state)])
    if not quiet:
        for note in state.notes:
            print(f"note: {note}", file=sys.stderr)
    if state.failed:
        told = f"{state.failed:,} of {state.planned:,} runs failed: {failure_words(state.failures)}"
        print(f"{told}; --retry-failed tries them again", file=sys.stderr)
        raise typer.Exit(1)
    if damage is not None:
        raise damage


Reported = tuple[dict[str, Any] | None, str | None, list[str], DamagedFileError | None]


def _reported(folder: Path) -> Reported:
    """The study's dictionary, where its page is, what to say, and which file it lacks, if any.

    A bare machine trains but draws no page.
    """
    elsewhere = f"'evenhand study report {folder}' writes it, here or wherever the folder is copied to"
    try:
        with reading(folder) as store:
            body = summary_of(store)
    except ImportError as error:
        return None, None, [f"no report yet: {error.name} is not installed here; {elsewhere}"], None
    try:
        from evenhand.report.study_files import write_study_report

        page = str(write_study_report(body, folder)[0])
        told = [f"report written to {page}"]
        return body, page, [*told, *write_paper(body, folder, folder)], None
    except ImportError as error:
        return body, None, [f"no page yet: {error.name} is not installed here; {elsewhere}"], None
    except DamagedFileError as error:
        return body, page, told, error


def _print_summary(body: dict[str, Any] | None, lines: list[str]) -> None:
    printer = messages.console()
    if body is not None:
        from evenhand.report.terminal_study import study_table

        printer.print(study_table(body))
    for told in lines:
        printer.print(told, markup=False, soft_wrap=True)


def _rest(state: State) -> list[str]:
    if not state.left:
        return []
    return [f"{state.left:,} of {state.planned:,} runs are left; the same command goes on"]
