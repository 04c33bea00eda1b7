"""A metric over several runs: every run a tick, the mean and one standard deviation on top."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.figures.canvas import clip, figure, line, mark, text, text_width
from evenhand.report.figures.scale import Scale, nice_scale, tick_label
from evenhand.report.numbers import number


@dataclass(frozen=True)
class StripRow:
    """The runs of one metric; `values` may be empty when only their summary was stored."""

    label: str
    mean: float
    std: float | None
    low: float
    high: float
    values: tuple[float, ...] = ()


def strip(rows: Sequence[StripRow], *, title: str, names: Sequence[str] = (), width: float = 760) -> str:
    """A strip plot: range as a pale band, each run as a dot, mean and standard deviation as a cross bar.

    >>> strip([StripRow("tpr gap", 0.2, 0.1, 0.1, 0.3, (0.1, 0.3))], title="runs").count("<circle")
    2
    """
    narrow = width < 480
    left, right, step = (8.0, width - 12.0, 54.0) if narrow else (_room(rows), width - 150.0, 34.0)
    scale = nice_scale(
        [0.0, *(x for row in rows for x in (row.low, row.high))], left, right, 4 if narrow else 6
    )
    bottom = 10 + step * len(rows)
    parts = [line(scale(x), 6, scale(x), bottom, "grid") for x in scale.ticks]
    parts += [text(scale(x), bottom + 16, tick_label(x), "ts", 11, text_anchor="middle") for x in scale.ticks]
    for i, row in enumerate(rows):
        y = 10 + step * i + (38.0 if narrow else step / 2)
        parts += _row(row, scale, y, names)
        above = y - 16 if narrow else y + 4.5
        parts.append(
            text(2 if narrow else 0, above, clip(row.label, width - 170 if narrow else left - 14), "t", 13)
        )
        parts.append(
            text(width - 2, above, f"{number(row.mean)} ± {number(row.std)}", "t", 12, text_anchor="end")
        )
    told = "; ".join(
        f"{row.label}: mean {number(row.mean)}, {number(row.low)} to {number(row.high)}" for row in rows
    )
    return figure(width, bottom + 24, title, told, parts)


def _room(rows: Sequence[StripRow]) -> float:
    return min(250.0, max([90.0, *(text_width(row.label) + 24 for row in rows)]))


def _row(row: StripRow, scale: Scale, y: float, names: Sequence[str]) -> list[str]:
    start, end = scale(row.low), scale(row.high)
    parts = [mark("rect", "band", x=start, y=y - 8, width=max(end - start, 1), height=16, rx=2)]
    for i, x in enumerate(row.values):
        name = names[i] if i < len(names) else f"run {i + 1}"
        parts.append(
            mark(
                "circle",
                "dot",
                f"{name}\n{number(x)}",
                cx=scale(x),
                cy=y,
                r=3.5,
                fill_opacity="0.45",
                stroke_opacity="0",
            )
        )
    if row.std is not None:
        parts.append(
            line(scale(row.mean - row.std), y, scale(row.mean + row.std), y, "ref", stroke_width=1.5)
        )
    return [*parts, line(scale(row.mean), y - 10, scale(row.mean), y + 10, "ref", stroke_width=2.5)]
