"""S4's printed numbers are the paper's; ours are found by what was trained; claims and targets can fail."""

import csv
import json
import math
import re
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.evaluation.claims import read_claims, update
from evenhand.evaluation.equalized_robustness import Arm, Runs, answers, compute, paper, printed
from evenhand.evaluation.equalized_robustness.__main__ import main
from evenhand.evaluation.equalized_robustness.arms import _arm
from evenhand.evaluation.equalized_robustness.findings import CLAIMS
from evenhand.evaluation.equalized_robustness.frontier import area, curve, reached
from evenhand.evaluation.equalized_robustness.layout import METRICS, SWEEP
from evenhand.evaluation.study.papers import paper_of
from evenhand.report.equalized_robustness_figure import trade_off
from evenhand.report.equalized_robustness_files import BEGIN, END, write_page
from evenhand.study.read import read_study
from evenhand.study.search import settings_of
from evenhand.study.shifted import ShiftedName

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
ROOT = Path(__file__).parents[2]
SEEDS = range(10)
KEYS = {
    "normal": "erm",
    "advdebias": "advdebias",
    "laftr": "laftr-dp",
    "laftr-eqodd": "laftr-eqodd",
    "cuma": "cuma",
}
TASKS = {
    "cc-race": "racepctblack",
    "cc-divorced": "FemalePctDiv",
    "adult-sex": "sex",
    "cc-race-zca": "racepctblack",
}
NOISES = [(kind, size) for size in (0.03, 0.06) for kind in ("gaussian", "uniform")]
PARTS = [str(ShiftedName("test", kind, size, draw)) for kind, size in NOISES for draw in (1, 2)]
# ΔEO at weight 1 (all of it in the error of label 0), accuracy lost with it, ΔER, what noise adds to ΔEO
LOOKS = {
    "normal": (0.60, 0.0, 0.40, 0.0), "advdebias": (0.40, 0.01, 0.20, 0.05),
    "laftr": (0.30, 0.01, 0.16, 0.05), "laftr-eqodd": (0.45, 0.01, 0.16, 0.05),
    "cuma": (0.28, 0.01, 0.01, 0.0),
}  # fmt: skip


def arms():
    """What the study has, in small: the methods on all tasks, and on race what is varied."""
    for task in TASKS:
        yield from (Arm.of(task, name) for name in (*KEYS, "cuma-alpha-only"))
    for name in ("advdebias", "laftr", "laftr-eqodd", "cuma", "cuma-gamma"):
        yield from curve("cc-race", name)
    yield from (Arm.of("cc-race", "cuma", h=h) for h in (0.01, 0.1))
    yield from (Arm.of("cc-race", "cuma", kernels=name) for name in ("narrow", "wide"))
    yield from (Arm.of("cc-race", "normal", batch=size) for size in (32, 128))
    yield Arm.of("adult-sex", "cuma", alpha=3.0, gamma=0.1)


def gap_of(arm, noise, wobble):
    gap, _, _, added = LOOKS[arm.method]
    weight = arm.gamma if arm.method.startswith("laftr") else arm.alpha
    gap += 0.3 if weight < 1 and arm.method == "cuma" else 0.04 if weight > 1 else 0.0
    return gap + wobble + (added if noise else 0.0)


def store_of(looks=None, leave_out=(), seeds=SEEDS):
    """A store whose runs have these gaps; every split moves all methods of it alike."""
    changed = {**LOOKS, **(looks or {})}
    rows, tables = [], {part: {} for part in ("test", *PARTS)}
    for arm in dict.fromkeys(arms()):
        if arm.method in leave_out:
            continue
        for seed in seeds:
            run, wobble = f"{len(rows):05d}", 0.01 * (seed % 3)
            gap, lost, er, added = changed[arm.method]
            er = er * (1 + 0.1 * (seed % 4)) * (12 if arm.method == "cuma" and arm.gamma == 0 else 1)
            spec = {
                "protect": [TASKS[arm.task]], "groupings": [[TASKS[arm.task]]], "method": KEYS[arm.method],
                "fields": fields_of(arm), "recipe": {"batch_size": arm.batch}, "parts": ["test", *PARTS],
            }  # fmt: skip
            numbers = {"delta_er": er, "delta_er.narrow": 1.1 * er, "delta_er.wide": 0.9 * er,
                       "curvature.mean.a": 1.5 + wobble, "curvature.mean.b": 1.0}  # fmt: skip
            row = fake.row_of(run, arm.task, TASKS[arm.task], f"method {len(rows)}", {}, seed, len(rows))
            rows.append({**row, "spec": spec, "numbers": numbers})
            for part in tables:
                extra = gap_of(arm, part != "test", wobble) - LOOKS[arm.method][0]
                found = gap + extra + (added - LOOKS[arm.method][3] if part != "test" else 0.0)
                base = 0.10 + lost + (0.01 if arm.alpha > 1 else 0.0)
                tables[part][run] = fake.rates_table((0.9, 0.9), (base, base + found), 2000)
    return Store({"name": "equalized-robustness", "recipe": {"epochs": 50}}, rows, tables)


