"""Stores under attack: killed writers, full disks, folders that cannot be written, files of other kinds."""

import contextlib
import os
import random
import runpy
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.study import store_open, store_schema
from evenhand.study.export import export_runs
from evenhand.study.records import Bucket
from evenhand.study.store import Store, record_digest

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))
SOURCE = Path(__file__).parents[2] / "src"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(SOURCE), "OMP_NUM_THREADS": "1"}

# Forks a writer, kills it a random moment after it has told a few commits (every third while it still opens
# the file), then forks the next. A writer tells a commit when it has returned.
KILLING = """
import os, random, runpy, signal, sys, time
from pathlib import Path
import evenhand.train.checkpoint  # slow to import: once, and not in every writer
from evenhand.study.store import Store
make = runpy.run_path(sys.argv[2])
runs = make["planned"](400)
def write(tell):
    with Store.open(Path(sys.argv[1]), create=True) as store:
        store.add_study(make["STUDY"], "0.1.0")
        store.add_runs(runs)
        for run in store.waiting(retry_failed=True):
            store.commit(make["failed"](run))
            if store.commit(make["record"](run, scores=True)):
                os.write(tell, f"{run.id}\\n".encode())
chance = random.Random(int(sys.argv[3]))
for attempt in range(10):
    hear, tell = os.pipe()
    child = os.fork()
    if not child:
        write(tell)
        os._exit(0)
    os.close(tell)
    with os.fdopen(hear) as lines:
        for _ in range(chance.randint(1, 30) if attempt % 3 else 0):
            print(lines.readline(), end="")
        time.sleep(chance.uniform(0.0, 0.004 if attempt % 3 else 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        print(lines.read(), end="")
"""


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "study", create=True) as opened:
        opened.add_study(make.STUDY, "0.1.0")
        yield opened


def refuse(folder, words, **options):
    with pytest.raises(InputError, match=words):
        Store.open(folder, **options)


# -- killed writers --------------------------------------------------------------------------------------
@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks writers")
def test_a_writer_killed_at_random_moments_loses_nothing_that_it_was_told_is_kept(tmp_path):
    things = str(Path(__file__).with_name("store_things.py"))
    command = [sys.executable, "-c", KILLING, str(tmp_path), things, "0"]
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, check=True, timeout=100)
    told = done.stdout.split()
    assert 6 <= len(told) < 400
    assert len(told) == len(set(told))  # nobody was told twice that a run is new
    with Store.open(tmp_path, create=True) as store:
        assert store.database.rows("PRAGMA integrity_check") == [("ok",)]
        assert store.database.rows("PRAGMA foreign_key_check") == []
        digests = store.digests()
        records = {record.id: record for record in store.records()}
        runs = {run.id: run for run in make.planned(400)}
        for id in told:
            assert records[id].status == "done"
            assert digests[id] == record_digest(make.record(runs[id], scores=True))
        finish(store, runs)


def finish(store, runs):
    """Go on where the last writer was killed: the end is the same as without any kill."""
    store.add_study(make.STUDY, "0.1.0")
    store.add_runs(list(runs.values()))
    for run in store.waiting(retry_failed=True):
        store.commit(make.record(run, scores=True))
    assert store.counts_of_states()["done"] == 400
    assert store.digests() == {id: record_digest(make.record(run, scores=True)) for id, run in runs.items()}
    assert store.database.rows("SELECT count(*) FROM measured") == [(800,)]


# -- full disks ------------------------------------------------------------------------------------------
def commit_until_full(store, runs):
    """The runs that were kept, and what was said when there was no more room."""
    kept = []
    try:
        for run in runs:
            store.commit(make.record(run, scores=True))
            kept.append(run.id)
    except InputError as error:
        return kept, str(error)
    pytest.fail("it never got full")


