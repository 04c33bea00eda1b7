"""Trainings that are interrupted, killed while they write, run twice at once, or have lost their terminal."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import evenhand
from evenhand.cli.app import app

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-m", "evenhand"]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="sends signals")

# writes a checkpoint after every step, and is killed while it writes the one with this number
TRAINING = """
import os, signal, sys, torch, evenhand
from evenhand.train import checkpoint, trainer
torch.set_num_threads(1)
usual, sync, written = trainer.Trainer.fit, os.fsync, [0]
trainer.Trainer.fit = lambda self, tell=None, file=None, _=60.0, *more: usual(self, tell, file, 0.0, *more)
def half(number):
    written[0] += 1
    if written[0] == int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    sync(number)
checkpoint.os.fsync = half
task = evenhand.load("synthetic", n_train=128, n_validation=40, n_test=40, d=6)
options = {"epochs": 3, "batch_size": 16, "rate": 0.01, "device": "cpu", "folder": sys.argv[1]}
evenhand.fit("mlp", "jtt", task, seeds=2, **options).save(sys.argv[1])
"""


@pytest.fixture(autouse=True)
def one_thread():
    """As the processes have, so that numbers are equal to the bit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def environment(**extra):
    return {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1", **extra}


def start(folder, killed_at=0):
    command = [sys.executable, "-c", TRAINING, str(folder), str(killed_at)]
    return subprocess.Popen(command, env=environment(), stderr=subprocess.PIPE, text=True)


def uninterrupted(folder=None):
    task = evenhand.load("synthetic", n_train=128, n_validation=40, n_test=40, d=6)
    options = {"epochs": 3, "batch_size": 16, "rate": 0.01, "device": "cpu", "folder": folder}
    return evenhand.fit("mlp", "jtt", task, seeds=2, **options).scores(task.x)


def test_a_kill_while_a_checkpoint_is_written(tmp_path):
    """The half of a file is not taken for one: the fit goes on from the checkpoint before it."""
    with start(tmp_path, killed_at=14) as process:
        process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL
    assert [path.name for path in tmp_path.glob("*.npz")] == ["checkpoint-0000-0001.npz"]
    assert np.array_equal(uninterrupted(tmp_path), uninterrupted())


def test_two_at_once_do_not_harm_each_other(tmp_path):
    processes = [start(tmp_path) for _ in range(2)]
    for process in processes:
        assert process.communicate(timeout=120)[1] == ""
        assert process.returncode == 0
    assert not list(tmp_path.glob(".*.part"))
    task = evenhand.load("synthetic", n_train=128, n_validation=40, n_test=40, d=6)
    assert np.array_equal(evenhand.Fitted.load(tmp_path).scores(task.x), uninterrupted())


COMMAND = ("train", "titanic", "-m", "gdro", "--seeds", "2", "--epochs", "60")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def interrupted(*arguments):
    """The program, after Ctrl-C as soon as a tenth of the work is done: exit code and the last line."""
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments)], env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        for line in process.stderr:
            if "gdro: 10%" in line:
                break
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[1]
    return process.returncode, said.splitlines()[-1]


def test_ctrl_c_and_the_same_command_end_as_if_nothing_had_been(tmp_path):
    out, whole = tmp_path / "out", tmp_path / "whole"
    code, said = interrupted(*COMMAND, "--out", out)
    assert code == 130
    assert f"is in {out}: the same command goes on from there" in said
    assert [path.name for path in out.iterdir()] == ["checkpoint-0000-0001.npz"]
    for folder in (out, whole):
        ran = run(*COMMAND, "--out", folder, "--json", folder.with_suffix(".json"))
        assert ran.exit_code == 0, ran.stderr
    one, other = (np.load(folder / "parameters.npz") for folder in (out, whole))
    assert all(np.array_equal(one[name], other[name]) for name in one.files if name != "facts.json")
    audits = [json.loads(folder.with_suffix(".json").read_text()) for folder in (out, whole)]
    assert audits[0]["metrics"] == audits[1]["metrics"]


QUICK = ("train", "titanic", "-m", "erm", "--epochs", "1")
PLACES = {
    "no streams at all": (">&- 2>&- <&-", ""),
    "a terminal without Unicode": ("", "Audit of titanic"),
}


@pytest.mark.parametrize(("redirected", "words"), PLACES.values(), ids=PLACES)
def test_streams_that_are_not_as_usual(tmp_path, redirected, words):
    out = tmp_path / "audit.json"
    command = f"{' '.join((*PROGRAM, *QUICK))} --json {out} {redirected}"
    plain = environment(LC_ALL="C", PYTHONIOENCODING="ascii", PYTHONWARNINGS="error")
    done = subprocess.run(
        ["bash", "-c", command], env=plain, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stdout[: len(words)]) == (0, words)
    assert "Traceback" not in done.stderr
    assert json.loads(out.read_text())["n"] == 262


def test_a_full_disk_says_which_file_and_keeps_what_was_there(tmp_path):
    """The last checkpoint stays; the same command goes on from it once there is room."""
    import resource

    (tmp_path / "notes.txt").write_text("mine")
    done = subprocess.run(
        [*PROGRAM, *QUICK, "--out", str(tmp_path)],
        env=environment(PYTHONDONTWRITEBYTECODE="1"), capture_output=True, text=True, check=False, timeout=60,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)),
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(
        f"error: the file {tmp_path / 'checkpoint-0000-0000.npz'} cannot"
    )
    assert os.listdir(tmp_path) == ["notes.txt"]
