"""Table: one table of a study file, whose values are taken out by name and kind; what is left is unknown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from evenhand.nets.names import no_such
from evenhand.study.mistakes import Mistakes
from evenhand.study.toml_lines import KeyPath


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _list_of(kind: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(kind, value))


KINDS: dict[str, Callable[[Any], bool]] = {
    "a text": _is_text,
    "a whole number": _is_whole,
    "a number": _is_number,
    "a list of texts": _list_of(_is_text),
    "a list of whole numbers": _list_of(_is_whole),
    "a list of numbers": _list_of(_is_number),
    "a list of lists of texts": _list_of(_list_of(_is_text)),
    "a table": lambda value: isinstance(value, dict),
    "a list of tables": _list_of(lambda value: isinstance(value, dict)),
    "true or false": lambda value: isinstance(value, bool),
}
TEXT, WHOLE, NUMBER, TEXTS, WHOLES, NUMBERS, LISTS, TABLE, TABLES, SWITCH = KINDS


class Table:
    """A table with its path in the file; mistakes are noted and the reading goes on with the default.

    >>> mistakes = Mistakes("study.toml", {("seeds",): 4})
    >>> table = Table({"seeds": "many", "sedes": 3}, (), mistakes)
    >>> table.take("seeds", WHOLE, default=1)
    1
    >>> table.refuse_rest("a study", ["seeds"])
    >>> [text for _, text in mistakes.found]
    ["study.toml:4: 'seeds' must be a whole number, not 'many'",
    "study.toml:1: a study has no key 'sedes'; did you mean 'seeds'? Its keys: seeds"]
    """

    def __init__(self, values: Mapping[str, Any], path: KeyPath, mistakes: Mistakes) -> None:
        self.values = dict(values)
        self.path = path
        self.mistakes = mistakes

    def take(self, key: str, *kinds: str, default: Any = None) -> Any:
        """The value of a key if it is of one of these kinds; the default if it is not there."""
        if key not in self.values:
            return default
        value = self.values.pop(key)
        if any(KINDS[kind](value) for kind in kinds):
            return value
        self.wrong(f"'{key}' must be {' or '.join(kinds)}, not {value!r}", key)
        return default

    def names(self, key: str) -> tuple[str, ...]:
        """A list of texts as a tuple; one text alone is a list of it."""
        value = self.take(key, TEXTS, TEXT, default=[])
        return (value,) if isinstance(value, str) else tuple(value)

    def table(self, key: str) -> Table:
        """The table under a key; an empty one if there is none."""
        return Table(self.take(key, TABLE, default={}), (*self.path, key), self.mistakes)

    def tables(self, key: str) -> list[Table]:
        """The tables of `[[key]]`, in order."""
        found = self.take(key, TABLES, default=[])
        return [Table(each, (*self.path, key, place), self.mistakes) for place, each in enumerate(found)]

    def rest(self) -> dict[str, Any]:
        """What was not taken, taken."""
        found, self.values = self.values, {}
        return found

    def refuse_rest(self, what: str, known: Iterable[str]) -> None:
        """Everything that was not taken is a mistake."""
        for key in self.rest():
            self.wrong(no_such(f"{what} has no key", key, known, "Its keys"), key)

    def wrong(self, reason: str, *keys: str | int) -> None:
        """A mistake in this table, at a key of it if one is named."""
        self.mistakes.add((*self.path, *keys), reason)
