import itertools
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest

from evenhand.report.figures import Cloud, ForestRow, StripRow, ellipse, forest, heatmap, scatter, strip
from evenhand.report.figures.canvas import clip, text_width
from evenhand.report.figures.cell_number import cell_number
from evenhand.report.figures.panels import panels
from evenhand.report.figures.point_names import placed
from evenhand.report.figures.scale import nice_scale
from evenhand.report.figures.scatter import symbol
from evenhand.report.palette import DARK, FIGURE, LIGHT
from evenhand.report.png import to_png

SVG = "{http://www.w3.org/2000/svg}"


def parsed(svg):
    return ElementTree.fromstring(svg)


@pytest.mark.parametrize("width", [760, 360])
def test_forest_marks_value_interval_chance_and_ideal(width):
    rows = [
        ForestRow("a", 0.3, 0.2, 0.4, chance=0.1, bounds=(0.25, 0.35)),
        ForestRow("b", 0.05, 0.0, 0.1, chance=0.1, remarkable=False),
    ]
    root = parsed(forest(rows, title="gaps", reference=("ideal", 0.0), width=width))
    dots = root.findall(f"{SVG}circle")
    assert [dot.get("class") for dot in dots] == ["dot", "hollow"]
    lines = [line.get("class") for line in root.iter(f"{SVG}line")]
    assert lines.count("chance") == 2
    assert lines.count("bar") == 2
    assert "ref" in lines
    assert float(dots[0].get("cx")) > float(dots[1].get("cx"))
    assert any("ideal 0" in (text.text or "") for text in root.iter(f"{SVG}text"))


def test_forest_shows_why_a_row_is_undefined():
    svg = forest([ForestRow("a", None, note="undefined: no cases")], title="gaps")
    assert "undefined: no cases" in svg
    assert "<circle" not in svg


def test_forest_of_differences_is_hollow_when_zero_is_inside():
    rows = [ForestRow("a", 0.1, -0.1, 0.3), ForestRow("b", 0.2, 0.1, 0.3)]
    root = parsed(forest(rows, title="d", reference=("no change", 0.0), signed=True))
    assert [dot.get("class") for dot in root.findall(f"{SVG}circle")] == ["hollow", "dot"]


def test_infinite_ends_stay_inside_the_figure():
    root = parsed(forest([ForestRow("a", 1.0, 0.5, math.inf)], title="ratio"))
    assert all(0 <= float(line.get("x2")) <= 760 for line in root.iter(f"{SVG}line"))


def test_ellipse_has_the_axes_of_the_covariance():
    points = np.random.default_rng(0).multivariate_normal([1, -1], [[2, 0.8], [0.8, 1]], size=400)
    found = ellipse([tuple(map(float, p)) for p in points])
    variances = np.linalg.eigvalsh(np.cov(points.T))
    np.testing.assert_allclose([found.b**2, found.a**2], 5.991 * variances, rtol=1e-9)
    inside = np.mean(
        [
            ((x - found.x) * math.cos(found.angle) + (y - found.y) * math.sin(found.angle)) ** 2 / found.a**2
            + ((y - found.y) * math.cos(found.angle) - (x - found.x) * math.sin(found.angle)) ** 2
            / found.b**2
            <= 1
            for x, y in points
        ]
    )
    assert 0.92 <= inside <= 0.98


@pytest.mark.parametrize("points", [[], [(0.1, 0.2)], [(0.1, 0.2), (0.3, 0.1)], [(0.5, 0.5)] * 6])
def test_too_little_spread_has_no_ellipse(points):
    assert ellipse(points) is None
    cloud = Cloud("m", tuple((str(i), x, y) for i, (x, y) in enumerate(points)))
    parsed(scatter([cloud], title="t", x_axis="x", y_axis="y"))


def test_scatter_tells_series_apart_without_colour():
    clouds = [
        Cloud(f"m{i}", tuple((str(j), 0.1 * i + 0.01 * j, 0.2 * j * j) for j in range(5))) for i in range(10)
    ]
    root = parsed(scatter(clouds, title="t", x_axis="x", y_axis="y"))
    assert len(root.findall(f"{SVG}circle")) == 2 * 6  # series 0 and 4: five points and the key
    looks = [re.sub(r" points=.*", "", symbol(i, 0, 0, "")) for i in range(32)]
    triangles = [symbol(i, 0, 0, "").count(",") for i in range(32)]  # three corners or four
    assert len(set(zip(looks, triangles, strict=True))) == 32
    assert len(root.findall(f"{SVG}rect")) == 3 * 6


