"""The pages of S1's studies: figures hold every number, tables and claims follow, counts give the values."""

import csv
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import InputError
from evenhand.evaluation.claims import read_claims, update
from evenhand.evaluation.many_attributes import CLAIMS, Runs, answers, compute, paper, together
from evenhand.evaluation.many_attributes.__main__ import main
from evenhand.evaluation.many_attributes.printed import SCARCE
from evenhand.evaluation.study.papers import paper_of
from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.report.many_attributes import render
from evenhand.report.many_attributes_added import beside_added_table, beside_pictures
from evenhand.report.many_attributes_bars import series_mark
from evenhand.report.many_attributes_beside import beside_table, beside_verdicts, paper_tables
from evenhand.report.many_attributes_figures import drawn, panels
from evenhand.report.many_attributes_files import BEGIN, END, write_page, write_paper
from evenhand.report.many_attributes_tables import figure_table
from evenhand.report.palette import FIGURE

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("many_attributes_world.py"))))
fake = world.fake
ROOT = Path(__file__).parents[2]
FEW = ("erm", "w-erm", "gdro", "ind", "w-erm-ad", "ind-kd")


@pytest.fixture(scope="module")
def study():
    return compute(world.sweep(methods=FEW))


@pytest.fixture(scope="module")
def body(study):
    other = compute(
        world.sweep("many-attributes-fairface", tasks=("single",), methods=FEW[:4], sizes={"race": 6})
    )
    return together([study, other])


def figure(study, number, track="single"):
    return next(one for one in study["figures"] if (one["number"], one["track"]) == (number, track))


# -- figures -----------------------------------------------------------------------------------------------
def test_the_study_fills_every_figure_of_the_paper(study):
    assert [one["number"] for one in study["figures"] if one["track"] == "multi"] == [2, 3, 4, 6, 7, 8, 9, 10]
    assert len({one["file"] for one in study["figures"]}) == len(study["figures"])


def test_figure_2_is_the_mean_over_all_runs_with_both_intervals(study):
    runs = Runs(world.sweep(methods=FEW))
    bar = next(bar for bar in figure(study, 2)["panels"][0]["bars"] if bar["method"] == "W-ERM")
    every = [
        v for one in runs.of(("single", "mlp")) for v in runs.values(one, "w-erm", "performance").values()
    ]
    assert bar["n"] == len(every) == 27 * 3
    assert bar["y"] == pytest.approx(np.mean(every))
    error = np.std(every, ddof=1) / np.sqrt(81)
    assert bar["high68"] - bar["y"] == pytest.approx(error, rel=0.02)  # one standard error, nearly
    assert bar["high95"] - bar["y"] == pytest.approx(1.99 * error, rel=0.01)


def test_figure_3_stands_by_erms_own_and_by_attributes(study):
    found = figure(study, 3)["panels"]
    assert [(panel["slot"], panel["x"]) for panel in found] == [
        (slot, x) for x in ("ERM's own", "attributes") for slot in ("performance", "amplification", "epsilon")
    ]
    own = next(series for series in found[0]["series"] if series["method"] == "U-ERM")
    assert all(point["x"] == pytest.approx(point["y"]) for point in own["points"])  # ERM against itself
    assert len(own["points"]) == 27
    sizes = next(series for series in found[5]["series"] if series["method"] == "W-ERM")["points"]
    assert [(point["x"], point["n"]) for point in sizes] == [(k, 12 if k < 7 else 9) for k in range(1, 8)]


def test_figure_4_takes_erms_mean_away_at_each_place(study):
    by_erm, by_size = figure(study, 4)["panels"]
    for panel in (by_erm, by_size):
        own = next(series for series in panel["series"] if series["method"] == "U-ERM")
        assert all(point["y"] == pytest.approx(0.0, abs=1e-12) for point in own["points"])
    w = next(series for series in by_size["series"] if series["method"] == "W-ERM")
    assert all(point["y"] == pytest.approx(-0.3, abs=0.02) for point in w["points"])


