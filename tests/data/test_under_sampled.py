"""Classes made rare in training: exact counts, whole test parts, the card that names them."""

import numpy as np
import pytest
import torch

from evenhand.data.cifar10_under import cifar10_under
from evenhand.data.mnist import mnist
from evenhand.data.mnist_under import mnist_under
from evenhand.errors import InputError


def counts(task, part="train"):
    return np.bincount(task.y[task.rows(part)], minlength=10)


def test_three_digits_keep_a_half_a_fifth_and_a_tenth():
    task, whole = mnist_under(), counts(mnist())
    kept = task.attribute("kept")
    level = np.array([kept.codes[task.y == k][0] for k in range(10)])
    shares = {"100 %": 1, "50 %": 0.5, "20 %": 0.2, "10 %": 0.1}
    wanted = [int(shares[kept.levels[level[k]]] * whole[k] + 1e-9) for k in range(10)]
    assert counts(task).tolist() == wanted
    assert sorted(level.tolist()) == [0] * 7 + [1, 2, 3]
    assert "10 %: 2" in task.card.notes[0]


def test_validation_and_test_are_those_of_mnist():
    task, whole = mnist_under(seed=3), mnist()
    for part in ("validation", "test"):
        assert torch.equal(task.rows(part), whole.rows(part))
    assert set(task.rows("train").tolist()) <= set(whole.rows("train").tolist())
    assert torch.equal(task.x, whole.x)


def test_a_limit_leaves_a_cut_sample_and_seeds_differ():
    task = mnist_under(limit=700)
    assert len(task.rows("train")) == 700
    assert torch.equal(task.rows("train"), mnist_under().rows("train")[:700])
    assert set(mnist_under(seed=1).rows("train").tolist()) != set(mnist_under().rows("train").tolist())


@pytest.mark.parametrize("seed", range(3))
def test_rare_digits_are_as_rare_within_a_limit(seed):
    whole, few = counts(mnist_under(seed=seed)), counts(mnist_under(seed=seed, limit=4000))
    expected = 4000 * whole / whole.sum()
    assert (np.abs(few - expected) < 4 * np.sqrt(expected)).all()  # 4 deviations of a count


def test_cifar10_is_scaled_by_what_is_left(monkeypatch):
    pytest.importorskip("PIL")
    try:
        task = cifar10_under("lossless-4k")
    except InputError as error:
        pytest.skip(str(error))
    left = task.x[task.rows("train")].double()
    assert task.scaling.shift == pytest.approx(left.mean((0, 2, 3)).tolist())


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"shares": (1.5,)}, "shares="), ({"each": 4}, "no more than the 10 classes"),
     ({"limit": -1}, "limit=-1"), ({"seed": -1}, "seed=-1")],
)  # fmt: skip
def test_knobs_that_are_none(knobs, words):
    with pytest.raises(InputError, match=words):
        mnist_under(**knobs)
