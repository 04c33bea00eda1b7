import json

import pytest


@pytest.mark.parametrize(
    ("condition", "code"),
    [("tpr.gap>=0", 1), ("tpr.gap>1", 0), ("tpr.gap.high <= 1", 1), ("accuracy.worst.low<0", 0)],
)
def test_a_condition_decides_the_exit_code(audit, condition, code):
    ran = audit("--fail-if", condition, "--quiet")
    assert ran.code == code
    assert ran.out == ""
    assert ("failed" if code else "passed") in ran.err
    assert condition in ran.err


def test_gates_are_part_of_the_json_and_leave_stdout_to_it(audit):
    ran = audit("--json", "-", "--fail-if", "dp>=0", "--fail-if", "dp>1")
    assert ran.code == 1
    gate = ran.json["gate"]
    assert gate["failed"]
    assert [check["failed"] for check in gate["conditions"]] == [True, False]
    assert gate["against"] is None
    assert "gate" not in audit("--json", "-").json


def test_a_gate_measures_what_it_asks_about(audit):
    found = audit("--json", "-", "--metric", "dp", "--fail-if", "tpr.gap>1")
    assert found.code == 0
    assert set(found.json["metrics"]) == {"dp", "tpr.gap"}


def test_an_undefined_metric_fails_with_its_reason(run, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("y,p,g\n1,1,a\n1,0,a\n1,1,b\n0,0,b\n")
    ran = run(
        "audit", table, "--label", "y", "--prediction", "p", "--group", "g", "-q", "--fail-if", "fpr.gap>0.5"
    )
    assert ran.code == 1
    assert "undefined" in ran.err
    assert "no negatives" in ran.err


def test_against_an_earlier_audit(run, rows, audit, tmp_path):
    old = tmp_path / "old.json"
    assert audit("--json", old, "--quiet").code == 0
    same = audit("--against", old, "--json", "-")
    assert same.code == 0
    assert same.json["gate"]["against"]["name"] == "old.json"
    # women are hardly selected any more
    p = rows.columns["p"] * ((rows.columns["sex"] == "m") | (rows.columns["id"] % 10 == 0))
    worse = rows.having(p=p).csv(tmp_path / "worse.csv")
    arguments = (
        "audit",
        worse,
        "--label",
        "y",
        "--prediction",
        "p",
        "--group",
        "sex",
        "--replicates",
        "50",
        "-q",
    )
    ran = run(*arguments, "--against", old)
    assert ran.code == 1
    assert "tpr.gap" in ran.err
    assert "old.json" in ran.err
    assert run(*arguments, "--against", old, "--tolerance", "2").code == 0


def test_an_audit_of_other_groups_is_no_measure(audit, tmp_path):
    old = tmp_path / "old.json"
    audit("--json", old, "--quiet")
    ran = audit("--group", "age", "--against", old)
    assert ran.code == 2
    assert "group columns" in ran.err
    body = json.loads(old.read_text())
    body["evenhand"] = "0.0.9"
    del body["weighted"], body["method"]["convention"]
    old.write_text(json.dumps(body))
    assert audit("--against", old, "-q").code == 0
