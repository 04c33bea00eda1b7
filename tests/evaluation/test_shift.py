"""The audit under shift: against closed forms, against the plain audit, against what users may give it."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import evenhand
from evenhand.data.card import DataCard
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.evaluation.measure import frame_of
from evenhand.evaluation.options import Options
from evenhand.evaluation.shift import audit_under_shift
from evenhand.evaluation.shift_resample import Resampled
from evenhand.evaluation.shift_rows import Draw
from evenhand.evaluation.shift_values import Moved, Point, curve_of, moved
from evenhand.groups import Attribute
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.nets import NetSpec

NET = NetSpec("mlp", widths=(8,))
QUICK = {"epochs": 2, "batch_size": 50, "device": "cpu"}
NAN = math.nan


def task_of(n=420, seed=0, unknown=0, absent=False, labels=0, images=False) -> Task:
    """Two groups (a third without test rows), labels that the first inputs tell."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 5, generator=generator)
    y = (x[:, 0] + 0.5 * x[:, 1] > 0).long()
    codes = torch.randint(0, 3 if absent else 2, (n,), generator=generator).numpy().astype(np.int64)
    if absent:
        codes[200:] = np.where(codes[200:] == 2, 0, codes[200:])
    if unknown:
        codes[-unknown:] = -1
    if labels:
        y = torch.stack([(x[:, place] > 0).long() for place in range(labels)], dim=1)
    if images:
        noise = torch.rand(n, 1, 8, 8, generator=generator)
        x = (40 + 100 * y[:, None, None, None] + 100 * noise).to(torch.uint8)  # bright ones are of class 1
    group = Attribute("g", ("a", "b", "c")[: 3 if absent else 2], codes)
    split = {"train": torch.arange(200), "test": torch.arange(200, n)}
    names, scaling = ("n", "p", "q")[: labels or 2], Scaling(127.5, 127.5) if images else Scaling()
    return Task("t", x, y, (group,), split, DataCard("t", "", "by hand", "none"), names, scaling)


@pytest.fixture(scope="module")
def fitted():
    return evenhand.fit(NET, "erm", task_of(), seeds=3, epochs=8, batch_size=50, device="cpu", rate=0.01)


@pytest.fixture(scope="module")
def noisy(fitted):
    return audit_under_shift(fitted, severities=[2.0, 0.5, 2.0], draws=3, replicates=200, metrics=["tpr.gap"])


def stub(y, ids, n_groups=2, multi_label=False):
    """Rows without a network."""
    task = SimpleNamespace(n_classes=2, multi_label=multi_label)
    return SimpleNamespace(y=y, groups=SimpleNamespace(ids=ids, n_groups=n_groups), task=task)


def reaches(y, ids, clean, shifted, keys, **options):
    counts = Counts.from_predictions(y, clean.guesses[0], ids, None if y.ndim == 2 else 2, 2)
    chosen = Options(**{"replicates": 2000, **options})
    frame = frame_of(counts, np.bincount(ids[ids >= 0], minlength=2), ("a", "b"), ("n", "p"), chosen)
    rows = Resampled(stub(y, ids, 2, y.ndim == 2), clean, shifted)
    return rows.reaches([CATALOGUE[key] for key in keys], frame.view(), frame.chosen, chosen)


def test_severity_0_is_the_audit_itself(fitted, noisy):
    audit = fitted.audit(metrics=["acc", "tpr.gap"], replicates=200)
    for key in ("acc", "tpr.gap"):
        point, value = noisy.curves[key].points[0], audit.metrics[key]
        assert (point.severity, point.value, point.low, point.high) == (0, value.value, value.low, value.high)


def test_a_point_is_the_mean_over_runs_and_draws_of_what_the_models_say(fitted, noisy):
    from evenhand.data.shifts import shift_inputs

    task = fitted.tasks[0]
    rows, y = task.rows("test"), np.asarray(task.y[task.rows("test")])
    ids = task.groups(["g"]).ids[np.asarray(rows)]
    correct, gaps = np.zeros((3, 3)), np.zeros((3, 3))
    for draw in range(3):
        x = shift_inputs("gaussian", task.x[rows], 2.0, seed=draw + 1, rows=rows, scaling=task.scaling)
        guesses = fitted.predict(x)
        correct[:, draw] = (guesses == y).mean(axis=1)
        rates = [[guess[(y == 1) & (ids == g)].mean() for g in (0, 1)] for guess in guesses]
        gaps[:, draw] = np.abs(np.diff(rates, axis=1))[:, 0]
    for key, values in (("acc", correct), ("tpr.gap", gaps)):
        point = noisy.curves[key].at(2.0)
        assert np.allclose(point.values, values)
        assert point.value == pytest.approx(values.mean())
        assert point.runs_std == pytest.approx(values.mean(axis=1).std(ddof=1))
        assert point.draws_std == pytest.approx(values.mean(axis=0).std(ddof=1))
        start = np.array(noisy.curves[key].points[0].values)
        assert point.moved.difference == pytest.approx((values - start).mean())


