"""The page of compression studies: text between markers, tables, figures, pictures, and one HTML file."""

import base64
import io
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.evaluation.compression import compute, together
from evenhand.report.bitmap import png_bytes
from evenhand.report.compression import render
from evenhand.report.compression_files import BEGIN, END, write_page
from evenhand.report.compression_tables import tables

HERE = Path(__file__).parents[1] / "evaluation" / "compression_world.py"


@pytest.fixture(scope="module")
def body():
    world = SimpleNamespace(**runpy.run_path(str(HERE)))
    return together([compute(world.planted(methods=("base", "pruning", "kd", "at", "at-kd"), seeds=3))])


def test_the_page_links_what_is_written(body, tmp_path):
    page = tmp_path / "docs" / "page.md"
    page.parent.mkdir()
    page.write_text(f"before\n\n{BEGIN}\nwhat was\n{END}\nafter\n", encoding="utf-8")
    written = write_page(body, page, tmp_path / "results")
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before")
    assert text.endswith("after\n")
    assert "what was" not in text
    links = re.findall(r"\]\(([^)#]+\.(?:svg|csv|png))\)", text)
    assert links
    assert all((page.parent / link).resolve().is_file() for link in links)
    assert {path.suffix for path in written} == {".md", ".svg", ".csv", ".png"}
    assert "| Pruning | 3 |" in text
    assert "0.00931" in text
    assert "**S2.2:" in text


def test_the_html_holds_its_pictures_and_asks_nobody(body):
    page = render(body)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert "img-src data:" in policy
    assert "default-src &#39;none&#39;" in policy.replace("'", "&#39;")
    pictures = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == 2
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")
    assert not re.search(r'src="http|href="http', page)
    assert page.count("<svg") >= 4


def test_every_table_has_rows_and_the_body_is_json(body):
    (study,) = body["studies"]
    found = tables(study)
    assert {"table-1-45", "table-1-80", "who-paid-classes", "who-paid-groups", "exemplars", "noise"} <= set(
        found
    )
    assert all(len(row) == len(table.heads) for table in found.values() for row in table.rows)
    json.dumps(body, allow_nan=False)


def test_a_sheet_shows_at_most_24_exemplars(body):
    for problem in body["studies"][0]["problems"]:
        for sheet in problem["sheets"]:
            assert len(sheet["rows"]) == min(24, sheet["count"])


def test_a_png_is_read_back_by_others():
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(np.asarray(image.open(io.BytesIO(png_bytes(pixels)))), pixels)
    with pytest.raises(ValueError, match="height, width, 3"):
        png_bytes(pixels[..., :2])
