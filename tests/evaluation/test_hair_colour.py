"""hair-colour: Table 4 from counts written down by hand, random subgroups, the rules, page and claim."""

import csv
import runpy
import statistics
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.evaluation.claims import read_claims
from evenhand.evaluation.hair_colour import layout
from evenhand.evaluation.hair_colour.answers import answers
from evenhand.evaluation.hair_colour.chance import p_value, random_subgroups
from evenhand.evaluation.hair_colour.page import write_page
from evenhand.evaluation.hair_colour.paper import paper, render
from evenhand.evaluation.hair_colour.study import compute
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import all_to_group
from evenhand.report.marked_page import marks_of
from evenhand.report.spread_table import TITLE
from evenhand.study.read import read_study

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
ROOT = Path(__file__).parents[2]
CLASSES = ("black", "blond", "brown", "gray")
ATTRIBUTES = ("Attractive", "Male", "Pale_Skin", "Young")
SEEDS = 6
EVEN = (0.9, 0.9, 0.9, 0.9)


def table(rng, rights, n=250):
    """`[4, 4]`: each class is told right with its own share, errors go anywhere."""
    cells = np.zeros((4, 4), dtype=int)
    for truth, right in enumerate(rights):
        hit = rng.binomial(n, right)
        others = [k for k in range(4) if k != truth]
        cells[truth, truth] = hit
        cells[truth, others] = rng.multinomial(n - hit, [1 / 3] * 3)
    return cells


def store(groups, seeds=SEEDS):
    """`groups[attribute]` has the shares of the classes told right, of "no" and of "yes"."""
    rng, rows, tables = np.random.default_rng(0), [], {}
    for attribute, sides in groups.items():
        for seed in range(seeds):
            spec = {"protect": [attribute], "groupings": [[attribute]], "knobs": {"source": "faces"}}
            rows.append(
                fake.row_of(f"{len(rows):04d}", "t", attribute, "erm", {}, seed, len(rows), spec=spec)
            )
            tables[rows[-1]["id"]] = np.stack([table(rng, side) for side in sides])
    study = {"name": "hair-colour", "title": "made up", "smoke": {}}
    return fake.FakeStore(study, rows, {"test": tables}, groups=("no", "yes"), classes=CLASSES)


@pytest.fixture(scope="module")
def body():
    groups = dict.fromkeys(ATTRIBUTES, (EVEN, EVEN))
    groups["Male"] = ((0.9, 0.9, 0.9, 0.9), (0.995, 0.8, 0.995, 0.995))  # more accurate, less even
    groups["Young"] = ((0.7, 0.9, 0.9, 0.7), EVEN)  # less accurate, less even
    return compute(store(groups))


def by_name(body):
    return {row["name"]: row for row in body["groups"]}


def test_the_values_are_means_over_seeds_of_the_metrics(body):
    found = by_name(body)
    assert list(found) == [name for a in ATTRIBUTES for name in (f"not {a}", a)]
    row, other = found["Male"], found["not Male"]
    assert row["rows"] == 1000
    assert row["accuracy"]["value"] == pytest.approx(0.946, abs=0.01)
    assert row["ahead"]["value"] == pytest.approx(-other["ahead"]["value"])
    assert len(row["sde"]["runs"]) == SEEDS
    assert row["sde"]["value"] == pytest.approx(np.mean(row["sde"]["runs"]))
    blond = row["classes"]["fnr_change"][1]["value"]
    assert blond == pytest.approx(0.2 / 0.15 - 1, abs=0.1)  # 20 % wrong among men, 15 % of all
    mean = np.mean([one["value"] for one in row["classes"]["fnr_change"]])
    assert row["fnr_change"]["value"] == pytest.approx(mean)


def test_an_uneven_and_more_accurate_subgroup_makes_the_claim_hold(body):
    assert {"Male", "not Young"} <= set(body["uneven"])
    assert not {"Attractive", "Pale_Skin"} & set(body["uneven"])
    assert "Male" in body["both"]
    assert "not Young" not in body["both"]
    assert body["first_rule"] == "holds"


