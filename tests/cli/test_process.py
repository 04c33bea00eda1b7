"""Real processes: start-up time, what is imported, streams and signals."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-m", "evenhand.cli"]


def environment(**extra):
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    }
    return {**kept, "PYTHONPATH": str(SOURCE), **extra}


def start(*arguments, **extra):
    done = subprocess.run(
        [*PROGRAM, *map(str, arguments)], capture_output=True, check=False, env=environment(**extra)
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.fixture
def arguments(table):
    return (
        "audit",
        table,
        "--label",
        "y",
        "--prediction",
        "p",
        "--group",
        "sex",
        "--group",
        "age",
        "--replicates",
        "20",
    )


def test_help_is_quick_and_imports_nothing_heavy():
    code = "import sys; sys.argv = ['evenhand', 'audit', '--help']; import atexit; "
    code += (
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); from evenhand.cli import main; main()"
    )
    seconds = []
    for _ in range(3):
        began = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment())
        seconds.append(time.perf_counter() - began)
    assert done.returncode == 0
    assert "--fail-if" in done.stdout
    loaded = {name.split(".")[0] for name in done.stderr.split()}
    assert not loaded & {"torch", "polars", "numpy", "scipy", "jinja2", "pandas"}
    assert min(seconds) < 1.0


def test_a_pipe_sees_plain_text_and_json(arguments):
    code, out, err = start(*arguments)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    code, out, _ = start(*arguments, "--json", "-")
    assert code == 0
    assert json.loads(out)["n"] == 400


def test_errors_of_a_real_process(tmp_path):
    code, out, err = start(
        "audit", tmp_path / "none.csv", "--label", "y", "--prediction", "p", "--group", "g"
    )
    assert (code, out) == (2, "")
    assert err.startswith("error: there is no file")
    assert err.count("\n") == 1


@pytest.mark.parametrize("width", [40, 60, 100])
def test_no_line_is_wider_than_the_terminal(arguments, width):
    code, out, _ = start(*arguments, COLUMNS=str(width))
    assert code == 0
    assert max(len(line.rstrip()) for line in out.splitlines()) <= width
    assert "tpr.gap" in out


def test_a_terminal_without_unicode(arguments):
    code, out, err = start(*arguments, PYTHONIOENCODING="ascii")
    assert (code, err) == (0, "")
    assert out.isascii()
    assert "f & old" in out


def test_a_closed_pipe_is_no_error(arguments):
    with subprocess.Popen(
        [*PROGRAM, *map(str, arguments), "--json", "-"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        process.stdout.close()
        err = process.stderr.read().decode()
        assert process.wait() == 141
    assert err == ""


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_ctrl_c_ends_quietly_with_130(tmp_path):
    code = (
        "import os, signal; from evenhand.cli import main; import evenhand.tables\n"
        # a run of the tests that was begun in the background ignores Ctrl-C, and so would this process
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "def interrupted(*_, **__): os.kill(os.getpid(), signal.SIGINT)\n"
        "evenhand.tables.read_cells = interrupted; main()"
    )
    arguments = ["audit", "x.csv", "--label", "y", "--prediction", "p", "--group", "g"]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment()
    )
    assert done.returncode == 130, done.stderr
    assert done.returncode == 128 + signal.SIGINT
    assert "Traceback" not in done.stderr
