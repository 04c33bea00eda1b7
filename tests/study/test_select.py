"""Selection: the named rules on numbers that can be checked by hand, and that no test value is looked at."""

import runpy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.frame import Frame
from evenhand.study.select import select
from evenhand.study.select_rules import RULES, Means, cost, undominated
from evenhand.study.select_words import ORACLE
from evenhand.study.spec import SelectionSpec

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fake_store.py"))))
LAMS = [{"lam": 0.1}, {"lam": 1.0}, {"lam": 10.0}]
# (true positive rates of a and b, false positive rate of both) of three settings, on each part
VALIDATION = {0.1: ((0.9, 0.5), 0.1), 1.0: ((0.8, 0.7), 0.2), 10.0: ((0.6, 0.6), 0.4)}
TEST = {0.1: ((0.7, 0.7), 0.1), 1.0: ((0.8, 0.5), 0.2), 10.0: ((0.9, 0.4), 0.4)}
# hence, on validation: accuracy 0.80, 0.775, 0.60 and tpr.gap 0.4, 0.1, 0.0


def table_of(task, method, setting, seed, part):
    tpr, fpr = (VALIDATION if part == "validation" else TEST)[setting["lam"]]
    return fake.rates_table(tpr, (fpr, fpr))


def store(seeds=4):
    return fake.store_of({"gap": LAMS}, table_of, seeds=seeds)


def chosen(found):
    return [choice.candidate.setting.get("lam") for choice in found.choices]


def by(rule, **more):
    return SelectionSpec(rule=rule, metric=more.pop("metric", "tpr.gap"), **more)


# -- the rules -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        (by("best-mean"), 10.0),
        (by("best-mean", metric="acc"), 0.1),
        (by("accuracy-constraint", tolerance=0.01), 0.1),
        (by("accuracy-constraint", tolerance=0.025), 1.0),  # 0.775 is just within 0.025 of 0.80
        (by("accuracy-constraint", tolerance=0.5), 10.0),
        (by("distance-to-optimum"), 1.0),  # hypot: 0.447, 0.246, 0.4
        (by("pareto"), 1.0),
        (by("best-per-metric"), 10.0),
    ],
)
def test_rules_on_numbers_that_can_be_checked_by_hand(spec, expected):
    found = select(Frame.open(store()), spec, ("tpr.gap",))
    assert chosen(found) == [expected]
    assert not found.oracle
    assert found.choices[0].runners_up == 2


def test_the_value_that_decided_is_the_mean_on_the_selection_part():
    choice = select(Frame.open(store()), by("best-mean", metric="acc")).choices[0]
    assert choice.value == pytest.approx(0.80)
    assert choice.chosen_by == "best-mean of acc on validation"
    assert len(choice.rows) == 4


def test_all_of_the_pareto_set_is_there():
    found = select(Frame.open(store()), by("pareto")).choices[0]
    assert [other.setting["lam"] for other in found.others] == [0.1, 10.0]


def test_best_per_metric_takes_another_setting_for_each():
    found = select(Frame.open(store()), by("best-per-metric"), ("tpr.gap", "fpr.gap", "selection.gap"))
    own = {key: choice.candidate.setting["lam"] for key, choice in found.choices[0].per_metric.items()}
    assert own == {"acc": 0.1, "tpr.gap": 10.0, "fpr.gap": 0.1, "selection.gap": 10.0}


def test_a_metric_whose_ideal_is_approached_from_both_sides():
    rates = {0.1: (0.9, 0.5), 1.0: (0.7, 0.74), 10.0: (0.5, 0.9)}  # ratios on both sides of 1
    made = fake.store_of({"gap": LAMS}, lambda t, m, s, *_: fake.rates_table(rates[s["lam"]], (0.1, 0.1)))
    assert chosen(select(Frame.open(made), SelectionSpec(metric="s3.tpr.ratio"))) == [1.0]


# -- oracle, and no peeking --------------------------------------------------------------------------------
def test_choosing_on_test_is_an_oracle_and_called_one():
    honest, oracle = (
        select(Frame.open(store()), by("best-mean", part=part)) for part in ("validation", "test")
    )
    assert chosen(honest) == [10.0]
    assert chosen(oracle) == [0.1]  # no gap on the test rows
    assert oracle.oracle
    assert ORACLE in oracle.words
    assert "oracle" in oracle.choices[0].chosen_by
    assert ORACLE not in honest.words


@pytest.mark.parametrize("rule", sorted(RULES))
def test_no_rule_looks_at_the_test_rows(rule):
    rng = np.random.default_rng(0)
    before = fake.sample_store(failures=False)
    after = fake.sample_store(failures=False)
    after.tables["test"] = {run: rng.permuted(table) for run, table in before.tables["test"].items()}
    spec = SelectionSpec(rule=rule, metric="odds.max", tolerance=0.02)
    first, second = (select(Frame.open(each), spec, ("tpr.gap", "fpr.gap")) for each in (before, after))
    assert chosen(first) == chosen(second)
    for one, other in zip(first.choices, second.choices, strict=True):
        assert [c.setting for c in one.others] == [c.setting for c in other.others]
        assert {k: c.candidate.setting for k, c in one.per_metric.items()} == {
            k: c.candidate.setting for k, c in other.per_metric.items()
        }
    seen = Frame.open(before)
    select(seen, spec, ("tpr.gap",))
    assert {part for part, *_ in seen._values} == {"validation"}


