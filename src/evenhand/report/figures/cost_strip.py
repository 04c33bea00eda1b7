"""The cost of mitigation in two strips: did accuracy move, and did its variance?

Blue is the direction one wants (accuracy up, variance down), orange the other, grey not shown to differ.
Signs say the direction and a cross marks a method that improved no metric: nothing hangs on colour alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.figures.canvas import clip, figure, mark, text, text_width
from evenhand.report.numbers import probability

BLOCK, HEIGHT, GAP = 74.0, 30.0, 4.0
LABEL = 84.0  # room for "accuracy" and "variance"
SIGNS = {"+": "+", "-": "−"}
WANTED = {"accuracy": "+", "variance": "-"}


def cost_strip(
    rows: Sequence[Mapping[str, Any]],
    *,
    title: str,
    improved: Mapping[str, str] | None = None,
    width: float = 760,
) -> str:
    """Two strips of blocks, one for each method; `improved` tells for each method what for.

    >>> row = {"method": "gap", "accuracy": "-", "variance": "NS", "cross": True}
    >>> svg = cost_strip([row], title="cost")
    >>> 'class="a3"' in svg, 'class="band"' in svg, svg.count("<path")
    (True, True, 2)
    """
    a_line = max(1, int((width - LABEL) // (BLOCK + GAP)))
    parts, step = [], 2 * HEIGHT + GAP + 46
    lines = [rows[start : start + a_line] for start in range(0, len(rows), a_line)]
    for number_of_line, blocks in enumerate(lines):
        top = 20.0 + step * number_of_line
        parts += [
            text(0, top + y + HEIGHT / 2 + 4.5, label, "ts", 12)
            for y, label in ((0.0, "accuracy"), (HEIGHT + GAP, "its variance"))
        ]
        for place, row in enumerate(blocks):
            parts += _method(row, LABEL + place * (BLOCK + GAP), top, (improved or {}).get(row["method"], ""))
    told = "; ".join(_words(row) for row in rows)
    return figure(width, step * len(lines) - 8, title, told, parts)


def _method(row: Mapping[str, Any], x: float, top: float, improved: str) -> list[str]:
    shown = clip(row["method"], BLOCK, 12)
    parts = [text(x + BLOCK / 2, top - 7, shown, "t", 12, row["method"], text_anchor="middle")]
    for which, y in (("accuracy", top), ("variance", top + HEIGHT + GAP)):
        tip = f"{row['method']}\n{_told(which, row)}\n{improved}".rstrip()
        style = _style(which, row[which])
        parts.append(mark("rect", style, tip, x=x, y=y, width=BLOCK, height=HEIGHT, rx=3))
        parts.append(
            text(x + BLOCK / 2, y + 21, SIGNS.get(row[which], "·"), "t", 18, text_anchor="middle",
                 font_weight="600", pointer_events="none")
        )  # fmt: skip
        if row.get("cross"):
            parts.append(_cross(x + BLOCK - 12, y + HEIGHT / 2))
    return parts


def _style(which: str, sign: str) -> str:
    if sign not in SIGNS:
        return "band"
    return "b3" if sign == WANTED[which] else "a3"


def _told(which: str, row: Mapping[str, Any]) -> str:
    name = "accuracy" if which == "accuracy" else "variance of accuracy"
    moved = {"+": "higher", "-": "lower"}.get(row[which], "no difference shown")
    p = row.get(f"{which}_p")
    return f"{name}: {moved}" + (f" ({probability(p)})" if p is not None else "")


def _words(row: Mapping[str, Any]) -> str:
    crossed = ", improved no metric" if row.get("cross") else ""
    return f"{row['method']}: {_told('accuracy', row)}, {_told('variance', row)}{crossed}"


def _cross(x: float, y: float) -> str:
    ends = f"M{x - 4:.1f} {y - 4:.1f}l8 8m0-8l-8 8"
    return mark("path", "ref", d=ends, fill="none", stroke_width=1.75, pointer_events="none")


def cost_legend(width: float = 760) -> str:
    """What blocks, signs and the cross mean.

    >>> cost_legend().count("<rect")
    3
    """
    entries = [("b3", "accuracy up, or variance down"), ("a3", "accuracy down, or variance up"),
               ("band", "no difference shown"), ("", "× improved no metric")]  # fmt: skip
    narrow = width < 480
    parts, x, y = [], 0.0, 12.0
    for style, words in entries:
        if style:
            parts.append(mark("rect", style, x=x, y=y - 9, width=18, height=12, rx=2))
        else:
            parts.append(_cross(x + 9, y - 3))
        parts.append(text(x + 24, y + 1.5, words.removeprefix("× "), "ts", 12))
        x, y = (0.0, y + 19) if narrow else (x + 48 + text_width(words, 12), y)
    return figure(width, y + 8 if not narrow else y, "Legend", "", parts)
