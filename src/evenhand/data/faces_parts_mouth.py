"""Nose and mouth: their size and form, the smile, the lips and their colour."""

from __future__ import annotations

from torch import Tensor

from evenhand.data.faces_canvas import part
from evenhand.data.faces_layer import Layer

NOSE_V, MOUTH_V = 0.10, 0.275


@part((-0.21, 0.21, -0.16, 0.29))
def nose(layer: Layer) -> None:
    """A ridge, a tip and two wings: Big_Nose widens and lengthens it, Pointy_Nose draws it to a point."""
    big, pointy = layer.sign("Big_Nose"), layer.sign("Pointy_Nose")
    x, y = layer.at(0.0, NOSE_V, depth=1.6)
    size = (1 + 0.85 * big) * (1 + layer.chance("nose") * 0.05)
    along = ((y + 0.20) / (0.20 * size)).clamp(0, 1.6)  # 0 at the root, 1 at the tip
    half = 0.022 + 0.030 * along**2 * size * (1 - 0.5 * pointy)
    ridge = layer.band(x, -layer.tilt * y, half, soft=1.5) * layer.below(-y, -0.02 * size)
    layer.shade(ridge * (along * 0.9).clamp(0, 1), (0.90, 0.85, 0.84))
    _wings(layer, x, y - 0.05 * big, size, pointy)
    light = layer.oval(x + 0.008, y + 0.05 - 0.03 * big, 0.016 * size + 0.008 * pointy, 0.085, soft=1.5)
    pale = layer.traits.colours["skin"] * 0.5 + layer.flat(0.50, 0.475, 0.45)
    layer.paint(light * (0.40 + 0.40 * pointy), pale)


def _wings(layer: Layer, x: Tensor, y: Tensor, size: Tensor, pointy: Tensor) -> None:
    """The end of the nose: round with two nostrils; a pointed nose throws a shadow with a point."""
    skin = layer.traits.colours["skin"]
    wide = 0.072 * size * (1 - 0.45 * pointy)
    layer.shade(layer.oval(x, y - 0.016, wide + 0.014, 0.046 * size, soft=1.2), (0.70, 0.60, 0.58))
    layer.paint(layer.oval(x, y, wide, 0.046 * size), skin * 1.02)
    for side in (-1, 1):
        hole = layer.oval(x - side * wide * 0.55, y - 0.026 * size, 0.017 * size, 0.011 * size)
        layer.shade(hole * (1 - pointy), (0.40, 0.30, 0.30))
    down = ((y + 0.20) / 0.24).clamp(0, 1)
    under = ((0.10 - y) / 0.06).clamp(0, 1)
    reach = 0.115 * down * under  # how far the point stands out to one side at each height
    point = layer.band(x, reach * 0.5 - layer.tilt * y, reach * 0.5)
    layer.shade(point * pointy, (0.60, 0.50, 0.48))


@part((-0.34, 0.34, 0.08, 0.58))
def mouth(layer: Layer) -> None:
    """Two lips about a line that a smile bends; where the mouth is open, teeth and dark between them."""
    x, y, half, line = mouth_line(layer)
    open_, big = layer.sign("Mouth_Slightly_Open"), layer.sign("Big_Lips")
    lips = layer.traits.colours["lips"]
    painted = layer.flat(0.82, 0.05, 0.18) + layer.chance("lip")[..., None] * layer.flat(0.08, 0.04, 0.07)
    lips = lips + (painted - lips) * layer.sign("Wearing_Lipstick")[..., None]
    fade = (1 - (x / half) ** 2).clamp_min(0)
    gap = (0.052 + 0.012 * layer.sign("Smiling")) * open_ * fade
    upper = (0.030 + 0.054 * big) * fade * (0.86 + (x.abs() * 5).clamp_max(0.14))
    lower = (0.038 + 0.070 * big) * fade
    top, bottom = line - gap * 0.5 - upper, line + gap * 0.9 + lower
    layer.paint(layer.band(y, (top + bottom) * 0.5, (bottom - top) * 0.5), lips)
    layer.shade(layer.band(y, top + upper * 0.4, upper * 0.6), (0.86, 0.82, 0.84))
    layer.shade(layer.band(y, bottom + 0.022, 0.012 * fade, soft=1.5) * fade, (0.86, 0.80, 0.79))
    _between(layer, y, line, gap, fade)
    closed = layer.band(y, line, 0.007) * (fade * 6).clamp_max(1) * (1 - open_)
    layer.shade(closed, (0.42, 0.34, 0.36))


def _between(layer: Layer, y: Tensor, line: Tensor, gap: Tensor, fade: Tensor) -> None:
    """What an open mouth shows: the dark of it, and the upper teeth."""
    middle = line + gap * 0.2
    inside = layer.band(y, middle, gap * 0.7)
    layer.paint(inside, layer.flat(0.30, 0.06, 0.08))
    teeth = layer.band(y, middle - gap * 0.40, gap * 0.32)
    layer.paint(teeth, layer.flat(0.98, 0.97, 0.94))


@part((-0.36, 0.36, 0.02, 0.36), "Smiling")
def smile_folds(layer: Layer) -> None:
    """The folds at the corners of a smile."""
    x, y, half, _ = mouth_line(layer)
    strength = layer.sign("Smiling")
    for side in (-1, 1):
        rise = y - _corner(layer)
        reach = (1 - (rise / 0.075) ** 2).clamp_min(0)
        arc = layer.band(x * side, half + 0.035 - (rise * 9) ** 2 * 0.07, 0.011 * reach)
        layer.shade(arc * strength, (0.74, 0.64, 0.62))


def mouth_line(layer: Layer) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """About the mouth: x, y, half its width, and the line where the lips meet, `[n, 1, w]`."""
    smiling, open_ = layer.sign("Smiling"), layer.sign("Mouth_Slightly_Open")
    x, y = layer.at(0.0, MOUTH_V, depth=1.1)
    half = 0.155 + 0.065 * smiling - 0.012 * open_ * (1 - smiling) + layer.chance("mouth") * 0.008
    bend = 0.135 * smiling + 0.010 + layer.chance("mouth_2") * 0.010
    return x, y, half, layer.tilt * x + 0.45 * bend - bend * (x / half) ** 2


def _corner(layer: Layer) -> Tensor:
    """How high the corner of the mouth is about its middle."""
    return -0.5 * (0.135 * layer.sign("Smiling"))