def test_heavy_noise_moves_accuracy_down_and_says_since_when(noisy):
    assert noisy.severities == (0.0, 0.5, 2.0)
    curve = noisy.curves["acc"]
    assert curve.verdict == "moved down"
    assert curve.points[-1].moved.high < 0
    assert curve.since in (0.5, 2.0)


def test_the_interval_of_a_difference_of_accuracies_is_that_of_paired_rows():
    """Closed form: the deviation of a mean of differences -1, 0, 1 of the same rows (McNemar's setting)."""
    rng = np.random.default_rng(3)
    n = 1500
    y, ids = rng.integers(0, 2, n), rng.integers(0, 2, n)
    clean = np.where(rng.random(n) < 0.8, y, 1 - y)
    shifted = np.where(rng.random(n) < 0.12, 1 - clean, clean)
    change = (shifted == y).astype(float) - (clean == y)
    within = sum((ids == g).mean() * change[ids == g].var() for g in (0, 1))  # the groups keep their sizes
    found = reaches(y, ids, Draw(clean[None]), [Draw(shifted[None])], ["acc"])["acc"]
    assert found == pytest.approx(1.96 * math.sqrt(within / n), rel=0.08)
    apart = 1.96 * math.sqrt((clean == y).var() / n + (shifted == y).var() / n)
    assert found < 0.8 * apart  # two samples of other rows would have a wider one


def test_repeated_rows_are_not_taken_for_more_people():
    """Every row drawn twice: the same numbers, and no narrower an interval; half the rows: a wider one."""
    rng = np.random.default_rng(4)
    n = 600
    y, ids = rng.integers(0, 2, n), rng.integers(0, 2, n)
    clean = np.where(rng.random(n) < 0.8, y, 1 - y)[None]
    twice, half = np.full(n, 2.0), np.where(np.arange(n) % 2 == 0, 2.0, 0.0)
    keys = ["acc", "tpr.gap"]
    assert reaches(y, ids, Draw(clean), [Draw(clean, twice)], keys) == {"acc": 0.0, "tpr.gap": 0.0}
    found = reaches(y, ids, Draw(clean), [Draw(clean, half)], ["acc"])["acc"]
    right = (clean[0] == y).var()  # mean of a half minus the mean of all: variance right / n
    assert found == pytest.approx(1.96 * math.sqrt(right / n), rel=0.15)


def test_intervals_of_differences_hold_the_truth_about_as_often_as_they_say():
    rng, hits, times = np.random.default_rng(5), 0, 120
    for _ in range(times):
        y, ids = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
        clean = np.where(rng.random(300) < 0.8, y, 1 - y)
        draws = [np.where(rng.random(300) < 0.1, 1 - clean, clean) for _ in range(3)]
        truth = 0.1 * (0.2 - 0.8)  # a tenth is flipped: four fifths of them from right to wrong
        moved_by = np.mean([(draw == y).mean() for draw in draws]) - (clean == y).mean()
        shifted = [Draw(draw[None]) for draw in draws]
        reach = reaches(y, ids, Draw(clean[None]), shifted, ["acc"], replicates=150)["acc"]
        hits += abs(moved_by - truth) <= reach
    assert 0.88 <= hits / times <= 0.99


def test_every_group_keeps_its_size_in_every_replicate():
    rng = np.random.default_rng(8)
    y, ids = rng.integers(0, 2, 400), rng.integers(-1, 2, 400)
    guess = rng.integers(0, 2, (2, 400))
    rows = Resampled(stub(y, ids), Draw(guess[:1]), [Draw(guess[1:])])
    (weights,) = rows._strata().draw(20, rng)
    for group, size in ((0, (ids == 0).sum()), (1, (ids == 1).sum()), (2, (ids < 0).sum())):
        assert (weights[:, rows.group == group].sum(axis=1) == size).all()


def test_labels_of_a_row_are_resampled_together():
    """Two labels that are always alike: the mean over labels is no surer than one of them."""
    rng = np.random.default_rng(6)
    y, ids = rng.integers(0, 2, 500), rng.integers(0, 2, 500)
    shifted = np.where(rng.random(500) < 0.2, 1 - y, y)
    one = reaches(y, ids, Draw(y[None]), [Draw(shifted[None])], ["acc"])["acc"]
    both = [np.stack([part, part], axis=-1) for part in (y, shifted)]
    found = reaches(both[0], ids, Draw(both[0][None]), [Draw(both[1][None])], ["acc"])["acc"]
    assert found == pytest.approx(one, rel=0.1)


