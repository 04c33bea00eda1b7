"""The page of compression studies: text between markers, tables, figures, pictures, and one HTML file."""

import base64
import copy
import csv
import io
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from markupsafe import escape

from evenhand.evaluation.compression import compute, together
from evenhand.evaluation.compression.exemplars import shareable, to_publish
from evenhand.evaluation.compression.study import paper
from evenhand.report.bitmap import png_bytes
from evenhand.report.compression import render
from evenhand.report.compression_files import BEGIN, END, write_page
from evenhand.report.compression_paid import page_tables
from evenhand.report.compression_sheets import png_size, windows
from evenhand.report.compression_tables import tables
from evenhand.report.compression_words import sentences, whose
from evenhand.report.numbers import UNDEFINED
from evenhand.report.spread_table import TITLE

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
    (line,) = re.findall(r"^\| Pruning \| (\d+ \(887\) .*) \|$", text, re.M)[:1]
    assert re.findall(r"\(([^)]+)\)", line) == ["887", "0.00931", "0.2669", "0.772"]
    assert "##### Which classes paid: pruning at 45 %" in text
    assert "figure-2-apart-45.svg" in text
    (table,) = (path for path in written if path.name == "table-1-45.csv")
    lines = table.read_text(encoding="utf-8").splitlines()
    columns = {row["Method"]: row for row in csv.DictReader(lines)}
    printed = {key: columns["Pruning"][f"S2: {key}"] for key in ("CIE", "CEV", "SDE", "accuracy")}
    assert printed == {"CIE": "887", "CEV": "0.00931", "SDE": "0.2669", "accuracy": "0.772"}
    assert columns["Pruning"]["Runs"] == "3"
    assert "**S2.2:" in text


def test_a_page_of_several_studies_begins_with_what_each_says(body, tmp_path):
    (one,) = body["studies"]
    less = {**one, "name": "other", "findings": one["findings"][1:]}
    several = {**body, "studies": [one, less]}
    html = render(several)
    head, rest = html.split('<section id="claims">')
    assert f"2 studies were asked {len(one['findings'])} claims of the paper" in head
    assert "It cannot be told" not in head  # answers to questions and whom it hurt stand with their study
    table = rest.split("</table>")[0]
    first = one["findings"][0]
    assert f"{first['verdict']} ({first['runs']})" in table
    assert f">{UNDEFINED}</td>" in table  # the other was not asked the first claim
    for study in several["studies"]:
        for told in sentences(study):
            assert str(escape(told)) in rest
    alone = render(body)
    assert "studies were asked" not in alone
    assert "What each study says" not in alone
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    write_page(several, page, tmp_path / "results")
    assert (
        f"| {first['id']} | {first['claim']} | {first['verdict']} ({first['runs']}) | {UNDEFINED} |"
        in page.read_text("utf-8")
    )


def test_the_page_tells_mean_deviation_and_range_over_runs(body, tmp_path):
    (study,) = body["studies"]
    (problem,) = study["problems"]
    row = next(one for one in problem["rows"] if one["method"] == "kd")
    found = row["accuracy"]
    told = f"{found['mean']:.3f} ± {found['std']:.3f} ({found['min']:.3f} to {found['max']:.3f})"
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    write_page(body, page, tmp_path / "results")
    for text, cell in ((page.read_text("utf-8"), f"| {told} |"), (render(body), f">{told}</td>")):
        opened = text.split(f"<details><summary>{TITLE}</summary>")[1].split("</details>")[0]
        assert cell in opened
    assert "[runs](results/" in page.read_text("utf-8")
    base = problem["base"]
    first = tables(study)["runs"].rows[0]
    assert first[:3] == (base["method"], "", "Accuracy")
    assert first[4:8] == tuple(base["accuracy"][key] for key in ("mean", "std", "min", "max"))


def test_the_html_holds_its_pictures_and_asks_nobody(body):
    page = render(body)
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    assert "img-src data:" in policy
    assert "default-src &#39;none&#39;" in policy.replace("'", "&#39;")
    pictures = re.findall(r'href="data:image/png;base64,([^"]+)"', page)
    assert len(pictures) == 2
    assert base64.b64decode(pictures[0]).startswith(b"\x89PNG")
    assert not re.search(r'src="http|href="http', page)
    assert page.count("<svg") >= 4