# -- ties, gaps, and seeds that are missing ------------------------------------------------------------------
@pytest.mark.parametrize("rule", sorted(RULES))
def test_of_equal_settings_the_first_wins(rule):
    made = fake.store_of({"gap": LAMS}, lambda *_: fake.rates_table((0.8, 0.7), (0.1, 0.1)))
    assert chosen(select(Frame.open(made), by(rule)))[0] == 0.1


def test_a_setting_without_a_value_never_wins():
    def undefined(task, method, setting, seed, part):
        if setting["lam"] == 0.1:  # group b has no positives: there is no gap
            return np.array([[[400, 100], [0, 500]], [[1000, 0], [0, 0]]])
        return table_of(task, method, setting, seed, part)

    found = select(Frame.open(fake.store_of({"gap": LAMS}, undefined)), by("best-mean"))
    assert chosen(found) == [10.0]
    assert found.choices[0].runners_up == 1


def test_a_setting_needs_half_of_its_seeds():
    made = store(seeds=5)
    best = [row for row in made.rows if row["setting"] == {"lam": 10.0}]
    for row in best[:2]:
        row.update(status="failed")
    found = select(Frame.open(made), by("best-mean"))
    assert chosen(found) == [10.0]  # three of five
    assert len(found.choices[0].rows) == 3
    assert any("judged by the seeds that have finished" in note for note in found.notes)
    best[2].update(status="planned")
    found = select(Frame.open(made), by("best-mean"))
    assert chosen(found) == [1.0]  # two of five are not half
    assert any("cannot be chosen: 1" in note for note in found.notes)


def test_exactly_half_of_the_seeds_will_do():
    made = store(seeds=4)
    for row in [row for row in made.rows if row["setting"] == {"lam": 10.0}][:2]:
        row.update(status="failed")
    assert chosen(select(Frame.open(made), by("best-mean"))) == [10.0]


def test_the_mean_is_over_the_seeds_that_finished():
    def drifting(task, method, setting, seed, part):
        low = 0.5 if setting["lam"] == 0.1 and seed == 0 else 0.8
        return fake.rates_table((0.8, low), (0.1, 0.1))

    made = fake.store_of({"gap": LAMS[:2]}, drifting)
    assert chosen(select(Frame.open(made), by("best-mean"))) == [1.0]
    made.rows[0].update(status="failed")  # the bad seed takes no part: now they tie, and the first wins
    assert chosen(select(Frame.open(made), by("best-mean"))) == [0.1]


def test_a_single_setting_is_not_chosen_by_anything():
    made = fake.store_of({"erm": [{}]}, lambda *_: fake.rates_table((0.8, 0.7), (0.1, 0.1)))
    made.tables["validation"] = {}
    for row in made.rows[1:]:
        row.update(status="planned")
    found = select(Frame.open(made), by("best-mean"))
    assert found.choices[0].chosen_by == "its only setting"
    assert found.choices[0].runners_up == 0
    assert len(found.choices[0].rows) == 1


def test_a_method_with_nothing_to_choose_is_named():
    made = store()
    made.tables["validation"] = {}
    found = select(Frame.open(made), by("best-mean"))
    assert found.choices == ()
    assert found.notes == (
        "adult / sex / mlp: no setting has a value of tpr.gap on the validation rows to be chosen by: gap",
    )
    for row in made.rows:
        row.update(status="planned")
    assert any("has a finished run" in note for note in select(Frame.open(made), by("best-mean")).notes)


def test_what_has_not_begun_is_one_note_for_each_problem():
    made = fake.sample_store(failures=False)
    for row in made.rows:
        row.update(status="planned")
    notes = select(Frame.open(made), SelectionSpec()).notes
    assert notes[0] == "adult / sex / mlp: no setting has a finished run: erm, gap, group-dro, sd"
    assert len(notes) == 4  # three problems, and how many settings could not be chosen


# -- refusals --------------------------------------------------------------------------------------------
def test_rules_and_metrics_that_there_are_not():
    frame = Frame.open(store())
    with pytest.raises(InputError, match="no selection rule 'best'"):
        select(frame, replace(by("best-mean"), rule="best"))
    with pytest.raises(InputError, match="neither more nor less"):
        select(frame, by("best-mean", metric="selection.worst"))
    with pytest.raises(InputError, match=r"no metric 'tpr.gapp'"):
        select(frame, by("best-mean", metric="tpr.gapp"))


def test_settings_that_are_equal_but_for_rounding_do_not_beat_each_other():
    """The sum of three thirds of a mean may differ in its last bit with the order of the seeds."""
    values = np.array([np.nextafter(0.8, 1), 0.8, 0.8 + 1e-9])
    accuracy = cost(values, CATALOGUE["acc"])
    assert accuracy[0] == accuracy[1] > accuracy[2]
    assert undominated(accuracy[:2], np.array([0.2, 0.1])).tolist() == [False, True]


def test_the_distance_is_euclidean_and_the_tolerance_has_room_for_rounding():
    far, near = np.array([0.5, 0.3]), np.array([0.0, 0.3])  # 0.5 and 0.42; as a sum 0.5 and 0.6
    assert RULES["distance-to-optimum"](Means(far, near)) == [1]
    just = Means(np.array([0.3, 0.2]), np.array([0.7, 0.8]), tolerance=0.1)  # 0.7 + 0.1 < 0.8 in floats
    assert RULES["accuracy-constraint"](just) == [1]
