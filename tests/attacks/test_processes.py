"""Whole processes under hostile conditions: warnings as errors, odd locales, full disks, sudden ends."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src"
PROGRAM = [sys.executable, "-m", "evenhand"]
COLUMNS = ("--label", "y", "--prediction", "p", "--group", "g", "--replicates", "20")


def environment(**extra):
    return {**os.environ, "PYTHONPATH": str(SOURCE), **extra}


def start(*arguments, limit=None, **extra):
    return subprocess.run(
        [*PROGRAM, *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(**extra),
        preexec_fn=limit,
    )


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("y,p,g,s\n" + "1,1,a,0.9\n0,1,b,0.6\n1,0,b,0.3\n0,0,a,0.1\n" * 10)
    return path


def test_no_warning_in_a_strict_interpreter(table, tmp_path):
    out = [f"--{kind}={tmp_path / f'out.{kind}'}" for kind in ("json", "html", "markdown")]
    strict = {"PYTHONWARNINGS": "error", "PYTHONDEVMODE": "1"}
    done = start("audit", table, *COLUMNS, "--score", "s", *out, **strict)
    assert (done.returncode, done.stderr) == (0, "")
    pair = ("compare", table, table, "--name", "a", "--name", "b", *COLUMNS)
    done = start(*pair, "--json", tmp_path / "pair.json", **strict)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    "place", [{"LC_ALL": "C", "TZ": "Pacific/Kiritimati"}, {"LC_ALL": "POSIX", "LANG": "tr_TR"}]
)
def test_locale_and_time_zone_change_no_number(table, place):
    here = json.loads(start("audit", table, *COLUMNS, "--json", "-").stdout)
    done = start("audit", table, *COLUMNS, "--json", "-", **place)
    there = json.loads(done.stdout)
    assert done.stderr == ""
    assert there["metrics"] == here["metrics"]
    assert there["method"]["created"].endswith("+00:00")


def full(size):
    """Files may not grow beyond this size, as on a full disk."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.skipif(os.name == "nt", reason="limits the size of files")
@pytest.mark.parametrize("kind", ["json", "html", "markdown"])
def test_a_full_disk_leaves_the_old_output(table, tmp_path, kind):
    folder = tmp_path / "out"
    folder.mkdir()
    out = folder / f"report.{kind}"
    out.write_text("what was there before")
    done = start(
        "audit", table, *COLUMNS, "-q", f"--{kind}", out, limit=full(2000), PYTHONDONTWRITEBYTECODE="1"
    )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr
    assert out.read_text() == "what was there before"
    assert os.listdir(folder) == [out.name]


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_sudden_end_leaves_no_half_of_an_output(table, tmp_path):
    """Killed while the text is on its way to the disk: the output is the old one or the new one, whole."""
    out = tmp_path / "report.json"
    out.write_text('{"old": true}')
    code = (
        "import os, signal, pathlib\n"
        "def half(self, text, **_):\n"
        "    with open(self, 'w') as file:\n"
        "        file.write(text[: len(text) // 2])\n"
        "        file.flush()\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
        "pathlib.Path.write_text = half\n"
        "from evenhand.cli import main; main()"
    )
    arguments = ["audit", str(table), *COLUMNS, "-q", "--json", str(out)]
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments], env=environment(), timeout=60, check=False
    )
    assert done.returncode == -signal.SIGKILL
    assert json.loads(out.read_text()) == {"old": True}


@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_a_kill_at_any_moment_leaves_whole_files(table, tmp_path):
    out = tmp_path / "report.json"
    for pause in (0.2, 0.5, 0.8, 1.1):
        with subprocess.Popen(
            [*PROGRAM, "audit", str(table), *COLUMNS, "-q", "--json", str(out)], env=environment()
        ) as process:
            time.sleep(pause)
            process.kill()
        if out.exists():
            assert json.loads(out.read_text())["n"] == 40


@pytest.mark.skipif(os.name == "nt", reason="makes a named pipe")
def test_an_output_that_is_a_pipe_is_written_into_and_not_replaced(table, tmp_path):
    """As /dev/stdout, /dev/null and a shell's >(command) are: a device must never become a file."""
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        done = start("audit", table, *COLUMNS, "-q", "--json", pipe)
        still = pipe.is_fifo()
        if not still or done.returncode:
            reader.kill()
        text = reader.stdout.read()
    assert still
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(text)["n"] == 40


def test_an_output_that_is_a_link_stays_one(table, tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("{}")
    link.symlink_to(real)
    done = start("audit", table, *COLUMNS, "-q", "--json", link)
    assert done.returncode == 0
    assert link.is_symlink()
    assert json.loads(real.read_text())["n"] == 40


def test_an_output_keeps_to_the_usual_permissions(table, tmp_path):
    out = tmp_path / "report.json"
    assert start("audit", table, *COLUMNS, "-q", "--json", out).returncode == 0
    mask = os.umask(0)
    os.umask(mask)
    assert out.stat().st_mode & 0o777 == 0o666 & ~mask


def test_little_memory_is_one_sentence(table):
    """Not enough memory for the libraries or the work: an exit code, never a hang."""
    small = 200 << 20

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (small, small))

    done = start(
        "audit", table, *COLUMNS, "-q", limit=limit, OPENBLAS_NUM_THREADS="1", POLARS_MAX_THREADS="1"
    )
    assert done.returncode != 0
