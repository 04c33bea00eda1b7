import json

import numpy as np
import pytest

import evenhand

FEW = ("--replicates", "50")
LABELLED = ("--label", "y", "--prediction", "p")


def same(a, b):
    """Equal numbers, lists and records, up to rounding."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= 1e-9
    return a == b


def ages(rows):
    return [value or None for value in rows.columns["age"].tolist()]


@pytest.mark.parametrize("extra", [(), ("--score", "s"), ("--weight", "w")])
def test_the_result_is_that_of_the_python_function(run, rows, table, extra):
    found = run(
        "audit", table, *LABELLED, "--group", "sex", "--group", "age", *FEW, *extra, "--json", "-"
    ).json
    c = rows.columns
    known = {"scores": c["s"]} if "s" in extra else {"weights": c["w"]} if "w" in extra else {}
    groups = {"sex": c["sex"].tolist(), "age": ages(rows)}
    expected = evenhand.audit(c["y"], c["p"], groups=groups, replicates=50, **known).to_dict()
    for part in (
        "n",
        "unknown",
        "missing",
        "classes",
        "positive",
        "grouping",
        "groups",
        "overall",
        "weighted",
    ):
        assert same(found[part], expected[part]), part
    for key, metric in expected["metrics"].items():
        assert same(found["metrics"][key], metric), key
    assert same(found["attributes"], expected["attributes"])
    assert found["unknown"] == sum(age is None for age in ages(rows))


def test_the_json_has_what_the_schema_promises(audit, table):
    found = audit("--json", "-").json
    assert {
        "evenhand",
        "kind",
        "task",
        "n",
        "weighted",
        "unknown",
        "missing",
        "classes",
        "positive",
        "grouping",
        "groups",
        "overall",
        "metrics",
        "attributes",
        "runs",
        "warnings",
        "method",
    } <= found.keys()
    assert found["kind"] == "audit"
    assert found["task"] == "binary"
    assert {"name", "levels", "n", "share", "small", "excluded", "rates", "intervals"} <= found["groups"][
        0
    ].keys()
    assert {
        "value",
        "low",
        "high",
        "per_class",
        "decided_by",
        "undefined",
        "bounds",
        "with_small",
        "chance",
        "chance_p",
        "runs",
    } <= found["metrics"]["tpr.gap"].keys()
    (file,) = found["method"]["files"]
    assert file["name"] == "preds.csv"
    assert file["bytes"] == table.stat().st_size
    assert len(file["sha256"]) == 64


def test_json_on_stdout_stands_alone(audit):
    ran = audit("--json", "-")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.startswith("{")
    assert ran.out.endswith("}\n")
    json.loads(ran.out)


def test_several_files_are_one_table(run, rows, tmp_path, table):
    parts = [
        rows.part(slice(*ends)).csv(tmp_path / f"{ends[0]}.csv.gz") for ends in ((0, 9), (9, 250), (250, 400))
    ]
    arguments = (*LABELLED, "--group", "sex", "--score", "s", *FEW, "--json", "-")
    whole, split = run("audit", table, *arguments).json, run("audit", *parts, *arguments).json
    assert same(whole["metrics"], split["metrics"])
    assert same(whole["groups"], split["groups"])
    assert len(split["method"]["files"]) == 3


def test_parquet_gives_the_same(run, rows, tmp_path, audit):
    import polars as pl

    path = tmp_path / "preds.parquet"
    pl.DataFrame({name: rows.columns[name] for name in ("y", "p", "sex")}).write_parquet(path)
    found = run("audit", path, *LABELLED, "--group", "sex", *FEW, "--json", "-").json
    assert same(found["metrics"], audit("--json", "-").json["metrics"])


def test_a_threshold_predicts_where_no_prediction_is_named(run, table, audit):
    arguments = ("--label", "y", "--score", "s", "--threshold", "0.55", "--group", "sex", *FEW, "--json", "-")
    found = run("audit", table, *arguments).json
    assert same(found["metrics"], audit("--score", "s", "--json", "-").json["metrics"])


def test_runs_of_one_file_and_runs_of_several_are_those_of_a_stack(run, rows, tmp_path):
    rng = np.random.default_rng(3)
    p = np.stack(
        [np.where(rng.random(400) < 0.1, 1 - rows.columns["p"], rows.columns["p"]) for _ in range(3)]
    )
    each = [rows.having(p=p[k]).csv(tmp_path / f"seed{k}.csv") for k in range(3)]
    tall = {name: np.tile(values, 3) for name, values in rows.columns.items()}
    long = (
        rows.having(**tall).having(p=p.reshape(-1), run=np.repeat([0, 1, 2], 400)).csv(tmp_path / "long.csv")
    )
    arguments = (*LABELLED, "--group", "sex", *FEW, "--json", "-")
    by_column = run("audit", long, *arguments, "--run", "run").json
    by_file = run("audit", each[0], "--run-file", each[1], "--run-file", each[2], *arguments).json
    stacked = evenhand.audit(
        rows.columns["y"], p, groups=rows.columns["sex"].tolist(), replicates=50
    ).to_dict()
    for found, names in ((by_column, ["0", "1", "2"]), (by_file, ["seed0", "seed1", "seed2"])):
        assert same(found["metrics"], stacked["metrics"])
        assert found["runs"] == {"n": 3, "names": names}
        assert [group["n"] for group in found["groups"]] == [group["n"] for group in stacked["groups"]]
    assert by_file["metrics"]["tpr.gap"]["runs"]["maxdiff"] > 0


def test_scores_of_several_runs_are_averaged(run, rows, tmp_path):
    from evenhand.metrics.ranked import exact_auc

    scores = [rows.columns["s"], np.round(1 - rows.columns["s"] * 0.3, 3)]
    each = [rows.having(s=s).csv(tmp_path / f"seed{k}.csv") for k, s in enumerate(scores)]
    arguments = (*LABELLED, "--score", "s", "--group", "sex", *FEW, "--json", "-")
    found = run("audit", each[0], "--run-file", each[1], *arguments).json
    women = rows.columns["sex"] == "f"
    expected = np.mean([exact_auc(rows.columns["y"][women], s[women]) for s in scores])
    assert found["groups"][0]["rates"]["auc"] == pytest.approx(expected)
    assert any("means over the runs" in note for note in found["warnings"])


def test_reports_are_written_and_named(audit, tmp_path):
    paths = {kind: tmp_path / f"out.{kind}" for kind in ("json", "html", "markdown")}
    ran = audit(*(part for kind, path in paths.items() for part in (f"--{kind}", path)))
    assert ran.code == 0
    flat = "".join(ran.out.split())
    assert all("".join(str(path).split()) in flat for path in paths.values())
    assert "<html" in paths["html"].read_text()
    assert "## Fairness evaluation" in paths["markdown"].read_text()
    assert json.loads(paths["json"].read_text())["n"] == 400


def test_the_summary_names_metrics_groups_and_notes(audit):
    ran = audit("--group", "age", "--min-count", "60")
    assert ran.code == 0
    for words in ("400 rows", "sex × age", "tpr.gap", "f · old", "unknown group", "left out of comparisons"):
        assert words in ran.out, words


def test_quiet_prints_nothing(audit):
    ran = audit("--quiet")
    assert (ran.code, ran.out, ran.err) == (0, "", "")


def test_the_positive_class_of_texts_is_said_unless_it_was_named(run, rows, tmp_path):
    words = {name: np.where(rows.columns[name] == 1, "good", "bad") for name in ("y", "p")}
    table = rows.having(**words).csv(tmp_path / "words.csv")
    arguments = ("audit", table, *LABELLED, "--group", "sex", *FEW, "--json", "-")
    guessed, named = run(*arguments).json, run(*arguments, "--positive", "bad").json
    assert any("'good' was taken as the positive class" in note for note in guessed["warnings"])
    assert not any("positive class" in note for note in named["warnings"])
    assert (guessed["positive"], named["positive"]) == ("good", "bad")
    assert guessed["groups"][0]["rates"]["tpr"] == pytest.approx(named["groups"][0]["rates"]["tnr"])


def test_options_reach_the_audit(audit):
    found = audit(
        "--json",
        "-",
        "--confidence",
        "0.9",
        "--seed",
        "4",
        "--resampling",
        "whole",
        "--convention",
        "paper",
        "--privileged",
        "m",
        "--smoothing",
        "2",
        "--metric",
        "tpr",
        "--metric",
        "dp",
    ).json
    method = found["method"]
    assert [
        method[name] for name in ("confidence", "seed", "resampling", "convention", "privileged", "smoothing")
    ] == [0.9, 4, "whole", "paper", "m", 2.0]
    assert set(found["metrics"]) == {
        "dp",
        *(f"tpr.{how}" for how in ("gap", "ratio", "worst", "best", "spread", "to_overall")),
    }


def test_several_classes_with_a_score_each(run, tmp_path):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 300)
    s = rng.dirichlet(np.ones(3), 300).round(4)
    lines = [
        "y,g,a,b,c",
        *(f"{t},{g},{r[0]},{r[1]},{r[2]}" for t, g, r in zip(y, rng.choice(["u", "v"], 300), s, strict=True)),
    ]
    table = tmp_path / "three.csv"
    table.write_text("\n".join(lines) + "\n")
    scores = [part for name in "abc" for part in ("--score", name)]
    found = run("audit", table, "--label", "y", "--group", "g", *scores, *FEW, "--json", "-").json
    assert found["task"] == "multiclass"
    assert found["overall"]["rates"]["accuracy"] == pytest.approx(np.mean(s.argmax(1) == y))
    assert len(found["metrics"]["auc.gap"]["per_class"]) == 3


def test_a_file_that_is_named_twice_is_refused(run, table):
    again = table.parent / "." / table.name
    for files in ((table, again), (table, "--run-file", again)):
        ran = run("audit", *files, *LABELLED, "--group", "sex", *FEW)
        assert ran.code == 2
        assert "is given twice" in ran.err
