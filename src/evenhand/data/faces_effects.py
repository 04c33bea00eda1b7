"""What happens to the whole picture: the light on it, the portrait look, blur, and noise of the sensor.

Attractive is an annotator's judgement, not a property of a person, and this world gives no face more worth
than another: its sign is a look of the *photograph*, the soft warm light and darkened corners of a studio
portrait. Blurry mixes the picture with one blurred by binomial filters over 1, 1 and 2 pixels in 64.
"""

from __future__ import annotations

import torch
from torch import Tensor

from evenhand.data.faces_canvas import WHOLE, part
from evenhand.data.faces_layer import Layer
from evenhand.data.shift_counters import Counters


@part(WHOLE)
def light(layer: Layer) -> None:
    """Light from one side, brighter or darker from picture to picture."""
    factor = (1 + layer.chance("light") * 0.10) * (1 + layer.chance("side_light") * layer.across * 0.10)
    layer.pixels.mul_(factor[:, None])


@part(WHOLE, "Attractive")
def portrait(layer: Layer) -> None:
    """The look of a studio portrait: dark corners, and a warm glow about the face."""
    strength = layer.sign("Attractive")
    x, y = layer.across[None, None], layer.down[None, :, None]
    corners = ((x**2 + y**2) * 0.62 - 0.30).clamp_(0, 0.8)
    layer.pixels.mul_((1 - corners * strength * 0.48)[:, None])
    glow = (1 - (x / 0.62) ** 2 - ((y + 0.02) / 0.72) ** 2).clamp_min_(0) * strength
    layer.paint(glow * 0.17, layer.flat(1.0, 0.93, 0.80))


@part(WHOLE, "Blurry")
def blur(layer: Layer) -> None:
    """A picture out of focus."""
    size = layer.pixels.shape[-1]
    soft = layer.pixels
    steps = [round(step * size / 64) for step in (1, 1, 2)] if size >= 48 else [1, 1]
    for step in steps:
        soft = _smoothed(_smoothed(soft, step, 2), step, 3)
    layer.pixels.add_((soft - layer.pixels).mul_(layer.sign("Blurry")[:, None]))


def _smoothed(pixels: Tensor, step: int, axis: int) -> Tensor:
    """(left + 2 · itself + right) / 4 along an axis, the picture's edge repeated beyond it."""
    n = pixels.shape[axis]
    first, last = pixels.narrow(axis, 0, 1), pixels.narrow(axis, n - 1, 1)
    shape = [-1, -1, -1, -1]
    shape[axis] = step
    wide = torch.cat([first.expand(shape), pixels, last.expand(shape)], axis)
    both = wide.narrow(axis, 0, n) + wide.narrow(axis, 2 * step, n)
    return both.mul_(0.25).add_(pixels * 0.5)


def sensor_noise(pixels: Tensor, rows: Tensor, seed: int, height: float) -> None:
    """Add noise within ± height to `[n, 3, h, w]`, in place, each byte of a row's own counter once."""
    n = pixels.shape[1:].numel()
    words = Counters.of(seed, "faces: noise", rows).bits((n + 3) // 4)
    noise = words.view(torch.int8)[:, :n].to(pixels.dtype).add_(0.5).mul_(height / 128)
    pixels.add_(noise.view_as(pixels))
