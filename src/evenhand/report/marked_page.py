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


def page_help(name: str) -> str:
    """What a program says of the option that names such a page."""
    begin, end = marks_of(name)
    return f"Markdown page with the lines {begin} and {end}, to be written between them, or a new file"


def filled(page: Path, name: str, text: str) -> str:
    """The whole page with this text between its two comments; `InputError` where they are not there.

    A page that is not there yet is the two comments with the text between them.
    """
    begin, end = marks_of(name)
    old = _marked(page, name)
    return f"{old[: old.index(begin)]}{begin}\n{text}{old[old.index(end) :]}"


def ready(page: Path | None, name: str) -> None:
    """Refuse a page that lacks the two comments before anything is computed for it."""
    if page is not None:
        _marked(page, name)


def _marked(page: Path, name: str) -> str:
    """What the page says, or will have said, with its two comments."""
    begin, end = marks_of(name)
    if page.is_dir():
        raise InputError(f"{page} is a folder; name a Markdown file")
    if not page.exists():
        return f"{begin}\n{end}\n"
    old = page.read_text(encoding="utf-8")
    if old.count(begin) != 1 or old.count(end) != 1 or old.index(begin) > old.index(end):
        raise InputError(
            f"{page} needs the two lines {begin} and {end}, once each, to be written between them: add them "
            "where that shall stand"
        )
    return old


def link(path: Path, page: Path) -> str:
    """How the page names a file."""
    return Path(os.path.relpath(path, page.parent)).as_posix()


def written(path: Path, text: str) -> Path:
    """The file, which now holds the text; its folder is made where it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="\n")
    return path
