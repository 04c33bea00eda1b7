"""Modules that are asked batch by batch: the result of joined batches, in one pass, and nothing is kept."""

from __future__ import annotations

import weakref
from array import array
from collections import deque
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn
from torch.utils.data import (
    BatchSampler,
    DataLoader,
    DistributedSampler,
    IterableDataset,
    RandomSampler,
    SequentialSampler,
    SubsetRandomSampler,
    TensorDataset,
    WeightedRandomSampler,
)

import evenhand
from evenhand.errors import InputError
from evenhand.evaluation.module_inputs import inputs_of
from evenhand.evaluation.module_outputs import read_batch

N = 60
DRAW = torch.Generator().manual_seed(0)
X = torch.randn(N, 4, generator=DRAW)
GROUPS = {"sex": ["f", "m", None] * (N // 3)}
WEIGHTS = [1.0, 2.0] * (N // 2)


def linear(outputs: int = 3, seed: int = 0) -> nn.Linear:
    torch.manual_seed(seed)
    return nn.Linear(4, outputs)


Y = torch.where(torch.rand(N, generator=DRAW) < 0.8, linear()(X).argmax(1), torch.arange(N) % 3)
MODULES = {"whole": linear(), "small": linear(seed=1)}
DATA = TensorDataset(X, Y)


def told(found: evenhand.Comparison) -> dict:
    """All of it but the time of the call."""
    return replace(found, created="").to_dict()


def loader(**options) -> DataLoader:
    return DataLoader(DATA, **({"batch_size": 7} | options))


class Stream(IterableDataset):
    def __iter__(self):
        yield from zip(X, Y, strict=True)


LOADERS = {
    "pairs": lambda: loader(),
    "stream": lambda: DataLoader(Stream(), batch_size=7),
    "batches of a data set": lambda: DataLoader(
        [(X[:7], Y[:7]), (X[7:], Y[7:])], batch_size=None, shuffle=False
    ),
    "generator": lambda: ((x, y) for x, y in loader()),
    "list": lambda: [(X[:50], Y[:50].tolist()), (X[50:].numpy(), Y[50:].numpy(), "more")],
    "an empty batch": lambda: [(X, Y), (X[:0], Y[:0])],
}


@pytest.mark.parametrize("kind", LOADERS)
@pytest.mark.parametrize("given", [None, Y])
def test_a_loader_gives_what_its_joined_batches_give(kind, given):
    columns = {"groups": GROUPS, "weights": WEIGHTS, "base": "small"}
    joined = evenhand.compare_modules(MODULES, X, Y, **columns)
    found = evenhand.compare_modules(MODULES, LOADERS[kind](), given, **columns)
    np.testing.assert_equal(told(found), told(joined))  # to the last digit, NaN included


@pytest.mark.parametrize("batches", [X.split(7), list(X.split(7)), [(x,) for x in X.split(7)]])
def test_batches_may_be_inputs_alone(batches):
    found = evenhand.compare_modules(MODULES, batches, Y, GROUPS)
    np.testing.assert_equal(told(found), told(evenhand.compare_modules(MODULES, X, Y, GROUPS)))


def test_lists_of_numbers_and_arrays_are_inputs_as_before():
    rows = evenhand.compare_modules(MODULES, X.tolist(), Y)
    np.testing.assert_equal(told(rows), told(evenhand.compare_modules(MODULES, X.numpy(), Y)))
    for numbers in (range(4), array("d", [0.0, 1.0, 2.0, 3.0]), memoryview(np.arange(4))):
        assert inputs_of(numbers).rows == 4
    assert not inputs_of(deque([X])).cut


def test_a_loader_that_shuffles_is_fine_alone_and_refused_beside_columns():
    torch.manual_seed(3)
    found = evenhand.compare_modules(MODULES, loader(shuffle=True))
    joined = evenhand.compare_modules(MODULES, X, Y)
    assert found.accuracy == joined.accuracy
    assert [one.p for one in found.paid["small"].classes] == [one.p for one in joined.paid["small"].classes]
    for columns, named in (
        ({"y_true": Y}, "y_true"),
        ({"groups": GROUPS}, "groups"),
        ({"y_true": Y, "groups": GROUPS, "weights": WEIGHTS}, "y_true and groups and weights"),
    ):
        with pytest.raises(InputError, match=f"shuffles its rows, and {named} would be .* shuffle=False"):
            evenhand.compare_modules(MODULES, loader(shuffle=True), **columns)


class Bar:
    """A progress bar around a loader, as tqdm's is."""

    def __init__(self, iterable) -> None:
        self.iterable = iterable

    def __iter__(self):
        return iter(self.iterable)


class Backwards(SequentialSampler):
    def __iter__(self):
        return reversed(range(N))


@pytest.mark.parametrize(
    ("hidden", "message"),
    [
        (lambda: Bar(loader(shuffle=True)), "shuffles"),
        (lambda: DataLoader(DATA, batch_sampler=BatchSampler(RandomSampler(DATA), 7, False)), "shuffles"),
        (lambda: loader(sampler=SubsetRandomSampler(range(N))), "order of a SubsetRandomSampler.*Subset"),
        (lambda: loader(sampler=Backwards(DATA)), "order of a Backwards"),
        (lambda: DataLoader(DATA, batch_sampler=[[3, 1], [2]]), "order of a list"),
        (lambda: loader(num_workers=1, in_order=False), "in_order=True"),
    ],
)
def test_other_orders_are_seen(hidden, message):
    with pytest.raises(InputError, match=message):
        evenhand.compare_modules(MODULES, hidden(), groups=GROUPS)


def test_a_bar_around_a_loader_in_order_is_a_loader():
    found = evenhand.compare_modules(MODULES, Bar(loader()), Y, GROUPS)
    np.testing.assert_equal(told(found), told(evenhand.compare_modules(MODULES, X, Y, GROUPS)))


def test_rows_that_are_left_out_or_come_twice_are_refused_even_without_columns():
    with pytest.raises(InputError, match=r"leaves out its last 4 rows \(drop_last=True\)"):
        evenhand.compare_modules(MODULES, loader(drop_last=True))
    assert evenhand.compare_modules(MODULES, loader(batch_size=6, drop_last=True)).rows.y.size == N
    with pytest.raises(InputError, match="its share of the rows, one of 3"):
        evenhand.compare_modules(MODULES, loader(sampler=DistributedSampler(DATA, 3, 0)))
    for sampler in (WeightedRandomSampler([1.0] * N, N), RandomSampler(DATA, replacement=True)):
        with pytest.raises(InputError, match="draws rows again"):
            evenhand.compare_modules(MODULES, loader(sampler=sampler))


def boom() -> nn.Module:
    class Boom(nn.Module):
        def forward(self, x):
            raise ZeroDivisionError

    return Boom()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"y_true": Y[:50]}, "there are 50 labels for 60 inputs"),
        ({"groups": ["a"] * 61}, "61 group values for 60 rows"),
        ({"weights": [1.0]}, "1 weights for 60 rows"),
        ({"batch_size": 8}, "'batch_size' is for a tensor of inputs"),
        ({"base": "none"}, "no model 'none'"),
        ({"confidence": 3}, "confidence"),
        ({"x": (X, "y")}, "y_true"),
        ({"x": X}, "there are no labels: give y_true, or a loader"),
        ({"x": DataLoader(TensorDataset(X[:0], Y[:0]))}, "has no rows: its data set is empty"),
        ({"x": iter([]), "groups": ["a"] * 3, "weights": [1.0] * 4}, "4 weights for 3 rows"),
        ({"x": iter([])}, "gives no rows; a generator can be gone through only once"),
        ({"x": iter([(X[:0], Y[:0])])}, "gives no rows"),
        ({"x": [X]}, "batch 1 of the loader: there are no labels"),
        ({"x": [(X, Y[:9])]}, "batch 1 of the loader: there are 9 labels for 60 inputs"),
        ({"x": [(X, Y.float() + 0.5)]}, r"batch 1 .* labels hold [012]\.5, which is no class code"),
        ({"x": [(X, Y - 100)]}, r"batch 1 .* labels hold -\d+, which no module answers"),
        ({"x": [(X, nn.functional.one_hot(Y))]}, r"batch 1 .* shape \(60, 3\).*argmax"),
        ({"x": [(X, ["cat"] * N)]}, "batch 1 .* labels hold text .*class_names="),
        ({"x": iter([(X, 3)])}, "batch 1 .* one label .3. where there must be one for each of 60"),
        ({"x": DataLoader(DATA, batch_size=None)}, "batch 1 .* one label .*make it with a batch_size"),
        ({"x": [{"image": X, "label": Y}]}, "batch 1 .* it is a dict of 'image', 'label'; give batches"),
        ({"x": iter([[(X[0], 1), (X[1], 0)]])}, "batch 1 .* a list that begins with tuple"),
        ({"x": iter([(), ()])}, "batch 1 .* a tuple that begins with nothing"),
        ({"x": iter("abc")}, "batch 1 .* a str of str, and inputs are a tensor"),
        ({"x": DATA}, r"a data set \(TensorDataset\) gives single rows.*DataLoader"),
    ],
)
def test_what_is_wrong_is_told_before_a_module_is_asked(given, message):
    call = {"modules": {"a": boom(), "b": boom()}, "x": loader()} | given
    with pytest.raises(ValueError, match=message):
        evenhand.compare_modules(**call)


