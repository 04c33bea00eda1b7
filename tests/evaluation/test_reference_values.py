"""The public values are those of the spec, and ours stand beside them, chosen as they were."""

import math
import runpy
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from evenhand.errors import InputError
from evenhand.evaluation.reference_values import beside, matched, references
from evenhand.evaluation.reference_values.beside import OUTSIDE, READ, SEEDS, Beside, Ours
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.report.reference_values_tables import HEADS
from evenhand.report.study_table_files import to_csv, to_markdown
from evenhand.study.read import read_study

fake = SimpleNamespace(**runpy.run_path(str(Path(__file__).parents[1] / "study" / "fake_store.py")))
KEYS = ["s3.accuracy.mean", "acc_p", "acc_up", "s3.cv", "eqopp0", "eqopp1", "eqodd"]
LAFTR = ["laftr-dp", "laftr-eqopp0", "laftr-eqopp1", "laftr-eqodd"]
# (tpr of both groups, fpr of both groups): equal false positives or equal true positives, never both
LOOKS = {1: ((0.9, 0.9), (0.1, 0.3)), 2: ((0.9, 0.7), (0.1, 0.1)), 3: ((0.5, 0.5), (0.5, 0.5))}


def store_of(name="adult-age", task="age .5 .5", grouping="age", part="validation", seeds=3):
    """A study of two methods; on validation rows setting 3 of cfair, a coin, is the fairest."""
    rows, tables = [], {part: {}, "test": {}}
    for method, settings in {"mlp": [{}], "cfair": [{"gamma": 1}, {"gamma": 2}, {"gamma": 3}]}.items():
        for setting in settings:
            for seed in range(seeds):
                run = f"{len(rows):04d}"
                rows.append(fake.row_of(run, task, grouping, method, setting, seed, len(rows)))
                gamma = setting.get("gamma", 1)
                tpr, fpr = LOOKS[gamma]
                shifted = tuple(rate + 0.01 * (seed - 1) for rate in tpr)
                tables["test"][run] = fake.rates_table(shifted if gamma != 3 else (0.5, 0.3), fpr)
                tables[part][run] = fake.rates_table(shifted, fpr)
    return fake.FakeStore({"name": name, "selection": {"part": part}}, rows, tables)


def by_metric(found, model):
    return {row.reference.metric: row for row in found if row.reference.model == model}


def test_values_are_those_of_the_spec():
    found = {(r.study, r.task, r.grouping, r.model): {} for r in references()}
    for r in references():
        found[r.study, r.task, r.grouping, r.model][r.metric] = r.value
    assert all(list(values) == KEYS for values in found.values())
    box, age = "ci-mnist-box", "adult-age"
    some = {
        (box, "clr .5 .5", "colour", "mlp"): [0.94, 0.95, 0.93, 0.97, 0.97, 0.97, 0.97],
        (box, "clr .001 .001", "colour", "laftr-eqopp0"): [0.92, 0.97, 0.88, 0.94, 0.95, 0.88, 0.91],
        (box, "clr .01 .99", "colour", "ffvae"): [0.51, 0.49, 0.53, 0.03, 0.0, 0.05, 0.03],
        (box, "pos .9 .1", "box", "cfair"): [0.86, 0.86, 0.87, 0.98, 0.99, 0.98, 0.98],
        (age, "age .01 .01", "age", "cfair-eo"): [0.74, 0.80, 0.67, 0.95, 0.99, 0.88, 0.94],
        (age, "age .06 .36", "age", "laftr-eqodd"): [0.65, 0.70, 0.59, 0.83, 0.93, 0.72, 0.82],
    }
    for key, values in some.items():
        assert list(found[key].values()) == values, key
    assert Counter(study for study, *_ in found) == {box: 6 * 8, age: 3 * 8}
    for _, task, grouping, _ in [key for key in found if key[0] == age]:
        alike = [tuple(found[age, task, grouping, name].values()) for name in LAFTR]
        assert len(set(alike)) == 1