def test_outlines_of_ten_series_are_told_apart_and_the_key_has_them_too():
    clouds = [
        Cloud(f"m{i}", tuple((str(j), 0.1 * i + 0.01 * j, 0.2 * j * j) for j in range(5))) for i in range(10)
    ]
    root = parsed(scatter(clouds, title="t", x_axis="x", y_axis="y"))
    rings = [one for one in root.findall(f"{SVG}polygon") if one.get("fill-opacity") == "0.07"]
    looks = [(one.get("stroke"), one.get("stroke-dasharray")) for one in rings]
    assert len(set(looks)) == len(looks) == 10
    key = [one for one in root.findall(f"{SVG}line") if one.get("class").startswith("o")]
    assert [(one.get("stroke"), one.get("stroke-dasharray")) for one in key] == looks


def test_names_of_points_do_not_cover_each_other():
    """Thirty clouds whose farthest points lie on one spot: more names than there is room for."""
    clouds = [Cloud(f"m{i}", ((f"class {i}", 0.5, 0.5), ("near", 0.0, 0.01 * i))) for i in range(30)]
    root = parsed(
        scatter([*clouds, Cloud("far", (("corner", 1.0, 1.0),))], title="t", x_axis="x", y_axis="y")
    )
    names = [one for one in root.findall(f"{SVG}text") if (one.text or "").startswith("class")]
    boxes = [(float(one.get("x")), float(one.get("y")), text_width(one.text, 11)) for one in names]
    assert 3 <= len(boxes) < 30
    for (x, y, wide), (left, low, _) in itertools.permutations(boxes, 2):
        assert not (0 <= left - x < wide and abs(y - low) < 11)


def test_a_name_stands_where_it_covers_no_mark():
    frame = (0.0, 0.0, 200.0, 200.0)
    ((_, free),) = placed([("abc", (50.0, 50.0))], [(50.0, 50.0)], frame)
    assert free[0] == 58.0  # right of its point
    ((_, other),) = placed([("abc", (50.0, 50.0))], [(50.0, 50.0), (65.0, 40.0)], frame)
    assert other[2] == 42.0  # left of it, where nothing stands
    assert placed([("abc", (50.0, 50.0))], [], (48.0, 48.0, 52.0, 52.0)) == []


def test_heatmap_colours_and_labels():
    root = parsed(heatmap([[0.0, 0.5], [None, -1.0]], ["a", "b"], ["a", "b"], title="t", diverging=True))
    assert [rect.get("class").split()[0] for rect in root.findall(f"{SVG}rect")] == [
        "zero",
        "a3",
        "zero",
        "b4",
    ]
    assert "–" in [text.text for text in root.findall(f"{SVG}text")]


WILD = [
    [x * sign for x in (3e-9, 4e-4, 0.0123, 7.77777, 12.34567, 113.16, 2345.67, 1.5e6, 9e12, 9e99)]
    for sign in (1, -1)
]


@pytest.mark.parametrize("decimals", [2, 3, 4])
@pytest.mark.parametrize("diverging", [False, True])
def test_the_numbers_of_a_heatmap_stay_in_their_cells(diverging, decimals):
    columns = [str(n) for n in range(len(WILD[0]))]
    root = parsed(heatmap(WILD, ["a", "b"], columns, title="t", diverging=diverging, decimals=decimals))
    cells, texts = root.findall(f"{SVG}rect"), [
        text for text in root.findall(f"{SVG}text") if text.get("pointer-events") == "none"
    ]  # fmt: skip
    assert len(cells) == len(texts) == 20
    room = float(cells[0].get("width"))
    for text in texts:  # DejaVu Sans, the widest usual font: 0.636 for a digit, 0.838 for a sign
        drawn = text.text or ""
        width = sum(0.838 if letter in "+−<>≈" else 0.318 if letter in ".," else 0.636 for letter in drawn)
        assert width * float(text.get("font-size")) < room, drawn
    assert cells[5].get("data-tip").endswith(f"113.{'1600'[:decimals]}")  # all digits on hover


