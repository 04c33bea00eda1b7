"""`evenhand study run` and its kin: what reaches the driver, what is said, and the exit code."""

import io
import itertools
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from rich.console import Console

from evenhand.cli.study_init import example
from evenhand.cli.study_outline import number_of_runs, seeds_words
from evenhand.cli.study_stopping import once_or_twice
from evenhand.report.terminal_study import study_table
from evenhand.study.backends.base import Standing
from evenhand.study.conduct import Status
from evenhand.study.expand import expand
from evenhand.study.read import read_study
from evenhand.study.records import PlannedRun, RunSpec
from evenhand.study.store import Store

SOURCE = Path(__file__).parents[2] / "src"
NUMBERS = {"acc": {"mean": 0.85, "std": 0.01}, "tpr.gap": {"mean": 0.11, "std": 0.02}}
BODY = {
    "kind": "study", "name": "mine", "accuracy": "acc", "base": "erm", "metrics": [{"key": "tpr.gap"}],
    "state": {"planned": 8, "done": 7, "failed": 1, "failures": [{"reason": "the loss is NaN", "runs": 1}]},
    "selection": {"part": "validation", "oracle": False}, "notes": [],
    "problems": [{
        "task": "titanic", "grouping": "sex", "net": "mlp",
        "methods": [
            {"method": "gdro", "label": "eta=0.1", "n": 4, "numbers": NUMBERS,
             "against": {"acc": {"verdict": "no difference shown"}, "tpr.gap": {"verdict": "lower"}}},
            {"method": "erm", "label": "", "n": 3, "numbers": {**NUMBERS, "acc": {"mean": None, "std": None}},
             "against": None},
        ],
    }],
    "leaders": [{"method": "gdro", "numbers": {"acc": {"mean": 0.85, "mean_rank": 1.0}}},
                {"method": "erm", "numbers": {"acc": {"mean": 0.84, "mean_rank": 2.0}}}],
}  # fmt: skip


@pytest.fixture
def mine(tmp_path, run):
    """The example study, in a file of one's own."""
    assert run("study", "init", tmp_path / "mine.toml").code == 0
    return tmp_path / "mine.toml"


@pytest.fixture
def driver(monkeypatch):
    """A driver that trains nothing: it remembers what it was given and ends as it is told."""

    class Driver:
        status = Status(planned=8, done=8)
        study = options = None

        def run_study(self, study, options, tell=None, stop=None):
            self.study, self.options = study, options
            Store.open(options.out, create=True).close()
            tell(Status(planned=8, done=2, running=4, standings={"b": Standing("b", 0.5, 100.0, "erm")}))
            if isinstance(self.status, BaseException):
                raise self.status
            return self.status() if callable(self.status) else self.status

    made = Driver()
    monkeypatch.setattr("evenhand.study.driver.run_study", made.run_study)
    return made


@pytest.fixture
def reported(monkeypatch):
    """A summary and a page that cost nothing."""
    written = []

    def write(body, folder, png=False):
        (folder / "report.html").write_text("<!doctype html>")
        written.append((body, folder, png))
        return [folder / "report.html"]

    monkeypatch.setattr("evenhand.evaluation.study.summary.summarise", lambda store, **_: BODY)
    monkeypatch.setattr("evenhand.report.study_files.write_study_report", write)
    return written


