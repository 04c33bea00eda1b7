"""Asking modules: inputs that they cannot take, labels that they do not answer, weights without values."""

from __future__ import annotations

import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.module_predictions import predicted_classes

X = torch.randn(12, 4, generator=torch.Generator().manual_seed(0))


class Asked(nn.Module):
    """A module that answers as a function does."""

    def __init__(self, answer) -> None:
        super().__init__()
        self.answer = answer

    def forward(self, x):
        return self.answer(x)


def linear(outputs: int) -> nn.Linear:
    torch.manual_seed(0)
    return nn.Linear(4, outputs)


def test_a_model_that_gives_codes_is_the_model_that_gives_logits():
    model = linear(3)
    codes = Asked(lambda x: model(x).argmax(1))
    told = predicted_classes(model, X, batch_size=5)
    assert set(told.tolist()) == {0, 1, 2}
    found = evenhand.compare_modules({"logits": model, "codes": codes}, X, told, batch_size=5)
    assert found.accuracy == {"logits": 1.0, "codes": 1.0}


def test_a_sigmoid_at_the_end_is_seen_and_what_is_advised_works():
    model, y = linear(1), predicted_classes(linear(1), X)
    assert set(y.tolist()) == {0, 1}
    ends = nn.Sequential(model, nn.Sigmoid())
    with pytest.raises(InputError, match="look like probabilities"):
        evenhand.compare_modules({"logit": model, "sigmoid": ends}, X, y)
    codes = Asked(lambda x: (ends(x) > 0.5).long())
    assert evenhand.compare_modules({"logit": model, "codes": codes}, X, y).accuracy["codes"] == 1.0


@pytest.mark.parametrize(
    "y", [[0, 1, 2] * 4, [0.0, 1.0, 2.0, float("nan")] * 3, torch.arange(12) % 3, [0, 1, None, 2] * 3]
)
def test_one_output_is_refused_where_labels_have_three_classes(y):
    with pytest.raises(InputError, match="tells two classes apart, and labels have 3"):
        predicted_classes(linear(1), X, y_true=y)
    assert predicted_classes(linear(3), X, y_true=y).shape == (12,)


@pytest.mark.parametrize("y", [[0, 1] * 6, [1] * 12, iter([0, 1, 2] * 4), None, [[0, 1]] * 12])
def test_other_labels_leave_it_to_the_comparison(y):
    """An iterator can be read only once; what is no column is refused there."""
    assert predicted_classes(linear(1), X, y_true=y).shape == (12,)
    assert y is None or not hasattr(y, "__next__") or len(list(y)) == 12


def test_labels_of_text_are_told_that_codes_are_wanted():
    for y in (["cat", "dog"] * 6, ["0", "1"] * 6, ["cat", None] * 6):
        with pytest.raises(
            InputError, match=r"labels hold text .*answer with class codes; give the place of"
        ):
            predicted_classes(linear(2), X, y_true=y)


def test_a_comparison_of_modules_says_so_about_its_labels():
    for y, told in (([0, 1, 2] * 4, "and labels have 3"), (["cat", "dog"] * 6, "labels hold text")):
        with pytest.raises(InputError, match=told):
            evenhand.compare_modules({"whole": linear(1), "small": linear(1)}, X, y)
    found = evenhand.compare_modules({"whole": linear(1), "small": linear(1)}, X, iter([0, 1] * 6))
    assert found.disagreement == {"small": 0.0}


class Two(nn.Module):
    def forward(self, a, b):
        return a + b


@pytest.mark.parametrize(
    ("module", "x", "told"),
    [
        (nn.BatchNorm2d(3), torch.zeros(2, 3, 4), r"shape \(2, 3, 4\) and type float32.*expected 4D input"),
        (nn.Embedding(3, 4), torch.arange(5), r"shape \(5,\) and type int64.*index out of range"),
        (Two(), X, "wrap a module that wants more than x in one whose .* missing 1 required positional"),
        (Asked(lambda x: x.edges), X, "type float32; give them as it was trained on them .*'edges'"),
        (Asked(lambda x: {}[len(x)]), X, "type float32.*torch says: 12"),
    ],
)
def test_inputs_that_a_module_cannot_take_are_told_in_a_sentence(module, x, told):
    with pytest.raises(InputError, match=f"a module does not take inputs of the .*{told}"):
        predicted_classes(module, x)
    assert module.training


def test_the_sentence_of_a_module_of_ours_stays_as_it_is():
    def refuses(x):
        raise InputError("the rows are too long; cut them")

    with pytest.raises(InputError, match=r"^the rows are too long; cut them$"):
        predicted_classes(Asked(refuses), X)


def test_a_module_without_values_is_not_asked():
    with pytest.raises(InputError, match=r"\(Linear\) is on the device 'meta', where weights have no values"):
        predicted_classes(nn.Linear(4, 2, device="meta"), X)


@pytest.mark.parametrize("size", [0, -1, 2.5, "64", True])
def test_a_batch_has_a_whole_number_of_rows(size):
    with pytest.raises(InputError, match=r"'batch_size' must be at least 1 and a whole number, not"):
        predicted_classes(linear(2), X, batch_size=size)


@pytest.mark.parametrize(("y", "told"), [([0, 1, -100] * 4, "-100"), ([-1.0, 1.0] * 6, "-1")])
def test_labels_below_zero_are_no_class_that_every_module_misses(y, told):
    with pytest.raises(InputError, match=f"^labels hold {told}, which no module answers; .* as NaN"):
        evenhand.compare_modules({"a": linear(3), "b": linear(3)}, X, y)
    kept = [float("nan") if label < 0 else label for label in y]
    assert evenhand.compare_modules({"a": linear(3), "b": linear(3)}, X, kept).rows.missing == y.count(min(y))


def _refusing(x):
    assert x.shape[1] == 224, "Wrong image height!"  # as torchvision's transformers say it


def test_what_a_module_asserts_about_its_inputs_is_told():
    with pytest.raises(
        InputError, match=r"^module 'vit': .*does not take inputs of the .*Wrong image height!"
    ):
        evenhand.compare_modules({"ours": linear(2), "vit": Asked(_refusing)}, X, [0, 1] * 6)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"y_true": [0, 1] * 5}, "there are 10 labels for 12 inputs"),
        ({"groups": ["a"] * 11}, "11 group values for 12 rows"),
        ({"weights": [1.0] * 11}, "weights"),
        ({"base": "c"}, "no model 'c' to be the base"),
        ({"confidence": 2}, "confidence"),
        ({"metrics": ["tpr.gab"]}, "tpr.gap"),
        ({"modules": {"a": Asked(lambda x: 1 / 0)}}, "at least two models"),
        ({"modules": {"a": Asked(lambda x: 1 / 0), "b": "model.pt"}}, "^module 'b': a torch module"),
    ],
)
def test_what_is_wrong_is_told_before_a_module_is_asked(given, told):
    asked = Asked(lambda x: 1 / 0)
    call = {"modules": {"a": asked, "b": asked}, "x": X, "y_true": [0, 1] * 6} | given
    with pytest.raises(ValueError, match=told):
        evenhand.compare_modules(**call)


def test_labels_that_can_be_read_only_once_are_read_once():
    modules, y = {"a": linear(2), "b": linear(3)}, [0, 1] * 6
    whole, once = (evenhand.compare_modules(modules, X, labels) for labels in (y, iter(y)))
    assert once.to_dict()["paid"] == whole.to_dict()["paid"]
