"""`evenhand train`: from a name to an audit, what it writes, what it refuses, how it goes on."""

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

import evenhand
from evenhand.cli.live import Board, facts, training
from evenhand.cli.stopping import between_steps
from evenhand.train.progress import Progress

SOURCE = Path(__file__).parents[2] / "src"
QUICK = ("titanic", "--epochs", "2", "--seeds", "2")


def at(done, **numbers):
    return Progress("train", int(10 * done), 10, 5, 20, done, 1234.0, numbers)


def test_training_ends_in_an_audit_over_seeds_and_rows(run, tmp_path):
    out, page = tmp_path / "fit", tmp_path / "report.html"
    ran = run(
        "train",
        *QUICK,
        "-m",
        "gdro",
        "--set",
        "eta=0.1",
        "--out",
        out,
        "--json",
        tmp_path / "a.json",
        "--html",
        page,
    )
    assert ran.code == 0, ran.err
    for words in ("Audit of titanic, gdro", "2 runs", "over runs", "accuracy 0.", "over 2 seeds", "saved to"):
        assert words in ran.out
    body = json.loads((tmp_path / "a.json").read_text())
    assert body["fit"]["method"] == {
        "key": "gdro",
        "fields": {"eta": 0.1, "adjustment": 0.0, "by": "label-group", "balanced": True},
    }
    assert body["fit"]["net"]["name"] == "s4-mlp"
    assert body["fit"]["recipe"]["weight_decay"] == 1e-5
    assert body["fit"]["task"]["rows"] == {"train": 942, "validation": 105, "test": 262}
    assert body["metrics"]["tpr.gap"]["runs"]["n"] == 2
    assert page.read_text().startswith("<!doctype html>")
    written = {path.name for path in out.iterdir()}
    assert written >= {"fit.json", "parameters.npz", "history.json", "predictions.csv.gz", "audit.json"}
    assert evenhand.Fitted.load(out).seeds == (0, 1)


def test_a_log_is_told_where_it_stands(run):
    ran = run("train", *QUICK, "--epochs", "5", "-m", "erm")
    lines = ran.err.splitlines()
    assert lines[0] == (
        "titanic by sex: 942 rows to train, 105 to validate, 262 to test; s4-mlp, 5 epochs; erm with 2 seeds"
    )
    assert len(lines) == 1 + 5  # every fifth of the work here
    for words in ("erm: 100%", "epoch 5/5", "steps/s", "loss 0.", "accuracy 0.", "tpr.gap 0."):
        assert words in lines[-1]
    assert run("train", *QUICK, "-m", "erm", "--quiet").err == ""


def test_the_same_command_goes_on_where_it_was(run, tmp_path):
    command = ("train", *QUICK, "-m", "erm", "--out", tmp_path, "--json", "-")
    first, again = run(*command), run(*command)
    assert again.code == 0, again.err
    assert "100%" not in again.err  # nothing was left to train
    assert again.json["metrics"]["tpr.gap"]["runs"] == first.json["metrics"]["tpr.gap"]["runs"]
    other = run("train", *QUICK, "-m", "erm", "--rate", "0.01", "--out", tmp_path)
    assert other.code == 2
    assert "other runs" in other.err


def test_predictions_can_be_audited_by_themselves(run, tmp_path):
    run("train", *QUICK, "-m", "erm", "--out", tmp_path / "o", "--json", tmp_path / "a.json", "-q")
    columns = ("--label", "label", "--prediction", "prediction", "--group", "sex", "--run", "run")
    found = run(
        "audit", tmp_path / "o" / "predictions.csv.gz", *columns, "--positive", "survived", "--json", "-"
    )
    trained = json.loads((tmp_path / "a.json").read_text())["metrics"]["tpr.gap"]
    assert found.json["metrics"]["tpr.gap"]["runs"]["values"] == pytest.approx(trained["runs"]["values"])


def test_several_methods_are_weighed_against_each_other(run, tmp_path):
    methods = ("-m", "erm", "-m", "gdro", "-m", "gap", "--set", "gap.target=odds", "--set", "eta=0.5")
    ran = run("train", *QUICK, *methods, "--out", tmp_path / "o", "--json", tmp_path / "t.json")
    assert ran.code == 0, ran.err
    assert "Trade-off on titanic by sex" in ran.out
    body = json.loads((tmp_path / "t.json").read_text())
    fields = {method["name"]: method["method"]["fields"] for method in body["methods"]}
    assert fields["gap"]["target"] == "odds"
    assert fields["gdro"]["eta"] == 0.5
    assert {path.name for path in (tmp_path / "o").iterdir()} == {"erm", "gdro", "gap"}


