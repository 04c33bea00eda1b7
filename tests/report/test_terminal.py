import io
import json

import pytest
from rich.console import Console

import evenhand
from evenhand.report.notebook import audit_card, comparison_card
from evenhand.report.terminal import audit_table, comparison_table
from evenhand.report.terminal_gate import gate_table
from evenhand.report.terminal_parts import shade

Y = [1, 1, 1, 0, 0, 0] * 12
P = [1, 1, 0, 0, 0, 1] * 6 + [1, 0, 0, 0, 1, 1] * 6
NASTY = "[red]<b>&\x1b[31m\nname"


def printed(shown, width=100, **console):
    out = io.StringIO()
    Console(file=out, width=width, **console).print(shown)
    return out.getvalue()


@pytest.fixture(scope="module")
def audit():
    groups = {"sex": ["f", "m"] * 36, "age": ["old"] * 30 + ["young"] * 36 + [None] * 6}
    return evenhand.audit(Y, P, groups=groups, min_count=16, replicates=30).to_dict()


@pytest.fixture(scope="module")
def comparison():
    models = {"big": P, "small": Y, "tiny": [1] * 72}
    return evenhand.compare(Y, models, groups=["f", "m"] * 36, replicates=30).to_dict()


def test_an_audit_shows_metrics_groups_and_notes(audit):
    out = printed(audit_table(audit))
    for words in (
        "72 rows",
        "sex × age",
        "tpr.gap",
        "95% interval",
        "chance",
        "f · old",
        "unknown group",
        "†",
        "!",
    ):
        assert words in out, words


@pytest.mark.parametrize("width", [30, 45, 60, 80, 200])
def test_it_fits_any_width(audit, comparison, width):
    for shown in (audit_table(audit), comparison_table(comparison)):
        out = printed(shown, width)
        assert max(len(line) for line in out.splitlines()) <= width
    assert "selection.gap" in printed(audit_table(audit), max(width, 45))


def test_colours_only_where_they_are_wanted(audit, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = {"force_terminal": True, "color_system": "truecolor"}
    assert "\x1b[48;2;" in printed(audit_table(audit), **coloured).replace(
        "38;2;27;34;44;48;2;", "\x1b[48;2;"
    )
    assert "48;2;" not in printed(audit_table(audit), **coloured, no_color=True)
    assert "\x1b" not in printed(audit_table(audit))
    assert shade(0.001) == shade(None) == ""


def test_names_are_text_and_nothing_else():
    audit = evenhand.audit(Y, P, groups={NASTY: [NASTY, "m"] * 36}, replicates=0, name=NASTY).to_dict()
    out = printed(audit_table(audit), 140, force_terminal=True, color_system=None)
    assert "[red]<b>&" in out
    assert "\x1b[31m" not in out
    card = audit_card(audit)
    assert "<b>&" not in card
    assert "[red]&lt;b&gt;&amp;" in card


def test_undefined_metrics_say_why():
    audit = evenhand.audit([1, 1, 1, 0], [1, 0, 1, 0], groups=["a", "a", "b", "b"], replicates=0).to_dict()
    out = printed(audit_table(audit), 120)
    assert "undefined: false positive rate of a" in out


def test_runs_are_shown_with_their_range():
    audit = evenhand.audit(Y, [P, Y], groups=["f", "m"] * 36, replicates=20).to_dict()
    out = printed(audit_table(audit))
    assert "2 runs" in out
    assert "over runs" in out
    assert "run share" in out


def test_many_groups_are_cut_and_counted():
    audit = evenhand.audit(Y, P, groups=[f"g{k % 36}" for k in range(72)], replicates=0).to_dict()
    out = printed(audit_table(audit))
    assert "the 24 largest of 36 groups" in out


def test_a_saved_audit_is_shown_in_the_same_way(audit):
    assert printed(audit_table(json.loads(json.dumps(audit)))) == printed(audit_table(audit))


def test_a_comparison_shows_models_and_differences(comparison):
    out = printed(comparison_table(comparison), 120)
    for words in ("base big", "small minus big", "tiny minus big", "tpr.gap", "differs in"):
        assert words in out, words


def test_gates_are_told():
    change = {"key": "tpr.gap", "old": 0.1, "new": 0.3, "worse_by": 0.2, "regressed": True, "reason": ""}
    kept = {"key": "dp", "old": 0.1, "new": 0.1, "worse_by": 0.0, "regressed": False, "reason": ""}
    gate = {
        "failed": True,
        "conditions": [
            {"condition": "dp>0.1", "value": 0.25, "failed": True, "reason": "the condition holds"},
            {"condition": "ba>0.1", "value": None, "failed": True, "reason": "undefined: nobody"},
        ],
        "against": {"name": "old.json", "changes": [change, kept]},
    }
    out = printed(gate_table(gate))
    for words in (
        "dp>0.1",
        "0.2500",
        "undefined: nobody",
        "Against old.json",
        "worse by 0.2000",
        "1 metrics are no worse",
    ):
        assert words in out, words


def test_rich_and_notebooks_find_their_way(audit):
    found = evenhand.audit(Y, P, groups=["f", "m"] * 36, replicates=0)
    assert "tpr.gap" in printed(found)
    assert found._repr_html_() == audit_card(found.to_dict())
    compared = evenhand.compare(Y, {"a": P, "b": Y}, replicates=0)
    assert "b minus a" in printed(compared)
    assert compared._repr_html_().startswith("<div")
    assert "http" not in audit_card(audit)


def test_the_card_of_a_comparison(comparison):
    card = comparison_card(comparison)
    assert "tiny minus big" in card
    assert card.count("<table") == card.count("</table>") == 3


def test_a_terminal_says_who_paid_with_interval_and_p(comparison):
    out = printed(comparison_table(comparison), 120)
    assert "Who gained by small" in out
    _, told = out.split("Who paid for tiny, and who gained")  # which answers 1 to everybody
    line = next(line for line in told.splitlines() if line.strip().startswith("0 "))
    assert line.split()[1:6] == ["class", "36", "0.500", "0.000", "−0.500"]
    assert line.split()[-2:] == ["<0.001", "paid"]
