"""Behind and below the face: wall, shoulders, neck; then the ears and the head itself.

Male is stylised: a wider neck and a squarer jaw here, heavier brows and short hair elsewhere.
"""

from __future__ import annotations

import torch
from torch import Tensor

from evenhand.data.faces_canvas import WHOLE, part
from evenhand.data.faces_layer import Layer

HEAD_V, HEAD_A, HEAD_B = -0.04, 0.44, 0.54  # the middle of the head, half its width and half its height


@part(WHOLE)
def wall(layer: Layer) -> None:
    """A wall lit from one side, with a large soft disc of light."""
    x, y = layer.across, layer.down[:, None]
    disc_x, disc_y = x - layer.chance("wall_4") * 0.7, y - layer.chance("wall") * 0.6
    lit = (
        (1 - disc_x**2 - disc_y**2)
        .clamp_(0, 0.5)
        .mul_(0.3)
        .add_(1 + layer.chance("wall_4") * x * 0.10 - y * 0.08)
    )
    torch.mul(layer.traits.colours["wall"], lit[:, None], out=layer.pixels)


@part((-1, 1, 0.4, 1.2))
def shoulders(layer: Layer) -> None:
    """Clothes with a round neckline, and the neck with the head's shadow on it."""
    skin, cloth = layer.traits.colours["skin"], layer.traits.colours["cloth"]
    male = layer.sign("Male")
    x, y = layer.at(0.0, 1.16, depth=0.0)
    layer.paint(layer.oval(x, y, 0.80 + 0.12 * male + 0.08 * layer.sign("Chubby"), 0.42), cloth)
    layer.shade(layer.oval(x, y - 0.12, 0.62, 0.30, soft=6.0), 0.9)
    x, y = layer.at(0.0, 0.70, depth=0.0)
    half = 0.175 + 0.045 * male + 0.03 * layer.sign("Chubby") + (y * 1.2).clamp(0, 0.2) ** 2 * 2
    neck = layer.band(x, -layer.tilt * y, half) * layer.below(y, -0.30) * layer.below(-y, -0.12)
    layer.paint(neck, skin * 0.93)
    layer.paint(layer.oval(x, y - 0.1, half.amax(1, keepdim=True) * 0.96, 0.10), skin * 0.93)
    layer.shade(layer.oval(x, y + 0.22, 0.34, 0.16, soft=3.0) * neck, (0.80, 0.76, 0.76))


@part((-0.56, 0.56, -0.16, 0.22))
def ears(layer: Layer) -> None:
    """Two ears, a little darker inside."""
    skin = layer.traits.colours["skin"]
    width = head_half_width(layer)
    for side in (-1, 1):
        x, y = layer.at(side * (width - 0.005), 0.02, depth=-0.4)
        layer.paint(layer.oval(x, y, 0.065, 0.115), skin * 0.95)
        layer.shade(layer.oval(x - side * 0.005, y, 0.03, 0.07, soft=1.5), (0.85, 0.78, 0.78))


@part((-0.40, 0.40, 0.20, 0.72), "Double_Chin")
def second_chin(layer: Layer) -> None:
    """A second chin below the first, behind the head."""
    strength = layer.sign("Double_Chin")
    x, y = layer.at(0.0, HEAD_V + 0.50, depth=0.2)
    mask = layer.oval(x, y, 0.31 + 0.05 * layer.sign("Chubby"), 0.05 + 0.12 * strength)
    layer.paint(mask * (strength * 3).clamp_max(1), layer.traits.colours["skin"] * 0.90)


@part((-0.62, 0.62, -0.70, 0.62))
def head(layer: Layer) -> None:
    """The head, with a soft shadow towards its edge."""
    inside = head_inside(layer)
    mask = layer.edge(inside)
    layer.paint(mask, layer.traits.colours["skin"])
    rim = (1 - inside * (8 / layer.per_unit)).clamp_(0, 1).mul_(mask)
    layer.shade(rim, (0.86, 0.82, 0.81))


@part((-0.32, 0.32, 0.34, 0.60), "Double_Chin")
def chin_crease(layer: Layer) -> None:
    """The fold between the chin and the second chin."""
    x, y = layer.at(0.0, HEAD_V + 0.495, depth=0.3)
    line = layer.band(y, layer.tilt * x - (x * 2.1) ** 2 * 0.35, 0.014)
    layer.shade(line * layer.below(-x.abs(), -0.22) * layer.sign("Double_Chin"), (0.66, 0.58, 0.57))


def head_half_width(layer: Layer) -> Tensor:
    """Half the width of the head at the ears, `[n, 1, 1]`."""
    shape = 0.06 * layer.sign("Chubby") - 0.05 * layer.sign("Oval_Face") + 0.012 * layer.sign("Male")
    return HEAD_A + shape + layer.chance("width") * 0.015


def head_inside(layer: Layer) -> Tensor:
    """How many pixels a place lies within the outline of the head, `[n, h, w]`; negative outside.

    The outline is |x / (a m(t))|² + (1 − j) t² + j t⁴ = 1 with t = y / b: below the middle, m tapers (oval)
    or bulges (chubby) and j makes the jaw square (male).
    """
    x, y = layer.at(0.0, HEAD_V, depth=0.0)
    oval, chubby, male = layer.sign("Oval_Face"), layer.sign("Chubby"), layer.sign("Male")
    b = HEAD_B + 0.065 * oval - 0.02 * chubby + layer.chance("height") * 0.015
    t = (y / b).clamp(-1.6, 1.6)
    low, t2 = t.clamp_min(0), t**2
    square = (0.10 + 0.50 * male - 0.10 * oval + 0.15 * chubby + layer.chance("jaw") * 0.06) * (t > 0)
    widen = (
        1 - (0.26 - 0.08 * male + 0.06 * oval) * low**2 + 1.15 * chubby * low**2 * (1.15 - low).clamp_min(0)
    )
    steep = HEAD_A * layer.per_unit / 2
    narrow = steep / (head_half_width(layer) * widen) ** 2
    rest = (1 - t2 * (1 - square) - t2 * t2 * square) * steep
    return rest - (x + layer.tilt * y) ** 2 * narrow
