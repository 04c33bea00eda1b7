"""What S0's program would have measured, at the right class and in its order of groups; what is identical."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from evenhand.errors import InputError
from evenhand.evaluation.fixed_seed import answers, compute, together
from evenhand.evaluation.fixed_seed.benchmark import read_benchmark
from evenhand.evaluation.fixed_seed.printed import from_table4
from evenhand.report.fixed_seed_words import notes, sentences

world = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("fixed_seed_world.py"))))
PRINTED = from_table4()
TWO = {name: world.WORLD[name] for name in ("S-Base", "S-UC")}
# [group, truth, prediction]: "cat" is predicted in the first run and never in the second, "dog" mostly in one
# group and alike in both; what stands a place too early would make "dog" the widest
PREDICTED = [[[8, 0, 2], [2, 6, 2], [0, 0, 10]], [[9, 1, 0], [4, 6, 0], [8, 0, 2]]]
NEVER = [[[8, 0, 2], [8, 0, 2], [0, 0, 10]], [[10, 0, 0], [10, 0, 0], [8, 0, 2]]]


def only(body):
    return body["sets"][0]


def row_of(rows, technique, metric):
    return next(row for row in rows if (row["technique"], row["metric"]) == (technique, metric))


def store_of(first, second, groups=("gray", "colour")):
    store = world.study(world=TWO, runs=2)
    for row in store.rows:
        store.tables["test"][row["id"]] = np.array(second if row["spec"]["repeat"] else first)
    store.groups = groups
    return store


def amplified(table):
    """By hand: |share of the larger group among the predicted - among the true|; 0 where nobody is."""
    table = np.array(table)
    predicted, true = table.sum(axis=1), table.sum(axis=2)  # [group, class]
    known = np.maximum(predicted.sum(axis=0), 1)
    return np.abs(predicted[0] / known - true[0] / true.sum(axis=0)) * (predicted.sum(axis=0) > 0)


def test_amplification_stands_at_its_own_class_after_one_that_is_never_predicted():
    one = only(compute(store_of(PREDICTED, NEVER), printed=PRINTED))
    row, runs = row_of(one["variance"], "S-Base", "ba"), np.array([amplified(PREDICTED), amplified(NEVER)])
    widest = np.ptp(runs, axis=0).argmax()
    assert row["class"] == world.CLASSES[widest]
    assert row["class_max_diff"] == pytest.approx(np.ptp(runs[:, widest]))
    assert one["values"]["S-Base"]["ba"] == pytest.approx(runs.mean(axis=1))


@pytest.mark.parametrize(("groups", "order"), [(("gray", "colour"), [0, 1]), (("colour", "gray"), [1, 0])])
def test_the_guard_of_a_gap_looks_at_the_group_that_s0_codes_as_1(groups, order):
    """Colour images of a dog are never found: S0's program says 0, whichever group our data name first."""
    gray_first = np.array([[[6, 2, 2], [1, 8, 1], [1, 1, 8]], [[8, 1, 1], [4, 5, 1], [5, 5, 0]]])
    table = gray_first[order]
    one = only(compute(store_of(table, table, groups), printed=PRINTED))
    assert one["values"]["S-Base"]["eotp"] == pytest.approx([(0.2 + 0.3 + 0) / 3] * 2)


def test_what_nobody_is_predicted_as_has_the_worst_disparate_impact_and_the_page_says_so():
    one = only(compute(store_of(NEVER, NEVER), printed=PRINTED))
    assert row_of(one["variance"], "S-Base", "di")["mean"] > 1 / 3
    (told,) = [line for line in sentences(one) if "do not tell everything apart" in line]
    assert "is 1 for what nobody is predicted as" in told


def test_deterministic_techniques_of_a_study_are_not_counted_among_the_others():
    held = {f"{name} deterministic": values for name, values in TWO.items()}
    store = world.study(world={**TWO, **held}, runs=4, still=list(held))
    for row in store.rows:
        if row["method"] in held:
            row["spec"]["vary"] = []
    body = together([compute(store, printed=PRINTED)])
    found = answers(body)
    assert found["S0.12"]["verdict"] == "holds"
    assert found["S0.12"]["effect"].startswith("2 of 2 techniques vary")
    assert found["S0.13"]["verdict"] == "holds"
    assert found["S0.13"]["effect"] == "equal to the bit: 2 of 2 in deterministic mode, 0 of 2 outside of it"
    study = body["studies"][0]
    assert any("S-UC deterministic" in line for line in notes(study, only(study)))


@pytest.mark.parametrize("differ", ["device", "versions"])
def test_runs_of_two_machines_are_not_identical(differ):
    """Equal on each of two machines: nothing varies, and S0.12 must not hold for it."""
    store = world.study(world=TWO, runs=4)
    seen = {}
    for row in store.rows:
        odd = row["spec"]["repeat"] % 2
        row[differ] = ("cuda (NVIDIA H200)", "cuda (NVIDIA A100)")[odd] if differ == "device" else {
            "torch": f"2.{odd}"}  # fmt: skip
        table = seen.setdefault((row["method"], odd), store.tables["test"][row["id"]])
        store.tables["test"][row["id"]] = table
    body = together([compute(store, printed=PRINTED)])
    assert "S0.12" not in answers(body)
    study = body["studies"][0]
    assert any("not identical: S-Base, S-UC" in line for line in notes(study, only(study)))


@pytest.mark.parametrize(
    "damage", [{"machine": []}, {"overhead": [{"net": "resnet101"}]}, {"modes": {}}, {"exceptions": [1]}]
)
def test_a_damaged_benchmark_is_named_itself(tmp_path, damage):
    path = tmp_path / "bench.json"
    path.write_text(json.dumps({**world.BENCH, **damage}), "utf-8")
    with pytest.raises(InputError, match=r"bench\.json"):
        read_benchmark(path)