def test_figures_by_collection_and_of_variants_hold_their_own(study):
    six, ten = figure(study, 6), figure(study, 10)
    assert {point["name"] for point in six["panels"][0]["series"][0]["points"]} == {
        f"inconsistent {k}" for k in range(1, 7)
    }
    assert [series["method"] for series in ten["panels"][0]["series"]] == [
        "U-ERM", "W-ERM", "Ind", "W-ERM + AD", "Ind + KD",
    ]  # fmt: skip
    assert "W-ERM + AD" not in {series["method"] for series in figure(study, 3)["panels"][0]["series"]}


@pytest.mark.parametrize("width", [760, 360])
def test_a_figure_has_a_mark_for_every_number_and_stays_inside(study, width):
    for one in study["figures"]:
        svg = panels(study, one, width)
        root = ElementTree.fromstring(svg)
        assert root.find("{http://www.w3.org/2000/svg}desc").text
        rows = figure_table(one).rows
        assert svg.count(" runs&quot;") + svg.count(' runs"') == len(rows)  # the tips of marks
        places = [float(x) for x in re.findall(r' (?:x|x1|x2|cx)="(-?[\d.]+)"', svg)]
        assert 0 <= min(places) <= max(places) <= width
        classes = {name for found in re.findall(r'class="([^"]+)"', svg) for name in found.split()}
        assert classes <= set(FIGURE)  # so that a page's dark colours reach every mark


def test_no_two_methods_have_the_same_mark():
    """Up to 24 methods with eight colours: their marks differ in colour, form or filling."""
    assert len({series_mark(place, 0.0, 0.0) for place in range(24)}) == 24


def test_variants_that_the_paper_does_not_show_stand_apart():
    names = ("erm", "w-erm", "gdro", "w-erm-ad", "gdro-ad")
    found = compute(world.sweep(methods=names, tasks=("single",)))["figures"]
    shown = {
        one["file"]: [series["method"] for series in one["panels"][0]["series"]]
        for one in found
        if one["number"] == 10
    }
    assert shown == {
        "figure-10-single": ["U-ERM", "W-ERM", "W-ERM + AD"],
        "figure-10-single-more-variants": ["U-ERM", "WA-GDRO", "WA-GDRO + AD"],
    }