def fields_of(arm):
    own = {"cuma": ("alpha", "gamma", "h", "kernels"), "advdebias": ("alpha",), "normal": ()}
    return {name: getattr(arm, name) for name in own.get(arm.method, ("gamma",))}


class Store(fake.FakeStore):
    """With the numbers that were taken of the models."""

    def table(self):
        return {**super().table(), "numbers": [row["numbers"] for row in self.rows]}


@pytest.fixture(scope="module")
def store():
    return store_of()


@pytest.fixture(scope="module")
def body(store):
    return compute(store)


def finding(body, name):
    return next(found for found in body["findings"] if found["id"] == name)


def check(body, words):
    return next(one for one in body["checks"] if one["words"].startswith(words))


# -- the paper's numbers -------------------------------------------------------------
def test_printed_numbers_are_those_of_the_paper():
    assert Counter(one.table for one in printed()) == {
        **dict.fromkeys((1, 2, 3, 4, 5, 8, 9), 32),
        6: 12,
        7: 18,
    }
    some = {
        (1, "normal", "test", "acc"): (89.05, None), (1, "cuma", "uniform 0.03", "delta_eopp"): (12.85, 2.98),
        (2, "laftr", "gaussian 0.03", "delta_eo"): (29.30, None),
        (3, "cuma", "test", "delta_er"): (5.59, 0.28),
        (4, "advdebias", "impulse 0.03", "delta_eo"): (36.48, None),
        (5, "cuma", "test", "acc"): (89.10, 0.13),
        (8, "cuma", "gaussian 0.06", "delta_eo"): (27.15, None),
        (9, "cuma", "test", "delta_er"): (23.13, None),
    }  # fmt: skip
    found = {
        (one.table, one.method, one.part, one.metric): one for one in printed() if one.table not in (6, 7)
    }
    for key, (value, deviation) in some.items():
        assert found[key].value == pytest.approx(value / 100), key
        assert (found[key].deviation is None) == (deviation is None), key
        assert deviation is None or found[key].deviation == pytest.approx(deviation / 100), key
    seven = {(one.alpha, one.gamma, one.h, one.metric): one.value for one in printed(7)}
    assert [seven[alpha, 1, 1, "delta_eo"] for alpha in (0.1, 1, 10)] == pytest.approx(
        [0.5974, 0.2835, 0.3268]
    )
    six = {(one.gamma, one.metric): one.value for one in printed(6)}
    assert six[10, "delta_er.wide"] == pytest.approx(0.0402)


def test_cells_that_cannot_be_right_are_marked_and_no_others():
    noted = {(one.table, one.method, one.metric, one.part): one.note for one in printed() if one.note}
    assert set(noted) == {(2, "cuma", "delta_er", "test"), (3, "cuma", "delta_eo", "test")}
    assert "23.13" in noted[2, "cuma", "delta_er", "test"]
    values = {(one.table, one.task, one.method, one.part, one.metric): one for one in printed()}
    for (table, task, method, part, metric), one in values.items():
        if metric == "delta_eo" and (table, task, method, part, "delta_eopp") in values and not one.note:
            assert one.value >= values[table, task, method, part, "delta_eopp"].value


# -- runs are found by what they are -------------------------------------------------
def test_arms_are_found_whatever_the_study_calls_them(store):
    runs = Runs(store)
    own = runs.values(Arm.of("cc-race", "cuma"), "delta_eo")
    assert own == {seed: pytest.approx(0.28 + 0.01 * (seed % 3)) for seed in SEEDS}
    assert set(runs.values(Arm.of("cc-race", "cuma", h=0.1), "acc")) == set(SEEDS)
    assert runs.values(Arm.of("cc-race", "cuma", batch=32), "acc") == {}
    assert runs.values(Arm.of("cc-race", "laftr"), "delta_eo", "uniform 0.03")[0] == pytest.approx(0.35)
    assert runs.values(Arm.of("cc-race", "laftr"), "delta_eo", "impulse 0.03") == {}
    twin = runs.values(Arm.of("cc-race", "cuma-alpha-only"), "delta_er")
    assert twin[0] == pytest.approx(0.12)
    assert runs.groups("adult-sex") == ("a", "b")
    assert len(runs.rows(runs.arms("cc-race", "cuma"))) == 10 * (7 + 3 + 2 + 2)


