"""Runs that are taken over without their scores keep what these told, and every reader finds it."""

import json
import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app
from evenhand.errors import InputError
from evenhand.evaluation.study.publish import publish
from evenhand.evaluation.study.summary import summarise
from evenhand.evaluation.study_diff import diff_studies
from evenhand.study.digests import record_digest
from evenhand.study.driver import Options, run_study
from evenhand.study.expand import expand
from evenhand.study.export import export_runs
from evenhand.study.frame import Frame
from evenhand.study.number_names import MEAN, NUMBERS
from evenhand.study.plain import study_to_dict
from evenhand.study.published import PublishedRuns
from evenhand.study.reuse import reuse_runs
from evenhand.study.spec import GroupingSpec, MethodSpec, NetEntry, ReportSpec, SelectionSpec, Study, TaskSpec
from evenhand.study.store import Store
from evenhand.study.told import is_told, told_name
from evenhand.study.validate import check_study

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))
KEYS = ("map", "map_u")
GROUPINGS = {None, "p", "q", "q × p", "s"}  # None: every row by its own

TASK = """
import numpy as np, torch
from evenhand.data.card import DataCard
from evenhand.data.task import Task
from evenhand.groups import Attribute

def labels():
    codes = np.random.default_rng(0).integers(0, 2, (240, 4))  # p, q, r and, predicted nowhere, s
    x = torch.tensor(codes + np.random.default_rng(1).normal(size=codes.shape), dtype=torch.float32)
    attributes = tuple(Attribute(name, ("no", "yes"), codes[:, k]) for k, name in enumerate("pqrs"))
    split = {"train": torch.arange(80), "validation": torch.arange(80, 160), "test": torch.arange(160, 240)}
    card = DataCard("made", "", "by hand", "none")
    return Task("labels", x, torch.tensor(codes[:, :3]), attributes, split, card, tuple("pqr"))
"""


def a_study(folder, drop=False, **values):
    """Three labels, two of them protected here or there, and ERM trained once for all groupings."""
    (folder / "task.py").write_text(TASK)
    lists = {"p": ("p",), "q and p": ("q", "p"), "s": ("s",)}
    given = {
        "tasks": (TaskSpec(f"{folder / 'task.py'}:labels", "labels", {}, drop_protected=drop),),
        "groupings": tuple(GroupingSpec(names, name) for name, names in lists.items()),
        "methods": (MethodSpec("erm", once=True), MethodSpec("w-erm")),
        "nets": (NetEntry("mlp", "mlp", {"widths": [8]}),), "recipe": {"epochs": 1, "batch_size": 40},
        "seeds": (0, 1), "selection": SelectionSpec(metric="acc"), "report": ReportSpec(KEYS, base="erm"),
        "score_bins": 60,
    }  # fmt: skip
    return check_study(Study("labels", **{**given, **values}))


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A study that was trained with scores, and what is published of it: no scores."""
    folder = tmp_path_factory.mktemp("told")
    run_study(a_study(folder), Options(out=str(folder / "one"), device="cpu", backend="inline"))
    with Store.open(folder / "one", readonly=True) as store:
        publish(store, folder / "published")
    file = folder / "published" / "runs.parquet"
    assert "scores" not in pl.read_parquet_schema(file)
    return SimpleNamespace(folder=folder, one=folder / "one", file=file)


def taken_over(ran, folder, study=None, file=None):
    """A new store with the published runs, and what was told meanwhile."""
    chosen, told = study or a_study(ran.folder), []
    with Store.open(folder, create=True) as store:
        store.add_study(study_to_dict(chosen), "0.1.0")
        store.add_runs(expand(chosen))
        assert reuse_runs(store, file or ran.file, told.append) == 8  # ERM's two, two by three of W-ERM
    return Store.open(folder, readonly=True), told


def same(one, two):
    return np.array_equal(one, two, equal_nan=True)


# -- who finds them --------------------------------------------------------------------------------------
def test_every_row_has_the_value_that_its_scores_gave(ran, tmp_path):
    store, _ = taken_over(ran, tmp_path)
    with store, Store.open(ran.one, readonly=True) as original:
        one, two = Frame(original), Frame(store)
        assert not any(block.scores for block in store.measured("test"))
        assert one.n == two.n == 2 * 3 + 2 * 3  # ERM's runs stand for three groupings each
        for part in ("validation", "test"):
            for key in KEYS:
                assert np.isfinite(one.values(part, key)).all()
                for by in GROUPINGS:
                    assert same(one.values(part, key, by), two.values(part, key, by)), (part, key, by)
        erm = [row for row in range(two.n) if two.columns["method"][row] == "erm"]
        assert len(set(two.values("test", "map_u")[erm])) == 6  # one run, three groupings: three values
        assert not same(two.values("validation", "map"), two.values("test", "map"))
        assert np.isnan(two.values("test", "dims")).all()  # the file has no such column


def test_published_runs_tell_the_same_without_a_store(ran):
    two = Frame(PublishedRuns(ran.file.parent))
    with Store.open(ran.one, readonly=True) as original:
        one = Frame(original)
        for by in GROUPINGS - {None}:
            values = zip(one.columns["id"], one.values("test", "map_u", by), strict=True)
            of_run = {run: value for run, value in values if np.isfinite(value)}
            assert len(of_run) >= 4  # ERM's two and at least one of W-ERM's
            wanted = [of_run.get(run, np.nan) for run in two.columns["id"]]
            assert same(two.values("test", "map_u", by), np.array(wanted))


def test_labels_that_are_left_out_leave_it_undefined(ran, tmp_path):
    """The file's value is of all three labels; of the others it says nothing, and a wrong value is worse."""
    study = a_study(ran.folder, drop=True)
    run_study(study, Options(out=str(tmp_path / "scored"), device="cpu", backend="inline"))
    store, told = taken_over(ran, tmp_path / "two", study)
    with store, Store.open(tmp_path / "scored", readonly=True) as scored:
        one, two = Frame(scored), Frame(store)
        whole = np.array([grouping == "s" for grouping in two.columns["grouping"]])
        assert whole.sum() == 4
        for key in KEYS:
            assert np.isfinite(one.values("test", key)).all()
            assert same(one.values("test", key)[whole], two.values("test", key)[whole])
            assert np.isnan(two.values("test", key)[~whole]).all()
            assert np.isnan(two.values("test", key, "s")[~whole]).all()
    kept = "reused runs of runs.parquet have no scores: they keep map, map_u"
    assert told == [
        f"6 {kept} of all labels as the file says, and leave it undefined where a grouping leaves "
        "labels out, unless they are run again",
        f"2 {kept} as the file says; intervals over rows cannot be made of that, they need the scores",
    ]


