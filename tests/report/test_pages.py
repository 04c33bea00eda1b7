"""What every page must keep: escaping, no request, size, no "nan", well-formed figures."""

import json
import re
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest

from evenhand.report import audit
from evenhand.report.comparison import render as render_comparison
from evenhand.report.tradeoff import render as render_tradeoff
from evenhand.report.verdict_comparison import comparison_sentences

HOSTILE = [
    "<script>alert(1)</script>",
    "\"quoted\" & 'apostrophes' >",
    "أنثى",
    "👩‍🔬 emoji",
    "x" * 400,
    "a\x00b\ud800",
    "{{ 7*7 }}",
]
VOID = {"meta", "input", "br", "link", "img"}


class Outline(HTMLParser):
    """Open elements, attributes and script bodies of a page."""

    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.attributes, self.broken = [], 0, [], []

    def handle_starttag(self, tag, attrs):
        self.scripts += tag == "script"
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.broken.append(tag)


def outline(page: str) -> Outline:
    parser = Outline()
    parser.feed(page)
    parser.close()
    return parser


def assert_sound(page: str) -> str:
    """The rules that hold for every page."""
    parsed = outline(page)
    assert parsed.broken == []
    assert parsed.open == []
    assert parsed.scripts == 1
    for tag, name, value in parsed.attributes:
        assert not name.startswith("on"), (tag, name)
        assert name != "style", "the policy forbids inline styles"
        if name in {"src", "href", "action", "srcset", "xlink:href"}:
            assert value.startswith("#"), (tag, name, value)
    assert "url(" not in page
    assert "@import" not in page
    assert set(re.findall(r"https?://[^\"' <]+", page)) <= {"http://www.w3.org/2000/svg"}
    assert "default-src 'none'" in page
    shown = re.sub(r"<(script|style)>.*?</\1>", "", page, flags=re.S)
    words = re.sub(r"<[^>]+>", " ", shown)
    assert not re.search(r"\b(nan|NaN|None|Infinity)\b", words)
    for figure in re.findall(r"<svg xmlns.*?</svg>", page, re.S):
        root = ElementTree.fromstring(figure)
        assert root.find("{http://www.w3.org/2000/svg}title").text
    page.encode("utf-8")
    return page


def test_audits_keep_the_rules(binary, multiclass, several_runs):
    for sample in (binary, multiclass, several_runs):
        assert sample["name"] in assert_sound(audit.render(sample))


def test_comparison_keeps_the_rules(comparison):
    page = assert_sound(render_comparison(comparison))
    for part in ("Accuracy change", "SDE, normalised", "From all rows to a group", "pruned + KD", "polygon"):
        assert part in page


def test_tradeoff_keeps_the_rules(tradeoff):
    page = assert_sound(render_tradeoff(tradeoff))
    for part in (
        "Accuracy against true positive rate gap",
        "Tests over seeds",
        "lam = 1.0, target = odds",
        "CC BY 4.0",
    ):
        assert part in page


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_methods_stay_text(tradeoff, name):
    tradeoff["methods"][1]["name"] = name
    tradeoff["frontiers"] = {key: [name, "erm"] for key in tradeoff["frontiers"]}
    tradeoff["warnings"] = [name]
    assert "<script>alert" not in assert_sound(render_tradeoff(tradeoff))


def test_tradeoff_with_least_content_renders(tradeoff):
    one = {"values": [0.5], "n": 1, "mean": 0.5, "std": 0.0, "min": 0.5, "max": 0.5}
    nothing = {"values": [None], "n": 0, "mean": None, "std": None, "min": None, "max": None}
    moved = {
        "difference": None,
        "low": None,
        "high": None,
        "p": None,
        "effect": None,
        "band": "undefined",
        "paired": True,
        "p_adjusted": None,
    }
    for method in tradeoff["methods"]:
        method |= {"seeds": [0], "accuracy": one, "metrics": {"tpr.gap": nothing, "fpr.gap": one}}
        if method["against_base"]:
            method["against_base"] = {key: dict(moved) for key in ("acc", "tpr.gap", "fpr.gap")}
    page = assert_sound(render_tradeoff({**tradeoff, "frontiers": {}, "method": {}, "task": {}}))
    assert "Accuracy against true positive rate gap" not in page  # undefined for every method


@pytest.mark.parametrize("name", HOSTILE)
def test_names_of_groups_stay_text(binary, name):
    for group in [*binary["groups"], *binary["attributes"]["sex"]["groups"]]:
        group["name"] = group["name"].replace("female", name)
        group["levels"] = {key: level.replace("female", name) for key, level in group["levels"].items()}
    for metrics in (binary["metrics"], binary["attributes"]["sex"]["metrics"]):
        for metric in metrics.values():
            metric["decided_by"] = [by.replace("female", name) for by in metric["decided_by"] or []]
    binary["warnings"] = [name]
    binary["name"] = name
    page = assert_sound(audit.render(binary))
    assert "<script>alert" not in page
    assert '<td class="num na" data-note="no such group"' not in page


def test_names_of_models_and_classes_stay_text(comparison):
    text = json.dumps(comparison).replace("pruned + KD", "<b>&quot;").replace("class 3", "</td><script>")
    page = assert_sound(render_comparison(json.loads(text)))
    assert "&lt;/td&gt;&lt;script&gt;" in page
    assert "&lt;b&gt;&amp;quot;" in page


def test_two_hundred_groups_and_a_hundred_classes_stay_small(huge):
    page = assert_sound(audit.render(huge))
    assert len(page.encode()) < 3_000_000
    assert "Show all 200 groups" in page
    assert "Show all 100 classes" in page
    assert 'class="extra"' in page


