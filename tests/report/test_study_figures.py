"""The figures of a study: every run a mark, arrows that point the right way, nothing told by colour alone."""

import re
from xml.etree import ElementTree

import pytest

from evenhand.report.exports import figures
from evenhand.report.figures.cost_strip import cost_strip
from evenhand.report.figures.critical_difference import critical_difference
from evenhand.report.figures.frontier import Run, Trail, frontier
from evenhand.report.figures.levelling import levelling
from evenhand.report.figures.seed_variance import Spread, seed_variance
from evenhand.report.figures.slopes import Rates, slopes
from evenhand.report.study_points import unbeaten

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ElementTree.fromstring(svg)


def texts(svg):
    return [text.text for text in parsed(svg).iter(f"{SVG}text")]


def marks(svg):
    return [mark for mark in parsed(svg).iter() if mark.get("data-i") is not None]


def test_every_figure_of_a_study_is_there_and_parses(study):
    drawn = figures(study)
    expected = (
        "frontier-tpr-gap-adult-by-sex groups-tpr-adult-by-sex seeds-accuracy-adult-by-sex ranks-odds-gap "
        "levelling-adult-by-sex cost-synthetic-by-a-b spearman-adult-by-sex"
    )
    for name in expected.split():
        assert name in drawn
    for name, svg in drawn.items():
        assert parsed(svg).tag == f"{SVG}svg", name
        assert not re.search(r"nan|None", svg), name


def test_a_study_without_runs_has_no_figures(empty_study):
    assert figures(empty_study) == {}


def test_each_run_is_one_mark_and_keeps_its_number_where_others_are_undefined(study):
    name = "frontier-tpr-gap-adult-by-sex"
    runs = study["problems"][0]["points"]
    assert sorted(int(mark.get("data-i")) for mark in marks(figures(study)[name])) == list(range(len(runs)))
    runs[3]["values"]["tpr.gap"] = None
    numbers = {int(mark.get("data-i")) for mark in marks(figures(study)[name])}
    assert numbers == set(range(len(runs))) - {3}


def test_a_method_has_the_same_colour_in_every_problem(study):
    study["problems"][1]["methods"].reverse()
    shapes = []
    for name in ("frontier-tpr-gap-adult-by-sex", "frontier-tpr-gap-synthetic-by-a-b"):
        layers = [g for g in parsed(figures(study)[name]).iter(f"{SVG}g") if g.get("fill-opacity")]
        points = study["problems"][len(shapes)]["points"]
        shapes.append({points[int(m.get("data-i"))]["method"]: g.get("class") for g in layers for m in g})
    assert shapes[0] == shapes[1]
    assert len(set(shapes[0].values())) == 5


def test_marks_stand_where_their_numbers_are():
    trail = Trail("a", (Run(0, 0.5, 0.1), Run(1, 0.7, 0.1), Run(2, 0.5, 0.3)))
    places = {
        int(mark.get("data-i")): (float(mark.get("cx")), float(mark.get("cy")))
        for mark in marks(frontier([trail], [], title="t", x_axis="accuracy", y_axis="gap"))
    }
    assert places[1][0] > places[0][0] == places[2][0]
    assert places[2][1] < places[0][1] == places[1][1]  # higher values stand higher


def test_selected_settings_are_less_pale():
    trail = Trail("a", (Run(0, 0.5, 0.1), Run(1, 0.6, 0.1, selected=True)))
    svg = frontier([trail], [], title="t", x_axis="accuracy", y_axis="gap")
    layers = [g for g in parsed(svg).iter(f"{SVG}g") if g.get("fill-opacity")]
    opacity = {child.get("data-i"): float(g.get("fill-opacity")) for g in layers for child in g}
    assert opacity["1"] > 2 * opacity["0"]


def test_the_line_leaves_out_what_is_beaten_on_the_reported_part():
    points = [(0.9, 0.2), (0.85, 0.25), (0.8, 0.1), (None, 0.0)]
    assert unbeaten(points, higher=False) == [(0.9, 0.2), (0.8, 0.1)]
    assert unbeaten(points, higher=True) == [(0.9, 0.2), (0.85, 0.25)]