def test_a_cell_gives_up_digits_before_it_gives_up_the_number():
    signs = [cell_number(x, 3, 46, signed=True) for x in (0.25, -0.25, 12.3456, -113.1605, -2345.67, -1.5e6)]
    assert signs == ["+0.250", "−0.250", "+12.35", "−113.2", "−2,346", "−1.5e6"]
    plain = [cell_number(x, 4, 46) for x in (0.0, 0.0001, 2e-5, 12.34567, 99999.6, 3e10, None)]
    assert plain == ["0.0000", "0.0001", "≈0", "12.346", "1.0e5", "3.0e10", "–"]
    assert cell_number(2e-4, 3, 46) == "<0.001"  # a bound where it fits; where not, both signs alike
    assert cell_number(2e-4, 3, 46, signed=True) == cell_number(-2e-4, 3, 46, signed=True) == "≈0"
    assert cell_number(-1e150, 3, 46) == ""  # nothing rather than something cut
    assert cell_number(0.3, 3, 10) == cell_number(2e-4, 3, 10) == ""  # too narrow for any number
    assert cell_number(float("-inf"), 3, 46) == "−∞"


def test_a_heatmap_with_an_infinite_number_keeps_the_colours_of_the_others():
    svg = heatmap([[float("inf"), 1.0], [0.1, float("nan")]], ["a", "b"], ["a", "b"], title="t")
    colours = [rect.get("class").split()[0] for rect in parsed(svg).findall(f"{SVG}rect")]
    assert colours == ["s4", "s4", "s1", "zero"]


def test_strip_draws_each_run_or_only_the_summary():
    many = StripRow("a", 0.2, 0.05, 0.1, 0.3, (0.1, 0.2, 0.3))
    assert strip([many], title="runs").count("<circle") == 3
    assert strip([StripRow("a", 0.2, None, 0.1, 0.3)], title="runs").count("<circle") == 0


@pytest.mark.parametrize("values", [[0.0], [5.0, 5.0], [-3.0], [1e-12, 0.0], [1e6, -2.0], [None]])
def test_axes_hold_their_values(values):
    scale = nice_scale(values, 0, 100)
    assert scale.low < scale.high
    assert all(scale.low - 1e-9 <= x <= scale.high + 1e-9 for x in values if x is not None)


def test_clipped_names_fit():
    for name in ("x" * 400, "日本語" * 60, "👩‍🔬" * 90, "أنثى" * 80):
        assert text_width(clip(name, 120)) <= 120


def luminance(colour):
    channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_is_readable_on_every_ground(palette):
    grounds = [
        "paper",
        "panel",
        "alert",
        "zero",
        *(f"{side}{i}" for side in "ab" for i in range(1, 5)),
        *(f"s{i}" for i in range(5)),
    ]
    assert min(contrast(palette["ink"], palette[ground]) for ground in grounds) >= 4.5
    assert min(contrast(palette["soft"], palette[ground]) for ground in ("paper", "panel")) >= 4.5
    assert min(contrast(palette[f"c{i}"], palette["paper"]) for i in range(8)) >= 3
    assert contrast(palette["paper"], palette["accent"]) >= 4.5


def test_themes_have_the_same_names():
    assert LIGHT.keys() == DARK.keys()
    assert {colour for styles in FIGURE.values() for colour in styles.values()} <= LIGHT.keys()


def test_png_or_a_clear_message(monkeypatch):
    pytest.importorskip("cairosvg")
    svg = forest([ForestRow("a <b> & 👩", 0.3, 0.2, 0.4)], title="gaps")
    assert to_png(svg).startswith(b"\x89PNG")


def test_png_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cairosvg", None)
    with pytest.raises(ImportError, match=r"evenhand\[png\]"):
        to_png("<svg/>")


def test_panels_share_their_axes_and_keep_everything_inside():
    clouds = [
        Cloud(f"m{i}", tuple((f"class <{j}>", i * 0.1 * j, 0.2 * j * j - i) for j in range(5)))
        for i in range(7)
    ]
    for width in (760.0, 360.0):
        root = parsed(panels(clouds[1:], clouds[0], title="t", x_axis="x", y_axis="y", width=width))
        circles = root.findall(f"{SVG}circle")
        assert len(circles) == 2 * 6 * 5
        high = float(root.get("height"))
        assert all(0 < float(c.get("cx")) < width and 0 < float(c.get("cy")) < high for c in circles)
    parsed(panels([Cloud("none", ())], Cloud("b", ()), title="t", x_axis="x", y_axis="y"))


def test_two_negative_ends_do_not_touch_the_value_beside_them():
    drawn = forest([ForestRow("dims", -0.151, -0.209, -0.093)], title="t", reference=("none", 0.0))
    ends = {one.text: float(one.get("x")) for one in parsed(drawn).iter(f"{SVG}text")}
    interval = "−0.209 to −0.093"
    assert ends[interval] - text_width(interval, 12) > ends["−0.151"]
