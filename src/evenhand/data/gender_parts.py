"""Which images of COCO and imSitu are used, and for which part: by their own files, or by a user's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import checksum, read_genders, read_parts, stamp, user_file
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN

Parts = dict[str, IntArray]


@dataclass(frozen=True)
class Given:
    """Files of the user's own: genders in place of the rule, parts in place of the official ones."""

    root: Path
    places: dict[Any, int] = field(repr=False)  # of an image, by its number or name
    title: str
    files: dict[str, str] = field(default_factory=dict)  # the checksum of each that was read

    def genders(self, path: str | Path | None, by_rule: Callable[[], IntArray]) -> IntArray:
        """The code of each image, from the file where there is one; an image that it lacks is unknown."""
        if path is None:
            return by_rule()
        codes = np.full(len(self.places), UNKNOWN, dtype=np.int64)
        listed = read_genders(self.noted(path, "genders"), self.places, self.title)
        codes[list(listed)] = list(listed.values())
        return codes

    def parts(self, path: str | Path | None, official: Callable[[], Parts]) -> Parts:
        """The images of each part, from the file where there is one, in its order."""
        if path is None:
            return official()
        listed = read_parts(self.noted(path, "parts"), self.places, self.title)
        return {part: np.array(chosen, dtype=np.int64) for part, chosen in listed.items()}

    def noted(self, path: str | Path, knob: str) -> Path:
        """The file that a knob names; its checksum is kept."""
        found = user_file(self.root, path, knob)
        self.files[f"{knob}: {found.name}"] = checksum(stamp(found))
        return found


def known_only(parts: Parts, codes: IntArray, unknown: str, title: str) -> tuple[Parts, int]:
    """The parts without images whose gender is unknown, and how many these are; `unknown="keep"` keeps them.

    >>> known_only({part: np.array([2, 0, 1]) for part in ("train", "test")}, np.array([0, -1, 1]),
    ...            "leave-out", "tiny")
    ({'train': array([2, 0]), 'test': array([2, 0])}, 2)
    """
    known = {part: rows[codes[rows] >= 0] for part, rows in parts.items()}
    empty = [part for part in ("train", "test") if not len(known.get(part, ()))]
    if empty:
        raise InputError(
            f"no image of {title} in the part '{empty[0]}' has a known gender and a label that is used"
        )
    lost = sum(len(rows) for rows in parts.values()) - sum(len(rows) for rows in known.values())
    chosen = parts if unknown == "keep" else known
    return {part: rows for part, rows in chosen.items() if len(rows)}, lost


def limited(parts: Parts, limit: int, seed: int) -> Parts:
    """So many images of each part, drawn by the seed and in their old order; 0: all.

    >>> few = limited({"train": np.arange(9), "test": np.arange(2)}, 3, seed=0)
    >>> len(few["train"]), len(few["test"])
    (3, 2)
    """
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of images; 0 uses all")
    if not limit:
        return parts
    draw = np.random.default_rng((seed, 1))
    return {part: rows[np.sort(draw.permutation(len(rows))[:limit])] for part, rows in parts.items()}


def renumbered(parts: Parts) -> tuple[IntArray, Parts]:
    """The images that some part uses, in their order, and the parts by places among these.

    >>> rows, parts = renumbered({"train": np.array([7, 3]), "test": np.array([5])})
    >>> rows.tolist(), {part: places.tolist() for part, places in parts.items()}
    ([3, 5, 7], {'train': [2, 0], 'test': [1]})
    """
    rows = np.sort(np.concatenate(list(parts.values())))
    return rows, {part: np.searchsorted(rows, chosen) for part, chosen in parts.items()}
