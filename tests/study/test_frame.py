"""The frame: every metric of all runs at once is the metric of each run by itself; undefined stays NaN."""

import random
import runpy
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.score_rates import SCORE_RATES
from evenhand.metrics.scores import Scores
from evenhand.metrics.view import View
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import setting_words
from evenhand.study.store import Store

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fake_store.py"))))
things = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))
METHODS = {"erm": [{}], "gap": [{"lam": 0.1}, {"lam": 1.0}]}


class Blocks:
    """A store that is given its blocks."""

    def __init__(self, store, blocks):
        self.store, self.blocks = store, blocks

    def measured(self, part):
        return self.blocks.get(part, [])

    def __getattr__(self, name):
        return getattr(self.store, name)


def random_store(groups=3, classes=2, seeds=3, low=0):
    rng = np.random.default_rng(1)
    names = tuple("abcdef"[:groups]), tuple(str(place) for place in range(classes))
    return fake.store_of(
        METHODS, lambda *_: rng.integers(low, 60, (groups, classes, classes)), seeds=seeds,
        groups=names[0], classes=names[1],
    )  # fmt: skip


# -- numbers ---------------------------------------------------------------------------------------------
@pytest.mark.parametrize("classes", [2, 4])
def test_every_count_metric_is_that_of_each_run_alone(classes, assert_close):
    store = random_store(classes=classes)
    frame = Frame.open(store)
    for key in COUNT_METRICS:
        alone = [
            float(CATALOGUE[key](View(counts.margins(), margins_of_everyone(counts.cells, False))))
            for row in store.rows
            for counts in (Counts.from_table(store.tables["test"][row["id"]]),)
        ]
        assert_close(frame.values("test", key), alone)


def test_rows_of_unknown_group_belong_to_the_accuracy():
    store = fake.store_of({"erm": [{}]}, lambda *_: [[[8, 0], [0, 8]]], seeds=1, groups=("a",))
    block = store.measured("test")[0]
    wrong = Counts.from_table(np.array([[[[8, 0], [0, 8]]]]), unknown=np.array([[[0, 16], [0, 0]]]))
    frame = Frame.open(Blocks(store, {"test": [replace(block, counts=wrong)]}))
    assert frame.values("test", "acc").tolist() == [0.5]


def test_failed_waiting_and_unmeasured_are_nan():
    store = random_store(low=1)
    store.rows[0].update(status="failed")  # its counts are still there, and must not be looked at
    store.rows[1].update(status="planned")
    frame = Frame.open(store)
    assert np.isnan(frame.values("test", "acc")[:2]).all()
    assert np.isfinite(frame.values("test", "acc")[2:]).all()
    assert np.isnan(frame.values("shifted", "acc")).all()


def test_a_metric_without_cases_is_nan_and_not_zero():
    table = np.array([[[5, 5], [4, 6]], [[9, 1], [0, 0]]])  # the second group has no positives
    frame = Frame.open(fake.store_of({"erm": [{}]}, lambda *_: table, seeds=1))
    assert np.isnan(frame.values("test", "tpr.gap")[0])
    assert frame.values("test", "fpr.gap")[0] == pytest.approx(0.4)
    names, rates = frame.rates("test", "tpr")
    assert names == ("a", "b")
    assert rates[0, 0] == pytest.approx(0.6)
    assert np.isnan(rates[0, 1])


def test_rows_stand_in_the_order_of_the_study_however_the_table_comes():
    store = random_store()
    straight = Frame.open(store)
    random.Random(0).shuffle(store.rows)
    mixed = Frame.open(store)
    assert mixed.columns["id"] == straight.columns["id"]
    assert [c.label for c in mixed.layout.candidates] == ["erm", "gap (lam=0.1)", "gap (lam=1)"]
    np.testing.assert_array_equal(mixed.values("test", "acc"), straight.values("test", "acc"))


def test_means_are_over_the_seeds_that_have_a_value():
    tables = {0: [[[5, 5], [4, 6]], [[5, 5], [2, 8]]], 1: [[[5, 5], [4, 6]], [[9, 1], [0, 0]]]}
    frame = Frame.open(fake.store_of({"erm": [{}]}, lambda t, m, s, seed, p: tables[seed], seeds=2))
    assert frame.means("test", "tpr.gap").tolist() == pytest.approx([0.2])


def test_per_class_values_and_metrics_that_have_none(assert_close):
    store = random_store(classes=4, low=1)
    frame = Frame.open(store)
    rows = [4, 0]
    found = frame.per_class("test", "dp", rows)
    alone = [CATALOGUE["dp"].per_class(View(Counts.from_table(store.tables["test"][store.rows[row]["id"]])
                                            .margins())) for row in rows]  # fmt: skip
    assert_close(found, alone)
    assert frame.per_class("test", "acc", rows) is None
    assert frame.per_class("nowhere", "dp", rows) is None


