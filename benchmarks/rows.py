"""One line of the results: what was measured, the target, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

Sign = Literal[">=", "<="]


@dataclass(frozen=True)
class Row:
    """A measured value, e.g. 4100 x ("times faster than fairlearn") with the target >= 1000 x."""

    benchmark: str
    what: str
    value: float
    unit: Literal["x", "s", "MB"]
    sign: Sign | None = None
    target: float | None = None
    detail: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool | None:
        """Whether the target is reached; None where there is none."""
        if self.target is None:
            return None
        return self.value >= self.target if self.sign == ">=" else self.value <= self.target

    @property
    def verdict(self) -> str:
        """PASS, FALLS SHORT, or nothing where there is no target."""
        return {None: "", True: "PASS", False: "FALLS SHORT"}[self.holds]

    def cells(self) -> tuple[str, str, str, str, str]:
        """The row as texts: benchmark, what, value, target, verdict."""
        sign = {">=": "at least ", "<=": "at most ", None: ""}[self.sign]
        target = "" if self.target is None else f"{sign}{shown(self.target, self.unit)}"
        return self.benchmark, self.what, shown(self.value, self.unit), target, self.verdict

    def to_dict(self) -> dict[str, Any]:
        """The row as plain values."""
        return {
            "benchmark": self.benchmark,
            "what": self.what,
            "value": self.value,
            "unit": self.unit,
            "sign": self.sign,
            "target": self.target,
            "holds": self.holds,
            "detail": self.detail,
        }


def shown(value: float, unit: str) -> str:
    """A value to three digits with its unit.

    >>> shown(4096.4, "x"), shown(0.13579, "s"), shown(2.0, "x")
    ('4096 x', '0.136 s', '2 x')
    """
    digits = 0 if abs(value) >= 100 else 3
    text = f"{value:.{digits}f}" if digits == 0 else f"{value:.{digits}g}"
    return f"{text} {unit}"