def test_an_area_is_what_a_curve_dominates(store):
    assert area([]) == area([(0.5, 0.1), (0.9, 1.2)]) == 0.0
    assert area([(0.8, 0.4), (0.85, 0.6), (0.75, 0.5)]) == pytest.approx(
        0.15 * 0.4 + 0.1 * 0.2
    )  # the last adds nothing
    runs = Runs(store)
    assert set(reached(runs, "cc-race", "cuma", "test")) == set(SEEDS)
    assert reached(runs, "cc-divorced", "cuma", "test") == {}  # not swept in this store
    assert len(curve("cc-race", "laftr")) == len(curve("cc-race", "cuma")) == len(SWEEP)


# -- tables, claims, targets ---------------------------------------------------------
def test_tables_have_ours_the_papers_and_the_difference(body):
    first = body["tables"][0]
    assert [one["table"] for one in body["tables"]] == [1, 2, 3, 8, 9]
    assert [head["name"] for head in first["heads"]] == [
        "Acc", "ΔEOpp", "ΔEO", "ΔER", "ΔEOpp, gaussian", "ΔEO, gaussian", "ΔEOpp, uniform", "ΔEO, uniform",
    ]  # fmt: skip
    cuma = next(row for row in first["rows"] if row["method"] == "cuma")["cells"]
    values = np.array([0.28 + 0.01 * (seed % 3) for seed in SEEDS])
    assert cuma[2]["mean"] == pytest.approx(values.mean())
    assert cuma[2]["std"] == pytest.approx(values.std(ddof=1))
    assert cuma[2]["printed"] == pytest.approx(0.2817)
    assert cuma[2]["difference"] == pytest.approx(values.mean() - 0.2817)
    assert next(row for row in first["rows"] if row["method"] == "laftr-eqodd")["cells"][0]["printed"] is None
    assert {row["metric"] for row in body["nearness"]} == {"acc", "delta_eopp", "delta_eo", "delta_er"}
    assert next(row for row in body["nearness"] if row["metric"] == "acc")["n"] == 5 * 4


def test_claims_hold_where_the_runs_say_so_and_fail_where_they_do_not(body):
    verdicts = {found["id"]: found["verdict"] for found in body["findings"]}
    assert list(verdicts) == list(CLAIMS)
    holding = ("S4.1", "S4.2a", "S4.2b", "S4.2c", "S4.7", "S4.9", "S4.10")
    assert all(verdicts[name] == "holds" for name in holding), verdicts
    # as in our made-up runs: gamma moves nothing, so that gamma = 1 is not better than 0.1
    assert verdicts["S4.6"] != "holds"
    worse = compute(store_of({"cuma": (0.5, 0.05, 0.3, 0.1)}))
    failing = {found["id"]: found["verdict"] for found in worse["findings"]}
    assert all(failing[name] == "does not" for name in ("S4.2a", "S4.2b", "S4.2c", "S4.9"))
    assert failing["S4.1"] == "holds"
    still = compute(store_of({name: (*LOOKS[name][:3], -0.02) for name in ("laftr", "advdebias")}))
    assert finding(still, "S4.1")["verdict"] == "does not"


def test_a_claim_counts_the_runs_behind_it_and_its_parts(body):
    first = finding(body, "S4.1")
    assert (len(first["parts"]), first["runs"]) == (3 * 2 * 2, 3 * 2 * 10)
    assert all(part["effect"] == pytest.approx(0.05) and part["replicates"] == 10 for part in first["parts"])
    assert finding(body, "S4.8")["runs"] == 3 * 7 * 10
    assert finding(body, "S4.10")["parts"][0]["effect"] == pytest.approx(0.5 + 0.009)


