"""The studies of the package, by name; and the text of any study, from there or from a user's file."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path

from evenhand.errors import InputError

FOLDER = "studies"
ENDING = ".toml"


@dataclass(frozen=True)
class StudyText:
    """The text of a study: `file` is what mistakes call it, `base` where its own relative paths begin."""

    text: str
    file: str
    base: Path
    packaged: bool = False


def study_names() -> list[str]:
    """The studies that come with the package.

    >>> "first-look" in study_names()
    True
    """
    found = (entry.name for entry in files("evenhand").joinpath(FOLDER).iterdir())
    return sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING))


def study_lines() -> list[dict[str, str]]:
    """Name, title and about of each, for a listing; nothing is checked here."""
    found = []
    for name in study_names():
        values = tomllib.loads(find_study(name).text)
        found.append({"name": name, **{key: str(values.get(key, "")).strip() for key in ("title", "about")}})
    return found


def find_study(source: str | Path) -> StudyText:
    """The text of a study, by a name of the package or by a file; a file of that name goes before.

    >>> find_study("frist-look")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no study and no file 'frist-look'; did you mean 'first-look'? ...
    """
    path = Path(source).expanduser()
    if path.is_file():
        return StudyText(_decoded(path.read_bytes(), str(path)), str(path), path.resolve().parent)
    if str(source) in study_names():
        return packaged_study(str(source))
    if path.is_dir():
        raise InputError(f"{path} is a folder; a study is a TOML file, or one of: {', '.join(study_names())}")
    raise InputError(_no_such(str(source)))


def packaged_study(name: str) -> StudyText:
    """The text of a study of the package, whatever files are here.

    >>> packaged_study("frist-look")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no study 'frist-look' in the package; did you mean 'first-look'? ...
    """
    names = study_names()
    if name not in names:
        near = get_close_matches(name.removesuffix(ENDING), names, n=3)
        raise InputError(
            f"there is no study '{name}' in the package{_hint(near)} There are: {', '.join(names)}"
        )
    entry = files("evenhand").joinpath(FOLDER, name + ENDING)
    return StudyText(_decoded(entry.read_bytes(), entry.name), entry.name, Path.cwd(), packaged=True)


def _decoded(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputError(f"{file}:{line}: the file is no UTF-8 text; save it as UTF-8") from error


def _no_such(source: str) -> str:
    """The nearest names: of the package's studies, and of the TOML files where the file was looked for."""
    path, names = Path(source).expanduser(), study_names()
    beside = sorted(path.parent.glob("*" + ENDING)) if path.parent.is_dir() else []
    known = [*names, *map(str, beside)]
    near = get_close_matches(source, known, n=3, cutoff=0.5) or get_close_matches(path.stem, names, n=3)
    return f"there is no study and no file '{source}'{_hint(near)} Studies of the package: {', '.join(names)}"


def _hint(near: Sequence[str]) -> str:
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
