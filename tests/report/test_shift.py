"""The page of an audit under shift: its sentences, its figure, and what may stand in a name."""

import copy
import io
import re
from xml.etree import ElementTree

import pytest
from rich.console import Console

from evenhand.report.exports import figures
from evenhand.report.figures.curve import CurvePoint, curve
from evenhand.report.shift import panels, render
from evenhand.report.shift_markdown import render as render_markdown
from evenhand.report.terminal_shift import shift_table
from evenhand.report.verdict_shift import shift_sentences

SVG = "{http://www.w3.org/2000/svg}"


def point(severity, value, change=None, verdict="no change shown", low=None, high=None):
    ends = (None, None) if value is None else (value - 0.1, value + 0.1)
    moved = None
    if severity:
        moved = {
            "difference": change,
            "low": low,
            "high": high,
            "rows": 0.01,
            "runs": 0.01,
            "verdict": verdict,
        }
    return {
        "severity": severity, "value": value, "low": ends[0], "high": ends[1], "runs_std": 0.01,
        "draws_std": None, "values": [[value], [value]], "moved": moved,
        "undefined": [] if value is not None else ["no rows"],
    }  # fmt: skip


def sample():
    """Accuracy falls, a gap grows from the second severity on, another is undefined in the end."""
    curves = {
        "acc": ([point(0, 0.8), point(1, 0.79, -0.01, "no change shown", -0.02, 0.0),
                 point(2, 0.7, -0.1, "moved down", -0.12, -0.08)], "moved down", 2),
        "tpr.gap": ([point(0, 0.1), point(1, 0.2, 0.1, "moved up", 0.05, 0.15),
                     point(2, 0.3, 0.2, "moved up", 0.15, 0.25)], "moved up", 1),
        "ppv.gap": ([point(0, 0.1), point(1, 0.1, 0.0, "no change shown", -0.1, 0.1),
                     point(2, None, None, "undefined")], "undefined", None),
        "fpr.gap": ([point(0, 0.1), point(1, 0.1, 0.0, "no change shown", -0.1, 0.1),
                     point(2, 0.12, 0.02, "no change shown", -0.1, 0.14)], "no change shown", None),
    }  # fmt: skip
    metrics = {
        key: {"points": points, "verdict": word, "since": since}
        for key, (points, word, since) in curves.items()
    }
    words = {"key": "gaussian", "title": "Gaussian noise", "acts_on": "inputs", "asked": "gaussian"}
    return {
        "evenhand": "0", "kind": "shift", "name": "t, erm", "task": "binary", "n": 1200, "unknown": 3,
        "part": "test", "classes": ["no", "yes"], "positive": "yes", "grouping": ["sex"],
        "groups": [{"name": "f", "n": 500}, {"name": "m", "n": 700}],
        "shift": {**words, "unit": "deviation of the noise", "words": "x + N(0, s²)"},
        "severities": [0, 1, 2], "draws": 5, "runs": 2, "metrics": metrics, "warnings": ["be careful"],
        "fit": {"method": {"key": "erm", "fields": {}}, "net": {"name": "mlp"}, "seeds": [0, 1]},
        "method": {"confidence": 0.95, "replicates": 100, "seed": 0, "min_count": 1, "created": "now",
                   "versions": {"evenhand": "0"}},
    }  # fmt: skip


@pytest.fixture
def body():
    return sample()


def test_the_headline_says_what_moved_by_how_much_and_since_when(body):
    said = shift_sentences(body)
    assert said[0] == (
        "Under Gaussian noise at severity 2, accuracy moved down by 0.100 (0.080 to 0.120), from 0.800 to "
        "0.700; the true positive rate gap moved up by 0.200 (0.150 to 0.250), from 0.100 to 0.300, shown "
        "from severity 1 on."
    )
    assert said[1] == "No change was shown in the false positive rate gap."
    assert "positive predictive value gap" in said[2]
    assert "1,200 rows of the test part, over 2 trainings and 5 draws" in said[3]
    assert not any("may only say" in sentence for sentence in said)
    body["metrics"]["fpr.gap"]["verdict"] = "moved down"
    assert any("may only say" in sentence for sentence in shift_sentences(body))
    for curve_ in body["metrics"].values():
        curve_["verdict"] = "no change shown"
    assert shift_sentences(body)[0].startswith(
        "Under Gaussian noise at severity 2, no change was shown in accuracy, "
    )
    for curve_ in body["metrics"].values():
        curve_["verdict"] = "not judged"
    assert shift_sentences(body)[0].startswith("Nothing is judged")