# -- groupings -------------------------------------------------------------------------------------------
def test_the_grouping_that_a_run_protects_is_its_own():
    store = fake.store_of({"erm": [{}]}, lambda *_: [[[5, 5], [5, 5]], [[9, 1], [1, 9]]], seeds=1)
    sex = store.measured("test")[0]
    race = replace(sex, by="race", groups=("x",), counts=Counts.from_table([[[[1, 1], [1, 3]]]]))
    frame = Frame.open(Blocks(store, {"test": [race, sex]}))
    assert frame.values("test", "acc").tolist() == [0.7]
    assert frame.values("test", "acc", by="race").tolist() == pytest.approx([4 / 6])
    assert np.isnan(frame.values("test", "acc", by="age")).all()
    only = Frame.open(Blocks(store, {"test": [race]}))  # the first that was measured
    assert only.values("test", "acc").tolist() == pytest.approx([4 / 6])


def test_groups_that_only_some_runs_have():
    store = random_store(groups=2, seeds=1, low=1)
    block = store.measured("test")[0]
    first = replace(block, run_ids=block.run_ids[:1], counts=block.counts[:1])
    rest = replace(block, run_ids=block.run_ids[1:], counts=block.counts[1:], groups=("b", "c"))
    names, rates = Frame.open(Blocks(store, {"test": [first, rest]})).rates("test", "acc")
    assert names == ("a", "b", "c")
    assert np.isnan(rates).tolist() == [[False, False, True], [True, False, False], [True, False, False]]


# -- scores ----------------------------------------------------------------------------------------------
def test_score_metrics_come_from_binned_scores(assert_close):
    rng = np.random.default_rng(0)
    store = random_store(groups=2, low=1)
    block = store.measured("test")[0]
    n = len(block.run_ids)
    y, g = rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    scores = Scores.from_scores(y, rng.random((n, 200)), g, n_groups=2, bins=240, runs=True)
    frame = Frame.open(Blocks(store, {"test": [replace(block, scores=scores)]}))
    auc = SCORE_RATES["auc"](scores)
    assert_close(frame.values("test", "auc.gap"), np.abs(auc[:, 0] - auc[:, 1]))
    assert np.isfinite(frame.values("test", "map")).all()
    assert np.isnan(frame.values("test", "topk.gap")).all()  # histograms know nothing of the k highest
    assert np.isnan(Frame.open(store).values("test", "auc.gap")).all()
    assert np.isnan(Frame.open(store).values("test", "map")).all()


# -- asking for what is not there --------------------------------------------------------------------------
def test_unknown_metrics_are_refused_with_the_nearest():
    frame = Frame.open(random_store())
    with pytest.raises(InputError, match=r"'tpr.gop'; did you mean 'tpr.gap'"):
        frame.values("test", "tpr.gop")
    with pytest.raises(InputError, match="needs two models"):
        frame.values("test", "cev")


def test_an_empty_study_has_an_empty_frame():
    frame = Frame.open(fake.FakeStore({"name": "none"}, [], {}))
    assert frame.n == 0
    assert frame.layout.problems == ()
    assert frame.values("test", "acc").shape == (0,)
    assert frame.means("test", "acc").shape == (0,)


def test_settings_in_words():
    assert setting_words({}) == ""
    assert setting_words({"lam": 0.123456, "kind": "mse", "n": 3}) == "lam=0.1235, kind=mse, n=3"


# -- with the store itself ---------------------------------------------------------------------------------
def test_a_real_store_gives_the_same_numbers(tmp_path, assert_close):
    runs = things.planned(4, setting={"lam": 0.5})
    counts = [Counts(np.random.default_rng(seed).integers(1, 90, (3, 2, 2))) for seed in range(4)]
    with Store.open(tmp_path / "study", create=True) as store:
        store.add_study(fake.study_of({"erm": [{}]}), "0.1.0")
        store.add_runs(runs)
        for run, table in zip(runs[:3], counts, strict=False):
            measured = things.Measured("test", "sex", things.GROUPS, things.CLASSES, table)
            store.commit(things.RunRecord(run.id, "done", measured=(measured,)))
        frame = Frame.open(store)
        alone = [float(CATALOGUE["odds.max"](View(table.margins()))) for table in counts[:3]]
        assert_close(frame.values("test", "odds.max"), [*alone, np.nan])
        assert frame.done.tolist() == [True, True, True, False]
        assert frame.rates("test", "tpr")[0] == things.GROUPS


def test_twenty_thousand_runs_are_quick():
    rng = np.random.default_rng(0)
    tables = rng.integers(20, 500, (64, 4, 2, 2))
    settings = [{"lam": place} for place in range(20)]
    store = fake.store_of(
        {f"m{place}": settings for place in range(10)}, lambda *_: tables[rng.integers(64)],
        tasks=[f"t{place}" for place in range(10)], seeds=10, groups=("a", "b", "c", "d"),
    )  # fmt: skip
    began = time.process_time()
    frame = Frame.open(store)
    for key in ("acc", "tpr.gap", "fpr.gap", "selection.gap", "odds.max", "dp", "ba", "ppv.gap"):
        assert np.isfinite(frame.values("test", key)).all()
    assert frame.n == 20_000
    assert time.process_time() - began < 2.0  # 0.3 s where it was written
