"""What mitigations cost, as S0's Figure 3 shows it: accuracy above, its variation below, a block each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from evenhand.report.figures.canvas import figure, mark, text

BETTER, WORSE, SAME = "b4", "a4", "zero"
ARROWS = {"+": "↑", "-": "↓", "NS": "·"}
WORDS = {"+": "rose", "-": "fell", "NS": "did not change significantly"}
STRIPS = ("accuracy", "variance")


@dataclass(frozen=True)
class CostBlock:
    """A technique's two directions ("+", "-", "NS"); `published` is another direction of the variance.

    `cross`: the technique lowers no bias metric.
    """

    name: str
    accuracy: str
    variance: str
    cross: bool = False
    published: str = ""

    @property
    def family(self) -> str:
        """The letters before the hyphen: techniques of one family share a data set and a baseline."""
        return self.name.split("-")[0]


def replay_cost(blocks: Sequence[CostBlock], *, title: str, width: float = 760) -> str:
    """The two strips, side by side in families; on narrow screens one technique a line.

    >>> drawn = replay_cost([CostBlock("S-UC", "-", "+", True, "-")], title="cost")
    >>> drawn.count(">×<"), "another direction" in drawn
    (2, True)
    """
    told = "; ".join(_words(block, strip).replace("\n", ", ") for block in blocks for strip in STRIPS)
    if width < 480:
        step, parts = 26.0, _heads_above()
        for i, block in enumerate(blocks):
            y = 30 + step * i
            parts.append(text(2, y + 17, block.name, "t", 13))
            parts += [part for j in (0, 1) for part in _block(block, j, 110 + 120 * j, y, 112, step - 3)]
        return figure(width, 34 + step * len(blocks), title, told, parts)
    return figure(width, 152, title, told, _across(blocks, width))


def _heads_above() -> list[str]:
    return [
        text(110, 18, "accuracy", "ts", 12),
        text(230, 18, "its variation", "ts", 12),
    ]


def _across(blocks: Sequence[CostBlock], width: float) -> list[str]:
    families = [list(members) for _, members in groupby(blocks, lambda block: block.family)]
    left, gap = 92.0, 10.0
    step = (width - left - gap * (len(families) - 1)) / max(len(blocks), 1)
    parts = [text(0, 57, "accuracy", "t", 13), text(0, 105, "its variation", "t", 13)]
    x = left
    for members in families:
        parts.append(text(x, 20, members[0].family, "ts", 12))
        for block in members:
            short = block.name.split("-", 1)[-1]
            parts += _block(block, 0, x, 30, step - 2, 44) + _block(block, 1, x, 78, step - 2, 44)
            parts.append(text(x + step / 2 - 1, 142, short, "t", 11, text_anchor="middle"))
            x += step
        x += gap
    return parts


def _block(block: CostBlock, strip: int, x: float, y: float, wide: float, high: float) -> list[str]:
    direction = (block.accuracy, block.variance)[strip]
    good = ("+", "-")[strip]
    colour = SAME if direction == "NS" else BETTER if direction == good else WORSE
    parts = [mark("rect", colour, _words(block, STRIPS[strip]), x=x, y=y, width=wide, height=high, rx=2)]
    parts += _signs(ARROWS[direction], block.cross, x + wide / 2, y + high / 2 + 5, upright=high > wide)
    if strip and block.published:
        parts.append(mark("rect", "ref", x=x + 1, y=y + 1, width=wide - 2, height=high - 2, rx=2,
                          fill="none", stroke_width=1.5, stroke_dasharray="3 2",
                          pointer_events="none"))  # fmt: skip
    return parts


def _signs(arrow: str, cross: bool, x: float, y: float, upright: bool) -> list[str]:
    """The arrow, and the cross below it in a tall block or beside it in a wide one."""
    right, down = (0.0, 9.0) if upright else (9.0, 0.0)
    if not cross:
        return [text(x, y, arrow, "t", 14, text_anchor="middle", pointer_events="none")]
    return [
        text(x - right, y - down, arrow, "t", 14, text_anchor="middle", pointer_events="none"),
        text(x + right, y + down, "×", "t", 15, text_anchor="middle", pointer_events="none"),
    ]


def _words(block: CostBlock, strip: str) -> str:
    what, direction = ("accuracy", block.accuracy) if strip == "accuracy" else ("variation", block.variance)
    said = f"{block.name}\n{what} {WORDS[direction]}"
    if strip == "variance" and block.published:
        said += "\nthe published figure shows another direction"
    return said + ("\n× lowers none of the seven metrics" if block.cross else "")
