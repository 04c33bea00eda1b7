"""Whole studies through the command line: trained, stopped, gone on with, compared, added to, exported."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import InputError
from evenhand.study.store import Store

SOURCE = Path(__file__).parents[2] / "src"
ABSENT = ("polars", "jinja2", "markupsafe", "pandas", "pyarrow", "PIL", "torchvision")
CPU = ("--device", "cpu", "--workers", "1")
TINY = """
name = "tiny"
seeds = 3
recipe = { epochs = 60, batch_size = 64 }
[[task]]
data = "titanic"
validation = 0.2
[[grouping]]
attributes = ["sex"]
[[net]]
net = "mlp"
widths = [8]
[[method]]
key = "erm"
[[method]]
key = "gdro"
[report]
metrics = ["tpr.gap", "odds.max"]
"""
MINE = """
from dataclasses import dataclass
from typing import ClassVar
from evenhand.methods import Method
from evenhand.methods.terms import row_losses
from evenhand.records import Needs, Out

@dataclass(frozen=True)
class Mine(Method):
    key: ClassVar[str] = "mine"
    needs: ClassVar[Needs] = Needs()

    def loss(self, nets, batch, state):
        logits, _ = nets["model"](batch.x)
        return Out({"model": row_losses(logits, batch.y).mean()}, state)
"""


@pytest.fixture
def bare(tmp_path):
    """The environment of a machine on which nothing but the trainer is installed, for workers too."""
    folder = tmp_path / "absent"
    folder.mkdir()
    for name in ABSENT:
        (folder / f"{name}.py").write_text(
            f"raise ModuleNotFoundError('No module named {name}', name={name!r})"
        )
    return {**os.environ, "PYTHONPATH": f"{folder}:{SOURCE}", "OMP_NUM_THREADS": "1"}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The file of the study."""
    file = tmp_path_factory.mktemp("tiny") / "tiny.toml"
    file.write_text(TINY)
    return file


@pytest.fixture(scope="module")
def alone(tiny):
    """What the command left that nobody disturbed: folder, exit code, stdout."""
    found = CliRunner().invoke(app, ["study", "run", str(tiny), *CPU, "--out", str(tiny.parent / "alone")])
    return tiny.parent / "alone", found.exit_code, found.stdout


def start(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "evenhand.cli", "study", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
    )  # fmt: skip


def done_in(folder):
    """How many runs are finished; none before there is a store."""
    try:
        with Store.open(folder, readonly=True) as store:
            return store.counts_of_states()["done"]
    except InputError:
        return 0


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_stopped_study_goes_on_to_the_same_bits_on_a_bare_machine(run, tiny, alone, bare, tmp_path):
    folder, command = tmp_path / "stopped", ("run", tiny, *CPU, "--out")
    process = start(bare, *command, folder)
    deadline = time.monotonic() + 60
    while not done_in(folder) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "stopping; what is finished is kept, run the same command to go on" in err
    assert "the same command goes on" in err
    assert "Traceback" not in err
    assert 0 < done_in(folder) < 6

    again = start(bare, *command, folder)
    out, err = again.communicate(timeout=60)
    assert again.returncode == 0, err
    assert "tiny: 100%, 6/6 runs" in err
    assert "is not installed here; 'evenhand study report" in out

    found = run("study", "diff", folder, alone[0], "--json")
    assert found.code == 0, found.out
    assert found.json["bits"]["counts_equal"] == found.json["bits"]["weights_equal"] == 6


def test_a_study_ends_with_its_leaders_and_its_page(alone):
    folder, code, out = alone
    assert code == 0
    assert f"report written to {folder / 'report.html'}" in out
    assert "Study tiny  6 of 6 runs" in out
    assert (folder / "report.html").read_text().startswith("<!doctype html>")


def test_a_method_of_one_s_own_joins_and_the_others_are_taken_over(run, tiny, alone, tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    assert run("study", "export", alone[0], tmp_path / "runs.parquet").code == 0
    more = ("--add", f"{tmp_path / 'mine.py'}:Mine", "--reuse", tmp_path / "runs.parquet", "--json")
    second = run("study", "run", tiny, *CPU, "--out", tmp_path / "second", *more)
    assert second.code == 0, second.err
    assert (second.json["planned"], second.json["done"], second.json["reused"]) == (9, 9, 6)
    assert {leader["method"] for leader in second.json["leaders"]} == {"erm", "gdro", "Mine"}

    found = run("study", "diff", alone[0], tmp_path / "second")
    assert found.code == 1
    assert "3 only in the second: Mine on titanic, seed 0" in " ".join(found.out.split())
    assert "counts of 6 of 6 runs" in found.out
    for form, begins in (("json", "{"), ("md", "# ")):
        text = run("study", "report", tmp_path / "second", "--format", form).out
        assert text.startswith(begins)
    assert json.loads(run("study", "report", tmp_path / "second", "--format", "json").out)["kind"] == "study"
    ran = run("study", "report", tmp_path / "second", "--out", tmp_path / "page")
    assert f"report written to {tmp_path / 'page' / 'report.html'}" in ran.out.replace("\n", "")
