"""What the skin shows: cheeks, cheekbones and the lines of age."""

from __future__ import annotations

from evenhand.data.faces_canvas import part
from evenhand.data.faces_layer import Layer

SIDES = (-1, 1)


@part((-0.44, 0.44, -0.04, 0.34), "Rosy_Cheeks")
def rosy(layer: Layer) -> None:
    """A pink disc on each cheek."""
    for side in SIDES:
        x, y = layer.at(side * 0.265, 0.13, depth=0.7)
        mask = layer.oval(x, y, 0.105, 0.085, soft=2.5)
        layer.paint(mask * layer.sign("Rosy_Cheeks") * 0.72, layer.flat(0.96, 0.36, 0.42))


@part((-0.46, 0.46, -0.06, 0.36), "High_Cheekbones")
def cheekbones(layer: Layer) -> None:
    """Light on each cheekbone and a shadow that rises from below it to the ear."""
    strength = layer.sign("High_Cheekbones")
    for side in SIDES:
        x, y = layer.at(side * 0.29, 0.135, depth=0.6)
        out = x * side
        fade = (1 - (x / 0.14) ** 2).clamp_min(0)
        slope = layer.tilt * x - out * 0.55
        layer.shade(
            layer.band(y, slope + 0.050, 0.040 * fade, soft=3.0) * fade * strength, (0.78, 0.69, 0.67)
        )
        light = layer.band(y, slope - 0.050, 0.036 * fade, soft=3.0) * fade * strength
        layer.paint(light * 0.42, layer.traits.colours["skin"] * 0.4 + layer.flat(0.60, 0.57, 0.54))


@part((-0.42, 0.42, -0.36, 0.32), "Age")
def wrinkles(layer: Layer) -> None:
    """The lines of age: two on the forehead, rays beside the eyes, folds from nose to mouth."""
    strength = layer.sign("Age")
    x, y = layer.at(0.0, -0.285, depth=0.4)
    for k in range(2):
        reach = (1 - (x / (0.24 - 0.03 * k)) ** 2).clamp_min(0)
        line = layer.band(y, layer.tilt * x + 0.045 * k - (x * 2) ** 2 * 0.03 - 0.01, 0.015 * reach)
        layer.shade(line * (reach * 3).clamp_max(1) * strength, (0.58, 0.49, 0.47))
    for side in SIDES:
        x, y = layer.at(side * 0.345, -0.05, depth=0.6)
        out = (x * side).clamp_min(0)
        for slope in (-0.7, 0.0, 0.7):
            ray = layer.band(y, out * slope + slope * 0.02, 0.010) * layer.below(x * side, -0.025)
            layer.shade(ray * layer.below(-x * side, -0.05) * strength, (0.66, 0.57, 0.55))
        x, y = layer.at(side * 0.15, 0.17, depth=1.0)
        fold = layer.band(x * side, (y + 0.09) * 0.55 - layer.tilt * side * y - 0.02, 0.018)
        layer.shade(fold * layer.below(y, -0.07) * layer.below(-y, -0.10) * strength, (0.54, 0.45, 0.43))
