"""Draw every shift of images at every standard severity: `python tools/make_shift_sheet.py` (needs Pillow).

Two pictures side by side for each: a digit of the packaged CI-MNIST, and a scene drawn here, which has the
slopes, edges and colours that digits lack. The sheet is docs/images/shifts.png.
"""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from evenhand.data import load
from evenhand.data.shifts import SHIFTS, shift_inputs
from evenhand.data.task import Scaling

SHEET = Path(__file__).parents[1] / "docs" / "images" / "shifts.png"
CELL, GAP, LABEL, HEAD, CAPTION = 64, 4, 132, 8, 13
ROW = torch.tensor([7])  # the numbers of which row the noise is
KINDS = [shift for shift in SHIFTS.values() if "image" in shift.fits and shift.acts_on == "inputs"]
INK, PAPER = (40, 40, 40), (255, 255, 255)


def size_of_sheet() -> tuple[int, int]:
    """Width and height in pixels: a row for each kind; the picture itself and five severities."""
    return LABEL + 6 * (2 * CELL + 3 * GAP), HEAD + len(KINDS) * (CELL + CAPTION + GAP)


def scene() -> Tensor:
    """A sky that fades, a round sun, hills and a house with windows, `[1, 3, 64, 64]` in [0, 1]."""
    at = torch.arange(CELL) / (CELL - 1)
    down, right = at[:, None].expand(CELL, CELL), at[None, :].expand(CELL, CELL)
    colour = torch.stack([0.45 + 0.4 * down, 0.65 + 0.2 * down, 0.95 - 0.1 * down])
    layers = (
        ((down - 0.22) ** 2 + (right - 0.75) ** 2 < 0.014, (1.0, 0.85, 0.3)),
        (down > 0.62 + 0.1 * torch.sin(7 * right), (0.3, 0.5, 0.25)),
        (down > 0.8 - 0.08 * torch.sin(5 * right + 1), (0.2, 0.36, 0.18)),
        ((down > 0.42) & (down < 0.78) & (right > 0.18) & (right < 0.52), (0.72, 0.3, 0.22)),
        ((down > 0.25) & (down < 0.43) & ((right - 0.35).abs() < (down - 0.22) * 1.05), (0.35, 0.2, 0.2)),
        (
            (down > 0.5) & (down < 0.62) & ((right * 22 % 4) > 1.6) & (right > 0.22) & (right < 0.5),
            (0.95, 0.9, 0.7),
        ),
    )
    for where, paint in layers:
        colour = torch.where(where, torch.tensor(paint)[:, None, None], colour)
    return colour[None]


def digit() -> Tensor:
    """A digit of CI-MNIST, `[1, 3, 32, 32]` in [0, 1]."""
    task = load("ci-mnist")
    assert isinstance(task.x, Tensor)
    return task.x[task.rows("test")[3:4]] / 255


def as_image(x: Tensor) -> Image.Image:
    """One picture at the size of a cell, pixels left as they are."""
    flat = (x[0] * 255).round().to(torch.uint8).permute(1, 2, 0).contiguous().numpy()
    return Image.fromarray(flat).resize((CELL, CELL), Image.Resampling.NEAREST)


def draw() -> Image.Image:
    """The whole sheet."""
    sheet = Image.new("RGB", size_of_sheet(), PAPER)
    pen, font = ImageDraw.Draw(sheet), ImageFont.load_default(11)
    pictures = [digit(), scene()]
    for line, shift in enumerate(KINDS):
        top = HEAD + line * (CELL + CAPTION + GAP)
        pen.text((4, top + CELL // 2 - 8), shift.key, fill=INK, font=ImageFont.load_default(14))
        for column, severity in enumerate((0.0, *shift.severities)):
            left = LABEL + column * (2 * CELL + 3 * GAP)
            for place, x in enumerate(pictures):
                shown = shift_inputs(shift.key, x, severity, seed=0, rows=ROW, scaling=Scaling())
                sheet.paste(as_image(shown), (left + place * (CELL + GAP), top))
            pen.text((left, top + CELL), f"{severity:g}" if column else "as it is", fill=INK, font=font)
    return sheet


if __name__ == "__main__":
    draw().save(SHEET, optimize=True)
    print(f"wrote {SHEET} ({SHEET.stat().st_size:,} bytes)")