def test_many_classes_are_counted_as_few_are(monkeypatch):
    from evenhand.evaluation import shift_resample

    rng = np.random.default_rng(7)
    y, ids = rng.integers(0, 2, 200), rng.integers(-1, 2, 200)
    draws = Draw(y[None]), [Draw(np.where(rng.random(200) < 0.3, 1 - y, y)[None])]
    keys = ["acc", "tpr.gap", "selection.gap"]
    first = reaches(y, ids, *draws, keys, replicates=50)
    monkeypatch.setattr(shift_resample, "MOST_COLUMNS", 0)
    assert reaches(y, ids, *draws, keys, replicates=50) == pytest.approx(first)


def test_both_sources_make_the_interval_and_an_unknown_one_is_left_out():
    clean = Point(0.0, 0.5, 0.4, 0.6, NAN, NAN, ((0.4,), (0.6,), (0.5,)))
    values = np.array([[0.5], [0.9], [0.7]])  # differences 0.1, 0.3, 0.2
    alone = moved(clean, values, NAN, 0.95)
    assert alone.runs == pytest.approx(4.302653 * 0.1 / math.sqrt(3), rel=1e-5)  # Student's t, 2 degrees
    assert (alone.low, alone.high) == pytest.approx((0.2 - alone.runs, 0.2 + alone.runs))
    both = moved(clean, values, 0.3, 0.95)
    assert both.high - both.difference == pytest.approx(math.hypot(0.3, alone.runs))
    assert (both.verdict, moved(clean, values * NAN, 0.3, 0.95).verdict) == ("no change shown", "undefined")
    assert moved(clean, values, 2.0, 0.95, (0.0, 1.0)).high == pytest.approx(0.5)  # a rate ends at 1


def test_a_metric_is_judged_at_the_highest_severity():
    def curve(*words):
        start = Point(0.0, 0.5, 0.4, 0.6, NAN, NAN, ((0.5,),))
        changes = [Moved(0.1, 0.05, 0.15, verdict=word) for word in words]
        later = [replace(start, severity=float(s), moved=change) for s, change in enumerate(changes, 1)]
        return curve_of("acc", [start, *later])

    up, same = "moved up", "no change shown"
    assert (curve(same, up, up).verdict, curve(same, up, up).since) == (up, 2.0)
    assert (curve(up, same).verdict, curve(up, same).since) == (same, None)
    assert curve("moved down", up).since == 2.0
    assert curve(up, up).since == 1.0


def test_shares_of_groups_leave_rates_of_groups_about_where_they_are(fitted):
    found = fitted.audit_under_shift("group-share:a", severities=[0.5], draws=3, replicates=100)
    assert found.curves["tpr.gap"].verdict == "no change shown"
    assert any("draws rows anew" in note for note in found.warnings)
    assert "not paired row by row" in found.to_html()


def test_groups_that_a_shift_of_rows_makes_small_are_told(fitted):
    """A gap between few rows is wider by chance: what moved up may be no more than that."""
    ids = torch.as_tensor(fitted.tasks[0].groups(["g"]).ids)[fitted.tasks[0].rows("test")]
    others = int((ids == 1).sum())
    found = fitted.audit_under_shift("group-share:a", severities=[0.9], draws=2, replicates=50)
    left = others - round(0.9 * others)
    assert any(f"few rows are left of b ({left})" in note for note in found.warnings)
    mild = fitted.audit_under_shift("group-share:a", severities=[0.1], draws=2, replicates=50)
    assert not any("few rows are left" in note for note in mild.warnings)


def test_a_severity_that_was_not_measured_is_told(noisy):
    with pytest.raises(InputError, match=r"acc was not measured at severity 0\.77; it was at 0, "):
        noisy.curves["acc"].at(0.77)


def test_only_fits_are_audited_under_shift():
    with pytest.raises(InputError, match="not of a Linear"):
        audit_under_shift(torch.nn.Linear(2, 2), task_of())


def test_images_are_scaled_once_before_they_are_shifted():
    """Hardly any noise changes nothing, a little light changes little, full light everything."""
    fitted = evenhand.fit(NET, "erm", task_of(images=True), epochs=8, batch_size=50, rate=0.01, device="cpu")
    clean = fitted.audit().metrics["acc"].value
    assert clean > 0.95
    found = fitted.audit_under_shift("gaussian", severities=[1e-6], draws=2, replicates=50)
    assert found.curves["acc"].points[1].value == clean
    bright = fitted.audit_under_shift("brightness", severities=[0.02, 1.0], replicates=50).curves["acc"]
    assert bright.points[1].value > 0.9
    ones = float(fitted.tasks[0].y[fitted.tasks[0].rows("test")].float().mean())
    assert bright.points[2].value == pytest.approx(ones)  # all white: all are of class 1


