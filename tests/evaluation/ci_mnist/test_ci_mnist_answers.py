"""What goes into the claims file, the command, and the registry by which reports find the paper's page."""

import contextlib
import json
import shutil
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist.__main__ import main
from evenhand.evaluation.ci_mnist.answers import answers
from evenhand.evaluation.ci_mnist.findings import CLAIMS
from evenhand.evaluation.ci_mnist.study import compute
from evenhand.evaluation.claims import read_claims, update
from evenhand.evaluation.study.papers import PAGE, PAPERS, paper_of

DOCS = Path(__file__).parents[3] / "docs"


def test_every_claim_of_s3_in_the_table_has_an_answer():
    assert {row["id"] for row in read_claims(DOCS / "claims.csv") if row["paper"] == "S3"} == set(CLAIMS)


def test_the_answers_fill_the_claims_file_and_touch_nothing_else(body, tmp_path):
    path = tmp_path / "claims.csv"
    shutil.copy(DOCS / "claims.csv", path)
    before = {row["id"]: row for row in read_claims(path)}
    update(path, answers(body))
    after = {row["id"]: row for row in read_claims(path)}
    assert after["S3.1a"]["verdict"] == "holds"
    assert after["S3.1a"]["runs"] == "288"
    assert "to" in after["S3.1a"]["interval"]
    assert after["S3.1a"]["claim"] == before["S3.1a"]["claim"]
    assert {k: v for k, v in after.items() if not k.startswith("S3")} == {
        k: v for k, v in before.items() if not k.startswith("S3")
    }


def test_a_claim_without_a_measured_part_is_left_as_it_is(body):
    nothing = [
        {**found, "parts": [{**part, "effect": None} for part in found["parts"]]}
        for found in body["findings"]
    ]
    assert answers({**body, "findings": nothing}) == {}


def test_the_paper_is_found_by_the_name_of_the_study(store, tmp_path):
    paper_of("ci-mnist")(store, tmp_path)
    assert (tmp_path / PAGE).is_file()
    assert json.loads((tmp_path / "paper.json").read_text("utf-8"))["kind"] == "ci-mnist"
    names = {path.name for path in (tmp_path / "paper" / "tables").iterdir()}
    assert {
        "table-04-minority-mlp.md",
        "table-31-green-ffvae.tex",
        "table-17-colour-ffvae-oracle.csv",
    } <= names
    figures = {path.name for path in (tmp_path / "paper" / "figures").iterdir()}
    assert {"figure-02-pair-minority-width-64.svg", "figure-09-all-green-width-32.svg"} <= figures
    assert all(":" in place for place in PAPERS.values())


def test_an_empty_store_has_no_paper_and_says_so(made):
    with pytest.raises(InputError, match="nothing to show"):
        compute(made.make_store(lambda row: True))


def test_the_command_refuses_a_folder_without_a_study(tmp_path, capsys):
    assert main([str(tmp_path / "nothing")]) == 2
    assert capsys.readouterr().err.strip()


def test_the_report_of_the_study_writes_the_page_of_its_paper_too(store, tmp_path, monkeypatch):
    from evenhand.cli import study_report

    monkeypatch.setattr(study_report, "reading", lambda folder: contextlib.nullcontext(store))
    body = {"name": "ci-mnist", "state": {"done": 1}}
    assert study_report.write_paper({**body, "name": "my-own"}, tmp_path, tmp_path) == []
    assert study_report.write_paper({**body, "state": {"done": 0}}, tmp_path, tmp_path) == []
    assert not list(tmp_path.iterdir())
    told = study_report.write_paper(body, tmp_path, tmp_path)
    assert told == [f"in the shape of the paper: {tmp_path / PAGE}"]
    assert (tmp_path / PAGE).is_file()
