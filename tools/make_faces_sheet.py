"""Every fact of a drawn face, without and with it: docs/images/faces-facts.jpg.

    python tools/make_faces_sheet.py docs/images/faces-facts.jpg

The two faces of a pair differ in that fact alone. Needs Pillow (the extra `dev`).
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from PIL import Image, ImageDraw
from torch import Tensor

from evenhand.data.faces_draw import draw_faces
from evenhand.data.faces_names import ATTRIBUTES

SIZE, COLUMNS, LINE, GAP = 96, 8, 14, 6
USUAL = ("No_Beard", "Young", "Brown_Hair")  # of a face that has nothing else
HAIR = ("Black_Hair", "Blond_Hair", "Gray_Hair")  # shown beside hair of no named colour
SHORT_HAIR = (  # what long hair, or no beard to be without, would hide
    "5_o_Clock_Shadow", "Bald", "Goatee", "Mustache", "Sideburns", "No_Beard", "Receding_Hairline",
    "Wearing_Necktie", "Bushy_Eyebrows", "Double_Chin", "Wearing_Hat", "Gray_Hair", "Young",
    "Bags_Under_Eyes",
)  # fmt: skip


def facts_of(name: str, there: bool) -> Tensor:
    """A plain face, without or with one fact."""
    facts = torch.zeros(len(ATTRIBUTES), dtype=torch.bool)
    for usual in USUAL:
        facts[ATTRIBUTES.index(usual)] = usual != "Brown_Hair" or name not in HAIR
    facts[ATTRIBUTES.index("Male")] = name in SHORT_HAIR
    facts[ATTRIBUTES.index(name)] = there
    return facts


def sheet() -> Image.Image:
    """All pairs with their names."""
    facts = torch.stack([facts_of(name, there) for name in ATTRIBUTES for there in (False, True)])
    ids = torch.arange(len(ATTRIBUTES)).repeat_interleave(2)
    faces = draw_faces(facts, ids, size=SIZE, nuisance=0.5).permute(0, 2, 3, 1).numpy()
    wide, high = 2 * SIZE + 2 + GAP, SIZE + LINE + GAP
    found = Image.new("RGB", (COLUMNS * wide, -(-len(ATTRIBUTES) // COLUMNS) * high), "white")
    pen = ImageDraw.Draw(found)
    for place, name in enumerate(ATTRIBUTES):
        left, top = place % COLUMNS * wide, place // COLUMNS * high
        pen.text((left + 1, top), name, fill="black")
        for there in (0, 1):
            face = Image.fromarray(faces[2 * place + there])
            found.paste(face, (left + there * (SIZE + 2), top + LINE))
    return found


if __name__ == "__main__":
    sheet().save(Path(sys.argv[1]), quality=88, optimize=True)