def test_a_page_of_54_tasks_stays_small_and_links_its_numbers(tmp_path):
    paper(world.sweep(), tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert len(page) < 2.6e6  # 11 methods; 4.5 million characters with all numbers in it
    linked = re.findall(r'<a href="(paper/[^"]+)"', page)
    assert len(linked) == len(set(linked)) == 17
    assert all((tmp_path / name).is_file() for name in linked)
    narrow = re.findall(r'<div class="figure narrow">(.*?)</div>', page, re.S)
    assert not any(" runs" in svg for svg in narrow if "<title>Figure" in svg)  # nobody hovers there
    assert 'class="f1" x=' in page  # its colour is the page's


def test_a_figure_without_runs_says_so(study):
    one = {**figure(study, 3), "panels": [{"slot": "epsilon", "x": "attributes", "series": []}]}
    assert "no runs" in panels(study, one)


def test_diagrams_of_ranks_have_all_methods(study):
    found = {name: svg for name, svg in drawn(study).items() if name.startswith("ranks-")}
    assert len(found) == 9
    names = ("U-ERM", "W-ERM", "WA-GDRO", "Ind")
    assert all(f"{name}\nmean rank" in found["ranks-all-tasks-epsilon"] for name in names)


# -- pages -------------------------------------------------------------------------------------------------
def test_the_page_has_claims_figures_and_tables(tmp_path):
    frame = world.sweep(methods=FEW)
    assert paper_of("whatever", ["S1.2"]) is paper
    assert paper_of("whatever", ["S3.1"]) is None
    body = paper(frame, tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert all(f"Figure {number}, multi" in page for number in (2, 3, 4, 6, 7, 8, 9, 10))
    assert all(f"<strong>{found['id']}</strong>" in page for found in body["studies"][0]["findings"])
    assert "https:" not in page
    assert set(re.findall(r"http://[^\"]+", page)) == {"http://www.w3.org/2000/svg"}
    assert json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))["kind"] == "many-attributes"
    text = (tmp_path / "paper/tables/figure-2-single.csv").read_text(encoding="utf-8")
    assert len(list(csv.DictReader(text.splitlines()))) == 3 * 4
    text = (tmp_path / "paper/results.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (tmp_path / "paper" / link).is_file(), link


def spread_line(lines, task, over, method, metric):
    wanted = {"task": task, "over": over, "method": method, "metric": metric}
    return next(line for line in lines if wanted.items() <= line.items())


def test_the_range_over_runs_is_told_for_every_method(tmp_path):
    frame = world.sweep(methods=FEW)
    body = paper(frame, tmp_path)
    (study,), runs = body["studies"], Runs(frame)
    line = spread_line(study["runs"], "single", "all structures, every run", "W-ERM", "reweighted accuracy")
    bar = next(bar for bar in figure(study, 2)["panels"][0]["bars"] if bar["method"] == "W-ERM")
    every = [
        v for one in runs.of(("single", "mlp")) for v in runs.values(one, "w-erm", "performance").values()
    ]
    assert (line["runs"], line["mean"]) == (bar["n"], pytest.approx(bar["y"]))
    assert line["deviation"] == pytest.approx(np.std(every, ddof=1))
    assert (line["smallest"], line["largest"]) == (min(every), max(every))
    one = spread_line(study["runs_by_structure"], "multi", "balanced 3", "Ind + KD", "bias amplification")
    structure = next(found for found in runs.of(("multi", "mlp")) if found.grouping == "balanced 3")
    values = list(runs.values(structure, "ind-kd", "amplification").values())
    assert (one["runs"], one["smallest"], one["largest"]) == (3, min(values), max(values))
    sized = spread_line(
        study["runs_by_structure"], "single", "7 attributes, every run", "W-ERM", "intersectional bias"
    )
    assert sized["runs"] == 9
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "<summary>Runs: mean, deviation, smallest and largest</summary>" in page
    text = (tmp_path / "paper/tables/runs.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 2 * (1 + 7 + 27) * len(FEW) * 3


def test_the_papers_tables_have_their_range_over_seeds():
    for found in (compute(world.scarce()), compute(world.replications())):
        for one in found["tables"]:
            for row in one["rows"]:
                lines = [line for line in found["runs"]
                         if (line["task"], line["method"]) == (one["track"], row["method"])
                         and line["over"] == "mean of the structures, by seed"]  # fmt: skip
                assert [line["mean"] for line in lines] == [cell["mean"] for cell in row["cells"]]
                assert [line["deviation"] for line in lines] == pytest.approx(
                    [c["std"] for c in row["cells"]]
                )
                known = [line for line in lines if line["runs"]]  # accuracy itself was not planted
                assert len(known) >= 3
                assert all(line["smallest"] < line["mean"] < line["largest"] for line in known)


def test_studies_stand_side_by_side(body, tmp_path):
    table = beside_table(body)
    assert table.heads[2:] == ("many-attributes-faces", "many-attributes-fairface")
    rows = {row[0]: row for row in table.rows}
    assert rows["S1.4"][2].startswith("holds: bias amplification of WA-GDRO less W-ERM")
    assert rows["S1.4"][3] == "not asked"  # it has no multi-label task
    assert rows["S1.7"][3].startswith("holds: ")
    verdicts = {row[0]: row[2:] for row in beside_verdicts(body).rows}
    assert verdicts["S1.4"][0].startswith("holds (")
    assert verdicts["S1.4"][1] == "–"
    page, out = tmp_path / "docs" / "many.md", tmp_path / "results"
    page.parent.mkdir()
    page.write_text(f"# by hand\n\n{BEGIN}\nold\n{END}\n\nby hand too\n", encoding="utf-8")
    for _ in range(2):  # a second time changes nothing
        write_page(body, page, out)
        text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# by hand\n\n{BEGIN}\n### Side by side")
    assert text.endswith(f"\n{END}\n\nby hand too\n")
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / link).is_file(), link
    assert text.count("<details>") == text.count("</details>")
    page.write_text("no markers", encoding="utf-8")
    with pytest.raises(InputError, match="needs the two lines"):
        write_page(body, page, out)
    assert main([str(tmp_path / "nowhere")]) == 2


def test_what_variants_add_is_the_mean_difference_of_seeds():
    frame = world.scarce()
    study, runs = compute(frame), Runs(frame)
    rows = {(row["track"], row["scope"], row["words"], row["slot"]): row for row in study["added"]}
    where = [one for one in runs.structures if one.task == "single"]
    distilled, plain = (
        np.array([[runs.values(one, name, "amplification")[seed] for one in where] for seed in range(5)])
        for name in ("pre+ind-kd", "pre+ind")
    )
    less = (distilled - plain).mean(axis=1)
    row = rows["single", "all", "Ind + KD less Ind", "amplification"]
    low, high = stats.t.interval(0.95, len(less) - 1, less.mean(), stats.sem(less))
    assert (row["effect"], row["low"], row["high"]) == pytest.approx((less.mean(), low, high))
    assert (row["structures"], row["seeds"]) == (len(where), 5)
    assert ("single", "all", "pre-trained W-ERM less not", "performance") in rows
    alone = [row for row in study["added"] if row["scope"] == where[0].grouping]
    assert alone
    assert all(row["structures"] == 1 for row in alone)


def test_what_variants_add_stands_on_the_page_and_side_by_side(tmp_path):
    one, two = (world.scarce(name) for name in ("scarce-labels", "plentiful-labels"))
    body = together([compute(one), compute(two)])
    table = beside_added_table(body)
    assert table.heads[3:] == ("scarce-labels", "plentiful-labels")
    assert len({row[:3] for row in table.rows}) == len(table.rows) > 0
    page = tmp_path / "page.md"
    page.write_text(f"{BEGIN}\n{END}\n")
    written = {path.name for path in write_page(body, page, tmp_path / "out")}
    for file, (title, draw) in beside_pictures(body).items():
        assert f"{file}.svg" in written
        assert title in page.read_text()
        assert draw(width=380).count("<circle") == draw().count("<circle") > 0
    write_paper(body, tmp_path)
    told = (tmp_path / "paper" / "results.md").read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)]+)\)", told):
        assert (tmp_path / "paper" / link).is_file(), link
    html = render(body)
    assert 'id="added"' in html
    assert table.title in html


