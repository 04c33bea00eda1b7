"""The study that a command is given, by name or as a file; all its mistakes are told, a line each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from evenhand.cli import messages
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.study.spec import Study


def read(name: str) -> Study:
    """The study, checked; a file with several mistakes ends the program with all of them."""
    from evenhand.study.read import read_study

    with mistakes_told():
        return read_study(name)


@contextmanager
def mistakes_told() -> Iterator[None]:
    """Several mistakes of one study, each on a line of its own; then the program ends."""
    try:
        yield
    except InputError as error:
        lines = str(error).splitlines()
        if len(lines) < 2:
            raise
        for line in lines:
            print(f"error: {line}", file=sys.stderr)
        raise typer.Exit(messages.WRONG_INPUT) from None


def smoke_of(study: Study) -> Study:
    """The small form, or a sentence that there is none."""
    if study.smoke is None:
        raise InputError(f"the study '{study.name}' has no smoke form")
    return study.smoke
