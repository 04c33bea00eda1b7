"""Numbers of trained models: taken by hand and by a study, kept, exported, reused, shown and compared."""

import contextlib
import math
import runpy
import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
import torch
from tests.study.test_execute import records
from tests.study.test_plan import a_run

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.study.summary import summarise
from evenhand.evaluation.study_diff import diff_studies
from evenhand.metrics.mmd import mmd2
from evenhand.study import store_schema
from evenhand.study.digests import record_digest
from evenhand.study.export import export_runs
from evenhand.study.frame import Frame
from evenhand.study.number_names import NUMBERS
from evenhand.study.read import read_study
from evenhand.study.records import RunRecord, RunSpec
from evenhand.study.reuse import reuse_runs
from evenhand.study.select import select
from evenhand.study.spec import ReportSpec, SelectionSpec
from evenhand.study.store import Store

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))
fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fake_store.py"))))
OLD = Path(__file__).with_name("format_1.sql")


def asking(run, *numbers):
    return replace(run, spec=replace(run.spec, numbers=numbers))


# -- taken -------------------------------------------------------------------------------------------------
def test_numbers_are_those_of_the_closed_form(tmp_path):
    """Two logits of a logistic regression: the one-shot estimate, worked out here from p and the weights."""
    run = asking(a_run(net="mlp", knobs={"n_train": 600}, recipe={"rate": 0.05}), *NUMBERS)
    run = replace(run, spec=replace(run.spec, net_options={"widths": []}))
    record = records([run], tmp_path, keep_weights=True)[run.id]
    curvatures, ids, names = by_hand(run, tmp_path)
    groups = [torch.from_numpy(curvatures[ids == group]) for group in range(2)]
    for key, sigmas in {
        "delta_er": (1, 2, 4, 8, 16), "delta_er.narrow": (0.25, 0.5, 1, 2, 4),
        "delta_er.wide": (4, 8, 16, 32, 64),
    }.items():  # fmt: skip
        assert record.numbers[key] == pytest.approx(float(mmd2(*groups, sigmas)), rel=1e-6, abs=1e-12)
    for name, own in zip(names, groups, strict=True):
        assert record.numbers[f"curvature.mean.{name}"] == pytest.approx(float(own.mean()), rel=1e-6)
    assert len(record.numbers) == 5
    assert record.numbers["delta_er"] > 0


def by_hand(run, folder):
    """||g(x + v) - g(x)|| of the cross-entropy of a linear model; v has the signs of g and length 1."""
    from evenhand.study.weights import load_weights

    weights = load_weights(folder, run.id)
    weight, bias = (
        next(np.asarray(value, dtype=np.float64) for name, value in weights.items() if name.endswith(end))
        for end in ("weight", "bias")
    )
    task = evenhand.load("synthetic", n_train=600)
    rows = task.rows("test")
    x, y = task.x[rows].double().numpy(), task.y[rows].numpy()

    def slope(at):
        logits = at @ weight.reshape(-1, at.shape[1]).T + bias.reshape(-1)
        p = np.exp(logits - logits.max(1, keepdims=True))
        p = p / p.sum(1, keepdims=True) - np.eye(2)[y]
        return p @ weight.reshape(-1, at.shape[1])

    step = np.sign(slope(x)) / np.sqrt(x.shape[1])
    groups = task.groups(["a0"]).keep(np.asarray(rows))
    return np.linalg.norm(slope(x + step) - slope(x), axis=1), groups.ids, groups.names


def test_a_run_has_the_same_numbers_alone_and_in_a_stack(tmp_path):
    runs = [
        asking(a_run(seed=seed, knobs={"n_train": 600, "seed": own}), "delta_er", "curvature")
        for seed in range(2)
        for own in range(2)
    ]
    together = records(runs, tmp_path)
    for run in runs:
        alone = records([run], tmp_path / run.id)[run.id]
        assert alone.numbers == pytest.approx(together[run.id].numbers, rel=1e-5)
    assert len({record.numbers["delta_er"] for record in together.values()}) == 4


