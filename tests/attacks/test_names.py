"""Names that try to break out of a page, a table, a terminal or a sentence."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import evenhand

NASTY = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "line\nbreak",
    "tab\tbed",
    "[red]markup[/red]",
    "[/]",
    "[link=http://x]y",
    "a|b",
    "`code`",
    "\x1b[31mred",
    "\u202ebackwards",
    "😀 ñ 中文",
    "{{ 7*7 }}",
    "&amp;",
    '"quoted"',
    "'",
    "x" * 10_000,
]


def on_screen(found, width=80):
    screen = io.StringIO()
    Console(file=screen, width=width).print(found)
    return screen.getvalue()


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    y, g = rng.integers(0, 2, 360), np.array(NASTY, dtype=object)[np.arange(360) % len(NASTY)]
    p = np.where(rng.random(360) < 0.8, y, 1 - y)
    return evenhand.audit(y, p, {"<b>group": g}, replicates=20, name="<i>the model</i>")


@pytest.fixture(scope="module")
def compared():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    models = {name: np.where(rng.random(200) < 0.8, y, 1 - y) for name in NASTY}
    return evenhand.compare(y, models, groups=np.array(["<u>a", "[/]"])[np.arange(200) % 2], replicates=20)


def test_names_stay_what_they_are(found):
    assert sorted(group.name for group in found.groups) == sorted(NASTY)
    assert {group["name"] for group in json.loads(found.to_json())["groups"]} == set(NASTY)


@pytest.mark.parametrize("way", ["to_html", "_repr_html_"])
def test_pages_escape_every_name(found, compared, way):
    for text in (getattr(one, way)() for one in (found, compared)):
        for tag in ("<script>alert", "<img src=x", "<i>the", "<b>group", "<u>a"):
            assert tag not in text, tag
        assert "49" not in text or "{{ 7*7 }}" in text
        assert len(text) < 5_000_000


def test_a_terminal_shows_markup_as_text(found):
    text = on_screen(found)
    assert "\x1b[31m" not in text
    assert max(len(line) for line in text.splitlines()) <= 90


def test_a_terminal_shows_models_with_markup_in_their_names(compared):
    text = on_screen(compared)
    assert "\x1b[31m" not in text
    assert "[red]markup[/red]" in text


def test_classes_with_markup_in_their_names():
    classes = np.array(["[/x]", "<u>"])
    y = np.arange(80) % 2
    p = np.where(np.arange(80) % 7 == 0, 1 - y, y)
    g = np.arange(80) % 4 < 2
    found = evenhand.audit(classes[y], classes[p], g, replicates=20)
    assert "<u>" not in found.to_html()
    assert on_screen(found)
    both = evenhand.compare(classes[y], {"a": classes[p], "b": classes[y]}, groups=g, replicates=20)
    assert "<u>" not in both.to_html()
    assert on_screen(both)


def test_a_model_card_keeps_its_tables(found):
    lines = found.to_markdown().splitlines()
    assert not any(line.startswith(("break", "<script")) for line in lines)
    tables = [line for line in lines if line.startswith("|")]
    assert any("a\\|b" in line for line in tables)
    assert all(line.endswith("|") for line in tables)


def test_a_sentence_stays_one_line(found):
    assert all("\n" not in note for note in found.warnings)
    assert all(len(note) < 2_000 for note in found.warnings)


def test_reasons_and_refusals_with_long_names_stay_readable():
    names = ["x" * 10_000, "y" * 10_000]
    found = evenhand.audit([1, 1], [1, 0], names, replicates=0)
    assert all(len(reason) < 1_000 for reason in found.metrics["fpr.gap"].undefined)
    with pytest.raises(ValueError, match="no group 'z'") as caught:
        evenhand.audit([1, 1], [1, 0], names, privileged="z")
    assert len(str(caught.value)) < 1_000


def test_attributes_named_like_our_own_fields():
    y = np.arange(40) % 2
    columns = {name: (np.arange(40) // 3 + k) % 2 for k, name in enumerate(("groups", "metrics", "n"))}
    found = evenhand.audit(y, y, columns, replicates=0)
    assert set(json.loads(found.to_json())["attributes"]) == {"groups", "metrics", "n"}
    assert found.to_html()


def test_a_group_named_like_all_rows():
    y = np.arange(40) % 2
    found = evenhand.audit(y, y, np.array(["all rows", "unknown"])[y], replicates=0)
    assert [group.name for group in found.groups] == ["all rows", "unknown"]
    assert found.unknown == 0
