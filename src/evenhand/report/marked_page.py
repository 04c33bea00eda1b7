"""A Markdown page of which a program writes the part between two comments, and hands keep the rest."""

from __future__ import annotations

import os
from pathlib import Path

from evenhand.errors import InputError


def marks_of(name: str) -> tuple[str, str]:
    """The comments between which the numbers of that name stand.

    >>> marks_of("numbers")
    ('<!-- numbers: begin -->', '<!-- numbers: end -->')
    """
    return f"<!-- {name}: begin -->", f"<!-- {name}: end -->"


def filled(page: Path, name: str, text: str) -> str:
    """The whole page with this text between its two comments; `InputError` where they are not there."""
    begin, end = marks_of(name)
    old = page.read_text(encoding="utf-8") if page.is_file() else ""
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise InputError(
            f"{page} needs the two lines {begin} and {end}, once each, to be written between them"
        )
    return f"{old[: old.index(begin)]}{begin}\n{text}{old[old.index(end) :]}"


def link(path: Path, page: Path) -> str:
    """How the page names a file."""
    return Path(os.path.relpath(path, page.parent)).as_posix()


def written(path: Path, text: str) -> Path:
    """The file, which now holds the text; its folder is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