def test_targets_are_reached_and_missed(body):
    fewer = check(body, "ΔER without matching")
    assert fewer["effect"] == pytest.approx(12.0)
    assert fewer["p"] == pytest.approx(2 / 2**10)
    assert (fewer["met"], fewer["n"]) == (True, 10)
    few = check(compute(store_of(seeds=range(5))), "ΔER without matching")
    assert (few["met"], few["p"]) == (
        False,
        pytest.approx(2 / 2**5),
    )  # 12 times, yet five splits show nothing
    assert check(body, "ΔEO at alpha = 1 less at alpha = 0.1")["met"] is True
    assert check(body, "ΔEO at alpha = 10 less at alpha = 1")["met"] is True
    assert check(body, "ΔER at alpha = 10")["met"] is False  # made-up ΔER does not move with alpha
    assert check(body, "ΔEO of Normal on Adult")["met"] is False
    assert check(body, "ΔEO of CUMA on Adult")["met"] is False
    assert body["reaching"] == []
    lone = compute(store_of(leave_out=["cuma"]))
    assert check(lone, "ΔER without matching")["met"] is None
    assert check(lone, "ΔEO of CUMA less")["met"] is None
    near = compute(store_of({"normal": (0.15, 0.0, 0.3, 0.0), "cuma": (0.04, 0.0, 0.01, 0.0)}))
    assert check(near, "ΔEO of Normal on Adult")["met"] is True
    assert check(near, "ΔEO of CUMA on Adult")["met"] is True
    assert near["reaching"] == ["CUMA, alpha = 1, gamma = 0", "CUMA, alpha = 1, gamma = 1"]


def test_an_unfinished_store_says_what_it_can(store):
    partial = compute(store_of(leave_out=["laftr", "advdebias"]))
    assert finding(partial, "S4.1")["verdict"] == "cannot tell"
    assert "S4.1" not in answers(partial)
    for row in (rows := store_of(seeds=range(2)).rows):
        row["status"] = "waiting"
    with pytest.raises(InputError, match="no run of this study is done"):
        compute(Store({"name": "equalized-robustness"}, rows, {"test": {}}))


# -- pages and claims ----------------------------------------------------------------
def test_another_study_is_refused(store):
    other = Store({"name": "mine"}, store.rows, store.tables)
    with pytest.raises(InputError, match="this is the study 'mine'"):
        compute(other)


def test_the_page_has_every_table(tmp_path, store):
    assert paper_of("equalized-robustness") is paper
    made = paper(store, tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    for number in (1, 2, 3, 6, 7, 8, 9):
        assert f"Table {number}: " in page
    assert "0.277 ± 0.010 (!)" in page
    assert json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))["done"] == made["done"]
    text = (tmp_path / "paper/tables/numbers.csv").read_text(encoding="utf-8")
    table = list(csv.DictReader(text.splitlines()))
    assert len(table) == 5 * 6 * 8
    assert float(table[0]["paper"]) == pytest.approx(0.8905)
    for path in (tmp_path / "paper/figures").iterdir():
        ElementTree.fromstring(path.read_text(encoding="utf-8"))