def test_everything_given_reaches_the_driver(run, driver, reported, mine, tmp_path):
    ran = run(
        "study", "run", mine, "--out", tmp_path / "o", "--backend", "ray", "--address", "h:1",
        "--device", "cpu", "--workers", "3", "--limit", "5", "--smoke", "--add", "a.py:A",
        "--add", "b.py:B", "--reuse", "r.csv", "--retry-failed", "--keep-weights", "--keep-predictions",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    given = vars(driver.options)
    assert given | {
        "out": tmp_path / "o", "backend": "ray", "address": "h:1", "device": "cpu", "workers": 3, "limit": 5,
        "smoke": True, "add": ("a.py:A", "b.py:B"), "reuse": "r.csv", "retry_failed": True,
        "keep_weights": True, "keep_predictions": True,
    } == given  # fmt: skip
    assert driver.study.name == "mine"
    assert reported[0][1:] == (tmp_path / "o", False)


def test_the_folder_is_named_after_the_study(run, driver, reported, mine, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for more, folder in (([], "runs/mine"), (["--smoke"], "runs/mine-smoke")):
        ran = run("study", "run", mine, *more)
        assert (ran.code, str(driver.options.out)) == (0, folder)
        assert f"report written to {folder}/report.html" in ran.out
        assert ran.err.startswith("mine: 25%, 2/8 runs\n")


def test_failures_are_told_and_end_with_1(run, driver, reported, mine, tmp_path):
    driver.status = Status(planned=8, done=6, failed=2, failures={"out of memory": 1, "the loss is NaN": 1})
    ran = run("study", "run", mine, "--out", tmp_path / "o")
    assert ran.code == 1
    assert "2 of 8 runs failed: out of memory (1), the loss is NaN (1); --retry-failed tries them" in ran.err
    assert "Study mine" in ran.out  # the rest was done, and is shown


def test_what_is_left_is_told(run, driver, reported, mine, tmp_path):
    driver.status = Status(planned=8, done=3, waiting=5)
    ran = run("study", "run", mine, "--out", tmp_path / "o", "--limit", "3")
    assert ran.code == 0
    assert "5 of 8 runs are left; the same command goes on" in ran.out


def test_json_and_quiet(run, driver, reported, mine, tmp_path):
    found = run("study", "run", mine, "--out", tmp_path / "o", "--json").json
    assert (found["done"], found["finished"], found["failures"]) == (8, True, {})
    assert found["report"] == str(tmp_path / "o" / "report.html")
    assert [leader["method"] for leader in found["leaders"]] == ["gdro", "erm"]
    quiet = run("study", "run", mine, "--out", tmp_path / "o", "--quiet")
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    bare = run("study", "run", mine, "--out", tmp_path / "o", "--no-report", "--json").json
    assert bare["report"] is bare["leaders"] is None
    assert len(reported) == 2


@pytest.mark.parametrize("missing", ["evenhand.report.study_files", "evenhand.evaluation.study.summary"])
def test_a_machine_without_templates_says_how_to_get_the_page(run, driver, reported, mine, tmp_path, missing):
    def absent(*_, **__):
        raise ModuleNotFoundError("No module named 'jinja2'", name="jinja2")

    function = "write_study_report" if missing.endswith("files") else "summarise"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(f"{missing}.{function}", absent)
        ran = run("study", "run", mine, "--out", tmp_path / "o")
    assert ran.code == 0, ran.err
    assert f"jinja2 is not installed here; 'evenhand study report {tmp_path / 'o'}' writes it" in ran.out


def test_ctrl_c_once_keeps_what_is_finished(run, driver, reported, mine, tmp_path):
    def press():
        os.kill(os.getpid(), signal.SIGINT)
        return Status(planned=8, done=3, waiting=5, stopped=True)

    driver.status = press
    ran = run("study", "run", mine, "--out", tmp_path / "o")
    assert ran.code == 130
    assert (
        f"stopped; 3 of 8 runs are finished and kept in {tmp_path / 'o'}; the same command goes on" in ran.err
    )
    assert reported == []


def test_ctrl_c_twice_ends_at_once(run, driver, mine, tmp_path):
    def press():
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("the second one did not wait")

    driver.status = press
    ran = run("study", "run", mine, "--out", tmp_path / "o")
    assert ran.code == 130
    assert "stopped at once" in ran.err


def test_signals_are_given_back(capsys):
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with once_or_twice() as stop:
        assert not stop()
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop()
        assert stop()
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
    assert capsys.readouterr().err.count("run the same command to go on") == 1
    assert stop.signal == signal.SIGTERM


WRONG = {
    "run first-lok": "did you mean 'first-look'",
    "run mein.toml": "did you mean",
    "run mine.toml --backend slurm": "is not one of",
    "run mine.toml --address h:1": "say --backend ray with it",
    "run mine.toml --out mine.toml": "is a file; name a folder",
    "run mine.toml --workers 0": "--workers",
    "run mine.toml --add mine.py": "FILE.py:CLASS",
    "run .": "is a folder; a study is a TOML file",
    "show first-lok": "did you mean 'first-look'",
    "init mine.toml": "is already there",
    "init other.txt": "name it other.toml",
    "init no/other.toml": "there is no folder no",
    "export x runs.txt": "neither .parquet nor .csv",
    "export x": "one of the two",
    "export x runs.csv --experiment e": "say --mlflow URI",
    "rn": "no such command",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_what_is_wrong_is_told_in_a_sentence(run, mine, monkeypatch, arguments):
    monkeypatch.chdir(mine.parent)
    ran = run("study", *arguments.split())
    assert ran.code == 2, ran.err
    assert WRONG[arguments] in ran.err.lower() or WRONG[arguments] in ran.err
    assert ran.err.count("\n") == 1
    assert not (mine.parent / "runs").exists()  # nothing is made for what cannot run


def test_every_mistake_of_a_file_has_its_line(run, mine):
    mine.write_text(
        mine.read_text().replace('key = "gdro"', 'key = "grdo"').replace("epochs = 10", "epoch = 10")
    )
    ran = run("study", "run", mine)
    assert ran.code == 2
    assert len(ran.err.splitlines()) >= 2
    assert all(line.startswith(f"error: {mine}:") for line in ran.err.splitlines())
    assert "'gdro'" in ran.err
    assert "'epochs'" in ran.err


def test_every_mistake_that_only_the_data_tells_has_its_line(run, mine, tmp_path):
    shifts = '\n[[shift]]\nkind = "blur"\n\n[[shift]]\nkind = "jpeg"\n'
    mine.write_text(mine.read_text() + shifts)
    ran = run("study", "run", mine, "--out", tmp_path / "out")
    assert ran.code == 2
    lines = ran.err.splitlines()
    assert [line.startswith(f"error: {mine}:") for line in lines] == [True] * len(lines)
    assert "'blur' is for images" in lines[0]
    assert "'jpeg' is for images" in lines[-1]
    assert not any("blur" in line and "jpeg' is for" in line for line in lines)


def test_the_example_is_a_study(mine):
    study = read_study(mine)
    assert study.name == "mine"
    assert number_of_runs(study) == 2 * (3 + 3 + 3 + 3) * 8
    assert tomllib.loads(example(mine))["name"] == "mine"


@pytest.mark.parametrize("small", [False, True])
def test_runs_are_counted_as_they_are_made(mine, small):
    for study in (read_study(mine), read_study("first-look")):
        chosen = study.smoke if small else study
        assert number_of_runs(chosen) == len(expand(chosen))


def test_models_that_are_the_same_in_small_are_counted_once():
    """One of the zoo differs from another in epochs alone, and in small all have one epoch."""
    study = read_study("model-selection")
    assert (number_of_runs(study), number_of_runs(study.smoke)) == (60, 22)
    assert len(expand(study.smoke)) == 22
    assert "welve" not in study.title


def test_the_outline_tells_what_will_run(run, mine):
    ran = run("study", "show", mine)
    assert ran.code == 0, ran.err
    for words in (
        "titanic; validation = 0.2; 96 runs", "gdro; eta = one of 0.01, 0.1, 1.0; 3 settings", "8: 0 to 7",
        "gap; lam = drawn from 0.1 to 10, log; 3 settings", "192 in all",
        "best-mean by odds.max on validation",
    ):  # fmt: skip
        assert words in ran.out
    assert run("study", "show", mine, "--smoke", "--json").json["runs"] == 2 * (2 + 2 + 2 + 2) * 2
    assert seeds_words(()) == "0: "


def test_the_listing_has_every_study(run):
    rows = {row["name"]: row for row in run("study", "list", "--json").json}
    assert rows["first-look"]["needs"] == []
    assert rows["first-look"]["runs"] > rows["first-look"]["smoke"] > 0
    assert rows["fixed-seed-replay"]["kind"] == "replay"
    assert rows["fixed-seed-replay"]["needs"]
    assert rows["ci-mnist"]["needs"] == ["mnist in full"]  # a knob asks for what the package has a part of
    assert rows["hair-colour-celeba"]["needs"] == ["celeba"]
    assert rows["ci-mnist-small"]["needs"] == rows["hair-colour"]["needs"] == []
    out = run("study", "list").out
    assert all(name in out for name in rows)


@pytest.mark.parametrize(("option", "value"), [("--add", "mine.py:Mine"), ("--reuse", "runs.parquet")])
def test_a_replay_trains_nothing_and_says_so(run, tmp_path, option, value):
    ran = run("study", "run", "fixed-seed-replay", "--out", tmp_path / "r", option, value)
    assert ran.code == 2
    assert f"{option} is of no use here: 'fixed-seed-replay' reads published runs" in ran.err


def test_a_study_whose_runs_all_failed_says_so_once():
    failures = [{"reason": "the loss is NaN", "runs": 8, "examples": []}]
    state = {"planned": 8, "done": 0, "failed": 8, "waiting": 0, "finished": True, "failures": failures}
    notes = [
        "8 of 8 runs failed and take no part; their reasons are listed",
        "adult has nothing to report yet",
    ]
    out = io.StringIO()
    Console(file=out, width=100).print(study_table({**BODY, "problems": [], "state": state, "notes": notes}))
    assert "every run failed: there are no numbers" in out.getvalue()
    assert out.getvalue().count("NaN") == 1
    assert "take no part" not in out.getvalue()


def test_notes_that_the_terminal_leaves_out_are_counted():
    for n, end in ((2, None), (3, "and 1 more note in the report"), (4, "and 2 more notes in the report")):
        out = io.StringIO()
        body = {**BODY, "notes": [f"note {k}" for k in range(n)]}
        Console(file=out, width=100).print(study_table(body))
        assert "note 1" in out.getvalue()  # the failed run of the body is the first of the three
        assert end in out.getvalue() if end else "more note" not in out.getvalue()


def test_where_settings_were_chosen_is_told_only_where_there_was_a_choice():
    chosen = {"best-mean": "settings chosen on", "best-per-metric": "settings chosen for each metric on"}
    for settings, (rule, told) in itertools.product((1, 3), chosen.items()):
        selection = {"part": "validation", "rule": rule, "oracle": False}
        body = {
            **BODY,
            "selection": selection,
            "budget": {"methods": [{"method": "a", "settings": settings}]},
        }
        out = io.StringIO()
        Console(file=out, width=110).print(study_table(body))
        assert (f"{told} validation" in out.getvalue()) == (settings > 1)


@pytest.mark.parametrize("width", [40, 60, 110])
@pytest.mark.parametrize("problems", [0, 1, 3])
def test_the_leaders_fit_any_terminal(width, problems):
    out = io.StringIO()
    Console(file=out, width=width).print(study_table({**BODY, "problems": BODY["problems"] * problems}))
    text = out.getvalue()
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    assert "7 of 8 runs" in text
    assert "1 run failed: the loss is NaN" in " ".join(text.split())
    if problems == 1 and width == 110:
        assert "0.110 ± 0.020*" in text
        assert "–" in text
    if problems == 3:
        assert "0.850 (1.000)" in text or "0.850 (1.0)" in text


def start(*arguments, code="from evenhand.cli import main; main()", **more):
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}, **more,
    )  # fmt: skip


def test_help_is_quick_and_imports_nothing_heavy():
    code = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
    seconds = []
    for _ in range(3):
        began = os.times()
        out, err = start(
            "study", "run", "--help", code=f"{code}from evenhand.cli import main; main()"
        ).communicate()
        ended = os.times()  # of the processor: others may be using the machine
        seconds.append(
            ended.children_user - began.children_user + ended.children_system - began.children_system
        )
    assert "--retry-failed" in out
    loaded = {name.split(".")[0] for name in err.split()}
    assert not loaded & {"torch", "polars", "numpy", "scipy", "jinja2", "pandas"}
    assert min(seconds) < 1.0


def test_a_folder_of_another_study_is_not_mixed(run, driver, mine, tmp_path):
    spec = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, 0)
    with Store.open(tmp_path / "o", create=True) as store:
        store.add_study({"name": "other"}, "0")
        store.add_runs([PlannedRun("a", spec, "adult", "sex", "mlp", "erm", {}, "00")])
    ran = run("study", "run", mine, "--out", tmp_path / "o")
    assert ran.code == 2
    assert "holds the study 'other'; give 'mine' a folder of its own" in ran.err
    assert driver.options is None