def test_a_full_database_is_told_and_goes_on_once_there_is_room(store):
    runs = make.planned(300)
    store.add_runs(runs)
    pages = store.database.rows("PRAGMA page_count")[0][0]
    store.database.rows(f"PRAGMA max_page_count = {pages + 12}")
    kept, words = commit_until_full(store, runs)
    assert "no room is left to write" in words
    assert "every run that was committed before is kept" in words
    assert 0 < len(kept) < 300
    assert list(store.digests()) == kept
    store.database.rows("PRAGMA max_page_count = 1000000")
    assert sum(store.commit(make.record(run, scores=True)) for run in runs) == 300 - len(kept)
    assert store.database.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_file_that_may_not_grow_is_told_and_goes_on_once_it_may(store):
    resource = pytest.importorskip("resource")
    runs = make.planned(300)
    store.add_runs(runs)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    largest = max(file.stat().st_size for file in store.folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest + 40_000, hard))
    try:
        kept, words = commit_until_full(store, runs)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "study.sqlite" in words
    assert "every run that was committed before is kept" in words
    assert list(store.digests()) == kept
    assert sum(store.commit(make.record(run, scores=True)) for run in runs) == 300 - len(kept)
    with Store.open(store.folder) as other:
        assert other.counts_of_states()["done"] == 300
        assert other.database.rows("PRAGMA integrity_check") == [("ok",)]


def test_exports_and_predictions_that_find_no_room_leave_the_old_file(store, tmp_path):
    resource = pytest.importorskip("resource")
    runs = make.planned(40)
    store.add_runs(runs)
    for run in runs[:39]:
        store.commit(make.record(run))
    (tmp_path / "runs.parquet").write_text("before")
    scores = {"test": np.random.default_rng(0).random((5000, 2))}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(InputError, match=r"runs\.parquet could not be written \(File too large\)"):
            export_runs(store, tmp_path / "runs.parquet")
        with pytest.raises(InputError, match=r"predictions of run .* could not be written"):
            store.commit(make.record(runs[39], predictions=scores))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "runs.parquet").read_text() == "before"
    assert store.predictions(runs[39].id) == {}
    assert store.commit(make.record(runs[39], predictions=scores))


# -- folders and files -----------------------------------------------------------------------------------
@contextlib.contextmanager
def somebody_without_rights(folder, mode):
    """Root may do anything: its tests go on as nobody."""
    os.chmod(folder, mode)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        os.chmod(folder, 0o755)


