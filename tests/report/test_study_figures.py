"""The figures of a study: every run a mark, arrows that point the right way, nothing told by colour alone."""

import re
from xml.etree import ElementTree

import pytest

from evenhand.report.exports import figures
from evenhand.report.figures.canvas import text_width
from evenhand.report.figures.cost_strip import cost_strip
from evenhand.report.figures.critical_difference import critical_difference
from evenhand.report.figures.frontier import Mean, Run, Trail, frontier
from evenhand.report.figures.levelling import levelling
from evenhand.report.figures.seed_variance import Spread, seed_variance
from evenhand.report.figures.slopes import Rates, slopes
from evenhand.report.study_body import completed
from evenhand.report.study_points import frontier_figure, points_of

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


def drawn_frontier(study, key="tpr.gap"):
    body = completed(study)
    problem = body["problems"][0]
    return frontier_figure(body, problem, points_of(body, problem), key)


def test_the_line_goes_through_the_large_marks_that_none_beats(study):
    svg = parsed(drawn_frontier(study))
    corners = {tuple(pair.split(",")) for pair in svg.find(f"{SVG}polyline").get("points").split()}
    means = {}
    for group in svg.findall(f"{SVG}g"):
        for mark in group:
            if mark.tag != f"{SVG}line" and mark.get("data-tip"):
                name = mark.get("data-tip").split()[0]
                place = (mark.get("cx"), mark.get("cy")) if mark.get("cx") else None
                lines = [one for one in group if one.tag == f"{SVG}line"]
                x = next(one.get("x1") for one in lines if one.get("x1") == one.get("x2"))
                y = next(one.get("y1") for one in lines if one.get("y1") == one.get("y2"))
                means[name] = place or (x, y)
    ahead = study["problems"][0]["frontier"]["tpr.gap"]
    assert len(ahead) > 1
    near = {(f"{float(x):.1f}", f"{float(y):.1f}"): name for name, (x, y) in means.items()}
    assert {near[corner] for corner in corners if corner in near} == set(ahead)


@pytest.mark.parametrize(
    ("better", "told", "lines"),
    [("lower", "lower is better ↓", 1), ("higher", "higher is better ↑", 1), ("nearer", "wanted near 1", 0),
     ("none", "no direction is wanted", 0)],
)  # fmt: skip
def test_the_axis_says_which_way_the_metric_is_wanted(study, better, told, lines):
    study["metrics"] = [{**study["metrics"][0], "better": better, "ideal": 1.0}]
    svg = drawn_frontier(study)
    assert any(told in text for text in texts(svg))
    assert len(parsed(svg).findall(f"{SVG}polyline")) == lines


def test_names_stay_inside_the_axes():
    low = [Mean(f"method {i}", (), 0.5 + 0.01 * i, 0.0, (0.45, 0.6), (0.0, 0.5)) for i in range(4)]
    trails = [Trail(mean.name, (), mean, i) for i, mean in enumerate(low)]
    svg = frontier(trails, [], title="t", x_axis="accuracy", y_axis="gap")
    floor = max(float(one.get("y2")) for one in parsed(svg).iter(f"{SVG}line") if one.get("class") == "grid")
    names = [one for one in parsed(svg).iter(f"{SVG}text") if (one.text or "").startswith("method")]
    assert len(names) == 4
    assert all(float(one.get("y")) < floor + 6 for one in names)  # the ticks' numbers stand below


