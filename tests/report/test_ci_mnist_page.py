"""The page of S3's study: self-contained, says what is missing, has the paper's tables and figures."""

import html
import re
import runpy
from pathlib import Path

import pytest

from evenhand.evaluation.ci_mnist.study import compute
from evenhand.report.ci_mnist import render
from evenhand.report.ci_mnist_figures import figures
from evenhand.report.ci_mnist_markdown import results_markdown
from evenhand.report.ci_mnist_tables import tables
from evenhand.report.figures.bars import Bar, Panel, bars
from evenhand.report.figures.deviation_map import deviation_map
from evenhand.report.figures.digits import digits

made = runpy.run_path(str(Path(__file__).parents[1] / "evaluation" / "ci_mnist" / "made_store.py"))


@pytest.fixture(scope="module")
def body():
    return compute(made["make_store"]())


@pytest.fixture(scope="module")
def partly():
    return compute(made["make_store"](lambda row: row["method"] == "ffvae" and row["net"] == "width 32"))


def text_of(page):
    page = re.sub(r"<(script|style)[^>]*>.*?</\1>", " ", page, flags=re.S)
    return html.unescape(re.sub(r"<[^>]+>", " ", page))


def test_the_page_holds_everything_and_asks_nobody(body):
    page = render(body)
    assert "default-src 'none'" in page
    assert len(page) < 5_000_000
    # no image, link or style from outside; marks are SVG, pixels too
    assert not re.search(r"(src|href)=\"(?!#)", page)
    assert "url(" not in page
    assert "data:image" not in page
    told = text_of(page)
    for found in body["findings"]:
        assert found["id"] in told
        assert found["claim"] in told
    assert "Table 4: MLP, minority" in told
    assert "Table 31: FFVAE, green" in told
    assert "Not everything was run" not in told


def test_what_is_missing_stands_at_the_top_and_the_rest_is_shown(partly):
    told = text_of(render(partly))
    assert "FFVAE (width 32): none of 30 runs is done" in told
    assert "Table 10: FFVAE, minority" in told  # the other width has it


def test_28_tables_and_their_oracles_with_means_and_deviations(body):
    found = tables(body)
    numbered = [name for name in found if name.startswith("table-")]
    assert len(numbered) == 56
    assert len({name[6:8] for name in numbered}) == 28
    table = found["table-04-minority-mlp"]
    assert len(table.rows) == 2 * 4
    assert len(table.heads) == 2 + 7
    assert all(re.fullmatch(r"[<\d.]+ ± [<\d.]+", cell) for row in table.rows for cell in row[2:])
    assert "Oracle" in found["table-04-minority-mlp-oracle"].note
    assert "Oracle" not in table.note
    assert len(found["numbers"].rows) == len(body["numbers"])


def test_the_range_over_seeds_of_every_number_is_told(body):
    assert "Runs: mean, deviation, smallest and largest" in text_of(render(body))
    lines = {
        (one["width"], one["task"], one["model"], one["metric"]): one
        for one in body["runs"]
        if one["chosen on"] == body["part"]
    }
    assert len(lines) == len(body["numbers"])
    for entry in body["numbers"]:
        name = body["models"].get(entry["model"], "AdvDebias")
        line = lines[entry["width"], entry["task"], name, body["metrics"][entry["metric"]]]
        values = list(entry["values"].values())
        assert (line["runs"], line["smallest"], line["largest"]) == (3, min(values), max(values))
        assert (line["mean"], line["deviation"]) == (entry["mean"], entry["std"])
    table = tables(body)["runs"]
    told = [entry for entry in body["numbers"] if entry["oracle"]]
    assert len(table.rows) == len(lines) + len(told)  # what is chosen on test rows stands below
    assert table.rows[-1][3] == "test (oracle)"
    assert f"<details><summary>{table.title}</summary>" in results_markdown(body)
    assert "Oracle" in table.note


def test_every_figure_of_the_paper_is_drawn_for_both_widths(body):
    drawn = figures(body)
    wanted = [
        f"figure-{n:02d}-pair-{s}" for n, s in ((2, "minority"), (3, "colour"), (8, "lines"), (4, "green"))
    ]
    wanted += [
        f"figure-{n:02d}-all-{s}" for n, s in ((6, "minority"), (7, "colour"), (8, "lines"), (9, "green"))
    ]
    wanted += [f"figure-{n}-{s}" for n in (10, 11) for s in ("minority", "colour", "lines", "green")]
    assert all(f"{name}-width-{width}" in drawn for name in wanted for width in (32, 64))
    assert sum(name.startswith("figure-05") for name in drawn) == 10
    assert "AdvDebias" in drawn["figure-10-minority-width-64"]
    assert "AdvDebias" not in drawn["figure-02-pair-minority-width-64"]
    assert "AdvDebias" not in drawn["figure-11-minority-width-64"]


def test_a_bar_of_zero_is_seen_and_a_missing_one_is_not():
    one = bars([Panel("p", ((Bar(0.0, 0.0, "zero"), Bar(None)),))], ["DP"], ["a", "b"], title="t")
    assert one.count('data-tip="zero"') == 1
    assert one.count('class="f1"') == 1
    assert 'height="1.18"' in one


def test_a_map_keeps_its_scale_whatever_its_values():
    low, high = (deviation_map([[x]], ["a"], ["b"], title="t") for x in (0.01, 0.19))
    assert "s1 edge" in low
    assert "s4 edge" in high
    assert "not there" in deviation_map([[None]], ["a"], ["b"], title="t")


def test_digits_are_paths_of_the_colours_in_them():
    drawn = digits([["rrg", "bkk"]], title="t", heads=("even",))
    assert drawn.count("<path") == 4
    assert "M0 0h2v1h-2z" in drawn
    assert "even" in drawn
    assert "<image" not in drawn


def test_the_raw_material_of_the_documentation_names_claims_and_pictures(body):
    told = results_markdown(body)
    assert "### S3.1a: holds" in told
    assert "![figure-02-pair, minority]" in told
    drawn = figures(body)
    assert all(name in drawn for name in re.findall(r"\(figures/([^)]+)\.svg\)", told))
