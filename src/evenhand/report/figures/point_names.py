"""Names beside points of a figure, each put where it covers no other name and as few points as can be."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.figures.canvas import clip, text_width

SIZE, ROOM, HIGH = 11.0, 110.0, 11.0  # of the letters, of the longest name, of a line
Box = tuple[float, float, float, float]  # left, top, right, bottom
Spot = tuple[float, float]


def placed(names: Sequence[tuple[str, Spot]], points: Sequence[Spot], frame: Box) -> list[tuple[str, Box]]:
    """The names that find room inside the frame, with their places: above right of their point if it is free.

    One that would cover another name wherever it stood is left out; the first are served first.

    >>> [name for name, _ in placed([("a", (50, 50)), ("b", (50, 50))], [(50, 50)], (0, 0, 99, 99))]
    ['a', 'b']
    """
    found: list[tuple[str, Box]] = []
    for name, point in names:
        told = clip(name, ROOM, SIZE)
        free = [box for box in _around(point, text_width(told, SIZE))
                if _inside(box, frame) and not any(_meet(box, other) for _, other in found)]  # fmt: skip
        if free:
            found.append((told, min(free, key=lambda box: sum(_covers(box, other) for other in points))))
    return found


def _around(point: Spot, wide: float) -> list[Box]:
    """Where a name can stand: right and left of its point, above and below it, near and farther off."""
    x, y = point
    lefts = (x + 8, x - 8 - wide, x - wide / 2)
    tops = (y - 6 - HIGH, y + 6, y - HIGH / 2, y - 20 - HIGH, y + 20)
    every = [(left, top) for top in tops for left in lefts if (left, top) != (lefts[2], tops[2])]
    return [(left, top, left + wide, top + HIGH) for left, top in every]


def _inside(box: Box, frame: Box) -> bool:
    return box[0] >= frame[0] and box[1] >= frame[1] and box[2] <= frame[2] and box[3] <= frame[3]


def _meet(one: Box, other: Box) -> bool:
    return one[0] < other[2] + 2 and other[0] < one[2] + 2 and one[1] < other[3] and other[1] < one[3]


def _covers(box: Box, point: Spot) -> bool:
    """Whether a mark at the point would be touched."""
    return box[0] - 4 < point[0] < box[2] + 4 and box[1] - 4 < point[1] < box[3] + 4