def test_every_reference_has_a_place_in_its_study():
    for name in ("ci-mnist-box", "adult-age"):
        study = read_study(name)
        known = [r for r in references() if r.study == name]
        assert {r.task for r in known} <= {task.name for task in study.tasks}
        assert {r.grouping for r in known} == {grouping.name for grouping in study.groupings}
        assert {r.model for r in known} <= {method.name for method in study.methods}
        assert {r.metric for r in known} == {study.report.accuracy, *study.report.metrics} <= {*CATALOGUE}


def test_ours_are_chosen_as_theirs_were_and_as_they_should():
    cfair = by_metric(matched(store_of()), "cfair")
    fair0, fair1, odds, parity = (cfair[key] for key in ("eqopp0", "eqopp1", "eqodd", "s3.cv"))
    assert fair0.oracle.mean == pytest.approx(1.0)  # setting 2
    assert fair1.oracle.mean == pytest.approx(1.0)  # setting 1
    assert odds.oracle.mean == pytest.approx(1.0)  # of two settings; no single one has more than 0.9
    assert odds.validation.mean == pytest.approx(0.9)  # the coin looks perfect there, and is not at test
    assert parity.validation.mean == pytest.approx(0.9)
    assert (fair0.oracle.n, fair0.oracle.std) == (3, pytest.approx(0.0))
    assert fair0.difference == pytest.approx(1.0 - 0.97)
    assert fair0.lies == OUTSIDE
    mlp = by_metric(matched(store_of()), "mlp")
    assert mlp["acc_p"].oracle.mean == pytest.approx(0.9)
    assert mlp["acc_p"].oracle.std == pytest.approx(0.005)
    assert mlp["s3.accuracy.mean"].oracle == mlp["s3.accuracy.mean"].validation


@pytest.mark.parametrize(
    ("values", "lies"),
    [
        ((0.92, 0.92, 0.92), READ),  # 0.02 from the public 0.94, which is what the picture allows
        ((0.90, 0.91, 0.92), SEEDS),  # 0.03; two more than the reading, Student's half-width is 0.0248
        ((0.88, 0.89, 0.90), OUTSIDE),  # 0.05
        ((0.915,), OUTSIDE),  # one seed: no interval, so the reading alone
    ],
)
def test_where_a_difference_lies(values, lies):
    row = Beside(references()[0], "net", Ours(dict(enumerate(values))), None)
    assert row.lies == lies
    assert row.oracle.reach == pytest.approx(0.02484 if values[0] != values[-1] else 0.0, abs=1e-4)


def test_models_and_problems_that_are_not_there():
    found = matched(store_of())
    assert {row.reference.task for row in found} == {"age .5 .5"}
    absent = by_metric(found, "ffvae")["eqodd"]
    assert (absent.oracle, absent.validation, absent.difference, absent.lies) == (None, None, None, None)
    lonely = by_metric(matched(store_of(seeds=1)), "mlp")["eqopp1"]
    assert lonely.oracle.n == 1
    assert math.isnan(lonely.oracle.std)
    only_test = by_metric(matched(store_of(part="test")), "mlp")["eqopp1"]
    assert only_test.validation is None
    with pytest.raises(InputError, match="no public values for the study 'mine'; there are for ci-mnist-box"):
        beside(store_of(name="mine"))
    assert beside(store_of(name="mine"), "adult-age").rows == beside(store_of()).rows


def test_the_table_can_be_written():
    table = beside(store_of())
    assert len(table.rows) == 8 * 7
    assert all(len(row) == len(HEADS) for row in table.rows)
    text = to_markdown(table)
    assert "| 0.800 | 0.900 | 0.005 | 3 | 0.100 | outside | 0.900 | 0.005 | 3 | 0.100 |" in text
    assert "an oracle" in text
    line = next(line for line in to_csv(table).splitlines() if ",ffvae,eqodd," in line)
    assert line == "age .5 .5,age,mlp,ffvae,eqodd,0.95,,,,,,,,,"
