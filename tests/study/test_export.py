"""Exports: a row for each run, split and grouping; metrics by key, as the catalogue says; small files."""

import csv
import json
import math
import runpy
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import polars as pl
import pytest

import evenhand
from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View
from evenhand.study import parquet_files
from evenhand.study.export import export_runs
from evenhand.study.export_mlflow import export_mlflow
from evenhand.study.export_rows import metric_values, run_columns
from evenhand.study.records import Measured
from evenhand.study.store import Store

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))


@pytest.fixture
def store(tmp_path):
    with Store.open(tmp_path / "study", create=True) as opened:
        opened.add_study(make.STUDY, "0.1.0")
        runs = make.planned(4, setting={"lam": 0.1, "kind": "tpr"})
        runs += make.planned(1, method="gdro", start=4, setting={"eta": 1})
        opened.add_runs(runs)
        for run in (runs[0], runs[1], runs[4]):
            opened.commit(make.record(run))
        crossed = Measured("test", "sex × race", ("a", "b", "c"), make.CLASSES, make.counts(8, groups=3))
        record = make.record(runs[2])
        opened.commit(replace(record, measured=(*record.measured, crossed)))
        opened.commit(make.failed(runs[3]))
        yield opened


def test_a_row_for_each_run_split_and_grouping(store, tmp_path):
    assert export_runs(store, tmp_path / "out" / "runs.parquet") == 10
    table = pl.read_parquet(tmp_path / "out" / "runs.parquet")
    keys = table.select("seed", "split", "measured_by").rows()
    assert keys[:2] == [(0, "test", "sex"), (0, "validation", "sex")]
    assert keys[4:7] == [(2, "test", "sex"), (2, "test", "sex × race"), (2, "validation", "sex")]
    assert keys[7] == (3, None, None)
    failed = table.row(7, named=True)
    assert (failed["status"], failed["reason"]) == ("failed", "the loss became NaN")
    assert failed["acc"] is None
    first = table.row(0, named=True)
    assert (first["task"], first["method"], first["device"], first["knob.validation"]) == (
        "adult",
        "erm",
        "cpu",
        0.2,
    )
    assert (first["setting.lam"], first["setting.kind"], first["setting.eta"]) == (0.1, "tpr", None)
    assert table.row(8, named=True)["setting.eta"] == 1
    assert first["groups"] == list(make.GROUPS)
    assert json.loads(first["recipe"]) == {"epochs": 3, "rate": 0.001}
    assert np.array_equal(np.reshape(first["counts"], (3, 2, 2)), make.counts(1).cells)


def test_metrics_are_those_of_each_run_alone(store, tmp_path):
    """Against the audit, which is another way to the same numbers."""
    export_runs(store, tmp_path / "runs.parquet")
    table = pl.read_parquet(tmp_path / "runs.parquet").filter(pl.col("split") == "test")
    counts = make.record(make.planned(3)[1]).measured[1].counts
    row = table.filter((pl.col("seed") == 1) & (pl.col("method") == "erm")).row(0, named=True)
    audit = evenhand.audit_counts(counts, group_names=make.GROUPS, class_names=make.CLASSES)
    for key in ("acc", "tpr.gap", "fpr.gap", "odds.max", "selection.ratio", "tpr.to_overall", "eqodd"):
        assert row[key] == pytest.approx(audit.metrics[key].value, abs=1e-12)
    alone = counts.table[:, 1, 1] / counts.table[:, 1].sum(-1)  # by hand
    assert row["tpr.gap"] == pytest.approx(alone.max() - alone.min())


