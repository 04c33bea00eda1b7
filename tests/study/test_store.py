"""The store: what goes in comes out, a finished run counts once, and thousands of runs are quick."""

import json
import runpy
import sqlite3
import time
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.study import parquet_files
from evenhand.study.records import Bucket, Measured, RunRecord
from evenhand.study.store import Store, record_digest

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "study", create=True) as opened:
        opened.add_study(make.STUDY, "0.1.0")
        yield opened


# -- what is run -----------------------------------------------------------------------------------------
def test_runs_come_back_in_the_order_of_the_study(store):
    runs = make.planned(3, setting={"lam": 0.5})
    assert store.add_runs(runs[::-1]) == 3
    assert store.add_runs(runs) == 0
    assert [run.id for run in store.runs()] == [run.id for run in runs]
    first = store.runs()[0]
    assert (first.task, first.grouping, first.net, first.method) == ("adult", "sex", "mlp", "erm")
    assert first.spec.protect == ("sex",)
    assert first.spec.groupings == (("sex",), ("sex", "race"))
    assert first == runs[0]


def test_a_run_that_is_given_twice_is_kept_once_as_it_was_first(store):
    run = make.planned(1)[0]
    assert store.add_runs([run, replace(run, method="again", place=7)]) == 1
    assert store.runs() == [run]


def test_every_distinct_study_is_kept_and_the_one_added_last_counts(store):
    old, new = make.planned(2), make.planned(2, method="gdro")
    store.add_runs(old)
    store.commit(make.record(old[0]))
    other = {**make.STUDY, "seeds": [3]}
    store.add_study(other, "0.1.0")
    assert store.study() == other
    assert store.runs() == []
    store.add_runs([old[0], *new])
    assert store.counts_of_states() == {"planned": 3, "done": 1, "failed": 0, "waiting": 2, "running": 0}
    store.add_study(make.STUDY, "0.1.0")  # the first one again
    assert store.study() == make.STUDY
    assert len(store.runs()) == 2
    assert store.database.rows("SELECT count(*) FROM studies") == [(2,)]
    store.add_study(make.STUDY, "0.2.0")  # another version has other identities
    assert store.runs() == []


def test_labels_belong_to_the_study_and_not_to_the_run(store):
    run = make.planned(1)[0]
    store.add_runs([run])
    store.add_study({"name": "other"}, "0.1.0")
    assert store.add_runs([replace(run, task="census", place=5)]) == 0
    assert (store.runs()[0].task, store.runs()[0].place) == ("census", 5)
    store.add_study(make.STUDY, "0.1.0")
    assert store.runs()[0].task == "adult"


def test_a_store_without_a_study_says_so(tmp_path):
    with Store.open(tmp_path, create=True) as empty:
        with pytest.raises(InputError, match="no study has begun"):
            empty.study()
        with pytest.raises(InputError, match="no study has begun"):
            empty.add_runs(make.planned(1))
        assert empty.counts_of_states()["planned"] == 0
        assert empty.table()["id"] == []
        assert empty.measured("test") == []


def test_unfinished_buckets_keep_their_members_and_order(store):
    runs = make.planned(6)
    store.add_runs(runs)
    mixed = Bucket("b1", (runs[4], runs[0], runs[2]), stack=2, threads=2, cost=3.5, device="cuda")
    store.add_buckets([mixed, Bucket("b2", (runs[1],), stack=1)])
    store.add_buckets([Bucket("b1", (runs[0],), stack=9)])  # stays as it was
    store.commit(make.record(runs[1]))
    store.commit(make.record(runs[0]))
    assert store.buckets() == [mixed]
    store.commit(make.failed(runs[4]))
    store.commit(make.record(runs[2]))
    assert store.buckets() == []
    assert store.buckets(retry_failed=True) == [mixed]
    assert [run.id for run in store.waiting(retry_failed=True)] == [runs[k].id for k in (3, 4, 5)]
    assert [run.id for run in store.waiting()] == [runs[k].id for k in (3, 5)]


def test_a_bucket_with_a_run_that_the_study_no_longer_has_is_planned_anew(store):
    runs = make.planned(2)
    store.add_runs(runs)
    store.add_buckets([Bucket("b", tuple(runs), stack=2)])
    store.add_study({"name": "smaller"}, "0.1.0")
    store.add_runs(runs[:1])
    assert store.buckets() == []
    assert store.waiting() == runs[:1]


def test_a_bucket_of_unknown_runs_is_refused_whole(store):
    store.add_runs(make.planned(1))
    with pytest.raises(InputError, match="add its runs first"):
        store.add_buckets([Bucket("b", tuple(make.planned(2)), stack=1)])
    assert store.buckets() == []


