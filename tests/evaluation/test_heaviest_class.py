"""A CEV that a handful of rows decides is told as such: shares by hand, and what `compare` warns of."""

import numpy as np
import pytest

import evenhand
from evenhand.evaluation.heaviest_class import FEW, heaviest, shares_of_cev
from evenhand.metrics.counts import Counts
from evenhand.metrics.pairs import measure

BASE = np.array([[900, 90, 10], [80, 900, 20], [60, 40, 900]])


def counts(table):
    return Counts.from_table([table])


def test_shares_are_those_of_the_two_variances():
    other = np.array([[880, 100, 20], [90, 880, 30], [60, 60, 880]])
    changes = []
    for table in (BASE, other):
        hits = np.diag(table)
        fpr = (table.sum(0) - hits) / (table.sum() - table.sum(1))
        changes.append((fpr, 1 - hits / table.sum(1)))
    fpr, fnr = ((after - before) / before for before, after in zip(*changes, strict=True))
    parts = (fpr - fpr.mean()) ** 2 + (fnr - fnr.mean()) ** 2
    found = shares_of_cev(counts(BASE).margins(), counts(other).margins())
    assert found == pytest.approx(parts / parts.sum())
    assert parts.sum() / 3 == pytest.approx(measure("cev", counts(BASE), counts(other)).value)


@pytest.mark.parametrize(("n", "told"), [(1, True), (FEW - 1, True), (FEW, False), (200, False)])
def test_a_class_is_named_only_where_its_errors_are_few(n, told):
    base = np.array([[1000 - n, 0, n], [90, 910, 0], [60, 40, 900]])  # n false positives of the last class
    base[0, :2] += (-90, 90)
    other = base.copy()
    other[0, 2] += 6 * n
    other[0, 0] -= 6 * n
    said = heaviest(counts(base).margins(), counts(other).margins(), "abc")
    assert (said is not None) == told
    if told:
        assert "class 'c'" in said
        assert f"makes {n} false positive{'' if n == 1 else 's'}: " in said


def test_equal_models_two_classes_and_undefined_changes_are_not_spoken_of():
    same = counts(BASE).margins()
    assert heaviest(same, same, "abc") is None
    two = [counts(table).margins() for table in ([[99, 1], [10, 90]], [[95, 5], [10, 90]])]
    assert heaviest(*two, "ab") is None
    perfect = counts(np.diag([5, 5, 5])).margins()
    assert heaviest(perfect, same, "abc") is None


def test_a_comparison_warns_of_it_a_run_where_there_are_several():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), 500)
    base = np.where(rng.random(2000) < 0.2, (y + 1) % 3, y)
    base[base == 3] = np.where(
        rng.random((base == 3).sum()) < 0.5, 0, 3
    )  # the last class is hardly predicted
    base[:2], other = 3, base.copy()
    other[:14] = 3
    (said,) = [
        note for note in evenhand.compare(y, {"a": base, "b": other}).warnings if "of CEV comes" in note
    ]
    assert said.startswith("b: ")
    assert said.endswith("class '3', of which the base makes 2 false positives: a few rows decide it")
    several = evenhand.compare(y, {"a": np.stack([base] * 3), "b": np.stack([other] * 3)}).warnings
    assert any("makes 2 false positives a run" in note for note in several)
    assert not any("of CEV comes" in note for note in evenhand.compare(y, {"a": base, "b": base}).warnings)
