"""The claims file: allowed verdicts, evidence for every decision, and a page that is what the file says."""

import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.claims import (
    COLUMNS,
    DECIDED,
    PAPERS,
    VERDICTS,
    as_csv,
    markdown,
    read_claims,
    update,
)
from evenhand.evaluation.replay import NAME
from evenhand.evaluation.replay.__main__ import main
from evenhand.evaluation.replay.answers import answers
from evenhand.study.read import read_study

DOCS = Path(__file__).parents[3] / "docs"
CLAIM = dict.fromkeys(COLUMNS, "") | {
    "id": "S1.1", "paper": "S1", "claim": "it helps", "verdict": "not yet run", "study": "some-study",
}  # fmt: skip
EVIDENCE = {
    "verdict": "holds",
    "effect": "0.1",
    "interval": "0.05 to 0.15",
    "runs": "8",
    "command": "evenhand ...",
}


@pytest.fixture(scope="module")
def rows():
    return read_claims(DOCS / "claims.csv")


def written(path, *claims):
    path.write_text(as_csv(claims), encoding="utf-8", newline="\n")
    return path


def test_the_page_is_what_the_file_says(rows):
    assert (DOCS / "claims.md").read_text("utf-8") == markdown(rows)


def test_the_page_is_made_by_the_command(rows):
    made = subprocess.run(
        [sys.executable, "-m", "evenhand.evaluation.claims", str(DOCS / "claims.csv")],
        capture_output=True,
        check=True,
    )
    assert made.stdout.decode("utf-8") == markdown(rows)


def test_every_paper_has_its_claims(rows):
    assert {row["paper"] for row in rows} == set(PAPERS)
    assert {row["verdict"] for row in rows} <= set(VERDICTS)
    ids = {row["id"] for row in rows}
    assert {f"S0.{n}" for n in range(1, 16)} | {f"S1.{n}" for n in range(1, 22)} <= ids
    assert {"S3.1a", "S3.2a", "S3.3", "S3.4a", "S3.5a", "S3.6", "S4.1", "S4.2a", "S4.3"} <= ids


def test_decisions_carry_their_evidence(rows):
    for row in rows:
        if row["verdict"] in DECIDED:
            assert all(row[key] for key in ("effect", "interval", "runs", "command")), row["id"]
        if row["verdict"] == "not yet run":
            assert row["study"], row["id"]
            assert not any(row[key] for key in ("effect", "interval", "runs", "command")), row["id"]


def test_the_replay_speaks_to_the_claims_that_it_declares(body):
    assert tuple(answers(body)) == read_study(NAME).claims


def test_the_file_holds_what_the_published_runs_give(body, rows):
    stored = {row["id"]: row for row in rows}
    for name, answer in answers(body).items():
        assert {key: stored[name][key] for key in answer} == answer, name


def test_no_claim_of_the_replay_is_decided_whatever_the_data_say(body):
    """Other numbers, other verdicts: each rule can say no."""
    other = {
        **body,
        "variance": [row | {"max_diff": 0.0, "class_max_diff": 0.0} for row in body["variance"]],
        "table4_differs": ["S-UC, stdev: printed 1.7, found 9.9"],
        "cost": [row | {"cross": False, "official_variance": ""} for row in body["cost"]],
        "venn": [row | {"pairs": {"any": 1, "all pairs": 103}.get(row["region"], 0)} for row in body["venn"]],
        "sensitivity": [row | {"increase": 0} for row in body["sensitivity"]],
        "overlap": dict.fromkeys(body["overlap"], 0),
        "fpsf_share": {"paper": 0.5, "low": 0.5, "high": 0.5},
        "survey_counts": body["survey_counts"] | {"range": 7},
    }
    before, after = answers(body), answers(other)
    assert all(before[name]["verdict"] != after[name]["verdict"] for name in before)


def test_the_command_fills_the_file(data, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(data))
    empty = {"verdict": "not yet run", "effect": "", "interval": "", "runs": "", "command": "", "note": ""}
    bare = [row | empty if row["study"] == NAME else row for row in read_claims(DOCS / "claims.csv")]
    path = written(tmp_path / "claims.csv", *bare)
    assert main(["--claims", str(path)]) == 0
    assert path.read_bytes() == (DOCS / "claims.csv").read_bytes()


def test_update_changes_only_what_is_answered(tmp_path):
    path = written(tmp_path / "c.csv", CLAIM, CLAIM | {"id": "S1.2"})
    update(path, {"S1.2": EVIDENCE})
    first, second = read_claims(path)
    assert first == CLAIM
    assert second == CLAIM | {"id": "S1.2"} | EVIDENCE
    with pytest.raises(InputError, match=r"no claim S1\.9"):
        update(path, {"S1.9": EVIDENCE})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"verdict": "probably"}, "none of 'holds'"),
        ({"verdict": "holds"}, "needs effect, interval, runs, command"),
        (EVIDENCE | {"runs": ""}, "needs runs"),
        ({"paper": "S9"}, "must begin with its paper"),
        ({"id": "S2.1"}, "must begin with its paper"),
        ({"study": ""}, "needs study"),
    ],
)
def test_wrong_rows_are_named(tmp_path, change, words):
    with pytest.raises(InputError, match=words):
        read_claims(written(tmp_path / "c.csv", CLAIM | change))


def test_a_claim_twice_and_other_columns(tmp_path):
    with pytest.raises(InputError, match="more than once"):
        read_claims(written(tmp_path / "c.csv", CLAIM, CLAIM))
    (tmp_path / "d.csv").write_text("id,claim\nS1.1,x\n", encoding="utf-8")
    with pytest.raises(InputError, match="must have the columns"):
        read_claims(tmp_path / "d.csv")


def test_bars_in_a_claim_do_not_break_the_table():
    assert "a \\| b" in markdown([CLAIM | {"claim": "a | b"}])
