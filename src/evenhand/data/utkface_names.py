"""What the name of a UTKFace image says: `[age]_[gender]_[race]_[date&time].jpg`, or `.jpg.chip.jpg`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from evenhand.arrays import IntArray
from evenhand.errors import InputError

GENDERS = ("Male", "Female")  # coded 0, 1
RACES = ("White", "Black", "Asian", "Indian", "Others")  # coded 0 to 4
OLDEST = 116
EDGES = (3, 10, 20, 30, 40, 50, 60, 70)  # where FairFace's bands begin
# What follows the digits of the fourth field is not looked at: a few published names end in "jpg.chip.jpg"
# or ".pg.chip.jpg", and say all the same.
NAME = re.compile(r"(\d{1,3})_([01])_([0-4])_\d{8,}")


def read_name(name: str) -> tuple[int, int, int] | None:
    """Age, gender and race of a file's name; None if it lacks a field or has a value that is none.

    >>> read_name("26_1_2_20170116184024662.jpg.chip.jpg")
    (26, 1, 2)
    >>> read_name("61_1_20170109142408075.jpg.chip.jpg") is None  # published without its race
    True
    """
    found = NAME.match(name)
    age, gender, race = map(int, found.groups()) if found else (OLDEST + 1, 0, 0)
    return (age, gender, race) if age <= OLDEST else None


def read_names(paths: Sequence[Path], root: Path) -> tuple[list[Path], IntArray, list[str]]:
    """The images with whole names, their age, gender and race `[n, 3]`, and the names that are not whole."""
    read = [(path, read_name(path.name)) for path in paths]
    whole = [(path, values) for path, values in read if values is not None]
    left_out = [path.name for path, values in read if values is None]
    if not whole:
        first = f"; the first of {len(left_out):,} images: {left_out[0]}" if left_out else ""
        raise InputError(
            f"no file in {root} is named as UTKFace names its images, "
            f"[age]_[gender]_[race]_[date&time].jpg{first}"
        )
    _check_once([path for path, _ in whole], root)
    return [path for path, _ in whole], np.array([values for _, values in whole], dtype=np.int64), left_out


def _check_once(paths: Sequence[Path], root: Path) -> None:
    """Raise `InputError` where one photograph is there twice: it would be trained on and tested on.

    It happens where aligned images lie beside those as found, or an archive holds a part of itself again.
    """
    first: dict[str, Path] = {}
    twice = [path for path in paths if first.setdefault(_said(path), path) is not path]
    if twice:
        again, before = (path.relative_to(root) for path in (twice[0], first[_said(twice[0])]))
        raise InputError(
            f"{len(twice):,} images below {root} are there twice, by their names: {again} is {before} again; "
            "name one of the folders by folder=..., or remove one"
        )


def _said(path: Path) -> str:
    """The four fields of a name, without what follows them."""
    found = NAME.match(path.name)
    return found.group() if found else path.name


def band_names(edges: Sequence[int]) -> tuple[str, ...]:
    """The names of the bands that the edges part; each edge is the first year of a band.

    >>> band_names((18, 65))
    ('0-17', '18-64', '65 or more')
    """
    starts = (0, *edges)
    if list(starts) != sorted(set(starts)) or starts[-1] > OLDEST or len(starts) < 2:
        raise InputError(
            f"the knob bands={tuple(edges)} must be growing ages, from 1 to {OLDEST}, at which a band begins"
        )
    closed = [f"{low}-{high - 1}" for low, high in pairwise(starts)]
    return (*closed, f"{starts[-1]} or more")