def test_one_group_of_everybody_has_a_curvature_and_no_distance(tmp_path):
    run = asking(a_run(protect=()), "delta_er", "curvature")
    found = records([run], tmp_path)[run.id].numbers
    assert math.isnan(found["delta_er"])
    assert set(found) == {"delta_er", "curvature.mean.everybody"}
    assert found["curvature.mean.everybody"] > 0


def test_a_run_that_went_astray_has_no_numbers(tmp_path):
    run = asking(a_run(recipe={"rate": 1e30, "optimizer": "sgd"}), "delta_er")
    record = records([run], tmp_path)[run.id]
    assert (record.status, record.numbers) == ("failed", {})


def test_runs_that_ask_for_other_numbers_do_not_share_a_bucket():
    from evenhand.study.plan import plan

    assert len(plan([asking(a_run(seed=0), "delta_er"), a_run(seed=1)])) == 2


# -- asked for ---------------------------------------------------------------------------------------------
HEAD = """
seeds = 2
numbers = ["delta_er", "curvature"]
[[task]]
data = "titanic"
validation = 0.2
[[grouping]]
attributes = ["sex"]
[[method]]
key = "erm"
"""


def read(tmp_path, text):
    (tmp_path / "mine.toml").write_text(text, encoding="utf-8")
    return read_study(tmp_path / "mine.toml")


def test_numbers_are_declared_once_for_all_runs(tmp_path):
    from evenhand.study.expand import expand

    study = read(tmp_path, HEAD)
    assert {run.spec.numbers for run in expand(study)} == {("delta_er", "curvature")}
    spec = expand(study)[0].spec
    assert RunSpec.from_dict(spec.to_dict()) == spec


WRONG = {
    (
        '["delta_er", "curvature"]',
        '["delta_re"]',
    ): r":3: there is no number 'delta_re'; did you mean 'delta_er",
    ('["delta_er", "curvature"]', '["curvature", "curvature"]'): r":3: the number 'curvature' is there twice",
    ('["delta_er", "curvature"]', "3"): r":3: 'numbers' must be a list of texts",
    (
        "[[task]]",
        '[selection]\nmetric = "delta_er"\n[[task]]',
    ): r":5: 'delta_er' is taken on test rows: .*oracle",
    ("numbers = ", '[report]\nmetrics = ["delta_er"]\n[options]\nsettings = 1\n# '): (
        r":4: the metric 'delta_er' is taken of trained models.*set numbers = \[\"delta_er\"\] at the top"
    ),
}


@pytest.mark.parametrize("change", WRONG)
def test_every_mistake_is_told_with_its_line(tmp_path, change):
    with pytest.raises(InputError, match=WRONG[change]):
        read(tmp_path, HEAD.replace(*change))


def test_choosing_on_test_rows_may_go_by_a_number(tmp_path):
    chosen = '[selection]\nmetric = "delta_er"\npart = "test"\n[report]\nmetrics = ["delta_er"]\n'
    assert read(tmp_path, HEAD + chosen).selection.metric == "delta_er"


# -- kept --------------------------------------------------------------------------------------------------
VALUES = {"delta_er": 0.4616, "delta_er.wide": math.nan, "curvature.mean.sex=Female": 1 / 3}


@pytest.fixture
def store(tmp_path):
    runs = make.planned(3)
    with Store.open(tmp_path / "study", create=True) as opened:
        opened.add_study(make.STUDY, "0.1.0")
        opened.add_runs(runs)
        opened.commit(make.record(runs[0], numbers=VALUES))
        opened.commit(make.record(runs[1]))
        yield opened


def test_numbers_come_back_as_they_were(store):
    first, second = store.records()
    assert first.numbers == pytest.approx(VALUES, rel=0, abs=0, nan_ok=True)
    assert second.numbers == {}
    assert store.table()["numbers"][0] == pytest.approx(VALUES, rel=0, abs=0, nan_ok=True)
    assert store.table()["numbers"][1:] == [{}, {}]
    rows = store.database.rows("SELECT key, value FROM numbers ORDER BY key")
    assert rows == [("curvature.mean.sex=Female", 1 / 3), ("delta_er", 0.4616), ("delta_er.wide", None)]