def test_a_study_without_variants_has_no_section_for_them():
    body = together([compute(world.sweep(methods=("erm", "w-erm")))])
    assert not body["studies"][0]["added"]
    assert not beside_pictures(body)
    assert 'id="added"' not in render(body)


def test_answers_go_to_the_study_that_the_file_names(body, tmp_path):
    path = tmp_path / "claims.csv"
    path.write_text((ROOT / "docs/claims.csv").read_text(encoding="utf-8"), encoding="utf-8")
    found = answers(body, path)
    assert {"S1.2", "S1.4", "S1.11"} <= found.keys()
    assert all(row["study"] == "many-attributes-faces" for row in found.values())
    assert "Elsewhere: many-attributes-fairface: holds" in found["S1.7"]["note"]
    update(path, found)
    filled = {row["id"]: row for row in read_claims(path)}
    assert filled["S1.5"]["verdict"] == "holds"
    assert filled["S1.5"]["effect"].startswith("reweighted mAP of WA-GDRO less W-ERM (multi-label): -0.05")
    assert filled["S1.18"]["study"] == "scarce-labels"


def test_the_claims_are_those_of_the_file():
    rows = {row["id"]: row["claim"] for row in read_claims(ROOT / "docs/claims.csv")}
    assert {name: rows[name] for name in CLAIMS} == {name: words for name, (words, _, _) in CLAIMS.items()}


