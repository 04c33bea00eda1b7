"""Runs in small judge nothing: no page in the shape of a paper has a verdict of theirs."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.evaluation.compression import compute, together
from evenhand.evaluation.hair_colour import words as hair
from evenhand.evaluation.model_selection import words as zoo
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.report import (
    ci_mnist_words,
    compression_words,
    equalized_robustness_words,
    fixed_seed_about,
    many_attributes_words,
    reference_values_words,
)
from evenhand.report.claims_words import claims_by_verdict
from evenhand.report.compression import render
from evenhand.report.compression_markdown import results_markdown
from evenhand.report.compression_paid import page_tables
from evenhand.report.compression_tables import tables
from evenhand.report.equalized_robustness_tables import checks_table
from evenhand.report.paper_warning import UNJUDGED
from evenhand.report.reference_values_words import tally

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "compression_world.py")))
SENTENCES = [ci_mnist_words, compression_words, equalized_robustness_words, many_attributes_words,
             reference_values_words]  # fmt: skip


@pytest.fixture(scope="module")
def small():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.evaluation.compression.agreement.DRAWS", 50)
        yield compute(world.planted(seeds=2, levels=(0.45,), study={"smoke": None}))


def test_a_page_of_runs_in_small_has_no_verdict(small):
    page = render(together([small]))
    assert UNJUDGED in page
    assert '<span class="flag plain open">not judged</span>' in page
    told = (">does not<", ">holds<", ">cannot tell<", "paid by", "Shown to move", ">paid<", ">not shown<")
    assert [words for words in told if words in page] == []
    assert '"verdict": "does not"' not in json.dumps(small)
    text = results_markdown(together([small]), lambda study, name: name).split("### compression-mnist")[1]
    assert "does not" not in text


def test_a_whole_study_is_judged():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("evenhand.evaluation.compression.agreement.DRAWS", 50)
        whole = compute(world.planted(seeds=3, levels=(0.45,), methods=("base", "pruning", "kd")))
    page = render(together([whole]))
    assert "not judged" not in page
    assert "Shown to move" in page
    assert "paid by" in page
    assert "anew" in tables(whole)


def test_what_two_seeds_cannot_show_has_no_sentence_and_no_table(small):
    """Training anew needs three seeds; of a whole study with two nothing is said of it either."""
    (problem,) = small["problems"]
    assert problem["anew"]["rows"]
    assert compression_words.anew_sentence(small, problem, "45 %") == []
    undefined = {"mean": None, "low": None, "high": None, "p_holm": None}
    rows = [{**row, "cev": undefined, "sde": undefined} for row in problem["anew"]["rows"]]
    unknown = {**small, "problems": [{**problem, "anew": {**problem["anew"], "rows": rows}}]}
    assert "anew" in tables(small)
    assert "anew" not in tables(unknown)


def test_a_table_of_pairs_that_are_all_undefined_is_left_out(small):
    (problem,) = small["problems"]
    titles = [table.title for table in page_tables(small, problem, "45 %")]
    assert any(title.startswith("CEV and SDE within") for title in titles)
    nothing = {"value": None, "low": None, "high": None, "skipped": 10}
    paid = [
        {**row, "groups": [{**one, **dict.fromkeys(("cev", "sde", "cev_norm", "sde_norm"), nothing)}
                           for one in row["groups"]]}
        for row in problem["paid"]
    ]  # fmt: skip
    titles = [table.title for table in page_tables(small, {**problem, "paid": paid}, "45 %")]
    assert titles
    assert not any(title.startswith("CEV and SDE within") for title in titles)


@pytest.mark.parametrize("told", SENTENCES, ids=lambda module: module.__name__.rpartition(".")[2])
def test_sentences_of_runs_in_small_are_one(told):
    assert told.sentences({"small": True}) == [UNJUDGED]


def test_pages_that_tell_their_findings_otherwise():
    assert fixed_seed_about.findings({"studies": [{"small": True}]}) == [UNJUDGED]
    found = {"choice": {"verdict": "holds"}, "agreement": {"verdict": "does not"}}
    unjudged = judged_if_whole({"small": True, "verdict": "holds", "first_rule": "holds", **found})
    assert zoo.choice(unjudged) == f"**Claim S2.7 is not judged.** {UNJUDGED}"
    assert zoo.agreement(unjudged) == "**Claim S2.8 is not judged** either."
    assert hair.verdict(unjudged) == f"**Claim S2.10 is not judged.** {UNJUDGED}"
    assert hair.men({**unjudged, "groups": [{"name": "Male"}]}) == ""


def test_words_that_count_verdicts_know_this_one():
    found = [{"id": "S3.1", "verdict": "not judged"}]
    assert claims_by_verdict({"findings": found}) == "Not judged: S3.1."
    part = {"oracle": {"verdict": "not judged"}, "validation": {"verdict": None}}
    assert tally({"parts": [part]}) == (
        "Of 1 part: chosen on test, 1 not judged; chosen on validation, 1 without enough runs."
    )


def test_a_target_of_runs_in_small_is_neither_reached_nor_missed():
    numbers = {"effect": 0.1, "low": 0.0, "high": 0.2, "n": 2, "p": None}
    check = {"words": "w", **numbers, "rule": "r", "met": True, "unit": "difference"}
    (row,) = checks_table(judged_if_whole({"small": True, "checks": [check]})).rows
    assert row[-1] == "not judged"
