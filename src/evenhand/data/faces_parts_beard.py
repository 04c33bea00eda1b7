"""Hair on the face. Each fact is drawn where it holds, whatever No_Beard says of the same face.

Where No_Beard does not hold a short beard runs along the jaw; a goatee, a moustache and sideburns are
darker and lie on top of it. A face with No_Beard and a goatee (a contradiction that real annotations hold
too) has the goatee and no beard along the jaw.
"""

from __future__ import annotations

from torch import Tensor

from evenhand.data.faces_canvas import part
from evenhand.data.faces_layer import Layer
from evenhand.data.faces_parts_head import head_half_width, head_inside
from evenhand.data.faces_parts_mouth import MOUTH_V


@part((-0.56, 0.56, -0.20, 0.60), "5_o_Clock_Shadow")
def shadow(layer: Layer) -> None:
    """A bluish grey tint over lip, cheeks and chin."""
    x, y = layer.at(0.0, 0.12, depth=0.8)
    low = layer.below(y, 0.02 - (x * 2.2) ** 2 * 0.25, soft=3.0)
    mask = low * layer.edge(head_inside(layer)) * layer.sign("5_o_Clock_Shadow")
    layer.shade(mask, (0.66, 0.70, 0.76))


@part((-0.60, 0.60, -0.06, 0.64), "Beard")
def beard(layer: Layer) -> None:
    """A short beard along the jaw, from ear to ear."""
    x, y = layer.at(0.0, 0.16, depth=0.5)
    inside = layer.edge(head_inside(layer))
    cheek = layer.oval(x, y + 0.03, head_half_width(layer) - 0.085, 0.265, soft=2.0)
    low = layer.below(y, -0.12, soft=3.0)
    layer.paint(inside * (1 - cheek) * low * layer.sign("Beard") * 0.82, _colour(layer))


@part((-0.20, 0.20, 0.28, 0.58), "Goatee")
def goatee(layer: Layer) -> None:
    """A pointed beard on the chin, with a strip up to the lip."""
    x, y = layer.at(0.0, 0.44, depth=0.8)
    half = (0.115 - (y - 0.01).clamp_min(0) * 0.75).clamp_min(0) * ((y + 0.09) * 14).clamp(0.22, 1)
    mask = layer.band(x, -layer.tilt * y, half) * layer.below(y, -0.075) * layer.below(-y, -0.12)
    layer.paint(mask * layer.sign("Goatee") * 0.96, _colour(layer) * 0.8)


@part((-0.24, 0.24, 0.10, 0.34), "Mustache")
def moustache(layer: Layer) -> None:
    """Two strokes above the upper lip."""
    big, open_ = layer.sign("Big_Lips"), layer.sign("Mouth_Slightly_Open")
    x, y = layer.at(0.0, MOUTH_V - 0.076 - 0.040 * big - 0.018 * open_, depth=1.2)
    fade = (1 - (x / 0.195) ** 2).clamp_min(0)
    droop = (
        layer.tilt * x + x**2 * 1.1 - 0.005 * (1 - layer.sign("Smiling")) - x**2 * 1.6 * layer.sign("Smiling")
    )
    half = 0.036 * fade * (0.55 + (x.abs() * 9).clamp_max(0.45))
    layer.paint(layer.band(y, droop, half) * layer.sign("Mustache") * 0.96, _colour(layer) * 0.8)


@part((-0.52, 0.52, -0.22, 0.26), "Sideburns")
def sideburns(layer: Layer) -> None:
    """Two strips of hair in front of the ears."""
    for side in (-1, 1):
        x, y = layer.at(side * (head_half_width(layer) - 0.045), 0.0, depth=0.2)
        half = 0.050 - (y + 0.2).clamp_min(0) * 0.04
        mask = layer.band(x, -layer.tilt * y + (y + 0.2).clamp_min(0) * side * -0.06, half)
        mask = mask * layer.below(y, -0.18, soft=2.0) * layer.below(-y, -0.18)
        layer.paint(mask * layer.sign("Sideburns") * 0.92, _colour(layer) * 0.85)


def _colour(layer: Layer) -> Tensor:
    return layer.traits.colours["hair"] * 0.80
