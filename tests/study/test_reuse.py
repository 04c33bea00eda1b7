"""Finished runs of an exported file in another store: matched by specification and data, shown as reused."""

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.study import parquet_files
from evenhand.study.digests import record_digest
from evenhand.study.export import export_runs
from evenhand.study.records import Measured
from evenhand.study.reuse import reuse_runs
from evenhand.study.store import Store

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))


def new_store(folder, runs, study=None):
    store = Store.open(folder, create=True)
    store.add_study(study or make.STUDY, "0.1.0")
    store.add_runs(runs)
    return store


@pytest.fixture
def exported(tmp_path):
    """Four runs of which three are done and one failed, in a file."""
    runs = make.planned(4)
    with new_store(tmp_path / "old", runs) as store:
        for run in runs[:3]:
            store.commit(make.record(run, scores=True))
        store.commit(make.failed(runs[3]))
        export_runs(store, tmp_path / "small" / "runs.parquet", scores=True)
    return tmp_path / "small" / "runs.parquet"


def test_runs_are_taken_over_with_everything_they_came_to(exported, tmp_path):
    mine = make.planned(2, method="mine.py:Mine", start=4)
    with new_store(tmp_path / "new", [*make.planned(4), *mine]) as store:
        assert reuse_runs(store, exported) == 3
        assert reuse_runs(store, exported) == 0
        assert store.counts_of_states() == {"planned": 6, "done": 3, "failed": 0, "waiting": 3, "running": 0}
        records = {record.id: record for record in store.records()}
        for run in make.planned(3):
            old, new = make.record(run, scores=True), records[run.id]
            assert record_digest(new) == record_digest(old)
            assert new.source == "reused small/runs.parquet (evenhand 0.1.0)"
            assert (new.seconds, new.stack, new.finished) == (old.seconds, old.stack, old.finished)
            kept = {part.part: part.scores for part in new.measured}
            for part in old.measured:
                assert np.array_equal(kept[part.part].score_cells, part.scores.score_cells)


def test_another_version_is_reused_and_told(exported, tmp_path, monkeypatch):
    later = make.planned(4, version="9.9.9")
    assert {run.id for run in later}.isdisjoint(run.id for run in make.planned(4))
    monkeypatch.setattr(evenhand, "__version__", "9.9.9")
    with new_store(tmp_path / "new", later) as store:
        assert reuse_runs(store, exported) == 3
        assert store.notes == ["3 reused runs of runs.parquet were made by evenhand 0.1.0; this is 9.9.9"]
        assert [run.id for run in store.waiting()] == [later[3].id]
        first = next(store.records())
        assert first.id == later[0].id
        assert first.measured[0].counts == make.record(make.planned(1)[0]).measured[1].counts


def test_other_data_are_told_and_not_reused(exported, tmp_path):
    told = []
    with new_store(tmp_path / "new", make.planned(4, data="d1")) as store:
        assert reuse_runs(store, exported, told.append) == 0
        assert store.counts_of_states()["waiting"] == 4
    assert told == [
        "3 runs of runs.parquet were not reused: the data of task 'adult' are not the same here "
        "(checksum d0 there, d1 here)"
    ]


@pytest.mark.parametrize(
    "change", [{"recipe": {"epochs": 4}}, {"fields": {"lam": 0.2}}, {"sources": {"mine.py": "ab"}}]
)
def test_another_specification_is_another_run(exported, tmp_path, change):
    with new_store(tmp_path / "new", make.planned(4, **change)) as store:
        assert reuse_runs(store, exported) == 0
        assert "none has one of its specifications" in store.notes[0]


def test_a_run_that_failed_here_is_replaced_by_one_that_was_done_there(exported, tmp_path):
    runs = make.planned(1)
    with new_store(tmp_path / "new", runs) as store:
        store.commit(make.failed(runs[0]))
        assert reuse_runs(store, exported) == 1
        assert store.counts_of_states()["done"] == 1