@pytest.fixture
def closed_folder():
    """A finished store in a folder that others may look into."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        folder = Path(name) / "study"
        with Store.open(folder, create=True) as store:
            store.add_study(make.STUDY, "0.1.0")
            store.add_runs(make.planned(2))
            store.commit(make.record(make.planned(1)[0]))
        (folder / "study.sqlite").chmod(0o444)
        yield folder


@pytest.mark.skipif(os.name == "nt", reason="rights of files")
def test_a_folder_that_cannot_be_written_is_read_but_not_run(closed_folder):
    with somebody_without_rights(closed_folder, 0o555):
        with Store.open(closed_folder, readonly=True) as store:
            assert store.counts_of_states()["done"] == 1
            with pytest.raises(InputError, match="opened for reading only"):
                store.commit(make.record(make.planned(2)[1]))
        refuse(closed_folder, "nothing can be written into the folder", create=True)
        refuse(closed_folder, "may not be written")
    assert sorted(path.name for path in closed_folder.iterdir()) == ["study.sqlite"]


@pytest.mark.skipif(os.name == "nt", reason="rights of files")
def test_a_file_that_may_not_be_read_is_told(closed_folder):
    (closed_folder / "study.sqlite").chmod(0o000)
    with somebody_without_rights(closed_folder, 0o555):
        refuse(closed_folder, "may not be read", readonly=True)


@pytest.mark.skipif(os.name == "nt", reason="rights of files")
def test_a_journal_left_in_a_folder_that_cannot_be_written_is_told(closed_folder, tmp_path):
    (closed_folder / "study.sqlite").chmod(0o644)
    with Store.open(closed_folder) as store:
        store.commit(make.record(make.planned(2)[1]))
        left = {name: (closed_folder / name).read_bytes() for name in ("study.sqlite", "study.sqlite-wal")}
    for name, content in left.items():  # as if the process had been killed, and the folder copied
        (closed_folder / name).write_bytes(content)
    with somebody_without_rights(closed_folder, 0o555):
        refuse(closed_folder, "has a journal .* that must be folded in first", readonly=True)
    with Store.open(closed_folder, readonly=True) as store:
        assert store.counts_of_states()["done"] == 2


def test_nothing_there(tmp_path):
    refuse(tmp_path / "none", "there is no folder", readonly=True)
    refuse(tmp_path, "there is no study in", readonly=True)
    refuse(tmp_path, "there is no study in")
    assert list(tmp_path.iterdir()) == []  # looking makes nothing
    (tmp_path / "study.sqlite").touch()  # killed before it could write anything
    refuse(tmp_path, "its file is empty", readonly=True)
    refuse(tmp_path, "its file is empty")
    Store.open(tmp_path, create=True).close()
    (tmp_path / "file").write_text("not a folder")
    refuse(tmp_path / "file", "nothing can be written into", create=True)


@pytest.mark.parametrize("content", [b"hello, I am a text file\n" * 400, b"\x00" * 5000, b"PAR1" * 2000])
@pytest.mark.parametrize("options", [{}, {"create": True}, {"readonly": True}])
def test_a_file_that_is_no_database(tmp_path, content, options):
    (tmp_path / "study.sqlite").write_bytes(content)
    refuse(tmp_path, "is not a study of evenhand", **options)
    assert (tmp_path / "study.sqlite").read_bytes() == content


@pytest.mark.parametrize("options", [{}, {"create": True}, {"readonly": True}])
def test_a_database_of_another_program_is_left_as_it_is(tmp_path, options):
    with contextlib.closing(sqlite3.connect(tmp_path / "study.sqlite")) as other:
        other.execute("CREATE TABLE meta (key, value)")
        other.commit()
    before = (tmp_path / "study.sqlite").read_bytes()
    refuse(tmp_path, "database of another program", **options)
    assert (tmp_path / "study.sqlite").read_bytes() == before


def test_a_damaged_database_is_told_wherever_the_damage_is(tmp_path):
    whole = tmp_path / "whole"
    with Store.open(whole, create=True) as store:
        store.add_study(make.STUDY, "0.1.0")
        store.add_runs(make.planned(200))
        for run in make.planned(200):
            store.commit(make.record(run, scores=True))
        digests = store.digests()
    content, chance = (whole / "study.sqlite").read_bytes(), random.Random(0)
    told = []
    for attempt in range(30):
        folder = tmp_path / str(attempt)
        folder.mkdir()
        start = chance.randrange(len(content) - 4096)
        noise = chance.randbytes(4096)
        (folder / "study.sqlite").write_bytes(content[:start] + noise + content[start + 4096 :])
        try:
            with Store.open(folder) as store:
                found = store.digests()  # damage in what is not read for this may stay unseen
                assert set(found) <= set(digests)
        except InputError as error:
            told.append(str(error))
    assert len(told) >= 10
    assert all("damaged" in words or "is not a study" in words for words in told)


def test_a_file_cut_short_is_told(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add_study(make.STUDY, "0.1.0")
        store.add_runs(make.planned(200))
    file = tmp_path / "study.sqlite"
    file.write_bytes(file.read_bytes()[:9000])
    with pytest.raises(InputError, match="damaged"), Store.open(tmp_path) as store:
        store.runs()


def test_a_folder_that_is_moved_away_while_it_is_open(store, tmp_path):
    store.add_runs(make.planned(1))
    os.rename(store.folder, tmp_path / "elsewhere")
    store.commit(make.record(make.planned(1)[0]))  # an open file is written wherever it is
    with Store.open(tmp_path / "elsewhere") as moved:
        assert moved.counts_of_states()["done"] == 1


def test_a_locked_file_is_waited_for_and_then_told(store):
    store.add_runs(make.planned(1))
    store.database.connection.execute("PRAGMA busy_timeout = 50")
    busy = pytest.raises(InputError, match="another process has held")
    with Store.open(store.folder) as other, other.database.writing(), busy:
        store.commit(make.record(make.planned(1)[0]))
    assert store.commit(make.record(make.planned(1)[0]))


def test_readers_see_whole_commits_while_another_writes(store):
    runs = make.planned(20)
    store.add_runs(runs)
    with Store.open(store.folder, readonly=True) as reader:
        for n, run in enumerate(runs):
            assert reader.counts_of_states()["done"] == n == len(reader.digests())
            store.commit(make.record(run))


def test_an_error_in_the_middle_of_a_transaction_leaves_nothing_of_it(store):
    runs = make.planned(2)
    store.add_runs(runs)
    broken = make.record(
        runs[0], history={"loss": [object()]}
    )  # not JSON: fails after the record was written
    with pytest.raises(TypeError):
        store.commit(broken)
    assert store.counts_of_states()["done"] == 0
    assert store.commit(make.record(runs[0]))
    with pytest.raises(InputError):
        store.add_buckets([Bucket("good", (runs[0],), 1), Bucket("bad", tuple(make.planned(3)), 1)])
    assert store.database.rows("SELECT count(*) FROM buckets") == [(0,)]


# -- formats ---------------------------------------------------------------------------------------------
def change_format(folder, number, version):
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as file:
        file.execute("UPDATE meta SET value = ? WHERE key = 'format'", (str(number),))
        file.execute("UPDATE meta SET value = ? WHERE key = 'evenhand'", (version,))
        file.commit()


@pytest.mark.parametrize("options", [{}, {"create": True}, {"readonly": True}])
def test_a_newer_format_is_refused_with_the_version_that_is_needed(tmp_path, options):
    Store.open(tmp_path, create=True).close()
    change_format(tmp_path, store_schema.FORMAT + 1, "7.3.0")
    refuse(tmp_path, r"install evenhand 7\.3\.0 or newer", **options)


def test_an_older_format_without_a_way_up_is_refused(tmp_path):
    Store.open(tmp_path, create=True).close()
    change_format(tmp_path, 0, "0.0.1")
    refuse(tmp_path, r"format 0 \(written by evenhand 0\.0\.1\), which evenhand .* no longer reads")
    refuse(tmp_path, "older format 0", readonly=True)


def test_an_older_format_is_brought_up_step_by_step(store):
    """The way up, shown with two formats that are made up here."""
    connection, path = store.database.connection, store.database.path

    def host_of_studies(file):
        file.execute("ALTER TABLE studies ADD COLUMN host TEXT NOT NULL DEFAULT ''")

    def names_of_hosts(file):
        file.execute("UPDATE studies SET host = 'unknown' WHERE host = ''")

    now = store_schema.FORMAT
    ways = {now: host_of_studies, now + 1: names_of_hosts}
    with store.database.writing():
        store_schema.bring_up(connection, path, "9.0.0", target=now + 2, migrations=ways)
    assert store.database.rows("SELECT host FROM studies") == [("unknown",)]
    assert store_schema.format_of(connection, path) == (now + 2, "9.0.0")
    with store.database.writing():  # again: nothing is left to do
        store_schema.bring_up(connection, path, "9.0.0", target=now + 2, migrations=ways)


def test_a_way_up_that_fails_leaves_the_old_format(store):
    connection, path = store.database.connection, store.database.path

    def good(file):
        file.execute("ALTER TABLE studies ADD COLUMN host TEXT")

    def bad(file):
        file.execute("ALTER TABLE no_such_table ADD COLUMN host TEXT")

    now = store_schema.FORMAT
    with pytest.raises(sqlite3.OperationalError), store.database.writing():
        store_schema.bring_up(connection, path, "9.0.0", target=now + 2, migrations={now: good, now + 1: bad})
    assert store_schema.format_of(connection, path)[0] == now
    assert "host" not in [row[1] for row in store.database.rows("PRAGMA table_info(studies)")]


# -- network file systems --------------------------------------------------------------------------------
def test_a_network_file_system_gets_the_older_journal_and_a_note(tmp_path, monkeypatch):
    monkeypatch.setattr(store_open, "file_system_of", lambda folder: "nfs4")
    with Store.open(tmp_path, create=True) as store:
        assert store.database.rows("PRAGMA journal_mode") == [("delete",)]
        assert store.database.rows("PRAGMA synchronous") == [(2,)]
        assert "network file system (nfs4)" in store.notes[0]
        store.add_study(make.STUDY, "0.1.0")
        store.add_runs(make.planned(1))
        assert store.commit(make.record(make.planned(1)[0]))
    monkeypatch.undo()
    with Store.open(tmp_path) as store:  # copied to a disk
        assert store.database.rows("PRAGMA journal_mode") == [("wal",)]
        assert store.counts_of_states()["done"] == 1


def test_where_there_is_no_shared_memory_the_older_journal_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(store_open, "_switched", lambda connection, mode: mode == "delete")
    with Store.open(tmp_path, create=True) as store:
        assert "without shared memory" in store.notes[0]


@pytest.mark.skipif(not Path("/proc/self/mounts").exists(), reason="asks /proc")
def test_the_file_system_is_that_of_the_nearest_mount():
    assert store_open.file_system_of(Path("/proc")) == "proc"
    assert store_open.file_system_of(Path("/")) not in ("", "proc")
