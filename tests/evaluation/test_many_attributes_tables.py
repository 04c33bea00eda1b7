"""Studies of S1's and S4's tables: what is shown of them, and which runs stand behind a claim."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.evaluation.many_attributes import compute, paper, together
from evenhand.report.claims_words import in_brief
from evenhand.report.many_attributes import render
from evenhand.report.many_attributes_beside import beside_ranks_table, paper_table, paper_tables
from evenhand.report.many_attributes_markdown import results_markdown
from evenhand.report.many_attributes_tables import methods_table, tables
from evenhand.report.many_attributes_words import sentences

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("many_attributes_world.py"))))


def test_swapped_tasks_are_shown_as_tasks_of_their_own():
    study = compute(world.replications())
    shown = [one["track"] for one in study["figures"] if one["number"] == 2]
    assert "table 5 swapped" in shown
    assert all(panel["bars"] for one in study["figures"] for panel in one["panels"])
    rows = [row for row in methods_table(study).rows if row[0] == "table 5 swapped"]
    assert {row[1] for row in rows} == {"U-ERM", "UWA-JTT"}
    assert {row["scope"] for row in study["ranks"]} == {"all tasks"}  # a table by itself is one problem


def test_one_problem_has_no_ranks_and_nothing_that_explains(tmp_path):
    frame = world.plant("one", [("table 4", "Male", ["Male"])], ("erm", "w-erm"), lambda *place: [0.5] * 4)
    body = together([compute(frame)])
    (study,) = body["studies"]
    assert (study["ranks"], study["explained"]) == ([], [])
    text = results_markdown(body, lambda study, name: name)
    assert "Table 4 in shape" in text
    assert "#### Ranks" not in text
    assert "#### What explains" not in text
    assert {"methods", "runs"} <= set(tables(study)) <= {"methods", "runs", "claims", "figure-2-table-4"}
    paper(frame, tmp_path)
    html = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "Table 4 in shape" in html
    assert "R² by attributes" not in html


def test_nothing_is_asked_of_the_number_of_attributes_where_it_is_one():
    problems = [("single", f"{name} 3", [f"{name}{i}" for i in range(3)]) for name in ("a", "b", "c", "d")]
    rng = np.random.default_rng(0)
    level = {grouping: rng.uniform() for _, grouping, _ in problems}

    def number(task, grouping, k, method, seed):
        return [level[grouping] + 0.01 * rng.normal(), rng.normal(), rng.normal(), 0.5]

    study = compute(world.plant("mine", problems, ("erm", "w-erm"), number, claims=("S1.2",)))
    assert study["explained"] == []
    assert not {"S1.10", "S1.11"} & {found["id"] for found in study["findings"]}
    assert "R²" not in " ".join(sentences(study))


def test_several_studies_are_told_in_brief():
    body = together([compute(world.replications()), compute(world.scarce())])
    lead, *each = in_brief(body)
    assert lead.startswith("2 studies were asked 9 claims of the paper")
    assert [told.split(":")[0] for told in each] == ["replications-faces", "scarce-labels"]
    html = render(body)
    assert lead in html
    assert "What was run, study by study" in html


def test_a_method_of_ones_own_is_shown_and_asked_by_no_claim():
    alone, study = (compute(with_own(names)) for names in ((), ("Mine",)))
    asked = {found["id"]: found for found in study["findings"]}
    assert "Mine" in str(study["figures"])
    assert "Mine" in str(study["ranks"])
    assert "mine.py" not in str(study)
    assert "Mine" not in str([part["words"] for found in asked.values() for part in found["parts"]])
    assert [asked[found["id"]]["runs"] for found in alone["findings"]] == [
        found["runs"] for found in alone["findings"]
    ]
    assert len(asked) == len(alone["findings"]) > 3


def with_own(names):
    """Nine structures with three methods of the paper, and methods of somebody's own."""
    problems = [("single", f"a {k}", [f"a{i}" for i in range(k)]) for k in range(1, 10)]
    rng = np.random.default_rng(0)
    frame = world.plant(
        "mine", problems, ("erm", "w-erm", "gdro", *names), lambda *place: rng.uniform(size=4),
        claims=("S1.2",),
    )  # fmt: skip
    for row, method in enumerate(frame.columns["method"]):
        if method in names:
            frame.columns["spec"][row] = {**frame.columns["spec"][row], "method": f"/there/mine.py:{method}"}
    return frame