def test_the_verdict_needs_more_unevenness_than_the_complement_has():
    groups = dict.fromkeys(ATTRIBUTES, (EVEN, EVEN))
    groups["Male"] = ((0.97, 0.97, 0.97, 0.97), (0.95, 0.6, 0.95, 0.95))
    found = compute(store(groups))
    assert found["first_rule"] == "holds"  # women: more accurate, and not as random rows
    assert found["both"] == ["not Male"]
    assert found["more"] == []
    assert found["verdict"] == "cannot tell"


def test_an_accuracy_of_two_seeds_ends_at_none_and_all():
    made, rng = store({"Male": (EVEN, EVEN)}, seeds=2), np.random.default_rng(0)
    for row, share in zip(made.rows, (0.3, 0.7), strict=True):
        made.tables["test"][row["id"]] = np.stack([table(rng, (share,) * 4)] * 2)
    found = compute(made)
    every = [found["accuracy"], *(row["accuracy"] for row in found["groups"])]
    assert [(one["low"], one["high"]) for one in every] == [(0.0, 1.0)] * 3  # Student's own: -2 to 3


def test_random_subgroups_have_the_size_and_no_more():
    rng = np.random.default_rng(2)
    tables = np.stack([np.stack([table(rng, EVEN, 400), table(rng, EVEN, 40)])])
    found = random_subgroups(tables, 400)
    assert found["sde"].shape == (1, 400, 2)
    large, small = found["sde"][0].mean(axis=0)
    assert small > 2 * large  # a small subgroup is uneven whoever is in it
    real = all_to_group(Counts.from_table(tables))["sde"][0]
    assert p_value(float(real[1]), found["sde"][0, :, 1]) > 0.01
    assert np.isnan(p_value(float("nan"), found["sde"][0, :, 1]))


def test_the_page_and_the_claim(body, tmp_path):
    begin, end = marks_of("numbers")
    page = tmp_path / "page.md"
    page.write_text(f"{begin}\n{end}\n", encoding="utf-8")
    write_page(body, page, tmp_path / "r")
    text = page.read_text("utf-8")
    assert "not Pale" in text
    assert "0.1413" in text  # the paper's CEV of men
    assert (tmp_path / "r" / "figures" / "fnr-change.svg").read_text("utf-8").count("<circle") == 32
    assert (tmp_path / "r" / "classes.csv").read_text("utf-8").count("\n") == 1 + 8 * 4 * 2
    columns = answers(body)["S2.10"]
    assert columns["runs"] == str(SEEDS)
    assert text.count(f"<details><summary>{TITLE}</summary>") == 2
    assert "[runs.csv](r/runs.csv)" in text
    assert "Drawn faces" in columns["note"]


def test_the_page_in_the_papers_shape_has_every_table_and_both_figures(body, tmp_path):
    groups = dict.fromkeys(ATTRIBUTES, (EVEN, EVEN))
    whole = paper(store(groups), tmp_path)
    page = (tmp_path / "paper.html").read_text("utf-8")
    first = page.split('class="about">')[1].split("</p>")[0]
    assert "24 of 24 trainings are done" in first
    assert "drawn faces" in first
    assert "<strong>no replication</strong>" in first
    for row in whole["groups"]:
        # three tables, classes and rates, and the same over runs: twice by subgroup, once by class
        assert page.count(f'<th scope="row">{row["name"]}</th>') == 3 + 8 + 2 + 4
    assert page.count(f"<summary>{TITLE}</summary>") == 3
    assert page.count("<svg") == 2 * 2  # each figure for wide and for narrow screens
    assert 'role="note"' not in page
    assert {path.name for path in (tmp_path / "paper" / "figures").iterdir()} == {
        "fpr-change.svg",
        "fnr-change.svg",
    }
    assert "in small" in render({**body, "done": 1, "small": True})
    assert "Not everything of hair-colour was run" in render({**body, "done": 1, "small": True})


