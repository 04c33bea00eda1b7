"""What is worn: hat, earrings, necklace, necktie (glasses are with the eyes, lipstick with the mouth)."""

from __future__ import annotations

from evenhand.data.faces_canvas import part
from evenhand.data.faces_layer import Layer
from evenhand.data.faces_parts_head import head_half_width

GOLD = (0.95, 0.76, 0.22)


@part((-0.86, 0.86, -1.0, -0.22), "Wearing_Hat")
def hat(layer: Layer) -> None:
    """A round hat with a band and a brim, above the hairline."""
    strength = layer.sign("Wearing_Hat")
    colour = layer.traits.colours["hat"]
    x, y = layer.at(0.0, -0.42, depth=-0.2)
    width = head_half_width(layer)
    crown = layer.oval(x + layer.tilt * y, y, width + 0.07, 0.50) * layer.below(-y, -(layer.tilt * x + 0.02))
    layer.paint(crown * strength, colour)
    ribbon = crown * layer.band(y, layer.tilt * x - 0.075 + (x * 1.2) ** 2 * 0.06, 0.045)
    layer.paint(ribbon * strength, colour * 0.45)
    reach = (1 - (x / (width + 0.32)) ** 2).clamp_min(0)
    brim = layer.band(y, layer.tilt * x + 0.015 + (x**2) * 0.05, 0.052 * reach)
    layer.paint(brim * strength, colour * 0.82)
    layer.shade(layer.oval(x, y - 0.08, width - 0.02, 0.055, soft=2.0) * strength, 0.78)


@part((-0.58, 0.58, 0.08, 0.36), "Wearing_Earrings")
def earrings(layer: Layer) -> None:
    """A gold stud with a drop under each ear."""
    strength = layer.sign("Wearing_Earrings")
    for side in (-1, 1):
        x, y = layer.at(side * (head_half_width(layer) + 0.005), 0.15, depth=-0.4)
        layer.paint(layer.oval(x, y, 0.026, 0.026) * strength, layer.flat(*GOLD))
        layer.paint(layer.oval(x, y - 0.085, 0.040, 0.055) * strength, layer.flat(0.80, 0.56, 0.10))
        layer.paint(layer.oval(x, y - 0.085, 0.028, 0.042) * strength, layer.flat(*GOLD))
        layer.paint(layer.oval(x + 0.01, y - 0.07, 0.010, 0.012) * strength, layer.flat(1.0, 0.98, 0.85))


@part((-0.34, 0.34, 0.56, 0.98), "Wearing_Necklace")
def necklace(layer: Layer) -> None:
    """A chain about the neck with a pendant."""
    strength = layer.sign("Wearing_Necklace")
    x, y = layer.at(0.0, 0.80, depth=0.0)
    curve = layer.tilt * x - (x / 0.24) ** 2 * 0.17
    within = layer.below(-x.abs(), -0.235)
    layer.shade(layer.band(y, curve + 0.018, 0.016) * within * strength, 0.6)
    layer.paint(layer.band(y, curve, 0.017) * within * strength, layer.flat(*GOLD))
    layer.paint(layer.oval(x, y - 0.055, 0.048, 0.055) * strength, layer.flat(0.78, 0.54, 0.10))
    layer.paint(layer.oval(x, y - 0.055, 0.030, 0.036) * strength, layer.flat(0.25, 0.78, 0.74))


@part((-0.44, 0.44, 0.54, 1.0), "Wearing_Necktie")
def necktie(layer: Layer) -> None:
    """A white collar, and a tie that widens below its knot."""
    strength = layer.sign("Wearing_Necktie")
    tie = layer.traits.colours["tie"]
    x, y = layer.at(0.0, 0.70, depth=0.0)
    low = y.clamp(0, 0.4)
    shirt = layer.band(x, x * 0, 0.30 - low * 0.25) * layer.below(y, 0.02 - (0.26 - x.abs()) * 0.0)
    opening = layer.below(y, 0.21 - x.abs() * 1.15)
    layer.paint(shirt * opening * strength, layer.flat(0.95, 0.95, 0.97))
    layer.shade(layer.band(y, 0.225 - x.abs() * 1.15 + 0.02, 0.012) * shirt * strength, 0.72)
    knot = layer.band(x, x * 0, 0.062 - (y - 0.13).clamp(0, 0.1) * 0.25) * layer.below(y, 0.10)
    body = layer.band(x, x * 0, 0.035 + (y - 0.18).clamp_min(0) * 0.38) * layer.below(y, 0.19)
    layer.paint(body * strength, tie)
    layer.paint(knot * layer.below(-y, -0.20) * strength, tie * 0.75)