def test_rows_of_a_stream_are_counted_as_they_come():
    batches = list(zip(X.split(7), Y.split(7), strict=True))
    with pytest.raises(InputError, match=r"batch 8 .* there are 50 labels for 56 inputs or more"):
        evenhand.compare_modules(MODULES, iter(batches), Y[:50])
    with pytest.raises(InputError, match="there are 60 labels for 56 inputs"):
        evenhand.compare_modules(MODULES, iter(batches[:8]), Y)
    with pytest.raises(ValueError, match="60 group values for 56 rows"):
        evenhand.compare_modules(MODULES, iter(batches[:8]), groups=GROUPS)
    with pytest.raises(InputError, match="batch 2 of the loader: there are no labels"):
        evenhand.compare_modules(MODULES, iter([batches[0], X[7:]]))


def test_labels_of_loader_and_column_must_agree():
    other = Y.clone()
    other[[17, 40]] = (other[[17, 40]] + 1) % 3
    says = f"batch 3 .* row 17 has the label {int(other[17])} in y_true and {int(Y[17])} in the loader"
    with pytest.raises(InputError, match=says):
        evenhand.compare_modules(MODULES, loader(), other)
    hidden = [None, *Y[1:].tolist()]
    with pytest.raises(InputError, match=f"row 0 has the label NaN in y_true and {int(Y[0])} in"):
        evenhand.compare_modules(MODULES, loader(), hidden)
    names = ["cat", "dog", "bird"]
    with pytest.raises(InputError, match=r"row 17 has the label '(cat|dog|bird)' in y_true"):
        evenhand.compare_modules(MODULES, loader(), [names[k] for k in other], class_names=names)


