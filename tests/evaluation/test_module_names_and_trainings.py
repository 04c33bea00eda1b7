"""Names of a module's outputs, and several trainings of a module: what `compare` says of such columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.module_labels import label_codes, names_of_outputs
from evenhand.evaluation.module_predictions import predicted_classes

N = 90
X = torch.randn(N, 4, generator=torch.Generator().manual_seed(0))
NAMES = ["zebra", "ant", "never", "bird"]  # not in alphabetical order; one that no row has
GROUPS = ["f", "m"] * (N // 2)


def linear(seed: int, outputs: int = 4) -> nn.Linear:
    torch.manual_seed(seed)
    model = nn.Linear(4, outputs)
    with torch.no_grad():
        model.bias[2:3] = -100  # "never" is not predicted
    return model


MODULES = {"whole": linear(0), "small": linear(1)}
CODES = {name: predicted_classes(module, X) for name, module in MODULES.items()}
Y = np.where(np.arange(N) % 5 > 0, CODES["whole"], np.arange(N) % 2)


def numbers(found: evenhand.Comparison) -> dict:
    """Everything that is no name of a class."""
    kept = (
        "accuracy",
        "disagreement",
        "cev",
        "sde",
        "differences",
        "matrices",
        "cie",
        "groups",
        "n",
        "missing",
    )
    told = found.to_dict()
    moved = [
        (o.base, o.value, o.difference, o.low, o.high, o.p, o.verdict) for o in found.paid["small"].classes
    ]
    return {key: told.get(key) for key in kept} | {"paid": moved}


def named(codes) -> list:
    return [NAMES[k] for k in codes]


def test_names_are_those_of_compare_and_numbers_those_of_codes():
    by_code = evenhand.compare_modules(MODULES, X, Y, GROUPS)
    by_hand = evenhand.compare(
        named(Y), {name: named(p) for name, p in CODES.items()}, GROUPS, classes=["zebra", "ant", "bird"]
    )
    for labels in (Y, named(Y), np.array(named(Y)), torch.tensor(Y), Y.astype(float)):
        found = evenhand.compare_modules(MODULES, X, labels, GROUPS, class_names=NAMES)
        assert found.rows.classes == ("zebra", "ant", "bird")  # in the order of the outputs
        assert [one.name for one in found.paid["small"].classes] == ["zebra", "ant", "bird"]
        np.testing.assert_equal(numbers(found), numbers(by_code))
        np.testing.assert_equal(found.to_dict()["paid"], by_hand.to_dict()["paid"])


def test_a_loader_may_give_names():
    batches = [(X[:40], named(Y[:40])), (X[40:], tuple(named(Y[40:])))]
    found = evenhand.compare_modules(MODULES, batches, class_names=tuple(NAMES))
    np.testing.assert_equal(numbers(found), numbers(evenhand.compare_modules(MODULES, X, Y)))


def test_missing_labels_are_counted_with_names_as_without():
    for labels in ([None, *Y[1:].tolist()], [None, *named(Y[1:])], [np.nan, *named(Y[1:])]):
        found = evenhand.compare_modules(MODULES, X, labels, class_names=NAMES)
        assert (found.rows.missing, len(found.rows.y)) == (1, N - 1)


def test_options_that_name_classes_take_the_names():
    two = {name: linear(seed, 2) for seed, name in enumerate(MODULES)}
    y = predicted_classes(two["whole"], X)
    found = evenhand.compare_modules(two, X, y, GROUPS, class_names=["no", "yes"], positive="no")
    assert found.rows.classes == ("yes", "no")
    other = evenhand.compare_modules(two, X, y, GROUPS, class_names=["no", "yes"], classes=["yes", "no"])
    assert other.rows.classes == ("yes", "no")
    with pytest.raises(ValueError, match="positive class 'perhaps' does not occur; the classes are no, yes"):
        evenhand.compare_modules(two, X, y, GROUPS, class_names=["no", "yes"], positive="perhaps")


@pytest.mark.parametrize("code", [0, 1, 3])
def test_a_single_class_is_one_of_two(code):
    class Says(nn.Module):
        def forward(self, x):
            return torch.full((len(x),), code)

    found = evenhand.compare_modules({"a": Says(), "b": Says()}, X, [code] * N, class_names=NAMES)
    assert found.accuracy == {"a": 1.0, "b": 1.0}
    assert set(found.rows.classes) == {NAMES[code], NAMES[1 if code == 0 else 0]}


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("bird", "must be a list of the outputs' names .* not a str"),
        ({"ant": 0, "bird": 1}, "not a dict"),
        (4, "not a int"),
        ([1, 2, 3, 4], "holds 1; names are texts"),
        (["ant", "bird", "ant", "cat"], "'ant' twice"),
        (["ant"], "has 1 names"),
        (NAMES[:3], "^(labels hold 3, and there are 3 class names, whose places go from 0 to 2|module)"),
        ([*NAMES, "more"], "^module 'whole': a module gives 4 logits a row, and there are 5 class names"),
    ],
)
def test_names_that_do_not_fit_are_refused(names, message):
    with pytest.raises(InputError, match=message):
        evenhand.compare_modules(MODULES, X, Y, class_names=names)


def test_fewer_names_than_outputs_are_seen_by_the_outputs():
    y = np.arange(N) % 3
    with pytest.raises(InputError, match="gives 4 logits a row, and there are 3 class names"):
        evenhand.compare_modules(MODULES, X, y, class_names=NAMES[:3])
    single = {"a": linear(0, 1), "b": linear(1, 1)}
    with pytest.raises(
        InputError, match=r"one logit a row, .*two classes apart, and there are 3 class names"
    ):
        evenhand.compare_modules(single, X, y, class_names=NAMES[:3])
    assert evenhand.compare_modules(single, X, y % 2, class_names=["no", "yes"]).rows.classes == ("no", "yes")

    class Codes(nn.Module):
        def forward(self, x):
            return torch.arange(len(x)) % 4

    with pytest.raises(InputError, match="class code 3, and there are 3 class names"):
        evenhand.compare_modules({"a": Codes(), "b": Codes()}, X, y, class_names=NAMES[:3])


def test_labels_that_are_no_names_are_told_with_the_nearest():
    with pytest.raises(InputError, match=r"labels hold 'brid', which is none of the 4 .* did you mean bird"):
        evenhand.compare_modules(MODULES, X, ["brid"] * N, class_names=NAMES)
    with pytest.raises(InputError, match=r"labels hold '3', .* they begin with zebra, ant, never, bird"):
        evenhand.compare_modules(MODULES, X, ["3"] * N, class_names=NAMES)
    with pytest.raises(InputError, match="labels hold 1, which is none of"):
        evenhand.compare_modules(MODULES, X, ["bird", 1] * (N // 2), class_names=NAMES)


@pytest.mark.parametrize("wrong", [[1j], [np.inf], [0.5], np.array(["2020"], "M8[D]"), [object()], [-1]])
def test_labels_that_are_no_codes_are_refused(wrong):
    with pytest.raises(InputError, match="labels "):
        label_codes(wrong)


def test_codes_of_any_kind_of_number():
    for labels in ([1, 0], [True, False], [1.0, 0.0], np.array([1, 0], np.uint64), np.array([1, 0], object)):
        assert label_codes(labels).tolist() == [1, 0]
    assert label_codes([None, 2, float("nan")]).tolist() == [-1, 2, -1]
    assert names_of_outputs(np.array(["a", "b"])) == ("a", "b")


SEEDS = {"whole": [linear(0), linear(2), linear(3)], "small": [linear(4), linear(5), linear(6)]}


@pytest.mark.parametrize("kind", [list, tuple, nn.ModuleList])
def test_several_trainings_are_the_runs_of_compare(kind):
    runs = {name: np.stack([predicted_classes(one, X) for one in models]) for name, models in SEEDS.items()}
    found = evenhand.compare_modules({name: kind(models) for name, models in SEEDS.items()}, X, Y, GROUPS)
    expected = evenhand.compare(Y, runs, GROUPS)
    for one in (found, expected):
        assert one.to_dict()["runs"] == {"whole": 3, "small": 3}
    assert found.cie["small"].indices.tolist() == expected.cie["small"].indices.tolist()
    np.testing.assert_equal(*(replace(one, created="").to_dict() for one in (found, expected)))


@pytest.mark.parametrize("counts", [(1, 3), (3, 1), (2, 3), (1, 1)])
def test_numbers_of_trainings_are_what_compare_takes(counts):
    given = {name: models[:n] for n, (name, models) in zip(counts, SEEDS.items(), strict=True)}
    runs = {name: [predicted_classes(one, X) for one in models] for name, models in given.items()}
    found, expected = evenhand.compare_modules(given, X, Y), evenhand.compare(Y, runs)
    np.testing.assert_equal(numbers(found), numbers(expected))
    alone = evenhand.compare_modules({"whole": SEEDS["whole"][0], "small": SEEDS["small"]}, X, Y)
    if counts == (1, 3):
        np.testing.assert_equal(numbers(alone), numbers(found))


def test_trainings_with_names_and_a_loader():
    batches = [(X[:40], Y[:40]), (X[40:], Y[40:])]
    found = evenhand.compare_modules(SEEDS, batches, class_names=NAMES)
    np.testing.assert_equal(numbers(found), numbers(evenhand.compare_modules(SEEDS, X, Y)))
    assert "bird" in [one.name for one in found.paid["small"].classes]


def test_the_training_that_cannot_be_asked_is_named():
    for models, message in (
        ([linear(0), "model.pt"], "^module 'small', training 2: a torch module is asked .* not str"),
        ([linear(0), nn.Linear(5, 3)], "^module 'small', training 2: a module does not take inputs"),
        ([], "^module 'small': there is no training in an empty list"),
        ((linear(0) for _ in range(2)), "^module 'small': a torch module is asked .* not generator"),
        ([SEEDS["small"][0], linear(1), SEEDS["small"][0]], "trainings 1 and 3 are one and the same module"),
    ):
        with pytest.raises(InputError, match=message):
            evenhand.compare_modules({"whole": linear(0), "small": models}, X, Y)


def test_one_output_and_three_classes_of_a_training():
    with pytest.raises(InputError, match=r"^module 'small', training 1: a module gives one number a row"):
        evenhand.compare_modules({"whole": linear(0), "small": [linear(0, 1)]}, X, np.arange(N) % 3)


def test_one_module_under_two_names_is_told():
    """Pruned in place: both are pruned, and nobody would seem to have paid."""
    one, other = linear(0), linear(1)
    found = evenhand.compare_modules({"whole": one, "pruned": one, "other": other}, X, Y)
    (told,) = [warning for warning in found.warnings if "one and the same" in warning]
    assert told.startswith("'whole' and 'pruned' are one and the same module")
    apart = evenhand.compare_modules({"whole": [one, other], "pruned": [other, linear(3)]}, X, Y)
    assert sum("one and the same" in warning for warning in apart.warnings) == 1
    fine = evenhand.compare_modules({"whole": one, "pruned": linear(0)}, X, Y)
    assert not any("one and the same" in warning for warning in fine.warnings)
