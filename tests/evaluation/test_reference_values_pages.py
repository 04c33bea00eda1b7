"""A run folder beside its public values becomes a page, tables, a figure, and text between markers."""

import csv
import json
import re
import runpy
from pathlib import Path
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.reference_values.__main__ import main
from evenhand.evaluation.reference_values.answers import judge
from evenhand.evaluation.reference_values.public import FAIRNESS, LAFTR, references
from evenhand.evaluation.reference_values.questions import FAMILIES, QUESTIONS
from evenhand.evaluation.reference_values.study import compute
from evenhand.evaluation.study.papers import paper_of
from evenhand.report.reference_values_figure import dumbbells
from evenhand.report.reference_values_files import BEGIN, END, write_page
from evenhand.report.reference_values_words import sanity, sentences, unfinished

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
DOCS = Path(__file__).parents[2] / "docs" / "studies"
BOX, AGE = "ci-mnist-box", "adult-age"


def store_of(study=BOX, worse=(), shift=0.0, leave_out=()):
    """Models with the public p-acc and up-acc and no other difference; `worse` ones are coins."""
    told, rows, tables = {}, [], {"validation_balanced": {}, "test": {}}
    for r in references():
        if r.study == study and r.model not in leave_out:
            told.setdefault((r.task, r.grouping, r.model), {})[r.metric] = r.value
    for (task, grouping, model), values in told.items():
        for seed in (3, 4, 5):
            run = f"{len(rows):04d}"
            rows.append(fake.row_of(run, task, grouping, model, {}, seed, len(rows)))
            right = [min(1.0, values[key] + shift + 0.002 * (seed - 4)) for key in ("acc_p", "acc_up")]
            right = [0.5, 0.5] if model in worse else right
            for part in tables.values():
                part[run] = fake.rates_table(right, [1 - rate for rate in right])
    about = {"name": study, "title": study, "selection": {"part": "validation_balanced"}}
    return fake.FakeStore({**about, "recipe": {"epochs": 20}}, rows, tables)


@pytest.fixture(scope="module")
def box():
    return compute(store_of())


def parts_of(body, words):
    question = next(question for question in body["questions"] if words in question["words"])
    return {part["words"]: part for part in question["parts"]}


def test_numbers_of_nearness(box):
    near = {row["name"]: row for row in box["by_metric"]}
    assert box["overall"]["compared"] == box["overall"]["public"] == 336
    assert near["p-acc"]["read"] == near["up-acc"]["read"] == 48
    assert near["p-acc"]["size"] == pytest.approx(0.0, abs=1e-6)
    assert near["EqOdd"]["outside"] > 20  # gaps were made from accuracies alone
    assert sum(box["overall"][key] for key in ("read", "seeds", "outside")) == 336
    assert len(box["farthest"]) == 10
    sizes = [abs(row["difference"]) for row in box["farthest"]]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == max(abs(row["difference"]) for row in box["rows"])


def test_the_order_is_found_and_its_reverse(box):
    by_place = {(row["problem"], row["metric"]): row for row in box["ranks"]}
    assert by_place["clr .001 .001, by colour", "acc_up"]["models"] == pytest.approx(1.0)
    assert by_place["clr .001 .001, by colour", "acc_up"]["families"] == pytest.approx(1.0)
    few = parts_of(box, "(.001, .001), is LAFTR more accurate")
    assert few["LAFTR less MLP, accuracy"]["oracle"]["verdict"] == "as in public"
    assert few["LAFTR less MLP, accuracy"]["public"] == pytest.approx(0.1425)
    assert few["LAFTR less CNN, accuracy"]["oracle"]["verdict"] == "as in public"  # no difference in either
    coins = compute(store_of(worse=LAFTR))
    few = parts_of(coins, "(.001, .001), is LAFTR more accurate")
    assert {part["oracle"]["verdict"] for part in few.values()} == {"not as in public"}
    # both have EqOdd below 0.5 in public, and coins have no gap at all
    assert (
        parts_of(coins, "others collapse")["LAFTR: EqOdd, above 0.5"]["oracle"]["verdict"]
        == "not as in public"
    )


def test_a_collapse_is_the_loss_of_half_of_what_was_known(box):
    found = parts_of(box, "do MLP and CNN collapse")
    part = found["MLP: accuracy, above half-way from 0.5 to its own at clr .5 .5"]
    assert part["public"] == pytest.approx(0.56 - (0.5 + 0.94) / 2)
    assert part["oracle"]["effect"] == pytest.approx(part["public"], abs=1e-3)
    assert (part["oracle"]["n"], part["oracle"]["verdict"]) == (3, "as in public")


def test_small_public_effects_need_an_interval_within_the_reading():
    assert judge(0.02, -0.01, 0.03) == judge(0.03, -0.01, 0.03) == "cannot tell"
    assert judge(-0.01, 0.025, 0.03) == judge(-0.03, 0.025, 0.03) == "not as in public"
    assert judge(None, 0.1, 0.2) is judge(0.1, float("nan"), float("nan")) is None


