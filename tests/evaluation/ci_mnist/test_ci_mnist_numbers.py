"""The numbers of S3's tables: chosen on balanced validation, reported on test, the oracle beside them."""

import numpy as np
import pytest

from evenhand.evaluation.ci_mnist.layout import FAIRNESS, METRICS, MODELS, SETTINGS, table_number, tasks_of
from evenhand.evaluation.ci_mnist.numbers import Numbers, missing
from evenhand.evaluation.ci_mnist.samples import KNOBS
from evenhand.study.frame import Frame
from evenhand.study.read import read_study


@pytest.fixture(scope="module")
def numbers(store):
    return Numbers.of(Frame.open(store))


def entry(body, width, task, model, metric):
    wanted = (width, task, model, metric)
    return next(e for e in body["numbers"] if (e["width"], e["task"], e["model"], e["metric"]) == wanted)


def test_thirteen_rows_over_the_ten_tasks_of_the_declared_study():
    study = read_study("ci-mnist")
    assert [task.name for task in study.tasks] == sorted(tasks_of(), key=[t.name for t in study.tasks].index)
    assert len(tasks_of()) == 10
    assert sum(len(setting.rows) for setting in SETTINGS) == 13
    numbered = [table_number(setting, model) for setting in SETTINGS for model in MODELS]
    assert numbered == list(range(4, 32))


def test_the_painted_samples_have_the_knobs_of_the_study():
    usual = {"g1": 22, "gw": 5, "clr_ratio": (0.5, 0.5), "e_o_ratio": (0.5, 0.5)}

    def whole(knobs):
        return {
            key: tuple(np.ravel(value).tolist())
            for key, value in (usual | dict(knobs)).items()
            if key != "part"
        }

    declared = {task.name: whole(task.knobs) for task in read_study("ci-mnist").tasks}
    assert {task: whole(knobs) for task, knobs in KNOBS.items()} == declared


def test_a_cell_is_the_mean_and_sample_deviation_of_the_counts(made, body):
    width, task = made.WIDTHS[1], "minority .001"
    found = entry(body, width, task, "mlp", "eqopp1")
    by_hand = []
    for seed in made.SEEDS:
        table = np.asarray(made.counts(task, "mlp", {}, seed, width, "test"), dtype=float)
        tpr = table[:, 1, 1] / table[:, 1].sum(axis=1)
        by_hand.append(1 - abs(tpr[0] - tpr[1]))
    assert found["mean"] == pytest.approx(np.mean(by_hand))
    assert found["n"] == 3
    assert found["std"] == pytest.approx(np.std(by_hand, ddof=1))
    assert list(found["values"]) == ["3", "4", "5"]


def test_privileged_is_red_and_unprivileged_blue(body):
    red, blue = (entry(body, "width 64", "minority .001", "mlp", key)["mean"] for key in ("acc_p", "acc_up"))
    assert red > 0.9 > 0.6 > blue


def test_settings_are_chosen_on_balanced_validation_and_the_oracle_on_test(made):
    """The setting that is best on validation is the worse one on test: only the oracle takes the other."""

    def turned(task, model, setting, seed, width, part):
        best = made.settings_of(model)[-1 if part == "test" else 0]
        other = made.settings_of(model)[0]
        return made.counts(
            task, model, other if setting == best else made.settings_of(model)[-1], seed, width, part
        )

    store = made.make_store(counts_of=turned)
    ours, oracle = (Numbers.of(Frame.open(store), part) for part in (None, "test"))
    place = ("width 32", "colour .1 .9", "cfair", "eqopp0")
    assert ours.cells[place].setting == {"gamma": 0.1}
    assert oracle.cells[place].setting == {"gamma": 1000.0}
    assert oracle.cells[place].mean > ours.cells[place].mean
    assert (ours.part, oracle.part) == ("validation_balanced", "test")


def test_the_oracle_averages_two_numbers_that_were_chosen_apart(store):
    oracle = Numbers.of(Frame.open(store), "test")
    place = ("width 32", "colour .1 .9", "laftr-dp")
    halves = [oracle.cells[*place, key].mean for key in ("eqopp0", "eqopp1")]
    assert oracle.cells[*place, "eqodd"].mean == pytest.approx(np.mean(halves))


def test_a_series_has_only_replicates_that_all_its_cells_have(made):
    store = made.make_store(lambda row: row["net"] == "width 32" and row["method"] == "ffvae")
    numbers = Numbers.of(Frame.open(store))
    assert len(numbers.series(["mlp"], ["balanced"], FAIRNESS)) == 6
    assert set(numbers.series(["mlp", "ffvae"], ["balanced"], FAIRNESS)) == {
        ("width 64", s) for s in (3, 4, 5)
    }
    one = numbers.series(["mlp"], ["balanced"], ["eqopp0", "eqopp1"])["width 64", 4]
    cells = [numbers.cells["width 64", "balanced", "mlp", key].values[4] for key in ("eqopp0", "eqopp1")]
    assert one == pytest.approx(np.mean(cells))


def test_what_is_missing_is_named(made, store):
    assert list(missing(Frame.open(store))) == []
    partly = made.make_store(lambda row: row["method"] == "ffvae" and row["task"] != "balanced")
    found = list(missing(Frame.open(partly)))
    assert [(entry["width"], entry["model"], entry["done"]) for entry in found] == [
        ("width 32", "ffvae", 3), ("width 64", "ffvae", 3)
    ]  # fmt: skip
    assert len(found[0]["tasks"]) == 9


def test_every_metric_of_every_model_on_every_task_is_there(body):
    assert len(body["numbers"]) == 2 * 10 * (len(MODELS) + 1) * len(METRICS)