def test_undefined_is_nan_and_a_metric_that_is_never_defined_has_no_column(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add_study(make.STUDY, "0.1.0")
        runs = make.planned(2)
        store.add_runs(runs)
        tables = [[[[5, 1], [0, 0]], [[3, 3], [2, 2]]], [[[5, 1], [4, 4]], [[3, 3], [2, 2]]]]
        for run, cells in zip(runs, tables, strict=True):
            part = Measured("test", "sex", make.GROUPS, make.CLASSES, Counts.from_table(cells))
            store.commit(make.record(run, measured=(part,)))
        columns = run_columns(store)
        assert math.isnan(columns["tpr.gap"][0])  # the first group has no positives
        assert columns["tpr.gap"][1] == 0.0
        everybody = Counts.from_table([[[5, 1], [2, 2]]])
        assert np.isnan(metric_values(Counts.stack([everybody]), ["tpr.gap"])["tpr.gap"]).all()
        export_runs(store, tmp_path / "runs.csv", ["tpr.gap"])
        with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as file:
            assert [row["tpr.gap"] for row in csv.DictReader(file)] == ["", "0.0"]


def test_every_metric_of_counts_but_those_of_a_privileged_group(store):
    columns = run_columns(store)
    without = [key for key in COUNT_METRICS if not CATALOGUE[key].needs_privileged]
    view = View(make.counts(1).margins())
    for key in without:
        assert key in columns or np.isnan(CATALOGUE[key](view)), key
    assert not any(key.startswith("s3.") for key in columns)
    assert "s3.accuracy.privileged" in run_columns(store, ["s3.accuracy.privileged"])
    with pytest.raises(InputError, match=r"no metric 'tpr.gpa' of counts or scores; did you mean 'tpr.gap'"):
        run_columns(store, ["tpr.gpa"])


def test_csv_says_the_same_with_nothing_installed(store, tmp_path, monkeypatch):
    export_runs(store, tmp_path / "runs.parquet")
    monkeypatch.setattr(parquet_files, "find_spec", lambda name: None)
    export_runs(store, tmp_path / "runs.csv")
    with pytest.raises(InputError, match=r"needs polars or pyarrow.* or export to \.csv"):
        export_runs(store, tmp_path / "again.parquet")
    table = pl.read_parquet(tmp_path / "runs.parquet")
    with (tmp_path / "runs.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == table.columns
    for row, other in zip(rows, table.rows(named=True), strict=True):
        assert row["split"] == (other["split"] or "")
        assert row["tpr.gap"] == ("" if other["tpr.gap"] is None else repr(other["tpr.gap"]))
        assert row["counts"] == (
            "" if other["counts"] is None else json.dumps(other["counts"]).replace(" ", "")
        )


def test_pyarrow_writes_the_same_table(store, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    export_runs(store, tmp_path / "polars.parquet")
    monkeypatch.setattr(parquet_files, "find_spec", lambda name: name == "pyarrow")
    export_runs(store, tmp_path / "arrow.parquet")
    assert pl.read_parquet(tmp_path / "arrow.parquet").equals(pl.read_parquet(tmp_path / "polars.parquet"))


def test_a_thousand_runs_are_small(tmp_path):
    with Store.open(tmp_path, create=True) as store:
        store.add_study(make.STUDY, "0.1.0")
        runs = make.planned(1000)
        store.add_runs(runs)
        for run in runs:
            store.commit(make.record(run))
        export_runs(store, tmp_path / "runs.parquet", ["acc", "tpr.gap", "fpr.gap", "odds.max"])
    assert (tmp_path / "runs.parquet").stat().st_size < 250_000


def test_what_cannot_be_exported_is_told(store, tmp_path):
    with pytest.raises(InputError, match=r"a \.parquet or a \.csv file, not to 'runs\.xlsx'"):
        export_runs(store, tmp_path / "runs.xlsx")
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="could not be written"):
        export_runs(store, tmp_path / "file" / "runs.csv")
    store.add_study({"name": "empty"}, "0.1.0")
    with pytest.raises(InputError, match="nothing to export"):
        export_runs(store, tmp_path / "runs.csv")


# -- MLflow ----------------------------------------------------------------------------------------------
class FakeClient:
    """Remembers what it is asked, as MLflow's client would."""

    runs: dict

    def __init__(self, tracking_uri=None):
        self.tracking_uri = tracking_uri

    def get_experiment_by_name(self, name):
        return SimpleNamespace(experiment_id="7") if self.runs else None

    def create_experiment(self, name):
        return "7"

    def search_runs(self, experiments, max_results, page_token):
        assert experiments == ["7"]
        found = [SimpleNamespace(data=SimpleNamespace(tags=run["tags"])) for run in self.runs.values()]
        page = Page(found[:2] if page_token is None else found[2:])
        page.token = "more" if page_token is None and len(found) > 2 else ""
        return page

    def create_run(self, experiment, start_time, tags, run_name):
        id = str(len(self.runs))
        self.runs[id] = {"tags": tags, "name": run_name, "start": start_time, "metrics": [], "params": []}
        return SimpleNamespace(info=SimpleNamespace(run_id=id))

    def log_batch(self, run_id, metrics=(), params=()):
        assert len(metrics) <= 1000
        assert len(params) <= 100
        self.runs[run_id]["metrics"] += metrics
        self.runs[run_id]["params"] += params

    def set_terminated(self, run_id, status, end_time):
        self.runs[run_id] |= {"status": status, "end": end_time}


class Page(list):
    token: str


@pytest.fixture
def fake_mlflow(monkeypatch):
    FakeClient.runs = {}
    names = ("mlflow", "mlflow.tracking", "mlflow.entities")
    modules = {name: ModuleType(name) for name in names}
    modules["mlflow.tracking"].MlflowClient = FakeClient
    modules["mlflow.entities"].Metric = lambda key, value, time, step: (key, value, time, step)
    modules["mlflow.entities"].Param = lambda key, value: (key, value)
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    return FakeClient.runs


def test_mlflow_gets_a_run_for_each_run(store, fake_mlflow):
    assert export_mlflow(store, "small") == 5
    first, failed = fake_mlflow["0"], fake_mlflow["3"]
    assert (first["status"], failed["status"]) == ("FINISHED", "FAILED")
    assert first["tags"]["evenhand.identity"] == make.planned(1)[0].id
    assert failed["tags"]["evenhand.reason"] == "the loss became NaN"
    assert first["end"] - first["start"] == 4000
    params = dict(first["params"])
    assert (params["method"], params["seed"], params["setting.lam"]) == ("erm", "0", "0.1")
    assert params["recipe.epochs"] == "3"
    numbers = {(key, step): value for key, value, _, step in first["metrics"]}
    assert numbers["history/loss", 1] == 0.5
    assert ("history/loss", 2) not in numbers  # it was NaN
    counts = make.record(make.planned(1)[0]).measured[1].counts
    accuracy = counts.cells.trace(axis1=1, axis2=2).sum() / counts.cells.sum()  # unknown groups too
    assert numbers["test/sex/acc", 0] == pytest.approx(accuracy)
    assert any(key.startswith("test/sex x race/") for key, *_ in fake_mlflow["2"]["metrics"])
    assert export_mlflow(store, "small") == 0  # all there
    assert len(fake_mlflow) == 5


def test_without_mlflow_it_says_what_to_install(store, monkeypatch):
    for name in ("mlflow", "mlflow.tracking"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(InputError, match=r"mlflow is not installed; `pip install evenhand\[mlflow\]`"):
        export_mlflow(store, "small")


@pytest.mark.filterwarnings("ignore")  # MLflow's own
def test_mlflow_itself(store, tmp_path):
    tracking = pytest.importorskip("mlflow.tracking")
    where = f"sqlite:///{tmp_path}/mlflow.db"
    assert export_mlflow(store, "small", where) == 5
    assert export_mlflow(store, "small", where) == 0
    client = tracking.MlflowClient(where)
    experiment = client.get_experiment_by_name("small")
    runs = {run.data.tags["evenhand.identity"]: run for run in client.search_runs([experiment.experiment_id])}
    first = runs[make.planned(1)[0].id]
    assert first.info.status == "FINISHED"
    assert first.data.params["method"] == "erm"
    steps = client.get_metric_history(first.info.run_id, "history/loss")
    assert [(entry.step, entry.value) for entry in steps] == [(0, 0.7), (1, 0.5)]
    assert "test/sex/tpr.gap" in first.data.metrics
