"""Exemplars as pictures: a sheet cut into its tiles, so that each picture has its labels below it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from evenhand.report.compression_names import where

Json = Mapping[str, Any]
GAP = 2  # white pixels around every picture of a sheet


def sheet_tiles(study: Json, problem: Json, sheet: Json, number: int) -> dict[str, Any]:
    """A sheet as a page shows it: its picture once, and the window of each tile in it with its labels."""
    named = f"{sheet['method']}{where(study, problem, sheet['level'])}"
    width, height = png_size(base64.b64decode(sheet["png"]))
    boxes = windows(width, height, sheet["columns"], len(sheet["rows"]))
    return {
        "id": f"sheet-{number}", "title": f"{named}: {len(sheet['rows'])} of {sheet['count']:,}",
        "png": sheet["png"], "width": width, "height": height,
        "tiles": [{**row, "box": box} for row, box in zip(sheet["rows"], boxes, strict=True)],
    }  # fmt: skip


UNSHOWN = (
    "The pictures are not ours to pass on: who has the data sees them on the page that `evenhand study run` "
    "and `evenhand study report` write."
)


def windows(width: int, height: int, columns: int, count: int) -> list[str]:
    """The view box of every picture of a sheet, line by line.

    >>> windows(22, 12, columns=2, count=2)
    ['2 2 8 8', '12 2 8 8']
    """
    lines = -(-count // columns)
    across, down = (width - GAP) // columns, (height - GAP) // lines
    return [
        f"{GAP + place % columns * across} {GAP + place // columns * down} {across - GAP} {down - GAP}"
        for place in range(count)
    ]


def png_size(data: bytes) -> tuple[int, int]:
    """Width and height of a PNG, from its first chunk.

    >>> png_size(b"\\x89PNG\\r\\n\\x1a\\n" + b"\\x00\\x00\\x00\\rIHDR" + bytes([0, 0, 0, 7, 0, 0, 0, 5]))
    (7, 5)
    """
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