def test_many_models_stay_small(many_models):
    assert len(assert_sound(render_comparison(many_models)).encode()) < 3_000_000


def test_undefined_is_a_dash_with_its_reason(binary):
    page = audit.render(binary)
    assert 'class="num na" data-note="undefined: no row has the positive label">–</td>' in page
    binary["metrics"]["tpr.gap"].update(
        value=None, low=None, high=None, bounds=None, undefined=["only one group has positives"]
    )
    page = assert_sound(audit.render(binary))
    assert "undefined: only one group has positives" in page


def test_nan_in_a_dictionary_is_undefined(binary):
    nan = float("nan")
    binary["metrics"]["fpr.gap"].update(value=nan, low=nan, high=nan, chance=nan, bounds=[nan, nan])
    binary["groups"][0]["rates"]["ppv"] = nan
    assert_sound(audit.render(binary))


def test_sections_appear_when_there_is_something_in_them(binary, multiclass, several_runs):
    pages = {
        name: audit.render(sample)
        for name, sample in (("binary", binary), ("multiclass", multiclass), ("runs", several_runs))
    }
    assert ['id="intersections"' in page for page in pages.values()] == [True, False, False]
    assert ['id="classes"' in page for page in pages.values()] == [False, True, False]
    assert ['id="runs"' in page for page in pages.values()] == [False, False, True]


def test_classes_have_their_own_gaps(multiclass):
    page = audit.render(multiclass)
    assert 'id="class-gaps"' in page
    assert page.index('<th scope="row"><bdi>zero</bdi>') > page.index('id="classes"')


def test_intersection_matrix_has_each_attribute_alone(binary):
    page = audit.render(binary)
    assert "<bdi>sex</bdi> alone" in page
    assert "<bdi>class</bdi> alone" in page


def test_audit_with_least_content_renders(binary):
    bare = {
        **binary,
        "groups": binary["groups"][:1],
        "metrics": {},
        "attributes": {},
        "warnings": [],
        "method": {},
        "unknown": 0,
    }
    assert_sound(audit.render(bare))


def test_comparison_with_least_content_renders(comparison):
    bare = {
        **comparison,
        "groups": None,
        "cie": None,
        "differences": {},
        "matrices": {},
        "per_class": {},
        "method": {},
    }
    for key in ("cev", "sde", "cev_norm", "sde_norm"):
        bare[key] = None
    page = assert_sound(render_comparison(bare))
    assert 'id="cie"' not in page


def test_matrices_of_many_models_are_numbered_and_stand_one_below_the_other(comparison):
    names = [f"mobilenetv3_large_{n}" for n in range(7)]
    matrix = [[0.1 * abs(a - b) for b in range(7)] for a in range(7)]
    many = {**comparison, "models": names, "base": names[0], "matrices": {"cev": matrix}}
    many |= {key: {} for key in ("per_class", "differences", "groups", "cie", "paid")}
    many |= {"accuracy": dict.fromkeys(names, 0.5), "disagreement": dict.fromkeys(names[1:], 0.1)}
    page = render_comparison(many)
    assert 'class="numbered"' in page
    assert ">6 mobilenetv3_large_6</text>" in page
    assert 'class="grid"' not in page
    assert 'class="grid"' in render_comparison(comparison)


def test_no_p_of_who_paid_is_zero(comparison):
    hurt = {"name": "cat", "n": 50, "base": 0.9, "value": 0.1, "difference": -0.8, "low": -0.9, "high": -0.7}
    model = comparison["models"][1]
    paid = {model: {"classes": [{**hurt, "p": 1e-15, "verdict": "paid"}]}}
    page = render_comparison({**comparison, "paid": paid})
    section = page[page.index('<section id="paid">') : page.index('<section id="matrices">')]
    assert '<td class="num">&lt;0.001</td>' in section
    assert "0.000" not in section


def test_cev_within_groups_has_a_table_of_its_own_that_says_what_is_left_out(comparison):
    model = comparison["models"][1]
    one = {"name": "young", "n": 50, "base": 0.9, "value": 0.8, "difference": -0.1, "low": -0.2, "high": 0.0}
    undefined = {"value": None, "low": None, "high": None, "skipped": 3, "reason": "one class alone"}
    pairs = {"cev": undefined, "sde": {**undefined, "value": 0.25, "low": 0.0, "high": 0.5}}
    paid = {model: {"classes": [], "groups": [{**one, "p": 0.5, "verdict": "not shown", **pairs}]}}
    page = assert_sound(render_comparison({**comparison, "paid": paid}))
    _, section = page.split("<h3>CEV and SDE within the groups</h3>")
    row = section[section.index("<bdi>young</bdi>") :].split("</tr>")[0]
    assert f">3 of {len(comparison['classes'])}<" in row
    assert '<td class="num">–</td><td class="num">0.2500 <small>0.0000 to 0.5000</small></td>' in row
    alone = {model: {"classes": [one | {"p": 1.0, "verdict": "not shown"}]}}
    assert "CEV and SDE within" not in render_comparison({**comparison, "paid": alone})


def test_classes_that_are_left_out_are_not_said_to_have_moved_alike(comparison):
    def told(skipped):
        value = {"value": 0.0, "low": 0.0, "high": 0.0, "skipped": skipped}
        found = {"cev_norm": dict.fromkeys(comparison["models"][1:], value)}
        return " ".join(comparison_sentences({**comparison, "classes": list("abcde"), **found}))

    assert "The error rates of the 3 classes that are not left out moved alike" in told(2)
    assert "The error rates of all classes moved alike" in told(0)
