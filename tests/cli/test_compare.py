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