def test_a_failure_takes_its_numbers_with_it(store):
    run = make.planned(3)[2]
    store.commit(replace(make.failed(run), numbers={"delta_er": 1.0}))
    store.commit(make.record(run, numbers={"delta_er": 2.0}))
    assert store.table()["numbers"][2] == {"delta_er": 2.0}


def test_a_number_belongs_to_what_a_record_comes_to():
    bare = RunRecord("a", "done", weights="00")
    digests = {record_digest(replace(bare, numbers={"delta_er": value})) for value in (0.5, 0.25, math.nan)}
    assert len(digests | {record_digest(bare)}) == 4


def test_exports_have_a_column_for_each_number_and_are_read_back(store, tmp_path):
    export_runs(store, tmp_path / "runs.parquet")
    table = pl.read_parquet(tmp_path / "runs.parquet")
    row = table.row(0, named=True)
    assert row["number.delta_er"] == 0.4616
    assert math.isnan(row["number.delta_er.wide"])
    assert table["number.delta_er"].to_list()[-1] is None
    with Store.open(tmp_path / "again", create=True) as other:
        other.add_study(make.STUDY, "0.1.0")
        other.add_runs(make.planned(3))
        assert reuse_runs(other, tmp_path / "runs.parquet") == 2
        assert other.digests() == store.digests()
        assert other.table()["numbers"][0] == pytest.approx(VALUES, rel=0, abs=0, nan_ok=True)
    export_runs(store, tmp_path / "runs.csv")
    assert "number.curvature.mean.sex=Female" in (tmp_path / "runs.csv").read_text("utf-8").splitlines()[0]


def test_an_edited_number_is_refused(store, tmp_path):
    export_runs(store, tmp_path / "runs.parquet")
    table = pl.read_parquet(tmp_path / "runs.parquet")
    table.with_columns(pl.col("number.delta_er") / 2).write_parquet(tmp_path / "better.parquet")
    with Store.open(tmp_path / "again", create=True) as other:
        other.add_study(make.STUDY, "0.1.0")
        other.add_runs(make.planned(3))
        with pytest.raises(InputError, match="do not fit their digest"):
            reuse_runs(other, tmp_path / "better.parquet")


def test_a_difference_between_two_folders_is_shown(store, tmp_path):
    other = {"delta_er": 0.5, "delta_er.wide": math.nan, "curvature.mean.sex=Female": 1 / 3}
    with Store.open(tmp_path / "two", create=True) as two:
        two.add_study(make.STUDY, "0.1.0")
        two.add_runs(make.planned(3))
        two.commit(make.record(make.planned(3)[0], numbers=other))
        two.commit(make.record(make.planned(3)[1]))
        found = diff_studies(store, two, ["acc"])
        assert not found["equal"]
        rows = {row["key"]: row for row in found["numbers"]}
        assert (rows["delta_er"]["compared"], rows["delta_er"]["equal"]) == (2, 1)
        assert rows["delta_er"]["farthest"] == pytest.approx(0.5 - 0.4616)
        assert {key: row["equal"] for key, row in rows.items() if key != "delta_er"} == {
            "delta_er.wide": 2, "curvature.mean.sex=Female": 2
        }  # fmt: skip
        assert diff_studies(store, store, ["acc"])["equal"]


# -- older files -------------------------------------------------------------------------------------------
@pytest.fixture
def old(tmp_path):
    """A folder that the first format was written into, by the program of its time."""
    folder = tmp_path / "old"
    folder.mkdir()
    with contextlib.closing(sqlite3.connect(folder / "study.sqlite")) as file:
        file.executescript(OLD.read_text(encoding="utf-8"))
    return folder


DIGEST = "b5c80a82b0764fe90cbee1d00ceb7b03827d609422442d1eb20af5ee61a450a0"  # told by the program of its time


