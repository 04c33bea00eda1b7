"""The eyes and what is about them: lids, brows, bags, make-up, glasses."""

from __future__ import annotations

from torch import Tensor

from evenhand.data.faces_canvas import part
from evenhand.data.faces_layer import Layer

EYE_U, EYE_V, EYE_A, EYE_B = 0.19, -0.055, 0.105, 0.066  # anchor, half width, half height
SIDES = (-1, 1)


@part((-0.36, 0.36, -0.20, 0.06))
def eyes(layer: Layer) -> None:
    """White, iris, pupil and the line of the upper lid; Narrow_Eyes lets the lids close over most of it."""
    iris = layer.flat(0.30, 0.34, 0.30) + layer.chance("iris")[..., None] * layer.flat(-0.10, 0.02, 0.18)
    for side in SIDES:
        x, y, half, centre = _opening(layer, side)
        inside = layer.band(y, centre, half)
        layer.paint(inside, layer.flat(0.97, 0.97, 0.95))
        layer.paint(inside * layer.oval(x, y, 0.056, 0.060), iris)
        layer.paint(inside * layer.oval(x, y, 0.026, 0.030), layer.flat(0.05, 0.05, 0.06))
        layer.paint(inside * layer.oval(x + 0.02, y + 0.022, 0.016, 0.016), layer.flat(1.0, 1.0, 1.0))
        lid = layer.band(y, centre - half, 0.014) * layer.below(-x.abs(), -EYE_A - 0.01)
        layer.shade(lid, (0.34, 0.28, 0.28))


@part((-0.34, 0.34, -0.26, 0.06), "Heavy_Makeup")
def makeup(layer: Layer) -> None:
    """Shadow on the lids, a dark winged line, and powder that evens the cheeks."""
    strength = layer.sign("Heavy_Makeup")
    for side in SIDES:
        x, y, half, centre = _opening(layer, side)
        above = layer.band(y, centre - half - 0.03, 0.035 * (1 - (x / 0.15) ** 2).clamp_min(0), soft=1.5)
        layer.paint(above * strength * 0.85, layer.flat(0.50, 0.25, 0.56))
        wing = (x * side - 0.02).clamp_min(0) * 0.45
        line = layer.band(y, centre - half - wing * (x * side > 0.05) * 0.5, 0.020)
        layer.paint(
            line * layer.below(-x * side, -0.135) * layer.below(x * side, -0.10) * strength,
            layer.flat(0.08, 0.05, 0.09),
        )


@part((-0.34, 0.34, -0.04, 0.14), "Bags_Under_Eyes")
def bags(layer: Layer) -> None:
    """A soft violet shade under each eye and the fold below it."""
    strength = layer.sign("Bags_Under_Eyes")
    for side in SIDES:
        x, y = layer.at(side * _apart(layer), EYE_V + 0.085)
        arc = layer.tilt * x - (x / EYE_A) ** 2 * 0.035
        fade = (1 - (x / 0.125) ** 2).clamp_min(0)
        layer.shade(layer.band(y, arc, 0.030 * fade, soft=2.0) * fade * strength, (0.68, 0.58, 0.68))
        layer.shade(layer.band(y, arc + 0.034, 0.008 * fade) * fade * strength, (0.62, 0.52, 0.54))


@part((-0.38, 0.38, -0.36, -0.08))
def brows(layer: Layer) -> None:
    """Two brows: Arched_Eyebrows bend them, Bushy_Eyebrows thicken them; lower and heavier where Male."""
    arched, bushy, male = layer.sign("Arched_Eyebrows"), layer.sign("Bushy_Eyebrows"), layer.sign("Male")
    colour = layer.traits.colours["brow"]
    height = EYE_V - 0.135 + 0.018 * male - 0.030 * arched + layer.chance("brow") * 0.010
    for side in SIDES:
        x, y = layer.at(side * (_apart(layer) + 0.01), height)
        out = x * side  # towards the temple
        fade = (1 - (x / 0.145) ** 2).clamp_min(0)
        peak = (1 - ((out - 0.03) / 0.16) ** 2).clamp_min(0)
        bend = layer.tilt * x - fade * 0.018 - (peak * 0.080 - 0.030) * arched
        half = (0.013 + 0.005 * male + 0.024 * bushy) * (0.35 + 0.65 * fade) * (1 - out * 1.5)
        mask = layer.band(y, bend, half) * (fade * 4).clamp_max(1)
        layer.paint(mask * (0.80 + 0.20 * bushy), colour)


@part((-0.56, 0.56, -0.24, 0.14), "Eyeglasses")
def glasses(layer: Layer) -> None:
    """Two rims with a bridge and arms; the glass is a little lighter than what is behind it."""
    strength = layer.sign("Eyeglasses")
    frame = layer.flat(0.12, 0.10, 0.12) + layer.chance("frame")[..., None] * layer.flat(0.10, 0.02, -0.02)
    half = 0.017
    for side in SIDES:
        x, y = layer.at(side * (_apart(layer) + 0.005), EYE_V + 0.015)
        layer.paint(layer.oval(x, y, 0.155, 0.125) * strength * 0.14, layer.flat(0.92, 0.97, 1.0))
        layer.paint(layer.ring(x, y, 0.155, 0.125, half) * strength, frame)
        arm = layer.band(y, layer.tilt * x - 0.03, half) * layer.below(x * side, 0.155)
        layer.paint(arm * layer.below(-x * side, -0.27) * strength, frame)
    x, y = layer.at(0.0, EYE_V - 0.01)
    bridge = layer.band(y, layer.tilt * x - (1 - (x / 0.05) ** 2) * 0.012, half)
    layer.paint(bridge * layer.below(-x.abs(), -0.045) * strength, frame)


def _apart(layer: Layer) -> Tensor:
    """How far an eye is from the middle of the face, `[n, 1, 1]`."""
    return EYE_U + layer.chance("apart") * 0.012


def _opening(layer: Layer, side: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """About an eye: x, y, half the height of the opening at each column, and its middle line."""
    x, y = layer.at(side * _apart(layer), EYE_V)
    narrow, smiling = layer.sign("Narrow_Eyes"), layer.sign("Smiling")
    height = EYE_B * (1 - 0.64 * narrow) * (1 - 0.08 * smiling) * (1 + layer.chance("eye") * 0.08)
    half = height * (1 - (x / (EYE_A + 0.012 * narrow)) ** 2).clamp_min(0)
    return x, y, half, layer.tilt * x - x * side * 0.05
