"""Two digits side by side: they show the number, and no digit is both trained on and tested."""

import numpy as np
import pytest
import torch

from evenhand.data.mnist_files import read_digits
from evenhand.data.mnist_numbers import mnist_numbers
from evenhand.errors import InputError


@pytest.fixture(scope="module")
def task():
    return mnist_numbers(n=1500, n_validation=400, n_test=600).check()


@pytest.mark.parametrize("part", ["train", "validation", "test"])
def test_both_halves_are_digits_of_the_same_part_and_make_the_number(task, part):
    images, labels = read_digits().parts()[part]
    digit_of = {image.tobytes(): int(label) for image, label in zip(images, labels, strict=True)}
    rows = task.rows(part)
    for picture, number in zip(task.x[rows, 0].numpy(), task.y[rows].tolist(), strict=True):
        left, right = (
            digit_of[np.ascontiguousarray(half).tobytes()] for half in np.split(picture, 2, axis=1)
        )
        assert (left, right) == divmod(number, 10)
        assert task.classes[number] == f"{left}{right}"


def test_numbers_are_equally_frequent_and_in_no_order(task):
    for part, size in (("train", 1500), ("validation", 400), ("test", 600)):
        y = task.y[task.rows(part)]
        assert torch.bincount(y, minlength=100).tolist() == [size // 100] * 100
        assert not torch.equal(y, torch.arange(size) % 100)
    uneven = mnist_numbers(n=150, n_validation=0, n_test=250)
    assert torch.bincount(uneven.y[uneven.rows("train")]).sort().values.tolist() == [1] * 50 + [2] * 50


def test_the_digits_of_a_number_are_drawn_from_all_of_them():
    """Of 20,000 draws among 12,000 digits by their digit, about 1 - exp(-40/12) of them occur."""
    whole = mnist_numbers(n=20_000, n_validation=0, n_test=1)
    halves = np.concatenate(np.split(whole.x[whole.rows("train"), 0].numpy(), 2, axis=2))
    seen = len({half.tobytes() for half in halves}) / 12_000
    assert seen == pytest.approx(1 - np.exp(-40 / 12), abs=0.01)


def test_a_seed_draws_each_part_for_itself(task):
    more = mnist_numbers(n=100, n_validation=0, n_test=600)
    assert torch.equal(more.x[more.rows("test")], task.x[task.rows("test")])
    other = mnist_numbers(n=1500, n_validation=400, n_test=600, seed=1)
    assert not torch.equal(other.x[other.rows("test")], task.x[task.rows("test")])


def test_ink_in_class_says_nothing_of_the_number(task):
    codes = task.attribute("ink_in_class").codes[task.rows("train").numpy()]
    heavy = np.bincount(task.y[task.rows("train")], weights=codes, minlength=100)
    assert set(heavy.tolist()) <= {6.0, 7.0}  # of 15: half, or one less where two have the median's ink


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"n": 0}, "n=0 must be a number of images"),
        ({"n_test": 0}, "n_test=0 must be"),
        ({"n_validation": -1}, "n_validation=-1 must be"),
        ({"seed": -1}, "seed=-1"),
        ({"part": "half"}, "part"),
    ],
)
def test_wrong_knobs_are_told(knobs, words):
    with pytest.raises(InputError, match=words):
        mnist_numbers(**knobs)
