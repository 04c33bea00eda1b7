"""MNIST-10S: exact counts of gray and coloured digits, every test digit in both, gray the luma of colour."""

import os
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data.cifar10s import gray_of_training, to_gray
from evenhand.data.contact_sheet import contact_sheet, pictures_of
from evenhand.data.mnist10s import INK, coloured_digits, mnist10s
from evenhand.data.mnist_files import read_digits
from evenhand.errors import InputError

COLOUR, GRAY = 0, 1
FULL = Path(os.environ.get("EVENHAND_DATA", "")) / "mnist.npz"


@pytest.fixture(scope="module")
def task():
    return mnist10s().check()


def cells(task, part="train"):
    """Rows by digit and domain."""
    rows = task.rows(part)
    cell = 2 * task.y[rows].numpy() + task.attribute("domain").codes[rows.numpy()]
    return np.bincount(cell, minlength=20).reshape(10, 2)


def is_gray(x):
    return (x[:, 0] == x[:, 1]).flatten(1).all(1) & (x[:, 0] == x[:, 2]).flatten(1).all(1)


def test_counts_are_exact(task):
    sizes = np.bincount(read_digits().y_train, minlength=10)
    majority = sizes * 95 // 100
    for digit, found in enumerate(cells(task)):
        own = GRAY if digit % 2 == 0 else COLOUR
        assert found[own] == majority[digit]
        assert found[1 - own] == sizes[digit] - majority[digit]


def test_the_domain_is_what_the_picture_shows(task):
    gray = is_gray(task.x).numpy()
    assert np.array_equal(gray, task.attribute("domain").codes == GRAY)


def test_every_test_digit_is_there_in_both_domains(task):
    rows = task.rows("test")
    n = len(rows) // 2
    assert n == 2_000
    coloured, gray = rows[:n], rows[n:]
    assert torch.equal(task.y[coloured], task.y[gray])
    assert torch.equal(to_gray(task.x[coloured]), task.x[gray])
    assert task.y[coloured].tolist() == read_digits().y_test.tolist()
    assert cells(task, "test")[:, 0].tolist() == cells(task, "test")[:, 1].tolist()


def test_digits_keep_their_shape_in_both_domains(task):
    """Orange ink on black: red is the digit itself, and the luma 169 / 255 of it, rounded twice."""
    digits = torch.from_numpy(read_digits().x_test)
    n = len(digits)
    coloured, gray = task.x[task.rows("test")[:n]], task.x[task.rows("test")[n:]]
    assert torch.equal(coloured[:, 0], digits)
    assert int(gray.max()) == 169
    assert (gray[:, 0].double() - digits.double() * 169 / 255).abs().max() < 1.1
    assert [int(coloured[:, channel].max()) for channel in range(3)] == list(INK)


def test_a_larger_picture_is_the_same_with_a_black_margin():
    small, large = mnist10s(limit=50), mnist10s(limit=50, size=32)
    assert large.input_shape == (3, 32, 32)
    assert torch.equal(large.x[:, :, 2:30, 2:30], small.x)
    assert int(large.x.sum()) == int(small.x.sum())


def test_the_draw_is_that_of_cifar10s():
    """The same rule on other labels: Python's random, class after class."""
    y = read_digits().y_train[:3_000].astype(np.int64)
    task = mnist10s(0.8, seed=7, limit=3_000)
    assert np.array_equal(
        task.attribute("domain").codes[:3_000], gray_of_training(y, 0.8, 7).astype(np.int64)
    )
    other = mnist10s(0.8, seed=8, limit=3_000)
    assert not np.array_equal(task.attribute("domain").codes, other.attribute("domain").codes)


def test_any_number_of_classes():
    y = np.repeat(np.arange(12), 40)
    gray = gray_of_training(y, 0.9, n_classes=12).reshape(12, 40).sum(axis=1)
    assert gray.tolist() == [36, 4] * 6
    assert gray_of_training(y, 0.9).reshape(12, 40).sum(axis=1).tolist() == [36, 4] * 5 + [0, 0]


@pytest.mark.parametrize(("skew", "own"), [(1.0, 1.0), (0.5, 0.5), (0.0, 0.0)])
def test_the_skew_goes_from_one_end_to_the_other(skew, own):
    found = cells(mnist10s(skew, limit=2_000))
    even = found[::2, GRAY].sum() / found[::2].sum()
    odd = found[1::2, COLOUR].sum() / found[1::2].sum()
    assert even == pytest.approx(own, abs=0.005)
    assert odd == pytest.approx(own, abs=0.005)


def test_validation_is_held_out_of_training_alone(task):
    held = mnist10s(validation=0.1)
    assert len(held.rows("validation")) == 1_400
    assert torch.equal(held.rows("test"), task.rows("test"))
    both = torch.cat([held.rows("train"), held.rows("validation")])
    assert sorted(both.tolist()) == task.rows("train").tolist()


def test_inputs_are_scaled_by_the_training_digits(task):
    scaled = task.scaling(task.x[task.rows("train")])
    assert scaled.mean(dim=(0, 2, 3)).abs().max() < 1e-4
    assert torch.allclose(scaled.std(dim=(0, 2, 3)), torch.ones(3), atol=1e-3)


def test_its_pictures_can_be_put_on_a_sheet(task):
    """Inputs that are a tensor already are shown as they are."""
    pictures = pictures_of(task, 6)
    assert torch.equal(pictures, task.x[task.rows("train")[:6]])
    assert contact_sheet(pictures, columns=3).shape == (3, 62, 92)


@pytest.mark.skipif(not FULL.is_file(), reason="EVENHAND_DATA does not lead to mnist.npz")
def test_all_of_mnist():
    task = mnist10s(part="full")
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 60_000, "test": 20_000}
    assert cells(task).min() == 272  # a twentieth of 5,421 fives, and one for the fraction


def test_painting_is_rounded_to_the_nearest():
    digit = torch.arange(256, dtype=torch.uint8).repeat(4)[:784].view(1, 28, 28).numpy()
    found = coloured_digits(digit)[0].flatten(1)[:, :256].double()
    expected = torch.tensor(INK).double()[:, None] * torch.arange(256) / 255
    assert (found - expected).abs().max() <= 0.5


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"skew": 1.2}, "skew=1.2"), ({"size": 30}, "size=30 must be 28 or 32"), ({"limit": -1}, "limit=-1"),
     ({"seed": -2}, "seed=-2"), ({"part": "all"}, "part"), ({"validation": 1.0}, "validation=1.0")],
)  # fmt: skip
def test_knobs_that_are_none(knobs, words):
    with pytest.raises(InputError, match=words):
        mnist10s(**knobs)
