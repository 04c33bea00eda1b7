"""The folder of a study, opened by commands that only read it; a wrong one is told with what may be meant."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.study.store import Store

MOST = 5  # folders that are named
FILE, REPLAY = "study.sqlite", "replay.json"
PROGRAM = "titanic-fairness.json"


@contextlib.contextmanager
def reading(folder: Path) -> Iterator[Store]:
    """The store of a folder, for reading; it is closed in the end."""
    check_folder(folder)
    from evenhand.study.store import Store

    store = Store.open(folder, readonly=True)
    try:
        yield store
    finally:
        store.close()


def check_folder(folder: Path) -> None:
    """Refuse what is no folder of a study, naming those nearby."""
    if (folder / FILE).is_file():
        return
    if folder.is_file():
        raise InputError(f"{folder} is a file; name the folder of a study, such as runs/NAME")
    if (folder / REPLAY).is_file():
        raise InputError(f"{folder} holds a replay of published runs, which has none of its own to look at")
    if (folder / PROGRAM).is_file():
        raise InputError(f"{folder} holds a study that is a program; its page is {folder / 'paper.html'}")
    what = "is not the folder of a study" if folder.is_dir() else "is not there"
    raise InputError(f"{folder} {what}{_nearby(folder)}")


def _nearby(folder: Path) -> str:
    """Studies inside it, beside it, or under runs/, the nearest names first."""
    places = (folder, folder.parent, Path("runs"))
    found = {str(file.parent): file.parent.name for place in places for file in place.glob(f"*/{FILE}")}
    near = get_close_matches(folder.name, list(found.values()), n=3, cutoff=0.5)
    if near:
        return f"; did you mean {' or '.join(path for path, name in found.items() if name in near)}?"
    return (
        f"; there are: {', '.join(list(found)[:MOST])}" if found else "; 'evenhand study run NAME' makes one"
    )