def test_mean_deviation_and_range_over_runs_are_those_of_the_tables(tmp_path):
    groups = dict.fromkeys(ATTRIBUTES, (EVEN, EVEN))
    made = store(groups)
    paper(made, tmp_path)
    with (tmp_path / "paper" / "tables" / "runs.csv").open(encoding="utf-8") as file:
        lines = {(line["subgroup"], line["class"], line["metric"]): line for line in csv.DictReader(file)}
    # all rows; then for each subgroup ten numbers, and two rates of each class
    assert len(lines) == 1 + 8 * (10 + 2 * 4)
    tables = np.stack([made.tables["test"][row["id"]] for row in made.rows if row["grouping"] == "Male"])
    own, every = tables[:, 1], tables.sum(axis=1)
    right = np.trace(own, axis1=1, axis2=2) / own.sum(axis=(1, 2))
    told(lines["Male", "all classes", "Top-1"], right)
    missed = [1 - table[:, 1, 1] / table[:, 1].sum(axis=1) for table in (every, own)]
    told(lines["Male", "blond", "Change of FNR"], missed[1] / missed[0] - 1)
    women = np.trace(tables[:, 0], axis1=1, axis2=2) / tables[:, 0].sum(axis=(1, 2))
    told(lines["Male", "all classes", "Accuracy less complement's"], right - women)


def told(line, values):
    """A line of the file against Python's own statistics."""
    values = [float(value) for value in values]
    found = [float(line[key]) for key in ("mean", "deviation", "smallest", "largest")]
    wanted = [statistics.mean(values), statistics.stdev(values), min(values), max(values)]
    assert found == pytest.approx(wanted)
    assert int(line["runs"]) == len(values)


def test_one_seed_has_a_range_but_no_deviation_and_undefined_changes_no_number(tmp_path):
    perfect = (1.0, 0.9, 0.9, 0.9)  # the first class is never missed: its rate has no relative change
    groups = dict.fromkeys(ATTRIBUTES, (perfect, perfect))
    body = paper(store(groups, seeds=1), tmp_path)
    by_place = {(line["subgroup"], line["class"], line["metric"]): line for line in body["runs"]["classes"]}
    assert by_place["Male", "black", "Change of FNR"]["runs"] == 0
    assert by_place["Male", "black", "Change of FNR"]["mean"] is None
    found = by_place["Male", "blond", "Change of FNR"]
    assert found["deviation"] is None
    assert found["smallest"] == found["largest"] == found["mean"]
    assert "nan" not in (tmp_path / "paper" / "tables" / "runs.csv").read_text("utf-8").lower()


def test_a_study_without_such_groupings_is_refused():
    empty = fake.FakeStore({"name": "x", "title": ""}, [], {"test": {}}, groups=("a", "b", "c"))
    with pytest.raises(InputError, match="two levels"):
        compute(empty)


def test_runs_of_another_study_are_refused():
    digits = store({"ink_in_class": (EVEN, EVEN)})
    for row in digits.rows:
        row["spec"] = {**row["spec"], "data": "mnist"}
    with pytest.raises(InputError, match="'mnist', not on 'hair-colour'"):
        compute(digits)


@pytest.mark.parametrize("name", ["hair-colour", "hair-colour-celeba"])
def test_the_studies_train_once_and_measure_by_four_attributes(name):
    study = read_study(name)
    assert [grouping.attributes for grouping in study.groupings] == [(a,) for a in ATTRIBUTES]
    assert study.methods[0].once
    assert study.claims == ("S2.10",)


def test_the_published_claim_is_of_the_study():
    claim = next(row for row in read_claims(ROOT / "docs" / "claims.csv") if row["id"] == "S2.10")
    text = (ROOT / "docs" / "studies" / f"{layout.NAME}.md").read_text("utf-8")
    if claim["study"] == layout.NAME:
        assert claim["runs"] == "8"
        told = {"holds": "holds", "does not": "does not hold", "cannot tell": "cannot be told"}
        assert f"**Claim S2.10 {told[claim['verdict']]}**" in text
