"""Joint cells of two models: the same tables as each model alone, and draws that keep every group's size."""

import numpy as np
import pytest

from evenhand.evaluation import joint as joint_module
from evenhand.evaluation.joint import Joint
from evenhand.metrics.counts import Counts


def rows(n=300, groups=3, classes=4, seed=0):
    rng = np.random.default_rng(seed)
    y, a, b = (rng.integers(0, classes, n) for _ in range(3))
    return y, a, b, rng.integers(-1, groups, n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dense", [True, False])
def test_margins_of_each_model_are_those_of_its_counts(weighted, dense, monkeypatch):
    if not dense:
        monkeypatch.setattr(joint_module, "DENSE", 0)
    y, a, b, g = rows()
    w = np.random.default_rng(1).random(len(y)) if weighted else None
    joint = Joint.from_rows(y, [a, b], g, 3, 4, w)
    for model, guess in enumerate((a, b)):
        counts = Counts.from_predictions(y, guess, g, n_classes=4, n_groups=3, weights=w)
        expected, found = counts.margins(), joint.margins(model)
        for kind in ("tp", "predicted", "actual", "n"):
            np.testing.assert_allclose(getattr(found, kind)[:, :-1], getattr(expected, kind))
        assert found.n[0, -1] == pytest.approx(counts.unknown.sum())


def test_cells_are_distinct_and_hold_every_row():
    y, a, b, g = rows()
    joint = Joint.from_rows(y, [a, b], g, 3, 4)
    cells = np.stack([joint.group, joint.truth, *joint.predictions])
    assert len(np.unique(cells, axis=1).T) == len(joint.rows)
    assert joint.rows.sum() == len(y)
    assert (joint.weight == joint.rows).all()
    assert joint.group.max() == 3
    assert (np.diff(joint.group) >= 0).all()


def test_a_replicate_keeps_the_size_of_every_group():
    y, a, b, g = rows()
    joint = Joint.from_rows(y, [a, b], g, 3, 4)
    drawn = np.concatenate(list(joint.draw(40, np.random.default_rng(0))))
    assert drawn.shape == (40, len(joint.rows))
    for group in range(4):
        inside = joint.group == group
        assert (drawn[:, inside].sum(axis=1) == joint.rows[inside].sum()).all()


def test_replicates_come_in_chunks_that_do_not_change_their_number(monkeypatch):
    monkeypatch.setattr(joint_module, "CHUNK", 500)
    monkeypatch.setattr(joint_module, "FEWEST_AT_ONCE", 1)
    y, a, b, g = rows()
    joint = Joint.from_rows(y, [a, b], g, 3, 4)
    parts = list(joint.draw(17, np.random.default_rng(0)))
    assert len(parts) > 1
    assert sum(len(part) for part in parts) == 17


def test_draws_are_right_on_average():
    y, a, b, g = rows()
    w = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    joint = Joint.from_rows(y, [a, b], g, 3, 4, w)
    drawn = np.concatenate(list(joint.draw(4000, np.random.default_rng(0))))
    np.testing.assert_allclose(drawn.mean(axis=0), joint.weight, atol=0.35)


def test_margins_of_replicates_have_their_axis_in_front():
    y, a, b, g = rows()
    joint = Joint.from_rows(y, [a, b], g, 3, 4)
    drawn = next(joint.draw(6, np.random.default_rng(0)))
    margins = joint.margins(1, drawn)
    assert margins.tp.shape == (6, 4, 4)
    single = joint.margins(1, drawn[2])
    np.testing.assert_array_equal(margins.tp[2], single.tp)


def test_a_group_that_does_not_occur():
    joint = Joint.from_rows(np.array([0, 1]), [np.array([0, 1])], np.array([2, 2]), 4, 2)
    assert joint.margins(0).n[0].tolist() == [0, 0, 2, 0, 0]
    assert (next(joint.draw(3, np.random.default_rng(0))).sum(axis=1) == 2).all()
