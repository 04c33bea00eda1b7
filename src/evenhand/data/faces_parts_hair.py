"""The hair: behind the head, the cap above the hairline, locks beside the face, fringe and strands.

Hair is long where Male does not hold and short where it does. Bald leaves a ring above the ears, in the
colour of the hair; a bald head with Bangs keeps a thin forelock. Receding_Hairline lifts the hairline at
both corners. Straight hair has even vertical strands, wavy hair bent ones and a wavy outline; hair that is
both has bent strands and straight ones in between; hair that is neither is smooth.
"""

from __future__ import annotations

import torch
from torch import Tensor

from evenhand.data.faces_canvas import part
from evenhand.data.faces_colours import strands
from evenhand.data.faces_layer import Layer
from evenhand.data.faces_parts_head import HEAD_B, HEAD_V, head_half_width

CAP_V, CAP_A, CAP_B = -0.13, 0.085, 0.53  # middle, width beyond the head's, half the height


def wave(t: Tensor) -> Tensor:
    """A smooth wave of period 2 and height 1, of parabolas: the last bit of a sine depends on the path.

    >>> wave(torch.tensor([0.0, 0.25, 0.5, 1.5, 2.5])).tolist()
    [0.0, 0.75, 1.0, -1.0, 1.0]
    """
    t = t - 2 * ((t + 1) * 0.5).floor()
    return 4 * t * (1 - t.abs())


@part((-0.80, 0.80, -0.75, 1.1))
def back_hair(layer: Layer) -> None:
    """What hangs behind the neck and the shoulders, to the length of each face."""
    x, y = layer.at(0.0, CAP_V, depth=-0.3)
    colour = strands(layer.traits, x) * 0.80
    layer.paint(_fall(layer, x, y), colour)


@part((-0.72, 0.72, -0.75, 0.42))
def cap(layer: Layer) -> None:
    """The hair on the head, above the hairline."""
    x, y = layer.at(0.0, CAP_V, depth=-0.3)
    layer.paint(_cap(layer, x, y), strands(layer.traits, x))


@part((-0.80, 0.80, -0.5, 0.95))
def locks(layer: Layer) -> None:
    """Long hair in front of the ears, on both sides."""
    x, y = layer.at(0.0, CAP_V, depth=-0.3)
    layer.paint(_locks(layer, x, y), strands(layer.traits, x) * 0.93)


@part((-0.80, 0.80, -0.75, 0.95), "Wavy_Hair", "Straight_Hair")
def strand_lines(layer: Layer) -> None:
    """Lines along the strands, bent or straight, and a band of gloss on straight hair."""
    wavy, straight = layer.sign("Wavy_Hair"), layer.sign("Straight_Hair")
    x, y = layer.at(0.0, CAP_V, depth=-0.3)
    hair = torch.maximum(_cap(layer, x, y), _locks(layer, x, y))
    bent = wave((x + wave(y * 5.5) * 0.05) * 13).clamp_min_(0) * wavy
    even = (wave(x * 17) * 1.5 - 0.4).clamp_(0, 1) * straight
    layer.shade(hair * torch.maximum(bent, even), (0.70, 0.68, 0.70))
    gloss = layer.band(y, (x * 1.1) ** 2 * 0.5 - 0.38, 0.045, soft=3.0) * straight
    layer.paint(hair * gloss * 0.45, strands(layer.traits, x) * 1.1 + layer.flat(0.20, 0.19, 0.17))


@part((-0.46, 0.46, -0.62, -0.08), "Bangs")
def fringe(layer: Layer) -> None:
    """Hair over the forehead down to the brows, its edge in locks; a thin forelock on a bald head."""
    bangs, bald = layer.sign("Bangs"), layer.sign("Bald")
    x, y = layer.at(0.0, -0.24, depth=0.3)
    tips = wave((x + layer.chance("parting") * 0.1) * 9).abs() * 0.035
    edge = layer.tilt * x + (x * 1.5) ** 2 * 0.12 - tips
    reach = (head_half_width(layer) - 0.035) * (1 - 0.6 * (bald > 0) * bald)
    inside = layer.oval(x, y + 0.06, reach, 0.34)
    shown = inside * layer.below(-y, -edge) * layer.below(y, -0.34)
    layer.paint(shown * bangs, strands(layer.traits, x) * 0.96)
    line = layer.band(y, edge - 0.012, 0.012) * inside
    layer.shade(line * bangs * 0.5, 0.6)