def test_a_run_with_scores_uses_these(ran, tmp_path):
    with Store.open(ran.one, readonly=True) as original:
        values = Frame(original).values("test", "map")
        export_runs(original, tmp_path / "whole.parquet", KEYS, scores=True)
    praised = pl.read_parquet(tmp_path / "whole.parquet").with_columns(map=pl.lit(1.0))
    praised.write_parquet(tmp_path / "praised.parquet")
    store, told = taken_over(ran, tmp_path / "two", file=tmp_path / "praised.parquet")
    with store:
        assert same(Frame(store).values("test", "map"), values)
        assert not any(is_told(name) for record in store.records() for name in record.numbers)
    assert told == []


def test_a_method_that_is_trained_here_stands_among_those_that_were_taken_over(ran, tmp_path):
    study = a_study(ran.folder)
    more = replace(study, methods=(*study.methods, MethodSpec("gdro", "gdro", {"eta": 0.1})))
    run_study(more, Options(out=str(tmp_path), device="cpu", backend="inline", reuse=str(ran.file)))
    with Store.open(tmp_path, readonly=True) as store, Store.open(ran.one, readonly=True) as original:
        frame, body = Frame(store), summarise(store)
        taken = np.array([method != "gdro" for method in frame.columns["method"]])
        assert taken.sum() == 12 < frame.n
        assert np.isfinite(frame.values("test", "map_u")).all()
        assert same(frame.values("test", "map_u")[taken], Frame(original).values("test", "map_u"))
    entries = [entry for problem in body["problems"] for entry in problem["methods"]]
    known = {entry["method"]: entry["numbers"]["map_u"]["row_std"] is not None for entry in entries}
    assert known == {"erm": False, "w-erm": False, "gdro": True}
    assert all(entry["against"]["map_u"]["difference"] is not None for entry in entries if entry["against"])