def test_ranks_stand_on_the_axis_in_order_and_cliques_are_bars_over_their_members():
    svg = critical_difference(["c", "a", "b"], [3.0, 1.0, 2.0], 1.5, [["a", "b"], ["c"]], title="t")
    assert [text for text in texts(svg) if re.match(r"[abc] |\d\.\d\d [abc]", text)] == [
        "a 1.00",
        "b 2.00",
        "3.00 c",
    ]
    bars = [line for line in parsed(svg).iter(f"{SVG}line") if line.get("stroke-width") == "5"]
    assert len(bars) == 1  # a clique of one joins nobody
    ticks = {t.text: float(t.get("x")) for t in parsed(svg).iter(f"{SVG}text") if t.text in ("1", "2", "3")}
    assert float(bars[0].get("x1")) < ticks["1"]
    assert ticks["2"] < float(bars[0].get("x2")) < ticks["3"]
    length = next(line for line in parsed(svg).iter(f"{SVG}line") if line.get("y1") == "22" == line.get("y2"))
    assert float(length.get("x2")) - float(length.get("x1")) == pytest.approx(
        1.5 * (ticks["2"] - ticks["1"]), abs=0.1
    )
    assert "critical difference" not in critical_difference(["a", "b"], [1, 2], None, [], title="t")


@pytest.mark.parametrize(
    ("accuracy", "variance", "colours"),
    [("+", "-", ["b3", "b3"]), ("-", "+", ["a3", "a3"]), ("NS", "NS", ["band", "band"])],
)
def test_the_strips_follow_the_rule_of_the_figure(accuracy, variance, colours):
    row = {"method": "m", "accuracy": accuracy, "variance": variance, "cross": False}
    svg = cost_strip([row], title="t")
    assert [rect.get("class") for rect in parsed(svg).iter(f"{SVG}rect")] == colours
    shown = {"+": "+", "-": "−", "NS": "·"}
    assert [text for text in texts(svg) if text in "+−·"] == [shown[accuracy], shown[variance]]
    assert parsed(svg).findall(f"{SVG}path") == []


def test_a_method_that_lowers_nothing_is_crossed_in_both_strips_and_blocks_wrap():
    rows = [{"method": f"m{i}", "accuracy": "NS", "variance": "-", "cross": i == 0} for i in range(6)]
    svg = cost_strip(rows, title="t", width=360)
    assert len(parsed(svg).findall(f"{SVG}path")) == 2
    rects = list(parsed(svg).iter(f"{SVG}rect"))
    assert len(rects) == 12
    assert max(float(rect.get("x")) + float(rect.get("width")) for rect in rects) <= 360
    assert "m0: accuracy: no difference shown, variance of accuracy: lower, lowered no metric" in svg


def test_arrows_point_where_the_groups_went():
    row = {
        "method": "m",
        "worst": "a",
        "worst_change": 0.05,
        "best": "b",
        "best_change": -0.03,
        "verdict": "worst gained",
    }
    svg = levelling([row], title="t")
    zero = next(
        float(line.get("x1")) for line in parsed(svg).iter(f"{SVG}line") if line.get("class") == "ref"
    )
    heads = {path.get("class"): float(re.match(r"M([\d.]+)", path.get("d")).group(1))
             for path in parsed(svg).iter(f"{SVG}path") if path.get("data-tip")}  # fmt: skip
    assert heads["f0"] > zero > heads["f1"]
    assert {"worst gained", "+0.050", "−0.030"} <= set(texts(svg))
    unknown = levelling([{**row, "worst_change": None, "best_change": 0.0}], title="t")
    assert "–" in texts(unknown)


def test_both_spreads_are_as_long_as_their_numbers():
    svg = seed_variance([Spread("m", ("seed 0", "seed 1"), (0.1, 0.3), 0.2, 0.1, 0.05)], title="t")
    bars = {line.get("class"): float(line.get("x2")) - float(line.get("x1"))
            for line in parsed(svg).iter(f"{SVG}line") if line.get("data-tip")}  # fmt: skip
    assert bars["ref"] == pytest.approx(2 * bars["chance"], rel=0.01)
    assert any("MaxDiff 0.200" in text for text in texts(svg))
    alone = seed_variance([Spread("m", ("seed 0",), (0.1,), 0.1)], title="t")
    assert "0.100 ± –" in " ".join(texts(alone))


def test_rates_of_the_base_stand_behind_every_method_and_undefined_ones_are_left_out():
    rows = [Rates("erm", (0.2, 0.6), base=True), Rates("gap", (0.3, None)), Rates("x", (None, None))]
    svg = slopes(rows, ["a", "b"], title="t")
    dotted = [line for line in parsed(svg).iter(f"{SVG}line") if line.get("stroke-dasharray")]
    assert len(dotted) == 2 * 3
    assert "x: undefined" in texts(svg)
    assert sum(mark.get("data-tip", "").startswith("gap · ") for mark in parsed(svg).iter()) == 1


def test_long_names_are_cut(study):
    for entry in study["problems"][0]["methods"]:
        if entry["method"] == "gdro":
            entry["method"] = "g" * 300
    drawn = figures(study)
    for name in ("groups-tpr-adult-by-sex", "levelling-adult-by-sex", "seeds-accuracy-adult-by-sex"):
        assert max(len(text) for text in texts(drawn[name])) < 100
