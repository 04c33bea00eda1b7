"""Parts that are measured under a shift: what they are called, and how one reads such a name again.

A run that is measured on `test ~ gaussian 0.03 #1` is measured on the test rows with draw 1 of the shift
"gaussian" at severity 0.03 (S4, "Equalized Robustness", section 4.1: noise is added at test time only). The
number of the draw seeds the noise, so that all runs of a study see the same.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evenhand.data.shift_registry import find_shift
from evenhand.study.spec import ShiftSpec

_NAME = re.compile(r"(?P<part>.+?) ~ (?P<kind>.+) (?P<severity>\S+) #(?P<draw>[1-9][0-9]*)")


@dataclass(frozen=True)
class ShiftedName:
    """One draw of a shift of one severity over a part of the data.

    >>> str(ShiftedName("test", "gaussian", 0.03, 1)), str(ShiftedName("test", "blur", 2.0, 1))
    ('test ~ gaussian 0.03 #1', 'test ~ blur 2 #1')
    >>> ShiftedName.parse("test ~ gaussian 0.03 #1")
    ShiftedName(part='test', kind='gaussian', severity=0.03, draw=1)
    """

    part: str
    kind: str
    severity: float
    draw: int

    def __str__(self) -> str:
        return f"{self.part} ~ {self.kind} {number_words(self.severity)} #{self.draw}"

    @classmethod
    def parse(cls, name: str) -> ShiftedName | None:
        """What a name says; None for a part as it is.

        >>> ShiftedName.parse("validation_balanced") is None
        True
        """
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        try:
            severity = float(found["severity"])
        except ValueError:
            return None
        return cls(found["part"], found["kind"], severity, int(found["draw"]))


def number_words(value: float) -> str:
    """A severity in as few letters as give it back to the bit; 1 and 1.0 are the same.

    >>> number_words(0.1 + 0.2), number_words(1.0), number_words(1e-07)
    ('0.30000000000000004', '1', '1e-07')
    """
    whole = math.isfinite(value) and float(value).is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else repr(float(value))


def clean_part(name: str) -> str:
    """The part of the data whose rows a measured part is made of.

    >>> clean_part("test ~ gaussian 0.03 #1"), clean_part("test")
    ('test', 'test')
    """
    shifted = ShiftedName.parse(name)
    return name if shifted is None else shifted.part


def names_of(shift: ShiftSpec) -> Iterator[str]:
    """Every severity and draw of a shift, as names of parts.

    >>> list(names_of(ShiftSpec("gaussian", (0.03, 0.06), draws=2)))[1:3]
    ['test ~ gaussian 0.03 #2', 'test ~ gaussian 0.06 #1']
    """
    for severity in severities_of(shift):
        for draw in range(1, shift.draws + 1):
            yield str(ShiftedName(shift.part, shift.kind, severity, draw))


def severities_of(shift: ShiftSpec) -> tuple[float, ...]:
    """The severities that are asked for; those that are usual for the shift where none is."""
    if shift.severities:
        return shift.severities
    return find_shift(shift.kind)[0].severities


def grouped(names: Iterable[str], part: str = "test") -> list[tuple[str, float, tuple[str, ...]]]:
    """(shift, severity, names of its draws) of a part, in the order in which they are met.

    >>> grouped(["test", "test ~ gaussian 0.03 #1", "test ~ gaussian 0.03 #2", "test ~ uniform 0.1 #1"])[0]
    ('gaussian', 0.03, ('test ~ gaussian 0.03 #1', 'test ~ gaussian 0.03 #2'))
    """
    found: dict[tuple[str, float], list[str]] = {}
    for name in dict.fromkeys(names):
        shifted = ShiftedName.parse(name)
        if shifted is not None and shifted.part == part:
            found.setdefault((shifted.kind, shifted.severity), []).append(name)
    return [(kind, severity, tuple(draws)) for (kind, severity), draws in found.items()]