def test_every_question_asks_for_public_values():
    there = {(r.study, r.task, r.grouping, r.model) for r in references()}
    for study, questions in QUESTIONS.items():
        for mean in (m for question in questions for part in question.parts for m in part.means):
            assert all((study, *mean.problem, model) in there for model in FAMILIES[mean.family])
    assert len(FAIRNESS) == 4


def test_the_sanity_figure_is_said_from_the_runs(box):
    assert sanity(box)[0].endswith("0.940 (3 seeds, 0.935 to 0.945); at least 0.94: reached.")
    assert sanity(compute(store_of(shift=-0.01)))[0].endswith("at least 0.94: missed.")
    assert sanity(compute(store_of(leave_out=["mlp"])))[0].endswith("not run (it must be at least 0.94).")
    assert sanity(compute(store_of(AGE))) == []


def test_what_is_missing_is_said(box):
    assert unfinished(box) == ""
    partial = compute(store_of(leave_out=["ffvae"]))
    assert unfinished(partial).startswith("Not everything was run. 42 of 336 public values have no run")
    few = parts_of(partial, "(.001, .001), is LAFTR more accurate")
    assert few["LAFTR less FFVAE, accuracy"]["oracle"]["verdict"] is None


def test_the_names_of_the_age_groups_are_checked():
    told = " ".join(sentences(compute(store_of(AGE))))
    assert "fit ours better as named: mean |difference| 0.000 as named, 0.108 exchanged." in told


def test_the_report_of_both_studies_has_the_page(tmp_path):
    assert paper_of(BOX) is paper_of(AGE) is not None
    paper_of(AGE)(store_of(AGE), tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "Is CFAIR more accurate than the MLP?" in page
    assert json.loads((tmp_path / "paper.json").read_text(encoding="utf-8"))["overall"]["compared"] == 168
    text = (tmp_path / "paper/tables/public-values.csv").read_text(encoding="utf-8")
    table = list(csv.DictReader(text.splitlines()))
    assert len(table) == 168
    assert float(table[0]["public"]) == 0.77
    assert (tmp_path / "paper/figures/public-values.svg").is_file()


def test_the_range_over_seeds_of_every_value_is_told(tmp_path, box):
    assert len(box["runs"]) == 2 * 336
    line = next(
        one for one in box["runs"] if one["metric"] == "p-acc" and one["chosen on"] == "test (oracle)"
    )
    ours = next(row["oracle"] for row in box["rows"] if row["metric"] == "acc_p")
    values = list(ours["values"].values())
    assert (line["runs"], line["smallest"], line["largest"]) == (3, min(values), max(values))
    assert (line["mean"], line["deviation"]) == pytest.approx((ours["mean"], ours["std"]))
    assert line["largest"] - line["smallest"] == pytest.approx(0.004, abs=1e-4)  # 0.002 from seed to seed
    paper_of(AGE)(store_of(AGE, leave_out=["ffvae"]), tmp_path)
    page = (tmp_path / "paper.html").read_text(encoding="utf-8")
    assert "<summary>Runs: mean, deviation, smallest and largest</summary>" in page
    text = (tmp_path / "paper/tables/runs.csv").read_text(encoding="utf-8")
    table = list(csv.DictReader(text.splitlines()))
    assert {row["chosen on"] for row in table} == {"test (oracle)", "validation_balanced"}
    assert "FFVAE" not in {row["model"] for row in table}


def test_a_page_is_written_between_its_markers(tmp_path, box):
    page, out = tmp_path / "docs" / "box.md", tmp_path / "results" / "box"
    page.parent.mkdir()
    page.write_text(f"# by hand\n\n{BEGIN}\nold\n{END}\n\nby hand too\n", encoding="utf-8")
    for _ in range(2):  # a second time changes nothing
        write_page(box, page, out)
        text = page.read_text(encoding="utf-8")
        assert text.startswith(f"# by hand\n\n{BEGIN}\n144 of 144 runs are done")
        assert text.endswith(f"\n{END}\n\nby hand too\n")
        assert "old" not in re.findall(r"\w+", text[text.index(BEGIN) : text.index(END)])
    assert "](../results/box/public-values.svg)" in text
    assert text.count("<details>") == text.count("</details>") == 6
    assert {path.name for path in out.iterdir()} == {"public-values.svg", "public-values.csv"}
    page.write_text("no markers", encoding="utf-8")
    assert main([str(tmp_path / "nowhere"), "--page", str(page)]) == 2
    with pytest.raises(InputError, match="needs the two lines"):
        write_page(box, page, out)


@pytest.mark.parametrize("name", [BOX, AGE])
def test_the_pages_of_the_repository_have_the_markers(name):
    text = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert text.count(BEGIN) == text.count(END) == 1


@pytest.mark.parametrize("width", [760, 360])
def test_the_figure_has_a_mark_for_every_value(box, width):
    svg = dumbbells(box, width)
    ElementTree.fromstring(svg)
    columns = 3 if width > 500 else 2
    assert svg.count('class="hollow"') == svg.count('class="dot"') == 48 * columns + 1
    assert all(float(x) <= width for x in re.findall(r' cx="([\d.]+)"', svg))
