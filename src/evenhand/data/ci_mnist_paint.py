"""CI-MNIST, the pixels: a digit on a coloured background, as bytes `[N, 3, 32, 32]`."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array
from evenhand.data.ci_mnist_draw import Drawn
from evenhand.data.ci_mnist_look import Look

SIZE, MARGIN = 32, 4  # the digit keeps to rows and columns 4 to 31
BLOCK = 1024  # images painted at once, so that the floats stay in the cache; does not change the result
BRIGHT, SPREAD = 229.5, 25.5  # shades: 255 * [0.9, 1] where bright, 255 * [0, 0.1] elsewhere
RED, GREEN, BLUE = 0, 1, 2
BOX_ROWS, BOX_LEFT, BOX_RIGHT = slice(0, 4), slice(6, 10), slice(22, 26)
BOX_GREY = 128  # 127.5, rounded to a byte


def digit_mask(images: Array) -> Array:
    """Where the padded images `[N, 32, 32]` show the digit: grey values above one half, bytes above 127.5."""
    return np.asarray(images > 127)


def padded(images: Array) -> Array:
    """Images `[N, 28, 28]` with four empty rows on top and four empty columns on the left."""
    canvas = np.zeros((len(images), SIZE, SIZE), dtype=np.uint8)
    canvas[:, MARGIN:, MARGIN:] = images
    return canvas


def paint(images: Array, drawn: Drawn, look: Look, generator: np.random.Generator) -> Array:
    """The images `[N, 28, 28]` of a file, painted as drawn: `[N, 3, 32, 32]`, in the order of `drawn`."""
    painted = np.empty((len(images), 3, SIZE, SIZE), dtype=np.uint8)
    for start in range(0, len(images), BLOCK):
        rows = slice(start, start + BLOCK)
        grey = padded(images[drawn.source[rows]])
        mask = digit_mask(grey)
        block = painted[rows]
        block[:] = _background(grey, mask, drawn, rows, look, generator)
        if look.variant == "A":
            _green(block, drawn.column_1[rows], look.gw)
            _green(block, drawn.column_2[rows], look.gw)
            block *= ~(mask & drawn.lines[rows, :, None])[:, None]
        else:
            _box(block, drawn.left[rows])
    return painted


def _background(
    grey: Array, mask: Array, drawn: Drawn, rows: slice, look: Look, generator: np.random.Generator
) -> Array:
    """Digit and background in their shades: one number in [0, 1) for each pixel and channel makes both."""
    main = np.zeros((len(grey), 3), dtype=bool)
    main[np.arange(len(grey)), np.where(drawn.blue[rows], BLUE, RED)] = True
    values = generator.random((len(grey), 3, SIZE, SIZE), dtype=np.float32)
    values *= np.float32(SPREAD)
    if look.shades == "per-pixel":
        values += np.float32(BRIGHT) * (mask[:, None] | main[:, :, None, None])
    else:
        tint = np.where(main, np.float32(255.0), np.float32(255.0 * 0.25) * drawn.tints[rows])
        values += np.float32(BRIGHT)
        values = np.where(mask[:, None], values, tint[:, :, None, None])
    # the original adds what the digit's faint edge has, at most one half of 255, to the background
    values += np.where(mask, np.float32(0.0), grey * np.float32(1 / 255))[:, None]
    return np.minimum(np.rint(values, out=values), np.float32(255.0), out=values)


def _green(block: Array, columns: Array, height: int) -> None:
    """Pure green in the first rows of one column of each image that has a mark."""
    image = np.flatnonzero(columns >= 0)
    for row in range(height):
        block[image, :, row, columns[image]] = (0, 255, 0)


def _box(block: Array, left: Array) -> None:
    block[left, :, BOX_ROWS, BOX_LEFT] = BOX_GREY
    block[~left, :, BOX_ROWS, BOX_RIGHT] = BOX_GREY