def test_choices_reach_where_they_belong(run):
    ran = run(
        "train", "titanic", "-m", "erm", "--epochs", "1", "--net", "mlp", "--net-set", "widths=8,4",
        "--net-set", "activation=tanh", "--data-set", "seed=3", "--data-set", "validation=0",
        "--protect", "sex,pclass", "--optimizer", "sgd", "--batch-size", "32", "--recipe", "clip=5",
        "--recipe", "share_batches=yes", "--json", "-",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    fit = ran.json["fit"]
    assert dict(fit["net"]["options"]) == {"widths": [8, 4], "activation": "tanh"}
    assert fit["task"]["card"]["knobs"]["seed"] == 3
    assert "validation" not in fit["task"]["rows"]
    assert ran.json["grouping"] == ["sex", "pclass"]
    assert (fit["recipe"]["clip"], fit["recipe"]["share_batches"], fit["recipe"]["optimizer"]) == (
        5.0,
        True,
        "sgd",
    )


WRONG = {
    "titanik -m erm": "did you mean 'titanic'?",
    "titanic -m grdo": "did you mean 'gdro'",
    "titanic -m gdro --set etta=1": "did you mean 'eta'?",
    "titanic -m gdro --set eta=x": "--set eta takes a number, not 'x'",
    "titanic -m gdro --set eta": "NAME=VALUE",
    "titanic -m gdro --set eta=1 --set eta=2": "given twice",
    "titanic -m gdro --set eta=-1": "at least 0",
    "titanic -m erm -m gdro --set lam=3": "none of erm, gdro",
    "titanic -m erm --protect sexx": "did you mean 'sex'?",
    "titanic -m erm --net mpl": "did you mean 'mlp'?",
    "titanic -m erm --net mlp --net-set width=3": "did you mean 'widths'?",
    "titanic -m erm --net resnet18": "reads images",
    "titanic -m erm --optimizer adan": "did you mean 'adam'?",
    "titanic -m erm --recipe weigth_decay=1": "did you mean 'weight_decay'",
    "titanic -m erm --epochs 2 --recipe epochs=3": "give one of them",
    "titanic -m erm --epochs 0": "at least 1",
    "titanic -m erm --data-set sed=1": "did you mean 'seed'?",
    "titanic -m erm --watch tpr.gp": "did you mean tpr.gap",
    "titanic -m erm --watch tpr.gap --data-set validation=0": "needs validation rows",
    "titanic -m erm --device tpu9": "auto, cpu, cuda",
    "titanic": "--method",
    "synthetic -m gdro --data-set scarcity=0.99999": "needs the groups of training rows",
}


@pytest.mark.parametrize("arguments", WRONG, ids=str)
def test_what_is_wrong_is_told_in_a_sentence(run, arguments):
    ran = run("train", *arguments.split())
    assert ran.code == 2, ran.err
    assert WRONG[arguments] in ran.err
    assert ran.err.count("\n") == 1


def test_a_folder_that_is_a_file_is_refused(run, tmp_path):
    (tmp_path / "x").touch()
    assert "is a file; name a folder" in run("train", *QUICK, "-m", "erm", "--out", tmp_path / "x").err


def test_ctrl_c_says_how_to_go_on(run, tmp_path, monkeypatch):
    def interrupted(*_, folder=None, **__):
        if folder is not None and folder.name == "kept":
            folder.mkdir()
            (folder / "checkpoint-0000-0001.npz").touch()
        raise KeyboardInterrupt

    monkeypatch.setattr("evenhand.api.fit", interrupted)
    for out, words in (
        (None, "`evenhand train` with --out DIR keeps checkpoints"),
        (tmp_path / "early", "before the first checkpoint"),
        (tmp_path / "kept", f"is in {tmp_path / 'kept'}: the same command goes on from there"),
    ):
        ran = run("train", *QUICK, "-m", "erm", *(("--out", out) if out else ()))
        assert ran.code == 130
        assert words in ran.err


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_waits_for_the_step_to_end():
    seen, before = [], signal.getsignal(signal.SIGINT)

    def step(presses):
        with between_steps() as wrap:
            for _ in range(presses):
                os.kill(os.getpid(), signal.SIGINT)
            seen.append("step ended")
            wrap(seen.append)("told")
            seen.append("next step")

    with pytest.raises(KeyboardInterrupt):
        step(presses=1)
    assert seen == ["step ended", "told"]
    with pytest.raises(KeyboardInterrupt):
        step(presses=2)  # who presses twice does not wait
    assert len(seen) == 2
    assert signal.getsignal(signal.SIGINT) is before


def test_lines_on_a_terminal_fit_and_hold_what_matters():
    told = facts(at(0.43, train=0.33, error=0.15, **{"tpr.gap": 0.09}), 12.0, "tpr.gap")
    board = Board({"erm": (0.43, told), "w-sqrt-erm": (0.0, [("starting", 0)])})
    for width in (40, 60, 110):
        out = io.StringIO()
        Console(file=out, width=width).print(board)
        lines = out.getvalue().splitlines()
        assert len(lines) == 2
        assert max(map(len, lines)) <= width
        assert "43%" in lines[0]
    for words in (
        "epoch 5/10",
        "1,234 steps/s",
        "12 s left",
        "loss 0.330",
        "accuracy 0.850",
        "tpr.gap 0.090",
    ):
        assert words in lines[0]


def test_a_phase_has_its_name_and_a_terminal_its_board(monkeypatch):
    assert facts(Progress("identify", 0, 1, 1, 5, 0.1, 0.0), None, None) == [
        ("10%", 0),
        ("identify, epoch 1/1", 3),
    ]
    screen = io.StringIO()
    screen.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with training() as start:
        start("erm", None)(at(0.5, train=0.4))
    assert "loss 0.400" in screen.getvalue()


@pytest.mark.parametrize("methods", [("gdro",), ("erm", "gdro")])
def test_it_runs_on_a_machine_without_tables_and_templates(tmp_path, methods):
    absent = ("polars", "jinja2", "markupsafe", "pandas", "PIL", "torchvision")
    code = f"import sys; sys.modules.update(dict.fromkeys({absent})); from evenhand.cli import main; main()"
    chosen = [part for method in methods for part in ("-m", method)]
    done = subprocess.run(
        [sys.executable, "-c", code, "train", "titanic", *chosen, "--epochs", "1", "--out", str(tmp_path)],
        capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(SOURCE)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ("Audit of titanic" if len(methods) == 1 else "Trade-off on titanic") in done.stdout
