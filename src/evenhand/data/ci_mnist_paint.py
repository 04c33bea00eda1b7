"""CI-MNIST, the pixels: a digit on a coloured background, as bytes `[N, 3, 32, 32]`.

Painted by whole numbers on any device: a GPU gives the bytes that a CPU gives.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.ci_mnist_draw import Drawn
from evenhand.data.ci_mnist_look import Look
from evenhand.data.pixel_noise import pixel_bytes

SIZE, MARGIN = 32, 4  # the digit keeps to rows and columns 4 to 31
BLOCK = {"cpu": 64, "cuda": 8192}  # images painted at once: what a cache holds; does not change the result
RED, GREEN, BLUE = 0, 1, 2
BOX_HEIGHT, BOX_WIDTH, BOX_LEFT, BOX_RIGHT = 4, 4, 6, 22
BOX_GREY = 128  # 127.5, rounded to a byte

# Shades, 255 * [0.9, 1] where bright and 255 * [0, 0.1] elsewhere, are counted in parts of 1024: a random
# byte b stands for 25.5 * (b + 1/2) / 256 = (102 b + 51) / 1024. Bright ones are 229.5 more, rounded: 230.
UNIT, STEP, BRIGHT = 1024, 102, 230
TINT = 255 / 4 * UNIT  # the largest tint of an image of one shade


def digit_mask(images: Array) -> Array:
    """Where the padded images `[N, 32, 32]` show the digit: grey values above one half, bytes above 127.5."""
    return np.asarray(images > 127)


def padded(images: Array) -> Array:
    """Images `[N, 28, 28]` with four empty rows on top and four empty columns on the left."""
    canvas = np.zeros((len(images), SIZE, SIZE), dtype=np.uint8)
    canvas[:, MARGIN:, MARGIN:] = images
    return canvas


def paint(images: Array, drawn: Drawn, look: Look, seed: Sequence[int]) -> Array:
    """The images `[N, 28, 28]` of a file, painted as drawn: `[N, 3, 32, 32]`, in the order of `drawn`."""
    return np.asarray(paint_on(images, drawn, look, seed).numpy())


def paint_on(
    images: Array, drawn: Drawn, look: Look, seed: Sequence[int], device: torch.device | str = "cpu"
) -> Tensor:
    """What `paint` gives, made and left on a device; the shades of every pixel come from `seed`."""
    device = torch.device(device)
    grey = torch.from_numpy(np.ascontiguousarray(images)).to(device)
    given = {name: torch.from_numpy(values).to(device) for name, values in _choices(drawn).items()}
    painted = torch.empty((len(images), 3, SIZE, SIZE), dtype=torch.uint8, device=device)
    step = BLOCK.get(device.type, BLOCK["cpu"])
    with _one_thread():
        for start in range(0, len(images), step):
            rows = slice(start, min(start + step, len(images)))
            chosen = {name: values[rows] for name, values in given.items()}
            noise = pixel_bytes(seed, range(rows.start, rows.stop), 3 * SIZE * SIZE, device)
            _paint_block(painted[rows], grey[chosen["source"]], noise.view(-1, 3, SIZE, SIZE), chosen, look)
    return painted


@contextmanager
def _one_thread() -> Iterator[None]:
    """Many short steps: where cores are shared, threads that meet after each would wait more than work."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _choices(drawn: Drawn) -> dict[str, Array]:
    """What painting wants to know of each image; tints as whole numbers, the same on every device."""
    return {
        "source": drawn.source,
        "blue": drawn.blue,
        "left": drawn.left,
        "lines": drawn.lines,
        "column_1": drawn.column_1,
        "column_2": drawn.column_2,
        "tints": np.rint(drawn.tints * TINT).astype(np.int32),
    }


def _paint_block(block: Tensor, images: Tensor, noise: Tensor, chosen: dict[str, Tensor], look: Look) -> None:
    grey = torch.nn.functional.pad(images, (MARGIN, 0, MARGIN, 0))
    mask = grey > 127
    if look.shades == "per-pixel":
        _shades(block, grey, mask, noise, chosen)
    else:
        _tints(block, grey, mask, noise, chosen)
    if look.variant == "A":
        _green(block, chosen["column_1"], look.gw)
        _green(block, chosen["column_2"], look.gw)
        block.mul_((~(mask & chosen["lines"][:, :, None]))[:, None])
    else:
        _box(block, chosen["left"])


def _faint(grey: Tensor, mask: Tensor) -> Tensor:
    """What the original adds to the background: the digit's faint edge, at most 1/2, in parts of 1024."""
    return ((grey.to(torch.int16) * 257) >> 6) * ~mask  # 257 / 64 is 1024 / 255


def _main(chosen: dict[str, Tensor]) -> Tensor:
    """Whether a channel is the colour of the background, `[N, 3, 1, 1]`."""
    blue = chosen["blue"]
    return torch.stack([~blue, torch.zeros_like(blue), blue], dim=1)[:, :, None, None]


def _shades(block: Tensor, grey: Tensor, mask: Tensor, noise: Tensor, chosen: dict[str, Tensor]) -> None:
    """Digit and background, one random byte for each pixel and channel."""
    bright = mask[:, None] | _main(chosen)
    values = noise.to(torch.int16).mul_(STEP)
    values += (_faint(grey, mask) + STEP // 2)[:, None]
    values += (~bright).to(torch.int16) * (UNIT // 2)  # to round where bright ones come rounded
    block.copy_(values.bitwise_right_shift_(10)).add_(bright.to(torch.uint8) * BRIGHT)


def _tints(block: Tensor, grey: Tensor, mask: Tensor, noise: Tensor, chosen: dict[str, Tensor]) -> None:
    """A digit in shades of its own on a background of one tint."""
    digit = ((noise.to(torch.int32) * STEP + STEP // 2) >> 10) + BRIGHT
    tint = chosen["tints"][:, :, None, None] + _faint(grey, mask)[:, None] + UNIT // 2
    ground = torch.where(_main(chosen), 255, tint >> 10)
    block.copy_(torch.where(mask[:, None], digit, ground))


def _green(block: Tensor, columns: Tensor, height: int) -> None:
    """Pure green in the first rows of one column of each image that has a mark."""
    marked = columns[:, None] == torch.arange(SIZE, device=block.device)
    top = block[:, :, :height]
    green = torch.tensor([0, 255, 0], dtype=torch.uint8, device=block.device)
    top.copy_(torch.where(marked[:, None, None], green[:, None, None], top))


def _box(block: Tensor, left: Tensor) -> None:
    """A grey square at the top, left or right."""
    for start, there in ((BOX_LEFT, left), (BOX_RIGHT, ~left)):
        block[:, :, :BOX_HEIGHT, start : start + BOX_WIDTH].masked_fill_(there[:, None, None, None], BOX_GREY)