def test_only_runs_that_decide_are_counted_behind_a_claim():
    found = {one["id"]: one["runs"] for one in compute(world.replications())["findings"]}
    seeds = 10
    assert found["S1.13"] == 3 * seeds  # W-ERM, Group DRO and SD of Table 4; the first two of Table 5 are not
    assert found["S1.15"] == 2 * seeds


def test_gaps_under_shift_stand_beside_those_of_s4():
    frame = shifted_world()
    found = {one["track"]: one for one in compute(frame)["tables"]}
    assert set(found) == {"attractive, chubby", "attractive, eyeglasses"}
    table = found["attractive, chubby"]
    assert table["title"] == "Table 4 of S4"
    assert table["keys"] == [
        "accuracy", "ΔEOpp", "ΔEO", "ΔEOpp, gaussian 0.08", "ΔEO, gaussian 0.08", "ΔEOpp, impulse 0.03",
        "ΔEO, impulse 0.03",
    ]  # fmt: skip
    cells = {row["method"]: row["cells"] for row in table["rows"]}
    assert [cell["printed"] for cell in cells["U-ERM"]] == pytest.approx(
        [0.9125, 0.3845, 0.4256, 0.3916, 0.4390, 0.3976, 0.4451]
    )
    assert cells["cuma"][2]["printed_std"] == pytest.approx(0.0095)
    assert [cell["mean"] for cell in cells["cuma"]] == pytest.approx([0.9, 0.2, 0.4, 0.28, 0.48, 0.23, 0.43])
    assert cells["cuma"][0]["std"] == pytest.approx(0.01)  # of seeds that are 0.01 apart
    shown = next(row for row in paper_tables({"tables": [table]})["table-4-of-s4-attractive-chubby"].rows)
    assert shown[:3] == ("U-ERM", "0.900 ± 0.010", "0.912")  # the paper has deviations for CUMA alone


def test_a_table_that_the_paper_does_not_print_has_no_column_for_it():
    cell = {"mean": 0.5, "std": 0.1, "printed": None, "printed_std": None}
    one = {"title": "Table 5", "track": "swapped", "keys": ["accuracy"]}
    bare = paper_table({**one, "rows": [{"method": "U-ERM", "cells": [cell]}]})
    assert (bare.heads, bare.rows) == (("Method", "accuracy"), (("U-ERM", "0.500 ± 0.100"),))
    assert "prints no numbers" in bare.note
    rows = [
        {"method": name, "cells": [cell | {"printed": told}]} for name, told in (("a", None), ("b", 0.25))
    ]
    beside = paper_table({**one, "rows": rows})
    assert beside.heads == ("Method", "accuracy", "paper")
    assert [row[2] for row in beside.rows] == ["–", "0.250"]


def test_a_study_without_ranks_has_no_column_among_them():
    row = {"slot": "performance", "method": "U-ERM", "rank": 1.5, "of": 2, "problems": 3}
    body = {"beside": {"studies": ["one", "two", "three"], "ranks": [row | {"study": 0}, row | {"study": 2}]}}
    table = beside_ranks_table(body)
    assert table.heads == ("Metric", "Method", "one", "three")
    assert table.rows[0][1:] == ("U-ERM", "1.50 (of 2, 3)", "1.50 (of 2, 3)")


def shifted_world():
    """Two methods on S4's two tasks; a shift adds its severity to a gap."""
    problems = [(f"attractive, {name.lower()}", name, [name]) for name in ("Chubby", "Eyeglasses")]
    frame = world.plant("faces", problems, ("erm", "cuma"), lambda *place: [0.5, 0.0, 1.0, 0.5])
    apart = 0.01 * (np.array(frame.columns["seed"]) - 1)
    frame._planted |= {"acc": 0.9 + apart, "delta_eopp": 0.2 + apart, "delta_eo": 0.4 + apart}
    frame.mean_over_draws = lambda kind, severity, key: frame.values("test", key) + severity
    return frame
