"""Small images drawn as SVG: a page of ours loads no bitmap, so a pixel is a piece of a path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from evenhand.report.figures.canvas import figure, text

COLOURS = {"r": "#e8202a", "b": "#2340d8", "w": "#f4f2ee", "k": "#000000", "g": "#00e000"}
GAP = 5.0
HEAD = 18.0


def digits(
    images: Sequence[Sequence[str]], *, title: str, pixel: float = 1.4, heads: Sequence[str] = ()
) -> str:
    """Images side by side, each given as words of letters (`COLOURS`); `heads` are put over equal shares.

    >>> digits([["rr", "bw"]], title="one").count("<path")
    3
    """
    if not images:
        return figure(10, 10, title, "", [])
    high, wide = len(images[0]) * pixel, len(images[0][0]) * pixel
    top = HEAD if heads else 0.0
    parts = [_image(image, (wide + GAP) * place, top, pixel) for place, image in enumerate(images)]
    share = len(images) // max(1, len(heads))
    parts += [text((wide + GAP) * share * i, 12, name, "ts", 11.5) for i, name in enumerate(heads)]
    return figure((wide + GAP) * len(images) - GAP, top + high, title, "", parts)


def _image(image: Sequence[str], x: float, y: float, pixel: float) -> str:
    """One path a colour: runs of equal pixels in a row are one rectangle of it."""
    paths = dict.fromkeys(sorted(set("".join(image)), key="rbwkg".index), "")
    for row, word in enumerate(image):
        place = 0
        for letter, run in groupby(word):
            length = len(list(run))
            paths[letter] += f"M{place} {row}h{length}v1h-{length}z"
            place += length
    drawn = "".join(f'<path fill="{COLOURS[letter]}" d="{path}"/>' for letter, path in paths.items())
    return f'<g transform="translate({x:g} {y:g}) scale({pixel:g})" shape-rendering="crispEdges">{drawn}</g>'