# -- what they do not change -----------------------------------------------------------------------------
def test_it_is_the_same_run(ran, tmp_path):
    store, _ = taken_over(ran, tmp_path)
    with store, Store.open(ran.one, readonly=True) as original:
        assert store.digests() == original.digests()
        found = diff_studies(original, store)
    assert found["equal"]
    assert found["numbers"] == []
    assert {row["verdict"] for row in found["moved"] if row["metric"] in KEYS} == {"equal"}


def test_publishing_it_again_gives_the_same_columns(ran, tmp_path):
    store, _ = taken_over(ran, tmp_path / "two")
    with store:
        publish(store, tmp_path / "again")
    one, two = (pl.read_parquet(file) for file in (ran.file, tmp_path / "again" / "runs.parquet"))
    assert one.columns == two.columns
    assert two["source"].unique().to_list() == ["reused published/runs.parquet (evenhand 0.1.0)"]
    assert one.drop("source").equals(two.drop("source"))
    third, _ = taken_over(ran, tmp_path / "three", file=tmp_path / "again" / "runs.parquet")
    with third, Store.open(ran.one, readonly=True) as original:
        assert same(Frame(third).values("test", "map_u"), Frame(original).values("test", "map_u"))


def test_numbers_of_the_model_stay_apart(tmp_path):
    """One run with both: its digest, the columns of a file and the comparison know the model's alone."""
    (run,) = make.planned(1)
    bare = make.record(run, scores=True, numbers={"delta_er": 0.25})
    for name, scores in (("old", True), ("new", False)):
        with Store.open(tmp_path / name, create=True) as store:
            store.add_study(make.STUDY, "0.1.0")
            store.add_runs([run])
            if scores:
                store.commit(bare)
            else:
                reuse_runs(store, tmp_path / "old.parquet")
            export_runs(store, tmp_path / f"{name}.parquet", ["acc", "map", "dims"])
    with Store.open(tmp_path / "new", readonly=True) as store, Store.open(tmp_path / "old") as old:
        (kept,) = store.records()
        told = {name for name in kept.numbers if is_told(name)}
        pairs = [(part, key) for part in ("validation", "test") for key in ("map", "dims")]
        assert told == {told_name(part, "sex", key) for part, key in pairs}
        assert kept.numbers.keys() - told == {"delta_er"}
        assert record_digest(kept) == record_digest(bare)
        assert record_digest(kept) != record_digest(replace(kept, numbers={}))
        found = diff_studies(old, store, ["map"])
        assert [(row["key"], row["equal"]) for row in found["numbers"]] == [("delta_er", 1)]
        assert Frame(store).values("test", "delta_er").tolist() == [0.25]
    one, two = (pl.read_parquet(tmp_path / f"{name}.parquet") for name in ("old", "new"))
    assert [name for name in two.columns if name.startswith("number.")] == ["number.delta_er"]
    assert one.drop("source").equals(two.drop("source"))
    assert not any(is_told(name) for name in (*NUMBERS, f"{MEAN}told"))


# -- what is said ----------------------------------------------------------------------------------------
def test_the_report_has_the_values_and_no_deviation_by_rows(ran, tmp_path):
    store, _ = taken_over(ran, tmp_path)
    with store, Store.open(ran.one, readonly=True) as original:
        bodies = [summarise(each) for each in (original, store)]
    one, two = ([(problem["grouping"], entry["method"], entry["numbers"]) for problem in body["problems"]
                 for entry in problem["methods"]] for body in bodies)  # fmt: skip
    assert [place[:2] for place in one] == [place[:2] for place in two]
    for (*_, with_scores), (*_, without) in zip(one, two, strict=True):
        for key in KEYS:
            ours, theirs = without[key], with_scores[key]
            assert (ours["values"], ours["low"]) == (theirs["values"], theirs["low"])  # over seeds: as before
            assert theirs["row_std"] > 0
            assert ours["row_std"] is None
    ended = CliRunner().invoke(app, ["study", "report", str(tmp_path)])
    assert ended.exit_code == 0, ended.output
    shown = json.loads((tmp_path / "study.json").read_text())["problems"][0]["methods"][0]["numbers"]["map_u"]
    assert shown["mean"] == pytest.approx(two[0][2]["map_u"]["mean"])
    assert f"{shown['mean']:.3f}" in (tmp_path / "report.html").read_text()