def test_there_is_one_pass_and_no_batch_is_kept():
    alive, passes = [], []

    def batches():
        passes.append(1)
        for start in range(0, N, 7):
            assert not any(batch() is not None for batch in alive), "a batch is held while the next is made"
            x, y = X[start : start + 7].clone(), Y[start : start + 7].clone()
            alive.extend([weakref.ref(x), weakref.ref(y)])
            yield x, y
            del x, y

    found = evenhand.compare_modules(MODULES, batches(), Y, GROUPS)
    assert passes == [1]
    assert len(alive) == 18
    np.testing.assert_equal(told(found), told(evenhand.compare_modules(MODULES, X, Y, GROUPS)))


@pytest.mark.parametrize("x", [torch.randn(5, 100), torch.zeros(5, 100, dtype=torch.long)])
def test_what_a_module_passes_on_does_not_hold_its_input(x):
    said = read_batch(x[:, 0], 5)
    assert said.untyped_storage().nbytes() == 5 * x.element_size()


class Fails(nn.Module):
    def forward(self, x):
        assert not self.training
        raise KeyboardInterrupt


def breaking():
    yield X, Y
    raise OSError("the disk is gone")


@pytest.mark.parametrize(
    ("last", "x", "error"),
    [
        (Fails(), loader, KeyboardInterrupt),
        (nn.Identity(), breaking, OSError),
        (nn.Linear(5, 3), loader, InputError),
        (nn.Identity(), lambda: [(X, Y), {}], InputError),
    ],
)
def test_modules_stay_in_their_modes_whatever_is_raised(last, x, error):
    first = nn.Sequential(nn.Dropout(), nn.Sequential(nn.Dropout(), linear()))
    first[1].eval()
    modes = [part.training for part in first.modules()]
    last.train()
    with pytest.raises(error) as raised:
        evenhand.compare_modules({"first": first, "last": last}, x())
    assert type(raised.value) is error
    assert [part.training for part in first.modules()] == modes
    assert last.training


def test_a_loader_may_take_gradients():
    """Such as one that makes the inputs harder by the gradient of the loss."""

    def harder():
        for x, y in loader():
            x.requires_grad_()
            nn.functional.cross_entropy(MODULES["whole"](x), y).backward()
            yield (x + x.grad.sign()).detach(), y

    found = evenhand.compare_modules(MODULES, harder())
    assert found.accuracy["whole"] < evenhand.compare_modules(MODULES, loader()).accuracy["whole"]


def test_progress_is_told_after_each_batch():
    words = []
    evenhand.compare_modules(MODULES, loader(batch_size=25), progress=words.append)
    assert words == [f"{n} of 60 rows asked" for n in (25, 50, 60)]
    evenhand.compare_modules(MODULES, iter([(X, Y)]), progress=words.append)
    evenhand.compare_modules(MODULES, X, Y, batch_size=40, progress=words.append)
    assert words[3:] == ["60 rows asked", "40 of 60 rows asked", "60 of 60 rows asked"]


def test_nothing_is_printed(capsys):
    evenhand.compare_modules(MODULES, loader())
    assert capsys.readouterr() == ("", "")
