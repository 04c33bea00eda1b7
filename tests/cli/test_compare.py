import numpy as np
import pytest

import evenhand

PAIR = ("--label", "y", "--prediction", "p", "--replicates", "50")


@pytest.fixture
def other(rows):
    """The predictions of another model, which differs in some rows."""
    changed = np.random.default_rng(5).random(400) < 0.15
    return np.where(changed, 1 - rows.columns["p"], rows.columns["p"])


@pytest.fixture
def shuffled(rows, other, tmp_path):
    """The other model's file, its rows in another order and without the groups."""
    moved = rows.having(p=other).part(np.random.default_rng(2).permutation(400))
    return type(rows)({name: moved.columns[name] for name in ("id", "y", "p")}).csv(tmp_path / "small.csv")


def test_the_result_is_that_of_the_python_function(run, rows, table, other, shuffled):
    found = run("compare", table, shuffled, *PAIR, "--key", "id", "--group", "sex", "--json", "-").json
    models = {"preds": rows.columns["p"], "small": other}
    groups = {"sex": rows.columns["sex"].tolist()}
    expected = evenhand.compare(rows.columns["y"], models, groups=groups, replicates=50).to_dict()
    assert found["models"] == ["preds", "small"]
    for part in (
        "n",
        "base",
        "classes",
        "accuracy",
        "disagreement",
        "cev",
        "sde",
        "matrices",
        "groups",
        "differences",
    ):
        assert found[part] == expected[part], part
    assert [file["name"] for file in found["method"]["files"]] == ["preds.csv", "small.csv"]


def test_row_by_row_with_names_and_a_report(run, rows, table, other, tmp_path):
    alternative = rows.having(p=other).csv(tmp_path / "b.csv")
    page = tmp_path / "c.html"
    ran = run("compare", table, alternative, *PAIR, "--name", "old model", "--name", "new", "--html", page)
    assert ran.code == 0
    assert "base old model" in ran.out
    assert "<html" in page.read_text()


def test_gates_on_an_alternative(run, table, shuffled):
    arguments = ("compare", table, shuffled, *PAIR, "--key", "id", "--group", "sex", "-q")
    for condition, code in (
        ("disagreement>0.05", 1),
        ("disagreement>0.5", 0),
        ("small:accuracy.difference<0", 1),
        ("accuracy.gap.difference.high>1", 0),
        ("tpr.gap.difference>-1", 1),
        ("tpr.gap.p<=1", 1),
        ("sde.high>1e9", 0),
        ("cev>=0", 1),
        ("paid.classes>0", 1),
        ("small:paid.worst>1", 0),
    ):
        ran = run(*arguments, "--fail-if", condition)
        assert ran.code == code, (condition, ran)
        assert "small" in ran.err


def test_several_runs_of_each_model(run, rows, other, tmp_path):
    rng = np.random.default_rng(8)

    def tall(p):
        runs = np.concatenate([np.where(rng.random(400) < 0.05, 1 - p, p) for _ in range(3)])
        columns = {name: np.tile(values, 3) for name, values in rows.columns.items()}
        return rows.having(**columns).having(p=runs, run=np.repeat(["a", "b", "c"], 400))

    files = [
        tall(p).csv(tmp_path / f"{name}.csv") for name, p in (("big", rows.columns["p"]), ("small", other))
    ]
    arguments = ("compare", *files, *PAIR, "--group", "sex", "--run", "run")
    found = run(*arguments, "--json", "-", "--fail-if", "cie.share>0").json
    assert found["n"] == 400
    assert found["cie"]["small"]["count"] > 0
    assert found["differences"]["small"]["accuracy.gap"]["runs"] is not None
    assert found["gate"]["failed"]
    assert "beyond runs" in run(*arguments).out


def test_rows_that_only_one_file_has_are_counted(run, rows, table, tmp_path):
    fewer = rows.part(slice(0, 390)).csv(tmp_path / "fewer.csv")
    found = run("compare", table, fewer, *PAIR, "--key", "id", "--json", "-").json
    assert found["n"] == 390
    assert any("10 rows of the base" in note for note in found["warnings"])


def test_models_are_named_by_their_files_without_the_ending_only(run, rows, other, tmp_path):
    files = [
        rows.having(p=p).csv(tmp_path / name)
        for p, name in (
            (rows.columns["p"], "net.a1.csv.gz"),
            (other, "pruned-0.45.csv"),
            (other, "pruned-0.7.csv"),
        )
    ]
    gate = ("--fail-if", "pruned-0.7:disagreement>0.9")
    found = run("compare", *files, *PAIR, "--json", "-", *gate).json
    assert found["models"] == ["net.a1", "pruned-0.45", "pruned-0.7"]
    assert not found["gate"]["failed"]
    twice = run("compare", files[0], files[0], *PAIR)
    assert twice.code == 2
    assert "--name" in twice.err


def test_a_prediction_that_is_missing_in_one_run_leaves_the_row_out_of_all(run, rows, other, tmp_path):
    def tall(p, hole=None, later=0):
        told = [str(value) for value in np.tile(p, 3)]
        if hole is not None:
            told[hole] = ""
        columns = {name: np.tile(values, 3) for name, values in rows.columns.items()}
        run = np.repeat([0, 1, 2], 400)
        return rows.having(**columns).having(p=told, run=run, w=columns["w"] + later * (run > 0))

    whole = tall(rows.columns["p"]).csv(tmp_path / "whole.csv")
    small = tall(other, 400 + 7).csv(tmp_path / "small.csv")
    found = run("compare", whole, small, *PAIR, "--key", "id", "--run", "run", "--json", "-").json
    assert (found["n"], found["missing"]) == (399, 1)
    assert any(note.startswith("1 row") and "left out" in note for note in found["warnings"])
    assert run("compare", whole, small, *PAIR, "--key", "id", "--run", "run", "--weight", "w").code == 0
    heavy = tall(rows.columns["p"], later=1).csv(tmp_path / "heavy.csv")
    refused = run("compare", heavy, small, *PAIR, "--key", "id", "--run", "run", "--weight", "w")
    assert refused.code == 2
    assert "column 'w' of heavy.csv differs at key '0' between run '1' and run '0'" in refused.err
