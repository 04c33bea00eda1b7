"""Soft-edged shapes on many faces at once, in the face's own coordinates.

Coordinates: u to the right and v downwards, the picture being [−1, 1]². Every part is placed by an anchor
(u, v); the pose moves the anchors (shift, scale, tilt, and a turn of the features against the head), and the
shapes are drawn about them. A shape is a mask `[n, h, w]` in [0, 1] with an edge one pixel wide, built from
profiles of one coordinate (`[n, 1, w]` or `[n, h, 1]`), so that a curve of any form costs two passes.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.data.faces_traits import Traits

SHIFT, SCALE, TURN, NOD, TILT = 0.06, 0.07, 0.05, 0.03, 0.08  # the largest pose at nuisance 1
ZOOM, LIFT = 1.1, -0.05  # of the picture's unit a face's unit is this much, and a face stands a little high


@dataclass(frozen=True)
class Layer:
    """The pixels `[n, 3, h, w]` of a box of some faces, where a part is painted (in place).

    >>> facts, places = torch.zeros(1, 40), torch.linspace(-0.75, 0.75, 4)
    >>> traits = Traits.of(facts, torch.arange(1), seed=0, difficulty=0.0, nuisance=0.0)
    >>> layer = Layer(torch.zeros(1, 3, 4, 4), traits, places, places, per_unit=2.0)
    >>> layer.paint(layer.oval(*layer.at(0.0, 0.0), 0.8, 0.8), layer.flat(1.0, 0.5, 0.0))
    >>> [round(float(red), 2) for red in layer.pixels[0, 0, 1]]
    [0.68, 1.0, 1.0, 0.68]
    """

    pixels: Tensor
    traits: Traits
    across: Tensor  # [w], the places of the pixels in the picture
    down: Tensor  # [h]
    per_unit: float  # pixels in a unit of the face

    def sign(self, name: str) -> Tensor:
        """The strength of a sign, `[n, 1, 1]`."""
        return self.traits.sign(name)

    def chance(self, name: str) -> Tensor:
        """A number of each face's own, `[n, 1, 1]`."""
        return self.traits.chance(name)

    @property
    def tilt(self) -> Tensor:
        """The lean of the head: the tangent of its angle."""
        return self.chance("tilt") * TILT

    def at(self, u: Tensor | float, v: Tensor | float, depth: float = 1.0) -> tuple[Tensor, Tensor]:
        """Coordinates about an anchor, `x [n, 1, w]` and `y [n, h, 1]`; depth: 1 a feature, 0 the head."""
        scale = (1 + self.chance("scale") * SCALE) * ZOOM
        u_here = u + self.chance("turn") * (TURN * depth) - self.tilt * v
        v_here = v + self.chance("nod") * (NOD * depth) + self.tilt * u
        x = (self.across - self.chance("across") * SHIFT) / scale - u_here
        y = (self.down[:, None] - LIFT - self.chance("down") * SHIFT) / scale - v_here
        return x, y

    def oval(self, x: Tensor, y: Tensor, a: Tensor | float, b: Tensor | float, soft: float = 1.0) -> Tensor:
        """The mask of an ellipse with half axes a and b; `soft` widens its edge."""
        steep = _smaller(a, b) * (self.per_unit / (2 * soft))
        return self.edge((1 - (y / b) ** 2) * steep - (x / a) ** 2 * steep)

    def ring(self, x: Tensor, y: Tensor, a: Tensor | float, b: Tensor | float, half: float) -> Tensor:
        """The mask of a line `2 · half` wide along an ellipse."""
        steep = _smaller(a, b) * (self.per_unit / 2)
        distance = ((y / b) ** 2 - 1) * steep + (x / a) ** 2 * steep
        return self.edge(half * self.per_unit - distance.abs_())

    def band(self, along: Tensor, centre: Tensor, half: Tensor | float, soft: float = 1.0) -> Tensor:
        """The mask of |along − centre| < half: along y, a stroke whose profiles are in x; or the reverse."""
        steep = self.per_unit / soft
        thick = half * steep
        thick = thick + _smaller(thick * 2, 0.5)  # a line much thinner than a pixel fades away
        return (thick - (along * steep - centre * steep).abs_()).clamp_(0, 1)

    def below(self, y: Tensor, line: Tensor | float, soft: float = 1.0) -> Tensor:
        """The mask of what lies beyond a line: y > line."""
        return self.edge((y - line) * (self.per_unit / soft))

    @staticmethod
    def edge(pixels_inside: Tensor) -> Tensor:
        """A mask from a distance in pixels, positive inside."""
        return (pixels_inside + 0.5).clamp_(0, 1)

    def paint(self, mask: Tensor, colour: Tensor) -> None:
        """Lay a colour `[n or 1, 3, 1 or h, 1 or w]` over the pixels, as densely as the mask `[n, h, w]`."""
        self.pixels.add_((colour - self.pixels).mul_(mask[:, None]))

    def shade(self, mask: Tensor, factor: tuple[float, float, float] | float) -> None:
        """Darken (or lighten) what is there: pixels times the factor where the mask is 1."""
        factors = (factor, factor, factor) if isinstance(factor, float) else factor
        change = self.pixels.new_tensor(factors)[:, None, None] - 1
        self.pixels.add_((self.pixels * change).mul_(mask[:, None]))

    def flat(self, *colour: float) -> Tensor:
        """A colour that is the same in every face, `[1, 3, 1, 1]`."""
        return self.pixels.new_tensor(colour)[None, :, None, None]


def _smaller(a: Tensor | float, b: Tensor | float) -> Tensor | float:
    """The smaller of two numbers."""
    if isinstance(a, Tensor) and isinstance(b, Tensor):
        return torch.minimum(a, b)
    if isinstance(a, Tensor):
        return a.clamp_max(float(b))
    return b.clamp_max(a) if isinstance(b, Tensor) else min(a, b)