# -- what came of it -------------------------------------------------------------------------------------
def test_a_record_comes_back_as_it_was(store):
    runs = make.planned(2)
    store.add_runs(runs)
    kept = make.record(runs[1], scores=True)
    assert store.commit(kept)
    (back,) = store.records()
    assert record_digest(back) == record_digest(kept)
    same = ("measured", "history", "predictions")
    assert replace(back, **{name: getattr(kept, name) for name in same}) == kept
    assert back.history["loss"][:2] == kept.history["loss"][:2]
    assert np.isnan(back.history["loss"][2])
    for mine, theirs in zip(sorted(back.measured, key=lambda m: m.part), kept.measured[::-1], strict=True):
        assert (mine.part, mine.groups, mine.classes) == (theirs.part, theirs.groups, theirs.classes)
        assert mine.counts == theirs.counts
        assert np.array_equal(mine.scores.score_cells, theirs.scores.score_cells)
    assert store.history(runs[1].id)["loss"][0] == 0.7
    assert store.history(runs[0].id) == {} == store.history("unknown")
    assert store.digests() == {runs[1].id: record_digest(kept)}


def test_a_finished_run_is_never_replaced(store):
    run = make.planned(1)[0]
    store.add_runs([run])
    assert store.commit(make.failed(run))
    assert store.commit(make.failed(run, "out of memory"))
    assert [entry["reason"] for entry in store.failures()] == ["out of memory"]
    first = make.record(run)
    assert store.commit(first)
    assert not store.commit(make.record(run, seed=99))
    assert not store.commit(make.failed(run))
    assert store.digests() == {run.id: record_digest(first)}
    assert store.counts_of_states()["done"] == 1
    assert store.database.rows("SELECT count(*) FROM measured") == [(2,)]
    assert store.failures() == []


def test_a_failure_that_had_counts_leaves_none_behind_when_it_is_replaced(store):
    run = make.planned(1)[0]
    store.add_runs([run])
    store.commit(replace(make.record(run, scores=True), status="failed", reason="late"))
    store.commit(make.failed(run))
    for table in ("measured", "scores", "history"):
        assert store.database.rows(f"SELECT count(*) FROM {table}") == [(0,)]


@pytest.mark.parametrize("record", [RunRecord("nobody", "done"), RunRecord("nobody", "halfway")])
def test_a_record_of_no_run_or_of_no_state_is_refused(store, record):
    with pytest.raises(InputError, match=r"belongs to no run|'done' or 'failed'"):
        store.commit(record)


def test_failures_are_counted_by_reason_with_a_few_examples(store):
    runs = make.planned(9)
    store.add_runs(runs)
    for k, run in enumerate(runs[:8]):
        store.commit(make.failed(run, "NaN" if k < 6 else "memory"))
    most, other = store.failures()
    assert (most["reason"], most["runs"], len(most["examples"])) == ("NaN", 6, 3)
    assert most["examples"][0] | {"detail": ""} == {
        "id": runs[0].id, "method": "erm", "setting": {}, "task": "adult", "seed": 0, "detail": "",
    }  # fmt: skip
    assert (other["reason"], other["runs"]) == ("memory", 2)
    assert store.reasons() == {"NaN": 6, "memory": 2}
    assert store.counts_of_states() == {"planned": 9, "done": 0, "failed": 8, "waiting": 1, "running": 0}


def test_the_table_has_a_row_for_every_run_with_or_without_a_record(store):
    runs = make.planned(3, setting={"lam": 0.1})
    store.add_runs(runs)
    store.commit(make.record(runs[1]))
    table = store.table()
    assert {len(column) for column in table.values()} == {3}
    assert table["status"] == ["planned", "done", "planned"]
    assert table["seconds"] == [None, 0.5, None]
    assert table["versions"] == [None, {"evenhand": "0.1.0", "torch": "2.6"}, None]
    assert (table["seed"], table["setting"][0], table["spec"][2]["seed"]) == ([0, 1, 2], {"lam": 0.1}, 2)
    expected = (
        "id place task grouping net method setting seed status reason seconds stack_seconds stack "
        "peak_memory device host versions weights started finished source spec data_checksum numbers"
    )
    assert " ".join(table) == expected