def test_an_older_file_is_read_as_it_lies_there(old):
    before = (old / "study.sqlite").read_bytes()
    with Store.open(old, readonly=True) as store:
        assert store.counts_of_states() == {"planned": 3, "done": 1, "failed": 1, "waiting": 1, "running": 0}
        assert store.table()["numbers"] == [{}, {}, {}]
        assert store.digests()[make.planned(1)[0].id] == DIGEST
        assert store.runs() == make.planned(3)
        assert np.isnan(Frame(store).number("delta_er")).all()
    assert (old / "study.sqlite").read_bytes() == before


def test_an_older_file_is_brought_up_where_it_is_gone_on_with(old, tmp_path):
    shutil.copytree(old, tmp_path / "new")
    with Store.open(tmp_path / "new") as store:
        assert store_schema.format_of(store.database.connection, store.database.path)[0] == 2
        assert store.digests()[make.planned(1)[0].id] == DIGEST
        assert store.commit(make.record(make.planned(3)[2], numbers=VALUES))
        assert store.table()["numbers"][2]["delta_er"] == 0.4616
    with Store.open(tmp_path / "new", readonly=True) as store:
        assert store.counts_of_states()["done"] == 2


# -- shown -------------------------------------------------------------------------------------------------
def sample(selection=None, metrics=("tpr.gap", "delta_er")):
    """Two methods over eight seeds; the second has half of the first one's distance."""
    rng = np.random.default_rng(0)
    noise = iter(rng.normal(0, 0.01, 1000))

    def table_of(task, method, setting, seed, part):
        return fake.rates_table((0.8 + next(noise), 0.6), (0.2, 0.1 + next(noise)), 900)

    report = ReportSpec(metrics=metrics)
    made = fake.store_of({"erm": [{}], "gap": fake.SETTINGS}, table_of, ("adult",), 8, selection, report)
    plain = made.table

    def table():
        found = plain()
        size = [0.5 if method == "erm" else 0.25 * s.get("lam", 1.0) for method, s in
                zip(found["method"], found["setting"], strict=True)]  # fmt: skip
        seeds = found["seed"]
        return {**found, "numbers": [{"delta_er": d + k / 1000} for d, k in zip(size, seeds, strict=True)]}

    made.table = table
    return made


def test_a_frame_has_a_number_whatever_the_part():
    frame = Frame(sample())
    found = frame.values("validation", "delta_er")
    assert np.array_equal(found, frame.values("test ~ gaussian 1 #1", "delta_er"))
    assert np.array_equal(found, frame.number("delta_er"))
    assert found[0] == 0.5
    assert np.isnan(frame.number("curvature.mean.sex=Female")).all()
    frame.done[0] = False
    assert np.isnan(frame.number("delta_er")[0])


def test_tables_leaders_and_tests_have_it_like_any_metric():
    body = summarise(sample(SelectionSpec(metric="tpr.gap")))
    (problem,) = body["problems"]
    rows = {row["method"]: row for row in problem["methods"]}
    assert rows["erm"]["numbers"]["delta_er"]["mean"] == pytest.approx(0.5 + 3.5 / 1000)
    assert rows["gap"]["against"]["delta_er"] is not None
    assert rows["gap"]["per_class"]["delta_er"] is None


def test_a_number_of_test_rows_chooses_nothing_on_validation_rows():
    """Not even under the rule that has a setting for each metric: nobody would see the oracle."""
    store = sample(SelectionSpec(rule="best-per-metric"))
    own = {c.method: c.per_metric for c in select(Frame(store), SelectionSpec(rule="best-per-metric"),
                                                  ("tpr.gap", "delta_er")).choices}  # fmt: skip
    assert set(own["gap"]) == {"acc", "tpr.gap"}
    spec = SelectionSpec(rule="best-per-metric", part="test")
    own = {c.method: c.per_metric for c in select(Frame(store), spec, ("tpr.gap", "delta_er")).choices}
    assert own["gap"]["delta_er"].candidate.setting == {"lam": 0.1}  # the smallest is the best
