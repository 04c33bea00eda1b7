"""`evenhand shift`: a saved fit on shifted rows, what it writes, what it refuses."""

import json
from itertools import pairwise

import pytest

import evenhand
from evenhand.cli.shift import progress

FEW = ("--draws", "2", "--replicates", "50", "--device", "cpu")


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fit")
    evenhand.fit("mlp", "erm", "titanic", seeds=2, epochs=2, device="cpu").save(folder)
    return folder


def test_a_saved_fit_is_audited_and_every_form_is_written(run, saved, tmp_path):
    files = {name: tmp_path / f"report.{name}" for name in ("html", "json", "md")}
    ran = run(
        "shift", saved, "--shift", "gaussian", "--severities", "0,1,0.5", "--metric", "tpr.gap", *FEW,
        "--out", files["html"], "--json", files["json"], "--markdown", files["md"],
        "--figures", tmp_path / "figures",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    for words in (
        "titanic, erm under gaussian",
        "accuracy",
        "true positive rate gap",
        "verdict",
        "HTML written",
    ):
        assert words in ran.out
    body = json.loads(files["json"].read_text())
    assert (body["kind"], body["severities"], body["draws"], body["runs"]) == ("shift", [0, 0.5, 1], 2, 2)
    fitted = evenhand.Fitted.load(saved, device="cpu")
    here = fitted.audit_under_shift(
        task="titanic", severities=[0.5, 1], metrics="tpr.gap", draws=2, replicates=50
    )
    assert json.loads(here.to_json())["metrics"] == body["metrics"]
    assert files["html"].read_text().startswith("<!doctype html>")
    assert files["md"].read_text().startswith("## Under shift: Gaussian noise")
    assert {path.stem for path in (tmp_path / "figures").glob("*.svg")} == {
        "accuracy-under-gaussian", "true-positive-rate-gap-under-gaussian",
    }  # fmt: skip


def test_what_was_trained_on_is_found_with_its_knobs(run, tmp_path):
    trained = run("train", "titanic", "-m", "erm", "--epochs", "1", "--out", tmp_path / "fit", "-q")
    assert trained.code == 0, trained.err
    ran = run(
        "shift", tmp_path / "fit", "--shift", "group-share:female", "--severities", "0.5", *FEW, "--json", "-"
    )
    assert ran.code == 0, ran.err
    facts = json.loads((tmp_path / "fit" / "fit.json").read_text())["task"]
    assert ran.json["n"] == facts["rows"]["test"]
    assert ran.json["shift"]["asked"] == "group-share:female"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--severities", "0,x"), "are not numbers"),
        (("--severities", "nan"), "severity nan"),
        (("--shift", "gausian"), "did you mean 'gaussian'"),
        (("--shift", "jpeg"), "is for images"),
        (("--metric", "tpr.gp"), "did you mean tpr.gap"),
        (("--part", "tset"), "no part 'tset'"),
        (("--data", "titanik"), "titanic"),
        (("--data-set", "validation=0.5"), ""),
    ],
)
def test_what_is_wrong_is_said_in_one_line(run, saved, given, said):
    ran = run("shift", saved, *FEW, *given)
    assert ran.code == (2 if said else 0)
    assert said in ran.err
    assert ran.err.count("\n") == (1 if said else 0)


def test_a_folder_without_a_fit_is_refused(run, tmp_path):
    ran = run("shift", tmp_path)
    assert (ran.code, "no saved fit" in ran.err) == (2, True)


def test_a_fit_of_ones_own_data_says_what_to_do(run, tmp_path):
    table = {"age": [20, 30, 40, 50] * 9, "sex": ["f", "m"] * 18, "hired": ["no", "no", "yes", "yes"] * 9}
    task = evenhand.Task.from_table(table, "hired", ["sex"])
    evenhand.fit("mlp", "erm", task, epochs=1, batch_size=12, device="cpu").save(tmp_path / "own")
    ran = run("shift", tmp_path / "own")
    assert (ran.code, "audit_under_shift(fitted, task)" in ran.err) == (2, True)


def test_the_bar_is_silent_where_nobody_looks(capsys):
    with progress() as tell:
        for done, _ in pairwise((0.0, 0.5, 1.0)):
            tell(done, "severity 1 [draw]")
    assert capsys.readouterr().err == ""


def test_the_bar_shows_what_is_done(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    with progress() as tell:
        tell(0.5, "severity 1, [draw] 2")
    assert "severity 1, [draw] 2" in capsys.readouterr().err
