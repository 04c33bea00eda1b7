"""The page on shifts and its picture are the registry's: complete, and up to date."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

from evenhand.data import shift_reference
from evenhand.data.shift_registry import SHIFTS

ROOT = Path(__file__).parents[2]


def test_the_page_in_docs_is_up_to_date():
    page = shift_reference.page()
    assert (ROOT / "docs" / "shifts.md").read_text(encoding="utf-8") == page, "run `make docs`"
    listed = re.findall(r"^\| `([^`]+)` \| .+ \| (?:inputs|rows) \|", page, flags=re.MULTILINE)
    assert listed == list(SHIFTS)


def test_the_sheet_shows_every_shift_of_images_at_every_severity():
    image = pytest.importorskip("PIL.Image")
    path = ROOT / "tools" / "make_shift_sheet.py"
    spec = importlib.util.spec_from_file_location("make_shift_sheet", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    kept = np.asarray(image.open(tool.SHEET).convert("RGB"), dtype=float)
    drawn = np.asarray(tool.draw(), dtype=float)
    assert kept.shape == drawn.shape, "run `python tools/make_shift_sheet.py`"
    # letters may be drawn otherwise by another release of Pillow; pictures are not
    assert np.abs(kept - drawn).mean() < 2
