"""What differs between two stores of a study: found where it was put, and nothing where nothing was."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console
from scipy import stats

from evenhand.evaluation.study_diff import diff_studies, differing
from evenhand.evaluation.study_diff_moved import change
from evenhand.metrics.counts import Counts
from evenhand.report.terminal_study_diff import diff_table
from evenhand.study.records import Measured, PlannedRun, RunRecord, RunSpec, identity
from evenhand.study.store import Store
from evenhand.study.told import told_name

SEEDS = range(6)
METHODS = ("erm", "gdro")
DECLARED = {"name": "s", "seeds": [*SEEDS], "parts": ["test"], "methods": [{"key": key} for key in METHODS]}
TABLE = np.array([[[40, 10], [5, 45]], [[30, 20], [10, 40]]])  # group, truth, prediction


def planned(method, seed, version="1", **fields):
    spec = RunSpec(
        "adult", {}, ("sex",), "mlp", {}, method, fields, {"epochs": 1}, seed, ("test",), (("sex",),)
    )
    return PlannedRun(identity(spec, version, "00"), spec, "adult", "sex", "mlp", method, fields, "00", seed)


def record(run, shift=0, **more):
    """Counts that move with the seed, by `shift` rows more in the first group."""
    cells = TABLE.copy()
    cells[0, 1] += [run.spec.seed + shift, -run.spec.seed - shift]
    counts = Counts.from_table(cells)
    measured = (Measured("test", "sex", ("f", "m"), ("no", "yes"), counts),)
    return RunRecord(run.id, "done", measured=measured, weights=f"w{run.spec.seed}{shift}", **more)


@pytest.fixture
def store(tmp_path):
    """A function that makes a store; what is given replaces runs, shifts counts, changes the declaration."""
    made = []

    def build(runs=None, shift=lambda run: 0, declared=DECLARED, done=lambda run: True, version="1"):
        store = Store.open(tmp_path / str(len(made)), create=True)
        made.append(store)
        store.add_study(declared, version)
        runs = [planned(m, s, version) for m in METHODS for s in SEEDS] if runs is None else runs
        store.add_runs([replace(run, place=place) for place, run in enumerate(runs)])
        for run in runs:
            store.commit(
                record(run, shift(run)) if done(run) else RunRecord(run.id, "failed", "the loss is NaN")
            )
        return store

    yield build
    for each in made:
        each.close()


def test_two_of_the_same_are_equal(store):
    found = diff_studies(store(), store())
    assert found["equal"]
    assert found["spec"] == []
    assert found["runs"]["shared"] == found["runs"]["same_identity"] == 12
    equal = {"compared": 12, "counts_equal": 12, "weights_equal": 12}
    assert found["bits"] == {**equal, "weights_unknown": 0, "different": 0, "examples": []}
    assert {row["verdict"] for row in found["moved"]} == {"equal"}


def test_one_row_that_moved_is_found(store):
    moved = store(shift=lambda run: int(run.method == "gdro" and run.spec.seed == 3))
    found = diff_studies(store(), moved, ["acc"])
    assert not found["equal"]
    assert found["bits"]["different"] == 1
    assert found["bits"]["counts_equal"] == found["bits"]["weights_equal"] == 11
    example = found["bits"]["examples"][0]
    assert (example["method"], example["seed"], example["counts"], example["weights"]) == (
        "gdro",
        3,
        False,
        False,
    )
    verdicts = {row["method"]: row["verdict"] for row in found["moved"]}
    assert verdicts == {"erm": "equal", "gdro": "no difference shown"}  # one seed of six


def test_a_method_that_moved_is_told_with_its_direction(store):
    found = diff_studies(
        store(), store(shift=lambda run: 5 + run.spec.seed % 2 if run.method == "gdro" else 0), ["acc"]
    )
    row = next(row for row in found["moved"] if row["method"] == "gdro")
    assert (row["verdict"], row["better"], row["n"], row["paired"]) == ("lower", False, 6, True)
    lost = [(5 + seed % 2) / TABLE.sum() for seed in SEEDS]  # right answers of 200 rows
    assert row["difference"] == pytest.approx(-np.mean(lost))
    by_hand = stats.ttest_1samp([-each for each in lost], 0).confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((by_hand.low, by_hand.high))


def test_runs_of_one_side_and_other_endings(store):
    more = [planned(m, s) for m in METHODS for s in (*SEEDS, 9)]
    found = diff_studies(store(), store(runs=more, done=lambda run: run.spec.seed != 2))
    assert (found["runs"]["only_one"], found["runs"]["only_two"], found["runs"]["status"]) == (0, 2, 2)
    assert {run["seed"] for run in found["runs"]["examples"]["only_two"]} == {9}
    assert found["runs"]["examples"]["status"][0]["two"] == "failed"
    assert found["bits"]["compared"] == 10
    assert not found["equal"]


def test_versions_are_matched_by_what_was_run(store):
    found = diff_studies(store(), store(version="2"))
    assert (found["runs"]["shared"], found["runs"]["same_identity"]) == (12, 0)
    assert found["equal"]


def test_weights_that_were_not_kept_are_not_compared(store, tmp_path):
    bare = store(runs=[])
    runs = [planned(m, s) for m in METHODS for s in SEEDS]
    bare.add_runs(runs)
    for run in runs:
        bare.commit(replace(record(run), weights=""))
    found = diff_studies(store(), bare)
    assert (found["bits"]["weights_unknown"], found["bits"]["different"]) == (12, 0)


def test_what_scores_told_is_compared_where_both_sides_lack_them(store):
    def told(value):
        made = store(runs=[])
        runs = [planned("erm", seed) for seed in SEEDS]
        made.add_runs(runs)
        for run in runs:
            own = {} if value is None else {told_name("test", "sex", "map"): value(run.spec.seed)}
            made.commit(record(run, numbers=own))
        return made

    here, there = told(lambda seed: 0.5), told(lambda seed: 0.5 if seed else 0.25)
    moved = diff_studies(here, there)
    assert not moved["equal"]
    assert moved["numbers"] == [{"key": "map", "compared": 6, "equal": 5, "farthest": 0.25}]
    assert diff_studies(here, told(lambda seed: 0.5))["equal"]
    assert diff_studies(here, told(None))["numbers"] == []  # it may have the scores themselves


@pytest.mark.parametrize("width", [40, 60, 110])
def test_what_differs_fits_any_terminal(store, width):
    more = [planned(m, s) for m in METHODS for s in (*SEEDS, 9)]
    other = store(
        more, lambda run: 5 + run.spec.seed % 2 if run.method == "gdro" else 0, {**DECLARED, "seeds": [1]}
    )
    out = io.StringIO()
    Console(file=out, width=width).print(diff_table(diff_studies(store(), other, ["acc", "tpr.gap"])))
    text = " ".join(out.getvalue().split())
    assert max(map(len, out.getvalue().splitlines())) <= width
    for words in (
        "different",
        "seeds: [0, 1, 2, 3, 4, 5] against [1]",
        "2 only in the second: erm on adult, seed 9",
        "equal to the bit: counts of 6 of 12 runs, weights of 6 of 12",
        "gdro",
        "lower",
    ):
        assert words in text


def test_declarations_by_dotted_keys():
    one = {
        "a": 1,
        "source": "x",
        "task": [{"data": "adult", "knobs": {"seed": 0}}, {"data": "adult", "name": "b"}],
    }
    two = {
        "a": 1,
        "source": "y",
        "task": [{"data": "adult", "knobs": {"seed": 1}}, {"data": "adult", "name": "b"}],
    }
    assert differing(one, one) == []
    assert differing(one, two) == [{"key": "task[adult].knobs.seed", "one": 0, "two": 1}]
    assert differing({"a": [1, 2]}, {"a": (1, 2)}) == []
    assert differing({"a": 1}, {"b": 1}) == [
        {"key": "a", "one": 1, "two": None},
        {"key": "b", "one": None, "two": 1},
    ]


def test_other_seeds_are_compared_as_two_samples():
    rng = np.random.default_rng(0)
    one, two = rng.normal(0.5, 0.02, 7), rng.normal(0.52, 0.05, 9)
    found = change(dict(enumerate(one)), {100 + place: value for place, value in enumerate(two)})
    welch = stats.ttest_ind(two, one, equal_var=False)
    assert found["p"] == pytest.approx(welch.pvalue)
    interval = welch.confidence_interval(0.95)
    assert (found["low"], found["high"]) == pytest.approx((interval.low, interval.high))
    assert (found["paired"], found["n"]) == (False, [7, 9])


@pytest.mark.parametrize(
    ("before", "after"), [({}, {}), ({0: 0.5}, {0: 0.6}), ({0: 0.5, 1: 0.5}, {0: 0.6, 1: 0.6})]
)
def test_few_seeds_are_not_judged(before, after):
    found = change(before, after)
    assert found["few"]
    assert not found["same"]


def test_a_constant_difference_is_certain():
    found = change({0: 0.5, 1: 0.5, 2: 0.5}, {0: 0.75, 1: 0.75, 2: 0.75})
    assert (found["difference"], found["low"], found["high"], found["p"]) == (0.25, 0.25, 0.25, 0.0)