def test_the_papers_tables_stand_beside_ours(tmp_path):
    found = compute(world.replications())
    tables = {one["track"]: one for one in found["tables"]}
    assert {one["title"] for one in tables.values()} == {"Table 4", "Table 5", "Table 6"}
    row = next(row for row in tables["table 4"]["rows"] if row["method"] == "W-ERM")
    assert [cell["printed"] for cell in row["cells"]] == [0.610, -0.059, 0.915, 0.903, 0.852]
    assert row["cells"][3]["mean"] == pytest.approx(0.9, abs=0.01)
    swapped = [cell["printed"] for row in tables["table 5 swapped"]["rows"] for cell in row["cells"]]
    assert set(swapped) == {None}  # the paper prints no numbers of it
    scarce = compute(world.scarce())
    table = paper_tables(scarce)["tables-2-3-and-7-single"]
    cells = {row[0]: row[1:] for row in table.rows}
    assert cells["pre-trained W-ERM"][1] == "0.477 ± 0.008"
    assert cells["Ind"][1].startswith("0.170")
    paper(world.scarce(), tmp_path)
    assert "Tables 2, 3 and 7 in shape: single" in (tmp_path / "paper.html").read_text(encoding="utf-8")


def test_printed_numbers_are_those_of_the_text():
    """Bias amplification falls by 28 % from ERM to Ind with both, as the abstract has it."""
    erm, both = (SCARCE[key][1][0] for key in ("erm", "pre+ind-ad-kd"))
    assert round(100 * (erm - both) / erm, 1) == 27.6


# -- from counts and scores --------------------------------------------------------------------------------
def rows_of(task, methods=("erm", "w-erm")):
    places = [(method, seed) for method in methods for seed in (0, 1)]
    return [fake.row_of(f"{method}{seed}", task, "race 1", method, {}, seed, place)
            for place, (method, seed) in enumerate(places)]  # fmt: skip


def test_metrics_of_a_store_are_those_of_its_counts(tmp_path):
    cells = np.array([[[36, 4], [4, 36]], [[14, 1], [3, 2]]])  # the worked example of S1's metrics
    rows = rows_of("single")
    tables = {part: {row["id"]: cells for row in rows} for part in ("validation", "test")}
    store = fake.FakeStore({"name": "mine", "claims": ["S1.2"]}, rows, tables)
    runs = Runs(store)
    one = runs.structures[0]
    assert runs.values(one, "erm", "performance") == {
        seed: pytest.approx(0.78333, abs=1e-5) for seed in (0, 1)
    }
    assert runs.mean(one, "w-erm", "amplification") == pytest.approx(0.041344, abs=1e-6)
    assert runs.mean(one, "erm", "epsilon") == pytest.approx(0.804719, abs=1e-6)
    assert runs.mean(one, "erm", "min_acc.label_attr") == pytest.approx(0.4)
    body = paper(store, tmp_path)  # one structure, nothing to spread: Figure 2 alone
    assert [entry["number"] for entry in body["studies"][0]["figures"]] == [2]


class ManyLabels(fake.FakeStore):
    """The worked ranking of reweighted mAP (A+ - A+ B+ -), as a task of two such labels."""

    def measured(self, part):
        y, s, g = np.array([1, 0, 1, 1, 0]), np.array([0.9, 0.8, 0.7, 0.6, 0.1]), np.array([0, 1, 0, 1, 1])
        y, s, ids = np.stack([y, y], 1), np.stack([s, s], 1), [row["id"] for row in self.rows]
        scores = Scores.stack([Scores.from_scores(y, s, g, 2) for _ in ids])
        counts = Counts.stack([Counts.from_predictions(y, s > 0.5, g, 2) for _ in ids])
        return [fake.FakeBlock("both", "race 1", "race 1", ("A", "B"), ("one", "two"), ids, counts, scores)]


def test_several_labels_have_reweighted_precision():
    runs = Runs(ManyLabels({"name": "mine"}, rows_of("both"), {}))
    one = runs.structures[0]
    assert one.kind == "multi-label"
    assert runs.mean(one, "erm", "performance") == pytest.approx(0.775, abs=1e-3)
    # of those predicted positive half are A, of the positive two of three
    assert runs.mean(one, "erm", "amplification") == pytest.approx(2 / 4 - 2 / 3)