def test_measured_counts_are_stacked_by_task_grouping_and_shape(store):
    adult, other = make.planned(5), make.planned(2, task="synthetic", method="gdro", start=5)
    store.add_runs([*adult, *other])
    records = [make.record(run, scores=True) for run in [*adult, *other]]
    huge = make.counts(0, high=2**40)  # kept in another type than its neighbours
    records[2] = make.record(adult[2], measured=(Measured("test", "sex", make.GROUPS, make.CLASSES, huge),))
    wide = Measured("test", "sex × race", ("a", "b", "c"), make.CLASSES, make.counts(3, groups=3))
    records[3] = replace(records[3], measured=(*records[3].measured, wide))
    for record in records[::-1]:
        store.commit(record)
    blocks = {(b.task, b.by, b.scores is not None): b for b in store.measured("test")}
    assert set(blocks) == {
        ("adult", "sex", True), ("adult", "sex", False), ("adult", "sex × race", False),
        ("synthetic", "sex", True),
    }  # fmt: skip
    assert blocks["adult", "sex", True].run_ids == [adult[k].id for k in (0, 1, 3, 4)]
    assert blocks["adult", "sex × race", False].groups == ("a", "b", "c")
    (plain,) = [b for b in store.measured("test", scores=False) if (b.task, b.by) == ("adult", "sex")]
    assert plain.run_ids == [run.id for run in adult]
    alone = [next(m for m in record.measured if m.part == "test").counts for record in records[:5]]
    assert plain.counts == Counts.stack(alone)
    scores = blocks["adult", "sex", True].scores
    assert np.array_equal(scores.score_cells[1], records[1].measured[1].scores.score_cells)
    assert store.parts() == ["test", "validation"]
    assert store.measured("train") == []


@pytest.mark.parametrize("library", ["polars", "pyarrow", None])
def test_predictions_are_kept_in_a_file_of_their_own(store, library, monkeypatch):
    monkeypatch.setattr(parquet_files, "find_spec", lambda name: name == library)
    run = make.planned(1)[0]
    store.add_runs([run])
    rng = np.random.default_rng(0)
    scores = {
        "validation": rng.random((3, 2)).astype(np.float32),
        "test": rng.random((4, 2)).astype(np.float32),
    }
    assert store.commit(make.record(run, predictions=scores))
    assert not store.commit(make.record(run, predictions={"test": np.zeros((4, 2))}))
    kept = store.predictions(run.id)
    assert list(kept) == ["validation", "test"]
    for part, values in scores.items():
        assert kept[part].dtype == np.float32
        assert np.array_equal(kept[part], values)
    (file,) = (store.folder / "predictions").iterdir()
    assert file.suffix == (".parquet" if library else ".npz")
    file.write_bytes(file.read_bytes()[:-20])
    with pytest.raises(InputError, match="damaged"):
        store.predictions(run.id)
    assert store.predictions("unknown") == {}


# -- the file --------------------------------------------------------------------------------------------
def test_names_and_layouts_that_runs_share_are_kept_once(store):
    runs = make.planned(50)
    store.add_runs(runs)
    for run in runs:
        store.commit(make.record(run, measured=(
            Measured("test", "sex", make.GROUPS, make.CLASSES, make.counts(0)),)))  # fmt: skip
    texts = {text for (text,) in store.database.rows("SELECT text FROM texts")}
    assert len(texts) == 4  # groups, classes, versions, layout
    assert '["Female","Male"]' in texts


def test_the_file_can_be_read_with_sqlite_alone(store):
    run = make.planned(1)[0]
    store.add_runs([run])
    store.commit(make.record(run))
    plain = sqlite3.connect(store.folder / "study.sqlite")
    question = """
        SELECT r.id, l.text, m.counts FROM measured m JOIN runs r ON r.number = m.run
        JOIN texts l ON l.number = m.layout WHERE m.part = 'test'"""
    id, layout, counts = plain.execute(question).fetchone()
    plain.close()
    _, kept, _, shape = json.loads(layout)["arrays"][0]
    cells = np.frombuffer(zlib.decompress(counts), dtype=kept).reshape(shape)
    assert id == run.id
    assert np.array_equal(cells, make.record(run).measured[1].counts.cells)


def test_settings_of_the_file(store):
    assert store.database.rows("PRAGMA journal_mode") == [("wal",)]
    assert store.database.rows("PRAGMA synchronous") == [(1,)]
    assert store.database.rows("PRAGMA foreign_keys") == [(1,)]
    assert store.database.rows("PRAGMA busy_timeout") == [(30_000,)]
    assert store.notes == []


def test_two_thousand_commits_are_quick(store):
    runs = make.planned(2000)
    store.add_runs(runs)
    records = [make.record(run) for run in runs]
    began = time.perf_counter()
    assert sum(store.commit(record) for record in records) == 2000
    assert time.perf_counter() - began < 3.0
    began = time.perf_counter()
    (block,) = store.measured("test")
    assert time.perf_counter() - began < 0.5
    assert block.counts.cells.shape == (2000, 3, 2, 2)
    assert (store.folder / "study.sqlite").stat().st_size < 4_000_000
