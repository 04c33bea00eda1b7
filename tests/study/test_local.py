"""Worker processes that do not come up, are slow to, or die: what the driver makes of it."""

import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.errors import InputError
from evenhand.study.backends import process
from evenhand.study.backends.base import Began, Ended, Job, Made
from evenhand.study.backends.local import LocalBackend
from evenhand.study.backends.toy_work import toy_bucket

BUCKET = replace(toy_bucket("b", 3), stack=3)


@pytest.fixture(autouse=True)
def tests_are_found(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def a_program(tmp_path, text):
    file = tmp_path / "python"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


def test_workers_that_cannot_start_end_the_study_with_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, f"echo x >> {tmp_path}/starts; exit 3"))
    with pytest.raises(InputError, match=r"cannot be started here \(exit code 3\)"):
        LocalBackend(1).run([BUCKET], Job(str(tmp_path), retries=2), lambda message: None, lambda: False)
    assert (tmp_path / "starts").read_text().count(
        "x"
    ) == 3  # one that is killed while it starts is no reason


def test_work_that_cannot_be_imported_fails_no_run(tmp_path, capfd):
    heard = []
    with pytest.raises(InputError, match="cannot be started here"):
        LocalBackend(1).run([BUCKET], Job(str(tmp_path), work="no_such.module:work", retries=0), heard.append,
                            lambda: False)  # fmt: skip
    assert heard == []
    assert "No module named 'no_such'" in capfd.readouterr().err


def test_stopping_does_not_wait_for_workers_that_are_starting(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, "exec sleep 60"))
    began = time.monotonic()
    LocalBackend(2).run([BUCKET, replace(BUCKET, id="c")], Job(str(tmp_path)), lambda message: None,
                        lambda: time.monotonic() > began + 0.2)  # fmt: skip
    assert time.monotonic() - began < 5.0


def test_ctrl_c_for_the_whole_group_leaves_a_starting_worker_alone(tmp_path, monkeypatch):
    started = a_program(tmp_path, f'kill -INT $$; kill -TERM $$; exec {sys.executable} "$@"')
    monkeypatch.setattr(sys, "executable", started)
    heard = []
    job = Job(str(tmp_path), work="evenhand.study.backends.toy_work:works", retries=0)
    LocalBackend(1).run([BUCKET], job, heard.append, lambda: False)
    assert heard[-1] == Ended("b")


def test_a_worker_that_never_comes_up_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, "exec sleep 60"))
    monkeypatch.setattr(process, "TO_START", 0.1)
    with pytest.raises(InputError, match=r"cannot be started here \(signal 9\)"):
        LocalBackend(1).run([BUCKET], Job(str(tmp_path), retries=0), lambda message: None, lambda: False)


def test_workers_come_up_side_by_side(tmp_path, monkeypatch):
    starts = []
    monkeypatch.setattr(sys, "executable", a_program(tmp_path, "exec sleep 60"))
    monkeypatch.setattr(
        "evenhand.study.backends.local.start",
        lambda device, work: starts.append(device) or process.start(device, work),
    )
    buckets = [replace(BUCKET, id=str(number)) for number in range(3)]
    asked = iter([False, False])
    LocalBackend(4, ["one", "two"]).run(
        buckets, Job(str(tmp_path)), lambda message: None, lambda: next(asked, True)
    )
    assert starts == ["one", "two", "one"]  # no more than there are buckets


def test_a_bucket_that_kills_workers_is_at_last_made_run_by_run(tmp_path):
    heard = []
    job = Job(str(tmp_path), work="tests.study.deadly_work:dies_stacked", retries=2)
    LocalBackend(1).run([BUCKET], job, heard.append, lambda: False)
    assert [message.attempt for message in heard if isinstance(message, Began)] == [1, 2, 3]
    assert [message.record.id for message in heard if isinstance(message, Made)] == [
        run.id for run in BUCKET.runs
    ]
    assert [message.reason for message in heard if isinstance(message, Ended)] == [None]