def test_a_shift_that_draws_nothing_is_made_once():
    fitted = evenhand.fit(NET, "erm", task_of(images=True), **QUICK)
    found = fitted.audit_under_shift("blur", severities=[0.1], replicates=50)
    assert (found.draws, np.shape(found.curves["acc"].points[1].values)) == (1, (1, 1))
    assert any("draws nothing" in note for note in found.warnings)


@pytest.mark.parametrize(
    ("knobs", "seeds", "said"),
    [
        ({}, 1, "there is one run"),
        ({"unknown": 60}, 2, "60 rows"),
        ({"absent": True}, 2, "group c has no rows"),
        ({"labels": 3}, 2, "there are two runs"),
    ],
)
def test_odd_parts_are_measured_and_told(knobs, seeds, said):
    fitted = evenhand.fit(NET, "erm", task_of(**knobs), seeds=seeds, **QUICK)
    found = fitted.audit_under_shift(severities=[1.0], draws=2, replicates=50)
    assert any(said in note for note in found.warnings), found.warnings
    body = json.loads(found.to_json())
    assert body["unknown"] == knobs.get("unknown", 0)
    assert all(curve["verdict"] != "undefined" for curve in body["metrics"].values())
    assert (fitted.audit().metrics["acc"].value, body["n"]) == (found.curves["acc"].points[0].value, 220)


def test_where_every_row_is_of_unknown_group_nothing_is_judged():
    fitted = evenhand.fit(NET, "erm", task_of(unknown=220), **QUICK)
    found = fitted.audit_under_shift(severities=[1.0], draws=2, replicates=50)
    assert found.curves["tpr.gap"].verdict == "undefined"
    assert "Undefined" in found.to_html()


def test_a_metric_that_some_draws_lack_is_told(fitted):
    found = fitted.audit_under_shift("group-share:a", severities=[1.0], draws=2, replicates=50)
    point = found.curves["tpr.gap"].points[-1]
    assert math.isnan(point.value)
    assert point.moved.verdict == "undefined"
    assert found.curves["acc"].verdict != "undefined"


def test_runs_with_tasks_of_their_own_are_judged_over_the_runs():
    tasks = [task_of(seed=seed) for seed in range(3)]
    fitted = evenhand.fit(NET, "erm", tasks, seeds=3, **QUICK)
    change = fitted.audit_under_shift(severities=[1.0], draws=2, replicates=50).curves["acc"].points[1].moved
    assert math.isnan(change.rows)
    assert change.high - change.difference == pytest.approx(change.runs)


def test_a_loaded_fit_is_given_its_task_again(fitted, noisy, tmp_path):
    loaded = evenhand.Fitted.load(fitted.save(tmp_path / "fit"), device="cpu")
    again = audit_under_shift(
        loaded, fitted.tasks[0], severities=[0.5, 2], draws=3, replicates=200, metrics=["tpr.gap"]
    )
    assert again.curves == noisy.curves
    with pytest.raises(InputError, match="loaded without its task"):
        loaded.audit_under_shift()
    with pytest.raises(InputError, match="are not those that were trained"):
        loaded.audit_under_shift(task="titanic")


def test_progress_is_told_from_0_to_1(fitted):
    told = []
    audit_under_shift(
        fitted, severities=[1, 2], draws=2, replicates=50, tell=lambda done, words: told.append((done, words))
    )
    shares = [done for done, _ in told]
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert "severity 2, draw 2 of 2" in [words for _, words in told]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"severities": [0.5, NAN]}, "severity nan"),
        ({"severities": [-1.0]}, "severity -1.0"),
        ({"severities": [math.inf]}, "severity inf"),
        ({"severities": "0.5"}, "a list of numbers"),
        ({"severities": ["0.5"]}, "severity '0.5'"),
        ({"severities": [0]}, "at least one severity above 0"),
        ({"severities": []}, "at least one severity above 0"),
        ({"shift": "gausian"}, "did you mean 'gaussian'"),
        ({"shift": "blur"}, "is for images"),
        ({"shift": "group-share:z", "severities": [0.5]}, "no group"),
        ({"metrics": ["tpr.gp"]}, "did you mean tpr.gap"),
        ({"metrics": ["auc.gap"]}, "not made of counts alone"),
        ({"metrics": ["delta_er"]}, "evenhand.equalized_robustness"),
        ({"metrics": 3}, "metrics are keys"),
        ({"draws": 0}, "draws must be"),
        ({"draws": 1.5}, "draws must be"),
        ({"part": "validation"}, "no part 'validation'"),
        ({"confidence": 2.0}, "confidence must"),
        ({"task": [task_of(), task_of()]}, "2 tasks for 3 runs"),
    ],
)  # fmt: skip
def test_what_cannot_be_measured_is_refused_in_a_sentence(fitted, given, said):
    with pytest.raises(ValueError, match=said):
        audit_under_shift(fitted, **given)