@part((-0.30, 0.30, -0.60, -0.28), "Bald")
def shine(layer: Layer) -> None:
    """The light on a bald head."""
    x, y = layer.at(-0.10, -0.42, depth=0.2)
    layer.paint(
        layer.oval(x, y, 0.13, 0.06, soft=2.5) * layer.sign("Bald") * 0.55, layer.flat(1.0, 0.98, 0.95)
    )


def _length(layer: Layer) -> Tensor:
    """How long the hair is, `[n, 1, 1]`: 0 at the ears, 1 on the shoulders."""
    return ((1 - layer.sign("Male")) * (1 - 0.9 * layer.sign("Bald"))).clamp(0, 1)


def _fall(layer: Layer, x: Tensor, y: Tensor) -> Tensor:
    """The mask of the hair behind: round above, falling straight or in waves below."""
    long, wavy = _length(layer), layer.sign("Wavy_Hair")
    half = head_half_width(layer) + CAP_A * 0.7 * long + wave(y * 5.5) * 0.035 * wavy * long
    half = half + (y - 0.1).clamp(0, 1) * (0.10 * wavy - 0.02) * long
    bottom = 0.16 + long * (0.72 + layer.chance("length") * 0.12 + 0.06 * layer.sign("Straight_Hair"))
    rounded = (1 - ((y - bottom + 0.18) / 0.18).clamp(0, 1) ** 2 * 0.6).sqrt() * half
    strong = (long * 2).clamp_max(1)
    return layer.band(x, -layer.tilt * y, rounded) * layer.below(y, 0.0) * layer.below(-y, -bottom) * strong


def _locks(layer: Layer, x: Tensor, y: Tensor) -> Tensor:
    """The mask of the hair that falls in front of the ears."""
    long, wavy = _length(layer), layer.sign("Wavy_Hair")
    outer = (
        head_half_width(layer)
        + CAP_A * 0.75
        + wave(y * 5.5) * 0.035 * wavy
        + (y - 0.1).clamp(0, 1) * (0.10 * wavy - 0.02)
    )
    inner = head_half_width(layer) - 0.055 + (y - 0.05).abs() * 0.06
    bottom = 0.70 + layer.chance("length") * 0.12 + 0.06 * layer.sign("Straight_Hair")
    middle, half = (outer + inner) * 0.5, (outer - inner) * 0.5
    side = (x + layer.tilt * y).abs_()
    mask = (
        layer.band(side, middle, half) * layer.below(y, -0.02, soft=2.0) * layer.below(-y, -bottom, soft=2.0)
    )
    return mask * (long * 2 - 0.6).clamp(0, 1)


def _cap(layer: Layer, x: Tensor, y: Tensor) -> Tensor:
    """The mask of the hair on the head: an oval cut off along the hairline."""
    wavy, bald, long = layer.sign("Wavy_Hair"), layer.sign("Bald"), _length(layer)
    a = head_half_width(layer) + CAP_A * (0.75 + 0.25 * long) - 0.03 * bald
    swell = 1 + wave(y * 6) * 0.035 * wavy
    b = CAP_B + 0.02 * layer.chance("length") - 0.06 * bald
    steep = 0.24 * layer.per_unit
    inside = (1 - (y / b) ** 2) * steep - ((x + layer.tilt * y) / (a * swell)) ** 2 * steep
    bare = 1 - bald * layer.below(-y, 0.10 + 0.05 * bald, soft=2.0)  # the top of a bald head
    return layer.edge(inside) * layer.below(-y, -_hairline(layer, x), soft=1.2) * bare


def _hairline(layer: Layer, x: Tensor) -> Tensor:
    """How far down the hair comes at each column, about the middle of the cap, `[n, 1, w]`."""
    receding, bald = layer.sign("Receding_Hairline"), layer.sign("Bald")
    part_at = x - 0.10 - layer.chance("parting") * 0.08
    side = (x.abs() / head_half_width(layer)).clamp_max(1.1)
    line = -0.25 + 0.36 * side**4 - (0.10 - part_at.abs()).clamp_min(0) * 0.5
    corners = (1 - ((side - 0.52) * 2.9) ** 2).clamp_min(0)
    line = line - receding * (0.05 + 0.22 * corners)
    skull = HEAD_V - CAP_V + 0.05 - HEAD_B * (1 - side**2).clamp_min(0).sqrt()  # hair covers its outline
    ring = (side - 0.80) * 3.0 - 0.4 - 0.2 * receding
    line = torch.maximum(line, skull)
    return line + (ring - line) * bald + layer.tilt * x