def test_the_page_tells_the_range_over_splits_of_every_number(tmp_path, body, store):
    lines = {(one["where"], one["setting"], one["metric"]): one for one in body["runs"]}
    assert len(lines) == len(body["runs"])  # no number twice
    for cell, row in ((row["cells"][2], row) for row in body["tables"][0]["rows"]):
        line = lines["Table 1: cc-race, noise of 0.03", body["methods"][row["method"]], "ΔEO"]
        values = list(cell["values"].values())
        assert (line["runs"], line["smallest"], line["largest"]) == (10, min(values), max(values))
        assert (line["mean"], line["deviation"]) == pytest.approx((cell["mean"], cell["std"]))
    shown = sum(len(row["cells"]) for one in (*body["tables"], *body["ablations"]) for row in one["rows"])
    points = sum(len(one["points"]) for one in body["curves"])
    assert len(lines) == shown + len(body["table6"]) + len(body["table7"]) + 2 * points
    point = lines["Figure 3: cc-race", "LAFTR, gamma swept: gamma = 0.5", "ΔEO, uniform"]
    assert (point["runs"], point["largest"] - point["smallest"]) == (10, pytest.approx(0.02))
    paper(store, tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "<summary>Runs: mean, deviation, smallest and largest</summary>" in page
    text = (tmp_path / "paper/tables/runs.csv").read_text(encoding="utf-8")
    assert len(list(csv.DictReader(text.splitlines()))) == len(lines)


@pytest.mark.parametrize("width", [760, 360])
def test_figure_3_has_a_mark_for_every_setting(body, width):
    svg = trade_off(body, "cc-race", width)
    ElementTree.fromstring(svg)
    points = 1 + 7 + 7 + 7 + 7 + 1 + 4  # normal, three baselines, cuma, gamma = 0 at alpha = 1, gammas
    assert svg.count("splits") == 3 * points + 1
    assert all(float(x) <= width for x in re.findall(r' cx="([\d.]+)"', svg))


def test_a_page_is_written_between_its_markers(tmp_path, body):
    page, out = tmp_path / "docs" / "s4.md", tmp_path / "results"
    page.parent.mkdir()
    page.write_text(f"# by hand\n\n{BEGIN}\nold\n{END}\n\nby hand too\n", encoding="utf-8")
    for _ in range(2):  # a second time changes nothing
        write_page(body, page, out)
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# by hand\n\n{BEGIN}\n{body['done']:,} of {body['planned']:,} runs are done")
        assert text.endswith(f"\n{END}\n\nby hand too\n")
    assert "](../results/figure-3-cc-race.svg)" in text
    assert text.count("<details>") == text.count("</details>") == len(CLAIMS)
    page.write_text("no markers", encoding="utf-8")
    with pytest.raises(InputError, match="needs the two lines"):
        write_page(body, page, out)
    assert main([str(tmp_path / "nowhere")]) == 2


def test_the_page_of_the_repository_has_the_markers():
    text = (ROOT / "docs/studies/equalized-robustness.md").read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1


def test_answers_fit_the_claims_file(tmp_path, body):
    claims = tmp_path / "claims.csv"
    claims.write_text((ROOT / "docs/claims.csv").read_text(encoding="utf-8"), encoding="utf-8")
    told = {row["id"]: row["claim"] for row in read_claims(claims) if row["study"] == "equalized-robustness"}
    assert told == {name: words for name, (words, _, _) in CLAIMS.items()}
    update(claims, answers(body))
    rows = {row["id"]: row for row in read_claims(claims)}
    assert rows["S4.1"]["verdict"] == "holds"
    assert rows["S4.1"]["command"] == "evenhand study run equalized-robustness"
    assert rows["S4.1"]["effect"].startswith("ΔEO of AdvDebias under noise less on clean rows")
    assert rows["S4.1"]["runs"] == "60"
    assert not math.isnan(float(rows["S4.2a"]["runs"]))
    assert set(METRICS) >= {one.metric for one in printed()}


# -- the declaration -----------------------------------------------------------------
@pytest.fixture(scope="module")
def study():
    return read_study("equalized-robustness")


def test_the_methods_of_the_paper_have_one_setting_each(study):
    own = {method.name: method for method in study.methods if not method.tasks}
    assert set(own) == {"normal", "advdebias", "laftr", "laftr-eqodd", "cuma", "cuma-alpha-only"}
    assert all(len(settings_of(method)) == 1 for method in own.values())
    assert {task.name for task in study.tasks} == set(TASKS)
    assert (study.seeds, study.parts) == (tuple(range(10)), ("test",))
    assert set(study.claims) == set(CLAIMS)
    assert {(shift.kind, size, shift.draws) for shift in study.shifts for size in shift.severities} == {
        (kind, size, 5) for kind, size in NOISES
    }


def test_every_printed_number_and_every_curve_has_its_arm_in_the_study(study):
    declared = {(task.name, arm) for task in study.tasks for arm in declared_arms(study, task)}
    wanted = {one.arm for one in printed() if not one.task.startswith("celeba")}
    for task in ("cc-race", "cc-divorced"):
        for name in ("advdebias", "laftr", "laftr-eqodd", "cuma", "cuma-alpha-only", "cuma-gamma"):
            wanted |= set(curve(task, name))
    wanted |= {Arm.of("cc-race", "cuma", batch=size, gamma=g) for size in (32, 128, 256) for g in (0.0, 1.0)}
    wanted |= {Arm.of("cc-race", "cuma", kernels=name) for name in ("narrow", "wide")}
    assert {(arm.task, arm) for arm in wanted} <= declared
    assert 10 * len(declared) == 1340


def declared_arms(study, task):
    for method in study.methods:
        if task.name in (method.tasks or [task.name]):
            for setting in settings_of(method):
                recipe = {**study.recipe, **task.recipe, **setting.recipe}
                spec = {"method": method.key, "fields": setting.fields, "recipe": recipe}
                yield _arm(task.name, spec)