def test_weighted_and_multilabel_counts_come_back(tmp_path):
    rng = np.random.default_rng(0)
    y, p, g = rng.integers(0, 2, (30, 3)), rng.integers(0, 2, (30, 3)), rng.integers(-1, 2, 30)
    labels = Counts.from_predictions(y, p, g, n_groups=2)
    heavy = Counts.from_predictions(y[:, 0], p[:, 0], g, 2, 2, weights=rng.random(30))
    runs = make.planned(3)
    kinds = (labels, heavy, make.counts(0))
    records = [
        make.record(run, measured=(Measured("test", "sex", make.GROUPS, make.CLASSES, counts),))
        for run, counts in zip(runs, kinds, strict=True)
    ]
    with new_store(tmp_path / "old", runs) as store:
        for record in records:
            store.commit(record)
        export_runs(store, tmp_path / "runs.parquet")
        digests = store.digests()
    with new_store(tmp_path / "new", runs) as store:
        assert reuse_runs(store, tmp_path / "runs.parquet") == 3
        assert store.digests() == digests
        assert [record.measured[0].counts for record in store.records()] == list(kinds)


def test_pyarrow_reads_the_same(exported, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(parquet_files, "find_spec", lambda name: name == "pyarrow")
    with new_store(tmp_path / "new", make.planned(4)) as store:
        assert reuse_runs(store, exported) == 3
        monkeypatch.setattr(parquet_files, "find_spec", lambda name: None)
        with pytest.raises(InputError, match="needs polars or pyarrow"):
            reuse_runs(store, exported)


# -- files that are not what they should be --------------------------------------------------------------
def refuse(path, words, tmp_path):
    with new_store(tmp_path / "refusing", make.planned(4)) as store:
        with pytest.raises(InputError, match=words):
            reuse_runs(store, path)
        assert store.counts_of_states()["done"] == 0  # nothing of it was taken


def test_files_that_are_missing_foreign_or_damaged_are_refused(exported, tmp_path):
    refuse(tmp_path / "none.parquet", "there is no file", tmp_path)
    (tmp_path / "text.parquet").write_text("hello")
    refuse(tmp_path / "text.parquet", "cannot be read as Parquet", tmp_path)
    content = exported.read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    refuse(tmp_path / "cut.parquet", "cannot be read as Parquet", tmp_path)
    pl.DataFrame({"id": ["a"], "x": [1]}).write_parquet(tmp_path / "other.parquet")
    refuse(tmp_path / "other.parquet", "no export of evenhand's runs.*no column 'kind'", tmp_path)
    table = pl.read_parquet(exported)
    table.with_columns(kind=pl.lit("evenhand runs 9")).write_parquet(tmp_path / "later.parquet")
    refuse(tmp_path / "later.parquet", "do not say 'evenhand runs 1'", tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"counts": pl.col("counts").list.reverse()}, "do not fit their digest"),
        ({"weights": pl.lit("00")}, "do not fit their digest"),
        ({"groups": pl.col("groups").list.reverse()}, "do not fit their digest"),
        ({"counts": pl.col("counts").list.head(3)}, "cannot be read"),
        ({"layout": pl.lit("{}")}, "cannot be read"),
        ({"versions": pl.lit("no JSON")}, "cannot be read"),
    ],
)
def test_numbers_that_were_changed_are_refused(exported, tmp_path, change, words):
    pl.read_parquet(exported).with_columns(**change).write_parquet(tmp_path / "changed.parquet")
    refuse(tmp_path / "changed.parquet", words, tmp_path)


def test_a_row_that_is_missing_is_refused(exported, tmp_path):
    table = pl.read_parquet(exported)
    table[1:].write_parquet(tmp_path / "less.parquet")
    refuse(tmp_path / "less.parquet", "do not fit their digest", tmp_path)


def test_metrics_are_made_of_the_counts_and_not_read(exported, tmp_path):
    pl.read_parquet(exported).with_columns(acc=pl.lit(1.0)).write_parquet(tmp_path / "praised.parquet")
    with new_store(tmp_path / "new", make.planned(1)) as store:
        assert reuse_runs(store, tmp_path / "praised.parquet") == 1
        export_runs(store, tmp_path / "again.parquet")
    assert pl.read_parquet(tmp_path / "again.parquet")["acc"].max() < 1.0


def test_a_reused_run_can_be_exported_and_reused_again(exported, tmp_path):
    with new_store(tmp_path / "second", make.planned(4)) as store:
        reuse_runs(store, exported)
        export_runs(store, tmp_path / "second.parquet", scores=True)
        digests = store.digests()
    with new_store(tmp_path / "third", [replace(run, place=9) for run in make.planned(4)]) as store:
        assert reuse_runs(store, tmp_path / "second.parquet") == 3
        assert store.digests() == digests
