"""What modules return: logits, codes, probabilities, and things that hold logits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from evenhand.errors import InputError
from evenhand.evaluation.module_outputs import class_codes, read_batch

Z = torch.tensor([2.0, -1.0, 0.3, -0.2])
P = Z.sigmoid()  # 0.88, 0.27, 0.57, 0.45


def codes(out, n_classes=None):
    return class_codes(read_batch(out, 4), n_classes).tolist()


@pytest.mark.parametrize(
    "out",
    [
        Z, Z[:, None], torch.stack([-Z, Z], 1), torch.stack([1 - P, P], 1), Z.half(), (Z, "more"),
        (Z > 0).long(), (Z > 0)[:, None], Z > 0, (Z > 0).float(), torch.stack([Z <= 0, Z > 0], 1),
    ],
)  # fmt: skip
def test_all_ways_of_saying_the_same_two_classes(out):
    assert codes(out, 2) == [1, 0, 1, 0]


def test_whole_numbers_one_a_row_are_class_codes():
    assert codes(torch.tensor([2, 0, 3, 1]), 4) == [2, 0, 3, 1]
    assert codes(torch.tensor([[2], [0], [3], [1]], dtype=torch.uint8)) == [2, 0, 3, 1]
    with pytest.raises(InputError, match="read as class codes, and -3 is none; return codes from 0 on"):
        codes(torch.tensor([2, -3, 0, 1]))


@pytest.mark.parametrize("out", [P, P[:, None], torch.full((4,), 0.5), torch.tensor([0.0, 1.0, 0.2, 0.0])])
def test_probabilities_of_one_class_are_not_read_as_logits(out):
    """Above 0 they all are, so that every row would be of class 1."""
    with pytest.raises(
        InputError, match=r"all from 0 to 1 .*look like probabilities, .*\(p > 0.5\).long\(\)"
    ):
        codes(out, 2)
    assert codes((out > 0.5).long(), 2) == (out > 0.5).flatten().long().tolist()  # what it says to do


@pytest.mark.parametrize("out", [P.clamp(min=0.6), torch.zeros(4), torch.tensor([0.4, 0.4, 0.4, 1.2])])
def test_numbers_that_mean_the_same_class_in_both_ways_are_read(out):
    assert codes(out, 2) == (out > 0).long().tolist()


def test_a_whole_set_is_looked_at_and_not_a_batch():
    told = torch.cat([read_batch(rows, 2) for rows in (torch.tensor([0.1, 0.2]), torch.tensor([-3.0, 4.0]))])
    assert class_codes(told).tolist() == [1, 1, 0, 1]


def test_one_number_a_row_does_not_tell_three_classes_apart():
    for out in (Z, P, torch.tensor([0.0, 1.0, 2.0, 3.0])):  # the last are codes, but as logits would be
        with pytest.raises(
            InputError, match="tells two classes apart, and labels have 3; return a logit for"
        ):
            codes(out, 3)


@pytest.mark.parametrize(
    ("out", "came", "wrapped"),
    [
        ({"logits": Z, "loss": 0}, "a dict of 'logits', 'loss'", "model(x)['logits']"),
        ({"out": Z}, "a dict of 'out'", "model(x)['out']"),
        ({}, "a dict of nothing", "model(x)['logits']"),
        ([Z, Z], "a list of 2", "model(x)[0]"),
        (SimpleNamespace(logits=Z), "a SimpleNamespace that has .logits", "model(x).logits"),
        (({"logits": Z}, 1), "a dict of 'logits'", "model(x)[0]['logits']"),
        ((), "a tuple of 0", "model(x)[0]"),
        (None, "a NoneType", "model(x).logits"),
        (Z.numpy(), "a ndarray", "model(x).logits"),
        (Z.to(torch.complex64), "a complex tensor", "model(x).abs()"),
    ],
)
def test_what_is_no_tensor_is_named_with_the_way_to_its_logits(out, came, wrapped):
    with pytest.raises(InputError) as refused:
        read_batch(out, 4)
    assert f"not {came}; wrap it in a module whose forward(self, x) returns" in str(refused.value)
    assert str(refused.value).endswith(f"such as {wrapped}")


@pytest.mark.parametrize("shape", [(3,), (4, 0), (4, 2, 5), ()])
def test_another_shape_than_a_row_for_each_input_is_refused(shape):
    with pytest.raises(InputError, match=r"one row of logits for each input, not .* for 4 inputs"):
        read_batch(torch.zeros(shape), 4)