@pytest.mark.parametrize(("held", "code"), [({}, 2), (None, 0)])
def test_a_small_form_leaves_the_folder_of_the_whole_study_alone(run, driver, mine, tmp_path, held, code):
    spec = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, 0)
    with Store.open(tmp_path / "o", create=True) as store:
        store.add_study({"name": "mine", "smoke": held}, "0")  # a small form has none itself
        store.add_runs([PlannedRun("a", spec, "adult", "sex", "mlp", "erm", {}, "00")])
    ran = run("study", "run", mine, "--smoke", "--out", tmp_path / "o")
    assert ran.code == code
    assert ("holds the whole study 'mine'" in ran.err) == bool(code)
    assert (driver.options is None) == bool(code)


@pytest.mark.skipif(not os.environ.get("EVENHAND_DATA"), reason="needs the published runs in EVENHAND_DATA")
def test_published_runs_are_replayed(run, tmp_path):
    if not (Path(os.environ["EVENHAND_DATA"]) / "fixed_seed_runs.parquet").is_file():
        pytest.skip("fixed_seed_runs.parquet is not in EVENHAND_DATA")
    ran = run("study", "run", "fixed-seed-replay", "--out", tmp_path / "r")
    assert ran.code == 0, ran.err
    assert "189 rows of variation, 154 rows of tests" in ran.out
    (tmp_path / "r" / "report.html").unlink()
    assert run("study", "report", tmp_path / "r").code == 0
    assert (tmp_path / "r" / "report.html").is_file()
    assert "holds a replay of published runs" in run("study", "status", tmp_path / "r").err
