"""Mistakes of a study, collected: each with the line it stands on, all told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from evenhand.errors import InputError
from evenhand.study.toml_lines import KeyPath

MOST_TOLD = 10
BLOCKS = ("task", "grouping", "net", "method", "shift")


@dataclass
class Mistakes:
    """What is wrong, by place: ("method", "gdro", "eta") is the key eta of the method called gdro.

    `file` and `lines` are of the TOML text; `blocks` says which of its tables a name stands for. A study that
    was made in Python has neither: places are then told in words. While `small`, the smoke form is looked at.

    >>> found = Mistakes()
    >>> found.add(("method", "gdro", "eta"), "it must be a number")
    >>> found.raise_if_any()
    Traceback (most recent call last):
    evenhand.errors.InputError: method 'gdro', eta: it must be a number
    """

    file: str = ""
    lines: Mapping[KeyPath, int] = field(default_factory=dict)
    blocks: dict[KeyPath, KeyPath] = field(default_factory=dict)
    found: list[tuple[int, str]] = field(default_factory=list)
    small: bool = False

    def add(self, place: KeyPath, reason: str) -> None:
        """Note a mistake; the same one on the same line is noted once."""
        line = self.line(place)
        told = f"{self.file}:{line}: {reason}" if line else f"{self._words(place)}{reason}"
        if (line, told) not in self.found:
            self.found.append((line, told))

    @contextmanager
    def at(self, place: KeyPath) -> Iterator[None]:
        """An InputError inside becomes a mistake at this place."""
        try:
            yield
        except InputError as error:
            self.add(place, str(error))

    def line(self, place: KeyPath) -> int:
        """The line of a place or of the nearest thing around it; 0 where it is not in the text."""
        if self.small and ("smoke", *place) in self.lines:
            return self.lines[("smoke", *place)]
        if self._added(place):
            return 0
        path = (*self.blocks.get(place[:2], place[:2]), *place[2:])
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path, 1 if self.file else 0)

    def raise_if_any(self) -> None:
        """All mistakes in one InputError, in the order of their lines, at most ten."""
        if not self.found:
            return
        told = [text for _, text in sorted(self.found, key=lambda one: one[0])]
        more = len(told) - MOST_TOLD
        raise InputError("\n".join([*told[:MOST_TOLD], *([f"and {more} more"] if more > 0 else [])]))

    def _added(self, place: KeyPath) -> bool:
        """Whether a block was put into the study after it was read."""
        named = len(place) > 1 and place[0] in BLOCKS and isinstance(place[1], str)
        return named and place[:2] not in self.blocks

    def _words(self, place: KeyPath) -> str:
        """A place as one would say it."""
        parts = [str(part) for part in place]
        if place[:1] and place[0] in BLOCKS and len(place) > 1:
            parts = [f"{place[0]} '{place[1]}'", *parts[2:]]
        where = ", ".join(parts)
        return (f"{self.file}: " if self.file else "") + (f"{where}: " if where else "")
