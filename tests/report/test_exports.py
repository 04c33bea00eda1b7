"""The figures by themselves: names that can be files, SVG that parses, PNG where the extra is there."""

from __future__ import annotations

import importlib.util
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import evenhand
from evenhand.report.exports import write_figures


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 400)
    p, q = (np.where(rng.random(400) < share, y, rng.integers(0, 3, 400)) for share in (0.8, 0.6))
    return y, p, q, rng.choice(["a/b", "<i>", "c"], 400)


def test_an_audit_has_its_figures(rows):
    y, p, _, g = rows
    drawn = evenhand.audit(y, p, groups=g, replicates=100).figures()
    assert "gaps-between-the-highest-and-the-lowest-group" in drawn
    assert {ET.fromstring(svg).tag for svg in drawn.values()} == {"{http://www.w3.org/2000/svg}svg"}


def test_a_comparison_has_its_figures_and_any_model_name_can_be_a_file(rows, tmp_path):
    y, p, q, _ = rows
    found = evenhand.compare(y, {"big": p, "../<small> 100%": q}, replicates=100)
    written = write_figures(found.to_dict(), tmp_path / "new" / "folder")
    assert all(path.parent == tmp_path / "new" / "folder" and path.stat().st_size > 100 for path in written)
    assert {"cev.svg", "differences-of-small-100.svg"} <= {path.name for path in written}


def test_bitmaps_come_with_the_extra(rows, tmp_path):
    y, p, _, g = rows
    if importlib.util.find_spec("cairosvg") is None:
        pytest.skip("evenhand[png] is not installed")
    written = write_figures(evenhand.audit(y, p, groups=g, replicates=100).to_dict(), tmp_path)
    bitmaps = [path for path in written if path.suffix == ".png"]
    assert bitmaps
    assert all(path.read_bytes()[1:4] == b"PNG" for path in bitmaps)