def test_a_page_has_a_panel_for_each_metric_and_a_line_for_each_point(body):
    page = render(body)
    assert len(panels(body)) == page.count('<figure class="card">') == 4
    assert page.count('<tr><th scope="row">') == 12
    assert "be careful" in page
    assert not re.search(r">(nan|None)<", page)


def test_rows_that_are_drawn_anew_are_said_to_be_unpaired(body):
    assert "not paired row by row" not in render(body)
    body["shift"]["acts_on"] = "rows"
    assert "not paired row by row" in render(body)


def test_names_are_escaped_everywhere(body):
    hostile = "<script>alert(1)</script>"
    body["name"] = body["shift"]["title"] = body["groups"][0]["name"] = body["warnings"][0] = hostile
    body["shift"]["words"] = body["shift"]["unit"] = body["shift"]["asked"] = hostile
    page = render(body)
    assert page.count("<script") == 1  # the page's own
    assert page.count("&lt;script&gt;alert(1)") >= 6
    assert hostile not in render_markdown(body)
    Console(file=io.StringIO()).print(shift_table(body))


def test_markdown_and_terminal_have_every_metric(body):
    told = render_markdown(body)
    assert told.count("\n| ") == 1 + 1 + 12
    assert (
        "| true positive rate gap | 2 | 0.300 | 0.200 to 0.400 | +0.200 | +0.150 to +0.250 | moved up |"
        in told
    )
    out = io.StringIO()
    Console(file=out, width=120).print(shift_table(body))
    assert re.search(r"true positive rate gap +0\.100 +0\.200\* +0\.300\* +moved up", out.getvalue())
    narrow = io.StringIO()
    Console(file=narrow, width=48).print(shift_table(body))
    assert "moved up" in narrow.getvalue()


def test_figures_are_named_after_their_metric(body):
    before = copy.deepcopy(body)
    assert "accuracy-under-gaussian" in figures(body)
    assert body == before


def marks(svg, tag):
    return ElementTree.fromstring(svg).findall(f"{SVG}{tag}")


def test_a_curve_breaks_where_nothing_is_defined():
    points = [CurvePoint(x, y, y and y - 0.1, y and y + 0.1) for x, y in enumerate((0.2, 0.3, None, 0.4))]
    made = curve(points, title="t", y_axis="y")
    assert len(marks(made, "polyline")) == 1
    assert len(marks(made, "circle")) == 3
    assert len(marks(made, "polygon")) == 2  # one over two points, one by itself


def test_dots_are_filled_where_the_number_moved_and_whiskers_start_from_the_first_level():
    points = [CurvePoint(0, 0.2, 0.1, 0.3), CurvePoint(1, 0.5, 0.4, 0.6, reach=(0.1, 0.5), moved=True)]
    made = curve(points, title="t", y_axis="y")
    assert [dot.get("class") for dot in marks(made, "circle")] == ["hollow", "dot"]
    (whisker,) = [line for line in marks(made, "line") if line.get("class") == "bar"]
    top, bottom = (float(dot.get("cy")) for dot in marks(made, "circle")[::-1])
    unit = (bottom - top) / 0.3  # from 0.2 to 0.5
    assert float(whisker.get("y1")) == pytest.approx(bottom - 0.1 * unit, abs=0.02)
    assert float(whisker.get("y2")) == pytest.approx(bottom - 0.5 * unit, abs=0.02)


def test_severities_that_lie_close_do_not_write_over_each_other():
    points = [CurvePoint(x, 0.5) for x in (0, 0.001, 0.002, 0.003, 1)]
    made = curve(points, title="t", y_axis="y")
    labels = {text.text for text in marks(made, "text")}
    assert {"0", "1"} <= labels
    assert not labels & {"0.001", "0.002", "0.003"}


def test_many_runs_are_not_drawn_line_by_line_and_one_is_the_mean():
    points = [CurvePoint(0, 0.2), CurvePoint(1, 0.3)]
    assert len(marks(curve(points, [[0.2, 0.3]] * 30, title="t", y_axis="y"), "polyline")) == 1
    assert len(marks(curve(points, [[0.2, 0.3]], title="t", y_axis="y"), "polyline")) == 1
    assert len(marks(curve(points, [[0.2, 0.3]] * 3, title="t", y_axis="y"), "polyline")) == 4