def test_only_what_stays_undefined_is_warned_of(ran, tmp_path):
    have = "8 reused runs of runs.parquet have no scores:"
    kept = "as the file says; intervals over rows cannot be made of that, they need the scores"
    lost = "undefined, unless they are run again"
    study = a_study(ran.folder, report=ReportSpec(("map", "auc.gap"), base="erm"))
    assert taken_over(ran, tmp_path / "other", study)[1] == [
        f"{have} they leave auc.gap {lost}",
        f"{have} they keep map {kept}",
    ]
    assert taken_over(ran, tmp_path / "all")[1] == [f"{have} they keep map, map_u {kept}"]
    less = tmp_path / "less" / "runs.parquet"
    less.parent.mkdir()
    pl.read_parquet(ran.file).drop("map").write_parquet(less)
    assert taken_over(ran, tmp_path / "less", file=less)[1] == [
        f"{have} they leave map {lost}",
        f"{have} they keep map_u {kept}",
    ]
    counts = a_study(ran.folder, report=ReportSpec(("tpr.gap",), base="erm"))
    assert taken_over(ran, tmp_path / "counts", counts)[1] == []


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "0.5"])
def test_what_is_no_finite_number_is_not_taken(ran, tmp_path, value):
    table = pl.read_parquet(ran.file).with_columns(map=pl.lit(value))
    table.write_parquet(tmp_path / "runs.parquet")
    store, told = taken_over(ran, tmp_path / "two", file=tmp_path / "runs.parquet")
    with store:
        assert np.isnan(Frame(store).values("test", "map")).all()
        assert np.isfinite(Frame(store).values("test", "map_u")).all()
    assert "they leave map undefined" in told[0]


# -- files that do not fit ---------------------------------------------------------------------------------
def changed(ran, folder, **columns):
    """The published file with other columns; None takes one away."""
    frame = pl.read_parquet(ran.file)
    for name, value in columns.items():
        frame = frame.drop(name) if value is None else frame.with_columns(value.alias(name))
    file = folder / "runs.parquet"
    frame.write_parquet(file)
    return file


def test_values_of_other_bins_are_not_set_beside_this_studys(ran, tmp_path):
    assert set(pl.read_parquet(ran.file)["score_bins"]) == {60}
    store, told = taken_over(ran, tmp_path / "out", a_study(ran.folder, score_bins=30))
    with store:
        assert np.isnan(Frame(store).values("test", "map")).all()
    assert any(
        "the scores of 8 runs is not kept: they were in 60 bins, and this study has 30" in one for one in told
    )
    store, told = taken_over(ran, tmp_path / "two", file=changed(ran, tmp_path, score_bins=None))
    with store:
        assert np.isnan(Frame(store).values("test", "map")).all()
    assert any("in an unknown number of bins" in one for one in told)


@pytest.mark.parametrize("value", [7.3, -1.0])
def test_values_that_a_metric_cannot_have_are_not_taken(ran, tmp_path, value):
    store, told = taken_over(ran, tmp_path / "out", file=changed(ran, tmp_path, map_u=pl.lit(value)))
    with store:
        assert np.isnan(Frame(store).values("test", "map_u")).all()
        assert np.isfinite(Frame(store).values("test", "map")).all()
    assert any("leave map_u undefined" in one for one in told)


@pytest.mark.parametrize("name", ["seconds", "stack", "device", "started", "versions"])
def test_a_damaged_file_is_refused_before_anything_is_taken(ran, tmp_path, name):
    last = pl.read_parquet(ran.file)["id"][-1]
    damaged = pl.when(pl.col("id") == last).then(None).otherwise(pl.col(name))
    study = a_study(ran.folder)
    with Store.open(tmp_path / "out", create=True) as store:
        store.add_study(study_to_dict(study), "0.1.0")
        store.add_runs(expand(study))
        with pytest.raises(InputError, match="is damaged"):
            reuse_runs(store, changed(ran, tmp_path, **{name: damaged}))
        assert store.counts_of_states()["done"] == 0


def test_the_report_says_why_there_is_no_deviation_by_rows(ran, tmp_path):
    store, _ = taken_over(ran, tmp_path)
    with store:
        notes = summarise(store)["notes"]
    (told,) = [note for note in notes if note.startswith("map_u of ")]
    assert "was taken from a file without the scores that it is made of" in told
