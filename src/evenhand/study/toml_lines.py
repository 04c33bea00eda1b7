"""Where in a TOML text each key stands: `tomllib` gives values without lines, and a mistake needs its line.

The text must be valid (tomllib has read it); only as much of the grammar is followed as finds the keys.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right

KeyPath = tuple[str | int, ...]

_BLANK = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")
_SPACES = re.compile(r"[ \t]*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_PLAIN = re.compile(r"[^,\]}#\n\r]*")  # a number, a date or a truth value, up to what follows it
_STRINGS = (  # the long forms first: three quotes are not an empty text and a quote
    re.compile(r'"""(?:[^"\\]|\\[\s\S]|"{1,2}(?!"))*"{3,5}'),
    re.compile(r"'''(?:[^']|'{1,2}(?!'))*'{3,5}"),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


def key_lines(text: str) -> dict[KeyPath, int]:
    """The line (from 1) of every key and of every element of a list, by the path that leads to its value.

    >>> lines = key_lines("seeds = 3\\n[[method]]\\nkey = 'gdro'\\neta = {grid = [\\n 0.1,\\n 1]}\\n")
    >>> lines[("seeds",)], lines[("method", 0)], lines[("method", 0, "eta", "grid", 1)]
    (1, 2, 6)
    """
    return _Scanner(text).lines


class _Scanner:
    """One walk through the text, from statement to statement."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.breaks = [found.start() for found in re.finditer("\n", text)]
        self.lines: dict[KeyPath, int] = {}
        self.counts: dict[KeyPath, int] = {}  # of the elements of each list of tables
        self.scan()

    def scan(self) -> None:
        table: KeyPath = ()
        self.skip(_BLANK)
        while self.at < len(self.text):
            if self.text[self.at] == "[":
                table = self.header()
            else:
                self.pair(table)
            self.skip(_BLANK)

    def header(self) -> KeyPath:
        """`[a.b]` or `[[a.b]]`; a name on the way that is a list of tables means its latest element."""
        line, double = self.line(), self.text.startswith("[[", self.at)
        self.at += 2 if double else 1
        names = self.key()
        self.at += 2 if double else 1
        path: KeyPath = ()
        for name in names[:-1]:
            path = self.latest((*path, name))
            self.lines.setdefault(path, line)
        path = (*path, names[-1])
        self.lines.setdefault(path, line)
        if not double:
            return self.latest(path)
        self.counts[path] = self.counts.get(path, 0) + 1
        path = self.latest(path)
        self.lines[path] = line
        return path

    def latest(self, path: KeyPath) -> KeyPath:
        return (*path, self.counts[path] - 1) if path in self.counts else path

    def pair(self, table: KeyPath) -> None:
        """`key = value`; every part of a dotted key gets the line."""
        line, names = self.line(), self.key()
        for count in range(1, len(names) + 1):
            self.lines.setdefault((*table, *names[:count]), line)
        self.at += 1  # the equals sign
        self.skip(_SPACES)
        self.value((*table, *names))

    def key(self) -> list[str]:
        """The parts of a dotted key, quotes taken off; ends behind the spaces that follow."""
        names: list[str] = []
        while True:
            self.skip(_SPACES)
            quoted = self.text[self.at] in "\"'"
            token = self.string() if quoted else self.skip(_BARE_KEY)
            names.append(str(tomllib.loads(f"key = {token}")["key"]) if quoted else token)
            self.skip(_SPACES)
            if self.text[self.at] != ".":
                return names
            self.at += 1

    def value(self, path: KeyPath) -> None:
        sign = self.text[self.at]
        if sign in "\"'":
            self.string()
        elif sign == "[":
            self.items(path)
        elif sign == "{":
            self.inline(path)
        else:
            self.skip(_PLAIN)

    def items(self, path: KeyPath) -> None:
        """A list, over several lines if need be."""
        self.at += 1
        self.skip(_BLANK)
        place = 0
        while self.text[self.at] != "]":
            self.lines[(*path, place)] = self.line()
            self.value((*path, place))
            place += 1
            self.comma()
        self.at += 1

    def inline(self, path: KeyPath) -> None:
        self.at += 1
        self.skip(_BLANK)
        while self.text[self.at] != "}":
            self.pair(path)
            self.comma()
        self.at += 1

    def comma(self) -> None:
        self.skip(_BLANK)
        if self.text[self.at] == ",":
            self.at += 1
            self.skip(_BLANK)

    def string(self) -> str:
        for form in _STRINGS:
            found = form.match(self.text, self.at)
            if found:
                self.at = found.end()
                return found.group()
        raise ValueError(f"no text begins in line {self.line()}")  # tomllib would have refused it

    def skip(self, form: re.Pattern[str]) -> str:
        found = form.match(self.text, self.at)
        if found is None:  # a form that needs one sign or more, where there is none
            raise ValueError(f"line {self.line()} is not as expected")
        self.at = found.end()
        return found.group()

    def line(self) -> int:
        return bisect_right(self.breaks, self.at - 1) + 1
