"""Studies of the kind "program": small ones that are computed in one go and have no runs to be kept."""

from __future__ import annotations

from importlib import import_module
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import messages
from evenhand.cli.listing_parts import print_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.study.spec import Study

PROGRAM = "program"
# a module with run(folder, progress, small) -> dictionary, which writes the pages into the folder
PAGE = "paper.html"
PROGRAMS = {"titanic-fairness": "evenhand.evaluation.titanic_fairness.study"}


def run_program(study: Study, folder: Path, *, quiet: bool, json: bool, small: bool = False) -> None:
    """Compute the study, with its pages, and say where they are; `small` is its smoke form."""
    if study.name not in PROGRAMS:
        raise InputError(
            f"there is no program for the study '{study.name}'; of the kind 'program' are: "
            f"{', '.join(PROGRAMS)}"
        )
    _check_whole(study.name, folder, small)
    with messages.progress(quiet) as tell:
        body: dict[str, Any] = import_module(PROGRAMS[study.name]).run(folder, tell, small)
    if json:
        print_json(body)
    elif not quiet:
        told = f"{study.name}: report written to {folder / PAGE}, and as Markdown beside it"
        messages.console().print(told, markup=False, soft_wrap=True)


def _check_whole(name: str, folder: Path, small: bool) -> None:
    """Refuse to put the small form in the place of the whole study."""
    found = folder / f"{name}.json"
    if small and found.is_file() and not loads(found.read_text(encoding="utf-8")).get("small"):
        raise InputError(
            f"{folder} holds the whole study '{name}', and --smoke would put its report in that one's place; "
            "leave --out away, or name another folder"
        )


def refuse(name: str, **options: Any) -> None:
    """Refuse what only a study with runs can do, instead of leaving it out without a word.

    >>> refuse("titanic-fairness", limit=3, only=None)
    Traceback (most recent call last):
    evenhand.errors.InputError: --limit is of no use here: 'titanic-fairness' is computed as a whole
    """
    for option, value in options.items():
        if value:
            raise InputError(f"--{option} is of no use here: '{name}' is computed as a whole")
