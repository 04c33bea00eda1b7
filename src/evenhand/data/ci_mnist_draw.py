"""CI-MNIST, what is drawn for each image before anything is painted: colour, lines, green marks, box.

Shares are exact counts, never coin flips. Everything is drawn whether a knob asks for it or not, so that two
configurations with one seed differ only where their knobs do.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from evenhand.arrays import Array, IntArray
from evenhand.data.ci_mnist_look import Look, Pair
from evenhand.data.shares import exact_count

FIRST_LINE_ROW, END_LINE_ROW = 10, 30
FEW, MANY = (2, 6), (6, 20)  # numbers of lines, the upper end excluded
NO_COLUMN = -1


@dataclass(frozen=True)
class Drawn:
    """The choices for each image, in the order in which they are kept; `source` is its place in the file."""

    source: IntArray = field(repr=False)
    digit: IntArray = field(repr=False)
    blue: Array = field(repr=False)
    left: Array = field(repr=False)  # the box of variant B
    n_lines: IntArray = field(repr=False)
    lines: Array = field(repr=False)  # [N, 32]: rows in which the digit is black
    column_1: IntArray = field(repr=False)  # of the green marks, NO_COLUMN where there is none
    column_2: IntArray = field(repr=False)
    tints: Array = field(repr=False)  # [N, 3]: one shade for a whole image

    @property
    def even(self) -> Array:
        """Whether the digit is even: the label."""
        return np.asarray(self.digit % 2 == 0)

    @property
    def many(self) -> Array:
        """Whether the image was dealt many lines; they may share rows, so fewer can be seen."""
        return np.asarray(self.n_lines >= MANY[0])


def draw(digits: Array, look: Look, generator: np.random.Generator) -> Drawn:
    """The choices for images with these digits, given in file order.

    Colours go to the first images of the file, as in the original; lines and box positions are dealt in an
    order of their own, which makes them independent of the colour given the parity.
    """
    n = len(digits)
    digits = digits.astype(np.int64)
    even = digits % 2 == 0
    kept, dealt = generator.permutation(n), generator.permutation(n)
    side, second, number = generator.random((3, n))
    rows = generator.integers(FIRST_LINE_ROW, END_LINE_ROW, size=(n, MANY[1] - 1))
    tints = generator.random((n, 3), dtype=np.float32)
    blue = first_of(even, np.arange(n), look.clr_ratio)
    many = first_of(even, dealt, look.e_o_ratio)
    left = first_of(even, dealt, look.pos_ratio)
    n_lines = np.where(many, _between(*MANY, number), _between(*FEW, number))
    return Drawn(
        source=kept,
        digit=digits[kept],
        blue=blue[kept],
        left=left[kept],
        n_lines=n_lines[kept],
        lines=_line_rows(rows, n_lines)[kept],
        column_1=_first_column(even, look, side)[kept],
        column_2=_second_column(digits, look, second)[kept],
        tints=tints[kept],
    )


def first_of(even: Array, order: IntArray, shares: Pair) -> Array:
    """True for the exact share of the even and of the odd images that come first in an order.

    >>> first_of(np.array([True, True, False, True]), np.array([3, 2, 1, 0]), (0.7, 0.5)).tolist()
    [False, True, False, True]
    """
    chosen = np.zeros(len(even), dtype=bool)
    for members, share in ((order[even[order]], shares[0]), (order[~even[order]], shares[1])):
        chosen[members[: exact_count(share, len(members))]] = True
    return chosen


def _between(low: int, end: int, uniform: Array) -> IntArray:
    return np.asarray(low + np.floor(uniform * (end - low)), dtype=np.int64)


def _line_rows(rows: IntArray, n_lines: IntArray) -> Array:
    """Rows are drawn with replacement, as in the original: n lines may lie in fewer rows."""
    lines = np.zeros((len(rows), 32), dtype=bool)
    image = np.arange(len(rows))
    for line in range(rows.shape[1]):
        lines[image, rows[:, line]] |= n_lines > line
    return lines


def _first_column(even: Array, look: Look, uniform: Array) -> IntArray:
    if look.variant == "B" or not look.g1:
        return np.full(len(even), NO_COLUMN)
    if not look.green_tells:
        return _between(0, look.g1, uniform)
    half = look.g1 // 2
    return np.where(even, _between(0, half, uniform), _between(half, look.g1, uniform))


def _second_column(digits: IntArray, look: Look, uniform: Array) -> IntArray:
    if look.variant == "B" or not look.g2:
        return np.full(len(digits), NO_COLUMN)
    return look.g1 + (digits if look.green_tells else _between(0, 10, uniform))