def test_a_metric_with_a_setting_of_its_own_stands_where_that_setting_does(study):
    entry = next(one for one in study["problems"][0]["methods"] if one["method"] == "gap")
    other = {"mean": 0.5, "low": 0.45, "high": 0.55}
    other, label = {"mean": 0.5, "low": 0.45, "high": 0.55}, "gap (lam=99)"
    own = {"setting": {"lam": 99.0}, "label": label, "n": 3, "seeds": [0, 1, 2], "accuracy": other}
    entry["per_metric"] = {"tpr.gap": own}
    points = study["problems"][0]["points"]
    place = next(i for i, point in enumerate(points) if point["method"] == "gap" and not point["selected"])
    points[place]["setting"] = "lam=99"
    tips = [mark.get("data-tip") for mark in parsed(drawn_frontier(study)).iter() if mark.get("data-tip")]
    tip = next(tip for tip in tips if tip.startswith("gap lam"))
    assert "lam = 99" in tip
    assert "accuracy 0.500 (0.450 to 0.550)" in tip
    assert "mean of 3 seeds" in tip
    layers = [g for g in parsed(drawn_frontier(study)).iter(f"{SVG}g") if g.get("fill-opacity") == "0.62"]
    strong = [int(mark.get("data-i")) for layer in layers for mark in layer]
    assert [i for i in strong if points[i]["method"] == "gap"] == [place]


def test_a_study_that_lists_figures_draws_no_others(study):
    every = {name.split("-")[0] for name in figures(study)}
    assert every == {"frontier", "groups", "seeds", "levelling", "cost", "ranks", "spearman"}
    study["spec"] = {"report": {"figures": ["frontier", "cost"]}}
    assert {name.split("-")[0] for name in figures(study)} == {"frontier", "cost"}
    study["spec"] = {"report": {"figures": ["variance", "groups"]}}
    assert {name.split("-")[0] for name in figures(study)} == {"seeds", "groups"}


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


def test_a_method_that_improves_nothing_is_crossed_in_both_strips_and_blocks_wrap():
    rows = [{"method": f"m{i}", "accuracy": "NS", "variance": "-", "cross": i == 0} for i in range(6)]
    svg = cost_strip(rows, title="t", width=360)
    assert len(parsed(svg).findall(f"{SVG}path")) == 2
    rects = list(parsed(svg).iter(f"{SVG}rect"))
    assert len(rects) == 12
    assert max(float(rect.get("x")) + float(rect.get("width")) for rect in rects) <= 360
    assert "m0: accuracy: no difference shown, variance of accuracy: lower, improved no metric" in svg


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
    tiny = parsed(levelling([{**row, "best_change": -0.0005}], title="t"))  # no room for an arrow's head
    assert [mark.get("class") for mark in tiny.iter(f"{SVG}circle")] == ["f1"]
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


def test_numbers_of_the_axis_stay_inside_the_figure():
    rows = [Rates("erm", (0.0350, 0.0363), base=True), Rates("gap", (0.0351, 0.0362))]
    svg = parsed(slopes(rows, ["a", "b"], title="t"))
    ticks = [one for one in svg.iter(f"{SVG}text") if one.get("text-anchor") == "middle"]
    for one in ticks:
        half = text_width(one.text, 11) / 2 - 0.01
        assert half <= float(one.get("x")) <= float(svg.get("width")) - half
    assert any(len(one.text) > 5 for one in ticks)


def test_one_problem_has_no_ranks_to_average(study_samples):
    assert not [name for name in figures(study_samples.study(problems=1)) if name.startswith("ranks")]


def test_runs_far_from_the_selected_ones_are_counted_not_drawn():
    near = tuple(Run(i, 0.85 + 0.001 * i, 0.1, selected=True) for i in range(3))
    trail = Trail("erm", (*near, Run(3, 0.852, 0.11), Run(4, 0.2, 0.0), Run(5, 0.85, 0.9)))
    drawn = frontier([trail], [], title="t", x_axis="accuracy", y_axis="gap")
    assert drawn.count("data-i") == 4
    assert "2 pale runs lie outside" in drawn
    trail = Trail("erm", (Run(0, 0.2, 0.0), Run(1, 0.9, 0.9)))  # none is selected: all are shown
    free = frontier([trail], [], title="t", x_axis="accuracy", y_axis="gap")
    assert free.count("data-i") == 2
    assert "outside" not in free
