"""Pictures of many faces, painted part by part.

A part names the box that holds it, widened by the largest pose, and the signs without which there is nothing
to draw. On the CPU only the rows with such a sign are painted; elsewhere all are. A mask of a sign of
strength 0 is 0 and adds 0 · (colour − pixel), so both ways give the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.data.faces_layer import LIFT, SCALE, SHIFT, TILT, TURN, ZOOM, Layer
from evenhand.data.faces_traits import PLACES, Traits

Box = tuple[float, float, float, float]  # left, right, top, bottom
WHOLE: Box = (-2.0, 2.0, -2.0, 2.0)  # beyond every edge of the picture
GATHER_BELOW = 0.7  # share of the rows below which they are copied out and painted alone


@dataclass(frozen=True)
class Part:
    """A part of the picture: what draws it, the box that holds it, and the signs that call for it."""

    draw: Callable[[Layer], None]
    box: Box
    signs: tuple[str, ...]


def part(box: Box, *signs: str) -> Callable[[Callable[[Layer], None]], Part]:
    """Make a part of a drawing function; without signs it is drawn in every face."""
    return lambda draw: Part(draw, box, signs)


@dataclass(frozen=True)
class Canvas:
    """The pictures `[n, 3, size, size]` of some faces, in [0, 1], and what is to be seen on them.

    >>> @part((-0.1, 0.1, -0.1, 0.1), "Smiling")
    ... def dot(layer: Layer) -> None:
    ...     disc = layer.oval(*layer.at(0.0, 0.0), 0.1, 0.1)
    ...     layer.paint(disc * layer.sign("Smiling"), layer.flat(1.0, 1.0, 1.0))
    >>> facts = torch.zeros(2, 40)
    >>> facts[1, PLACES["Smiling"]] = 1
    >>> traits = Traits.of(facts, torch.arange(2), seed=0, difficulty=0.0, nuisance=0.0)
    >>> canvas = Canvas(torch.zeros(2, 3, 32, 32), traits, nuisance=0.0)
    >>> canvas.draw(dot)
    >>> canvas.pixels.amax((1, 2, 3)).tolist()
    [0.0, 1.0]
    """

    pixels: Tensor
    traits: Traits
    nuisance: float

    def draw(self, item: Part) -> None:
        """Draw a part on every face that shows it."""
        size = self.pixels.shape[-1]
        left, right, top, bottom = self._pixel_box(item.box, size)
        view = self.pixels[:, :, top:bottom, left:right]
        places = (torch.arange(size, device=view.device, dtype=view.dtype) * 2 + (1 - size)) / size
        axes = places[left:right], places[top:bottom]
        rows = self._rows(item.signs)
        per_unit = size * ZOOM / 2
        if rows is None:
            item.draw(Layer(view, self.traits, *axes, per_unit))
        elif len(rows):
            layer = Layer(view[rows], self.traits.take(rows), *axes, per_unit)
            item.draw(layer)
            view[rows] = layer.pixels

    def _rows(self, signs: tuple[str, ...]) -> Tensor | None:
        """The rows to copy out; None for all of them, in place."""
        if not signs or self.pixels.device.type != "cpu":
            return None
        columns = self.traits.signs[:, [PLACES[name] for name in signs]]
        rows = (columns > 0).any(1).nonzero().flatten()
        return rows if len(rows) < GATHER_BELOW * len(columns) else None

    def _pixel_box(self, box: Box, size: int) -> tuple[int, int, int, int]:
        """The pixels that a box can reach in the largest pose, one more for the soft edge."""
        left, right, top, bottom = (value * ZOOM for value in box)
        top, bottom = top + LIFT, bottom + LIFT
        reach, grow, lean = (self.nuisance * value for value in (SHIFT + TURN, SCALE, TILT))
        sideways = reach + lean * max(-top, bottom) + grow * max(-left, right)
        upright = reach + lean * max(-left, right) + grow * max(-top, bottom)
        first = [max(0, int((value + 1) * size / 2) - 1) for value in (left - sideways, top - upright)]
        last = [min(size, int((value + 1) * size / 2) + 2) for value in (right + sideways, bottom + upright)]
        return first[0], last[0], first[1], last[1]
