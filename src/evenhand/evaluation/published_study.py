"""`study.json`: all that is said of one study, published beside its tables; pages can be written from it.

A page of several studies is written whole. Stores are large and stay where the runs were made, so the page
could not be extended once one of them was gone; this file is what the page needs of it. It holds the plain
dictionary that a program computes of a store, under a head that says for which kind of page. There is no time
in it: the same numbers are the same bytes.
"""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.values import plain
from evenhand.study.store_schema import refuse_newer
from evenhand.study.validate import SAFE

Json = dict[str, Any]
FILE = "study.json"
FORMAT = 1
MOMENT = "created"  # of the dictionaries that say when they were made


def publish(study: Json, kind: str, folder: Path) -> Path:
    """The file in this folder, which now holds the study; one that already does keeps its head.

    So a page that is written again, by a newer version, leaves what it only read as it was.
    """
    path = folder / FILE
    lasting = plain(study | {MOMENT: None} if MOMENT in study else study)
    if not _holds(path, kind, lasting):
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(_text(kind, lasting), encoding="utf-8", newline="\n")
    return path


def read_published(folder: Path, kind: str) -> Json:
    """The study of a published folder, as its store would give it; `InputError` for what is none of the kind.

    A dictionary that says when it was made was made now.
    """
    study = _read(folder / FILE, kind)
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return study | {MOMENT: now} if MOMENT in study else study


def _text(kind: str, study: Json) -> str:
    from evenhand import __version__

    return _dumped({"kind": kind, "format": FORMAT, "evenhand": __version__, "study": study}) + "\n"


def _dumped(value: Json) -> str:
    """On one line without spaces, which are a tenth of it: it is long, and no one reads it."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _holds(path: Path, kind: str, study: Json) -> bool:
    """Whether the file has this very study; compared as text, as 1 and 1.0 are equal and not the same."""
    try:
        return _dumped(_read(path, kind)) == _dumped(study)
    except InputError:
        return False


def _read(path: Path, kind: str) -> Json:
    try:
        found = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number, parse_float=_finite)
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as a published study ({error}); publish it again") from error
    own = found.get("kind") if isinstance(found, dict) else None
    if own != kind:
        told = f"is of the kind {own!r}" if isinstance(own, str) else "does not say of which kind it is"
        raise InputError(f"{path} {told}; this page is made of studies of the kind {kind!r}")
    _check(found, path)
    study: Json = found["study"]
    return study


def _check(found: Json, path: Path) -> None:
    """Refuse a file that a newer version wrote, and one that lacks what every study says of itself."""
    from evenhand import __version__

    number, study = found.get("format"), found.get("study")
    if isinstance(number, int):
        refuse_newer(number, str(found.get("evenhand")), path, __version__, FORMAT)
    if number != FORMAT or not isinstance(study, dict) or not {"name", "small"} <= study.keys():
        raise InputError(f"{path} is damaged: it lacks its format or its study; publish it again")
    if not (isinstance(study["name"], str) and SAFE.fullmatch(study["name"])):
        raise InputError(f"{path} has a study called {study['name']!r}, which cannot be the name of a folder")


def _finite(text: str) -> float:
    """A number; 1e999 would be infinite, which no file of ours has."""
    found = float(text)
    return found if math.isfinite(found) else _no_number(text)


def _no_number(word: str) -> float:
    """Python reads NaN where JSON has none; here what is undefined is null."""
    raise ValueError(f"{word} stands for a number")
