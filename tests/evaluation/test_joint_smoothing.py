"""Rows that are lent before cells are drawn: sizes stay, changes become possible, and only those."""

import numpy as np
import pytest

import evenhand
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.joint_smoothing import lent_in_all, lent_to_each


def joint_of(n=300, groups=3, classes=4, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    y, a, b = (rng.integers(0, classes, n) for _ in range(3))
    weights = rng.random(n) if weighted else None
    return Joint.from_rows(y, [a, b], rng.integers(-1, groups, n), groups, classes, weights)


def changes(joint):
    """Rows that only the first model has right, and those that only the second has."""
    first, second = (guess == joint.truth for guess in joint.predictions)
    return joint.rows[first & ~second].sum(), joint.rows[second & ~first].sum()


@pytest.mark.parametrize("lend", [lent_to_each, lent_in_all])
@pytest.mark.parametrize("weighted", [False, True])
def test_groups_and_labels_keep_their_sizes(lend, weighted):
    joint = joint_of(weighted=weighted)
    found = lend(joint)
    for group in range(4):
        for label in range(4):
            own, lent = ((one.group == group) & (one.truth == label) for one in (joint, found))
            assert found.rows[lent].sum() == pytest.approx(joint.rows[own].sum())
            assert found.weight[lent].sum() == pytest.approx(joint.weight[own].sum())
    assert (np.diff(found.group) >= 0).all()  # drawn group by group, from slices


def test_one_row_of_either_kind_is_lent_in_all():
    y = np.repeat([0, 1], [30, 70])
    joint = Joint.from_rows(y, [y, y], np.arange(100) % 2, 2, 2)
    lost, won = changes(lent_in_all(joint))
    assert lost == won == pytest.approx(100 / 102)
    lost, won = changes(lent_to_each(joint))
    assert lost == won == pytest.approx(2 * 15 / 17 + 2 * 35 / 37)


def test_a_lent_mistake_is_the_commonest_one_of_its_label():
    y = np.array([0] * 10 + [1] * 10 + [2] * 10)
    guess = np.where((y == 1) & (np.arange(30) < 13), 2, y)  # 1 is taken for 2; the others are never missed
    joint = Joint.from_rows(y, [y, guess], np.zeros(30, dtype=int), 1, 3)
    found = lent_to_each(joint)
    wrong = {
        (int(label), int(guess))
        for label, *both in zip(found.truth, *found.predictions, strict=True)
        for guess in both
        if guess != label
    }
    assert wrong == {(0, 1), (1, 2), (2, 0)}


def test_draws_keep_the_sizes_of_groups_that_hold_parts_of_rows():
    joint = lent_to_each(joint_of())
    drawn = next(joint.draw(50, np.random.default_rng(0)))
    for group in range(4):
        inside = joint.group == group
        assert np.allclose(drawn[:, inside].sum(axis=1), joint.rows[inside].sum())


def test_rows_answered_alike_leave_a_change_possible():
    """Twenty rows a group, all answered alike: less is known than of two thousand."""
    reach = []
    for rows in (40, 4000):
        y, g = np.arange(rows) % 2, np.arange(rows) // 2 % 2
        found = evenhand.compare(y, {"a": y, "b": y}, g, metrics=["tpr.gap", "acc"]).differences["b"]
        assert all(one.low < 0 < one.high and one.p == 1 for one in found.values())
        reach.append((found["tpr.gap"].high, found["acc"].high))
    assert reach[0][0] > 0.1 > 10 * reach[1][0] > 0
    assert reach[0][1] > 50 * reach[1][1] > 0


def test_a_single_class_has_no_change_to_lend():
    joint = Joint.from_rows(np.zeros(5, int), [np.zeros(5, int)] * 2, np.zeros(5, int), 1, 1)
    assert changes(lent_to_each(joint)) == (0, 0)
    assert lent_to_each(joint).rows.sum() == pytest.approx(5)
