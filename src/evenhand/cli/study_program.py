"""Studies of the kind "program": small ones that are computed in one go and have no runs to be kept."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import messages
from evenhand.cli.listing_parts import print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.study.spec import Study

PROGRAM = "program"
# a module with run(folder, progress) -> dictionary, which writes report.md into the folder
PROGRAMS = {"titanic-fairness": "evenhand.evaluation.titanic_fairness.study"}


def run_program(study: Study, folder: Path, *, quiet: bool, json: bool) -> None:
    """Compute the study, with its page, and say where it is."""
    if study.name not in PROGRAMS:
        raise InputError(
            f"there is no program for the study '{study.name}'; of the kind 'program' are: "
            f"{', '.join(PROGRAMS)}"
        )
    with messages.progress(quiet) as tell:
        body: dict[str, Any] = import_module(PROGRAMS[study.name]).run(folder, tell)
    if json:
        print_json(body)
    elif not quiet:
        told = f"{study.name}: report written to {folder / 'report.md'}"
        messages.console().print(told, markup=False, soft_wrap=True)


def refuse(name: str, **options: Any) -> None:
    """Refuse what only a study with runs can do, instead of leaving it out without a word.

    >>> refuse("titanic-fairness", limit=3, only=None)
    Traceback (most recent call last):
    evenhand.errors.InputError: --limit is of no use here: 'titanic-fairness' is computed as a whole
    """
    for option, value in options.items():
        if value:
            raise InputError(f"--{option} is of no use here: '{name}' is computed as a whole")