def test_the_page_beside_the_report_has_cev_sde_exemplars_and_whose_data_they_are(tmp_path):
    world = SimpleNamespace(**runpy.run_path(str(HERE)))
    paper(world.planted(methods=("base", "pruning", "kd"), seeds=2, study={"smoke": None}), tmp_path)
    page = (tmp_path / "paper.html").read_text("utf-8")
    first = page.split('class="about">')[1].split("</p>")[0]
    assert "runs are done" in first
    assert "<strong>no replication</strong>" in first
    assert "These are runs in small" in page.split('role="note">')[1].split("</div>")[0]
    for told in ("CEV norm.", "SDE norm.", ">CIE<", "Which classes paid", "data:image/png;base64,"):
        assert told in page, told
    inside = {path.name for path in (tmp_path / "paper" / "tables").iterdir()}
    assert {"table-1-45.csv", "exemplars.csv", "who-paid-groups.csv"} <= inside
    assert (tmp_path / "paper" / "figures" / "figure-2-45.svg").is_file()
    own = [{"task": "cifar100-under"}]
    assert "no replication" not in whose({"problems": own})
    assert "no replication" in whose({"problems": [*own, {"task": "mnist-under"}]})


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


def test_every_exemplar_on_the_page_is_a_picture_with_its_labels(body):
    page = render(body)
    for number, sheet in enumerate(s for p in body["studies"][0]["problems"] for s in p["sheets"]):
        own = f"{body['studies'][0]['name']}-sheet-{number}"
        assert page.count(f'<use href="#{own}"/>') == len(sheet["rows"])
        width, height = png_size(base64.b64decode(sheet["png"]))
        for box in windows(width, height, sheet["columns"], len(sheet["rows"])):
            x, y, wide, high = map(int, box.split())
            assert x + wide < width
            assert y + high < height
            assert wide == high == 56  # 28 pixels, enlarged by two


def test_a_file_of_who_paid_holds_numbers_and_a_page_no_empty_column(body):
    (study,) = body["studies"]
    found = tables(study)["who-paid-groups"]
    place = {name: number for number, name in enumerate(found.heads)}
    assert all(isinstance(row[place["p"]], float) for row in found.rows)
    assert len({row[place["difference"]] for row in found.rows}) > 1
    (problem,) = study["problems"]
    for table in page_tables(study, problem, "80 %"):
        assert table.title.endswith("pruning at 80 %")
        assert all(any(row[number] != "" for row in table.rows) for number in range(len(table.heads)))


def test_a_png_is_read_back_by_others():
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    assert np.array_equal(np.asarray(image.open(io.BytesIO(png_bytes(pixels)))), pixels)
    with pytest.raises(ValueError, match="height, width, 3"):
        png_bytes(pixels[..., :2])


def test_pictures_that_are_not_ours_are_on_no_published_page(body, tmp_path):
    """Digits are in the package; photographs of others stay with whoever has them."""
    assert all(sheet["shareable"] for study in body["studies"] for problem in study["problems"]
               for sheet in problem["sheets"])  # fmt: skip
    assert to_publish(body) == body
    theirs = copy.deepcopy(body)
    for sheet in theirs["studies"][0]["problems"][0]["sheets"]:
        sheet["shareable"] = False
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n", encoding="utf-8")
    public = to_publish(theirs)
    written = write_page(public, page, tmp_path / "results")
    assert ".png" not in {path.suffix for path in written}
    text = page.read_text(encoding="utf-8")
    assert "The pictures are not ours to pass on" in text
    assert "1. " in text.split("not ours to pass on")[1]  # their labels are told all the same
    assert "iVBOR" not in json.dumps(public)
    html = render(public)
    assert "data:image/png" not in html
    assert "The pictures are not ours to pass on" in html
    assert "data:image/png" in render(theirs)  # for whoever has the data
    assert "not ours to pass on" not in render(theirs)


@pytest.mark.parametrize("name", ["mnist", "mnist-under", "faces", "hair-colour"])
def test_pictures_that_the_package_has_or_draws_may_be_passed_on(name):
    assert shareable(name, {"source": "faces"})


@pytest.mark.parametrize("name", ["cifar10", "cifar10-under", "fairface", "celeba", "mine"])
def test_pictures_of_others_may_not(name):
    assert not shareable(name, {})
    assert not shareable("hair-colour", {"source": "celeba"})
