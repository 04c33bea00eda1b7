"""The trade-off as figure, sentences and terminal table."""

import io
import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from rich.console import Console

from evenhand.report.exports import figures
from evenhand.report.figures import Spot
from evenhand.report.figures import tradeoff as drawn
from evenhand.report.terminal_tradeoff import tradeoff_table
from evenhand.report.tradeoff import how_made, render
from evenhand.report.verdict_tradeoff import clear, size, tradeoff_sentences

SVG = "{http://www.w3.org/2000/svg}"


def printed(body, width=110):
    out = io.StringIO()
    Console(file=out, width=width).print(tradeoff_table(body))
    return out.getvalue()


def frontier_corners(svg):
    points = ElementTree.fromstring(svg).find(f"{SVG}polyline").get("points")
    return [tuple(float(x) for x in pair.split(",")) for pair in points.split()]


def test_the_frontier_is_a_staircase_that_no_mean_is_beyond():
    spots = [Spot("a", (), 0.9, 0.27), Spot("b", (), 0.8, 0.1), Spot("c", (), 0.7, 0.2)]
    corners = frontier_corners(drawn(spots, ["a", "b"], title="t", y_axis="gap"))
    assert len(corners) == 5
    for (x, y), (u, v) in pairwise(corners):
        assert x == u or y == v
        assert u <= x
    assert corners[0][1] < corners[1][1]  # from the top edge down to the most accurate
    assert corners[2] == (corners[3][0], corners[1][1])  # to the left at its height, then down to the next


def test_where_higher_is_better_the_frontier_comes_from_below():
    spots = [Spot("a", (), 0.9, 0.33), Spot("b", (), 0.8, 0.6)]
    corners = frontier_corners(drawn(spots, ["a", "b"], title="t", y_axis="worst", higher=True))
    assert corners[0][1] > corners[1][1]
    assert corners[3][1] < corners[1][1]


def test_every_run_and_every_mean_is_a_mark(tradeoff):
    made = figures(tradeoff)
    assert list(made) == [
        "accuracy-against-true-positive-rate-gap",
        "accuracy-against-false-positive-rate-gap",
        "differences-from-erm",
    ]
    root = ElementTree.fromstring(made["accuracy-against-true-positive-rate-gap"])
    assert len(root.findall(f"{SVG}circle")) == 6 + 1  # erm
    assert len(root.findall(f"{SVG}rect")) == 6 + 1  # w-erm
    assert len(root.findall(f"{SVG}polygon")) == 2 * (6 + 1)  # gdro and gap
    assert {text.text for text in root.findall(f"{SVG}text")} >= {"erm", "w-erm", "gdro", "gap"}


def test_sentences_say_what_moved_and_what_it_cost(tradeoff):
    said = tradeoff_sentences(tradeoff)
    gap = tradeoff["methods"][3]["against_base"]
    assert said[2] == (
        f"Compared with erm, gap has a smaller true positive rate gap by {size(gap['tpr.gap'])} and "
        f"false positive rate gap by {size(gap['fpr.gap'])}, at an accuracy "
        f"{size(gap['acc']).replace(' ', ' lower ', 1)}."
    )
    assert "a smaller true positive rate gap" in said[0]
    assert "but a larger false positive rate gap" in said[0]
    tradeoff["frontiers"]["tpr.gap"] = ["erm", "gap"]
    assert tradeoff_sentences(tradeoff)[-1] == (
        "On the frontier of accuracy and true positive rate gap lie erm and gap; some method here is at "
        "least as good as w-erm and gdro in both."
    )


def test_what_is_not_clear_is_said_to_be_so(tradeoff):
    for found in tradeoff["methods"][3]["against_base"].values():
        found |= {"difference": -0.01, "low": -0.03, "high": 0.01}
    assert not clear(tradeoff["methods"][3]["against_base"]["acc"])
    assert tradeoff_sentences(tradeoff)[2] == (
        "Between erm and gap no gap differs by more than seeds and test rows explain, at an accuracy that "
        "does not clearly differ (−0.010)."
    )


def test_words_we_do_not_use(tradeoff):
    words = re.sub(r"<(script|style)>.*?</\1>", "", render(tradeoff), flags=re.S).lower()
    assert not re.search(r"debias|unbias|\bfair\b|fairer|best method", words)


@pytest.mark.parametrize("width", [40, 70, 110])
def test_the_terminal_table_fits(tradeoff, width):
    out = printed(tradeoff, width)
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width
    assert "w-erm" in out
    assert f"{tradeoff['methods'][0]['accuracy']['mean']:.3f}" in out


def test_a_mark_shows_what_differs_from_the_base(tradeoff):
    lines = [line for line in printed(tradeoff).splitlines() if re.match(r" *(erm|gap) ", line)]
    assert ["*" in line for line in lines] == [False, True]


def test_what_methods_share_is_told_once(tradeoff):
    made = how_made(tradeoff)
    assert made["shared"]["epochs"] == 20
    assert [entry["settings"] for entry in made["own"]] == [
        "none",
        "none",
        "none",
        "lam = 1.0, target = odds",
    ]
    tradeoff["methods"][0]["recipe"] = {**tradeoff["methods"][0]["recipe"], "epochs": 5}
    assert "epochs" not in how_made(tradeoff)["shared"]
    assert "epochs = 5" in how_made(tradeoff)["own"][0]["settings"]
