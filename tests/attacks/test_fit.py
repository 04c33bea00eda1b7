"""`evenhand.fit` with impossible arguments, modules that misbehave, odd groups, divergence, damaged files."""

import errno
import json
import math
import os
from dataclasses import fields, replace
from functools import cache

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import evenhand
from evenhand import Attribute, Fitted, Task
from evenhand.data.card import DataCard
from evenhand.errors import InputError
from evenhand.methods import DomainIndependent, GroupDRO
from evenhand.methods.problem import Problem
from evenhand.methods.registry import METHODS, method_of
from evenhand.train import checkpoint


@pytest.fixture(autouse=True)
def one_thread():
    """Tiny products on several threads are slower."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@cache
def small(seed=0, **knobs):
    """Six inputs, two groups."""
    return evenhand.load(
        "synthetic", **{"n_train": 96, "n_validation": 40, "n_test": 56, "d": 6, "seed": seed, **knobs}
    )


def fit(net="mlp", method="erm", task=None, **options):
    given = {"epochs": 1, "batch_size": 16, "device": "cpu", **options}
    return evenhand.fit(net, method, small() if task is None else task, **given)


def by_hand(y, codes, levels, *, seed=0):
    """A task of six random inputs with these labels and groups: half to train on, a quarter each to judge."""
    n, y = len(y), torch.as_tensor(np.asarray(y))
    x = torch.randn((n, 6), generator=torch.Generator().manual_seed(seed))
    names = tuple(str(k) for k in range(y.shape[1] if y.ndim == 2 else max(2, int(y.max()) + 1)))
    cuts = dict(
        zip(
            ("train", "validation", "test"),
            torch.arange(n).split([n // 2, n // 4, n - n // 2 - n // 4]),
            strict=True,
        )
    )
    who = Attribute("g", tuple(map(str, range(levels))), np.asarray(codes))
    return Task("by hand", x, y, (who,), cuts, DataCard("", "", "", ""), names)


# -- arguments that cannot be meant ------------------------------------------------------------------------

ARGUMENTS = {
    "no seed": ({"seeds": 0}, "at least one seed"),
    "fewer than no seeds": ({"seeds": -1}, "at least one seed"),
    "an empty list of seeds": ({"seeds": []}, "at least one seed"),
    "half a seed": ({"seeds": [1.5]}, "1.5"),
    "a text for seeds": ({"seeds": "3"}, "seeds='3'"),
    "nothing for seeds": ({"seeds": None}, "seeds=None"),
    "a seed twice": ({"seeds": [4, 1, 4]}, "the seed 4 is given twice"),
    "a seed of 65 bits": ({"seeds": [2**64]}, "2^64"),
    "no epochs": ({"epochs": 0}, "'epochs'", "at least 1"),
    "half an epoch": ({"epochs": 1.5}, "'epochs'"),
    "no batch": ({"batch_size": 0}, "'batch_size'"),
    "a negative rate": ({"rate": -1}, "'rate'"),
    "an infinite rate": ({"rate": math.inf}, "'rate'"),
    "an undefined rate": ({"rate": math.nan}, "'rate'"),
    "too few rates": ({"rate": (0.1, 0.2), "seeds": 3}, "2 numbers for 3 runs"),
    "a text for a switch": ({"deterministic": "no"}, "True or False"),
    "a number for a switch": ({"share_batches": 3}, "True or False"),
    "a text for compile": ({"compile": "yes"}, "or None"),
    "one beta": ({"betas": 0.9}, "two numbers"),
    "an option that is none": ({"leaning_rate": 1}, "'leaning_rate'"),
    "a metric that is none": ({"watch": ["tpr.gp"]}, "did you mean 'tpr.gap'"),
    "a monitor that is none": ({"monitor": "los"}, "did you mean 'loss'?"),
    "a stack of none": ({"stack_size": 0}, "stack_size=0"),
    "a stack of texts": ({"stack_size": "a"}, "stack_size='a'"),
    "a device that is none": ({"device": "tpu9"}, "'tpu9'"),
    "a device without memory": ({"device": "meta"}, "'meta'"),
    "an attribute that is none": ({"protect": "a1"}, "did you mean 'a0'?"),
    "an attribute twice": ({"protect": ["a0", "a0"]}, "twice"),
    "a number for an attribute": ({"protect": 3}, "'3'"),
    "images for a table": ({"net": "convnet"}, "reads images"),
    "a network that is none": ({"net": "mpl"}, "did you mean 'mlp'?"),
    "a class for a network": ({"net": nn.Linear}, "a network is"),
    "nothing for a network": ({"net": None}, "a network is"),
    "a misspelt method": ({"method": "emr"}, "did you mean 'erm'"),
    "a class for a method": ({"method": GroupDRO}, "a method is"),
    "a wrong field": ({"method": GroupDRO(eta=-1)}, "'eta'"),
    "groups for nobody": ({"method": "gdro", "protect": []}, "needs the groups of training rows"),
    "a number for a task": ({"task": 3}, "a task is"),
    "a frame for a task": ({"task": pd.DataFrame({"a": [1]})}, "Task.from_table"),
    "no task": ({"task": []}, "at least one task"),
    "a misspelt task": ({"task": "adlut"}, "did you mean 'adult'?"),
}  # fmt: skip


@pytest.mark.parametrize(("options", "words"), [(v[0], v[1:]) for v in ARGUMENTS.values()], ids=ARGUMENTS)
def test_arguments_that_cannot_be_meant(assert_refused, options, words):
    assert_refused(lambda: fit(**options), *words)


@pytest.mark.parametrize(
    "options",
    [{"widths": "ab"}, {"widths": (0,)}, {"widths": 64}, {"dropout": "much"}, {"legacy_activation": "no"}],
)
def test_networks_with_options_of_the_wrong_kind(assert_refused, options):
    assert_refused(lambda: evenhand.NetSpec("mlp", **options), "'mlp'", next(iter(options)))


def test_what_needs_validation_rows_says_so(assert_refused):
    task = small(n_validation=0)
    for options in ({"patience": 3}, {"keep": "best"}, {"watch": "tpr.gap"}):
        assert_refused(lambda options=options: fit(task=task, **options), "need", "validation rows")


def test_numbers_of_numpy_are_numbers():
    plain = fit(seeds=2, epochs=2, batch_size=16, rate=0.01)
    numpy = fit(seeds=np.int64(2), epochs=np.int64(2), batch_size=np.int32(16), rate=np.float64(0.01))
    assert numpy.seeds == plain.seeds
    assert np.array_equal(numpy.scores(small().x), plain.scores(small().x))


def test_equal_seeds_may_differ_in_something_else():
    assert fit(seeds=[0, 0], rate=(0.1, 0.01)).seeds == (0, 0)
    assert fit(task=[small(), small(1)], seeds=[0, 0]).seeds == (0, 0)


@pytest.mark.parametrize("size", [1, 95, 10_000])
def test_batches_of_any_size(size):
    assert np.isfinite(fit(batch_size=size, seeds=2).scores(small().x)).all()


def test_tasks_of_one_fit_ask_one_question(assert_refused):
    task, other = small(), small(1)
    codes = other.attributes[0].codes
    for wrong, words in (
        (small(d=7), "different inputs, (6,) and (7,)"),
        (small(classes=3), "different classes"),
        (replace(other, classes=("no", "yes")), "different classes"),
        (replace(other, attributes=(Attribute("a0", ("x", "y"), codes),)), "different levels of 'a0'"),
        (small(n_train=80), "stack_size=1"),
    ):
        assert_refused(lambda wrong=wrong: fit(task=[task, wrong], seeds=2), words)
    assert_refused(lambda: fit(task=[task, other], seeds=3), "2 tasks for 3 seeds")
    assert fit(task=[task, small(n_train=80)], seeds=2, stack_size=1).seeds == (0, 1)


# -- networks of one's own ---------------------------------------------------------------------------------


class Says(nn.Module):
    """A linear layer, and what is made of its outputs."""

    def __init__(self, make):
        super().__init__()
        self.layer, self.make = nn.Linear(6, 2), make

    def forward(self, x):
        return self.make(self.layer(x))


MODULES = {
    "too many outputs": (nn.Linear(6, 5), "5 outputs, and 2 are needed"),
    "other inputs": (nn.Linear(7, 2), "fails on inputs of the shape (2, 6)"),
    "a dictionary": (Says(lambda z: {"logits": z}), "returned a dict"),
    "nothing": (Says(lambda z: None), "returned a NoneType"),
    "three things": (Says(lambda z: (z, z, z)), "returned a tuple"),
    "one number a row": (Says(lambda z: z[:, 0]), "the shape (2,)"),
    "a mistake in it": (Says(lambda z: {}["boom"]), "KeyError"),
    "nothing to train": (nn.Linear(6, 2).requires_grad_(False), "no parameters"),
    "a function that makes nothing": (lambda inputs, outputs: None, "NoneType, not a module"),
}


@pytest.mark.parametrize(("net", "words"), MODULES.values(), ids=MODULES)
def test_modules_that_cannot_serve(assert_refused, net, words):
    assert_refused(lambda: fit(net), words)


def test_a_module_for_other_outputs_than_the_method_needs(assert_refused):
    assert_refused(lambda: fit(nn.Linear(6, 2), "ind"), "2 outputs, and 4 are needed")


def with_dropout(inputs, outputs):
    return nn.Sequential(nn.Linear(inputs[0], 16), nn.Dropout(0.5), nn.ReLU(), nn.Linear(16, outputs))


def test_dropout_of_ones_own_follows_the_seed():
    """nn.Dropout draws from torch's generator, which the rest of the program uses as well."""
    x = small().x
    alone = fit(with_dropout, seeds=[2], epochs=3, rate=0.01).scores(x)
    torch.manual_seed(99)
    state = torch.get_rng_state()
    assert np.array_equal(fit(with_dropout, seeds=[2], epochs=3, rate=0.01).scores(x), alone)
    assert torch.equal(torch.get_rng_state(), state)  # and the program's numbers are left as they were
    beside = fit(with_dropout, seeds=[0, 1, 2], epochs=3, rate=0.01).scores(x)
    assert np.array_equal(beside[2], alone)
    assert not np.array_equal(beside[1], alone)


def test_batch_statistics_of_ones_own_are_each_runs_own():
    def net(inputs, outputs):
        return nn.Sequential(nn.Linear(inputs[0], 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, outputs))

    x = small().x
    together = fit(net, seeds=3).scores(x)
    for seed in range(3):
        assert np.array_equal(together[seed], fit(net, seeds=[seed]).scores(x))


def test_a_module_that_is_given_twice_starts_as_it_was():
    one = nn.Linear(6, 2)
    before = {name: value.clone() for name, value in one.state_dict().items()}
    again = fit(lambda inputs, outputs: one, seeds=2, rate=0.1, epochs=3).scores(small().x)
    given = fit(one, seeds=2, rate=0.1, epochs=3).scores(small().x)
    assert np.array_equal(again, given)
    assert not np.array_equal(again[0], again[1])  # from one start, in their own orders
    assert all(torch.equal(before[name], value) for name, value in one.state_dict().items())


# -- odd groups and labels, for every method -----------------------------------------------------------------


def odd_tasks():
    rng = np.random.default_rng(0)
    y, n = rng.integers(0, 2, 160), 160
    single, unknown, rare = np.zeros(n, int), np.full(n, -1), np.zeros(2000, int)
    single[3], unknown[5], unknown[130] = 1, 0, 1
    rare[[1, 1100, 1700]] = 1
    labels = rng.integers(0, 2, (n, 3))
    labels[:, 2] = 0
    half = np.r_[np.zeros(80, int), rng.integers(0, 2, 80)]
    return {
        "one group": (by_hand(y, np.zeros(n, int), 1), 16),
        "a group of one": (by_hand(y, single, 2), 16),
        "a group of one, batches of one": (by_hand(y, single, 2), 1),
        "only one row is known": (by_hand(y, unknown, 2), 16),
        "one in a thousand": (by_hand(rare, np.arange(2000) % 2, 2), 128),
        "400 cells": (by_hand(rng.integers(0, 4, 800), rng.integers(0, 100, 800), 100), 16),
        "300 groups, batches of 16": (by_hand(rng.integers(0, 2, 800), rng.integers(0, 300, 800), 300), 16),
        "a class that training lacks": (by_hand(half, np.arange(n) % 2, 2), 16),
        "a group that training lacks": (by_hand(y, half, 2), 16),
        "a label that never occurs": (by_hand(labels, np.arange(n) % 2, 2), 16),
    }


ODD = odd_tasks()


def brief(method):
    """The method with a first phase of two epochs: what is not finite shows in the first steps."""
    return replace(method, **{item.name: 2 for item in fields(method) if item.name.endswith("_epochs")})


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ODD)
def test_every_method_stays_finite(name, method):
    task, batch_size = ODD[name]
    method = brief(method_of(method))
    try:
        method.check(Problem.of(task, [each.name for each in task.attributes]))
    except InputError as refused:  # with a reason, before anything is trained: that is well
        pytest.skip(str(refused))
    fitted = fit("mlp", method, task, seeds=2, batch_size=batch_size)
    groups = task.groups([each.name for each in task.attributes]).ids[:20]
    given = {"groups": groups} if method.asks().groups_at_test else {}
    assert np.isfinite(fitted.scores(task.x[:20], **given)).all()
    for entry in fitted.history[0]["epochs"]:
        assert np.isfinite(entry["train"]).all()


# -- divergence ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_run_that_diverges_is_told_and_leaves_the_others_alone(optimizer):
    options = {"seeds": 4, "epochs": 3, "optimizer": optimizer}
    wild = fit("mlp", "gdro", rate=(1e-3, 1e30, 1e-3, 1e-3), **options)
    tame = fit("mlp", "gdro", rate=(1e-3, 1e-2, 1e-3, 1e-3), **options)
    one, other = wild.scores(small().x), tame.scores(small().x)
    for run in (0, 2, 3):
        assert np.array_equal(one[run], other[run])
    said = wild.audit(replicates=0).warnings
    assert any("seed 1" in note and "went astray" in note for note in said)
    assert not any("seed 0" in note or "seed 2" in note for note in said)
    assert not any("went astray" in note for note in tame.audit(replicates=0).warnings)


def test_a_run_that_is_lost_in_large_numbers_is_told():
    """Adam's steps are bounded: a rate that is much too large ends in numbers, and in nonsense."""
    fitted = fit(rate=1e6, epochs=3)
    assert np.isfinite(fitted.scores(small().x)).all()
    assert any("validation loss" in note and "seed 0" in note for note in fitted.audit(replicates=0).warnings)


def test_the_one_that_went_astray_is_named_among_several():
    fits = {"erm": fit(seeds=2), "gdro": fit("mlp", "gdro", seeds=2, rate=1e30, optimizer="sgd")}
    said = evenhand.tradeoff(fits, replicates=0).warnings
    assert sum("went astray" in note for note in said) == 2
    assert all(note.startswith("gdro: ") for note in said if "went astray" in note)


def test_what_diverged_is_saved_as_plain_json(tmp_path):
    fit(rate=1e30, optimizer="sgd").save(tmp_path)
    for name in ("history.json", "audit.json", "fit.json"):
        json.loads((tmp_path / name).read_text(), parse_constant=lambda word: pytest.fail(word))
    assert np.isnan(Fitted.load(tmp_path).scores(small().x[:3])).all()


# -- folders and files ---------------------------------------------------------------------------------------


def test_a_folder_that_is_none_is_told_before_training(tmp_path, assert_refused, monkeypatch):
    fitted = fit()
    (tmp_path / "file").write_text("mine")
    monkeypatch.setattr("evenhand.train.step.Step.run", lambda *_: pytest.fail("a step was taken"))
    for folder in (tmp_path / "file", tmp_path / "file" / "below", 3):
        assert_refused(lambda folder=folder: fit(folder=folder), "nothing can be written into the folder")
    assert_refused(lambda: fitted.save(tmp_path / "file"), "nothing can be written")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_full_disk_leaves_the_last_checkpoint(tmp_path, monkeypatch):
    fit(folder=tmp_path, epochs=2)
    (name,) = os.listdir(tmp_path)
    before = (tmp_path / name).read_bytes()

    def full(*_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(checkpoint.np, "savez", full)
    with pytest.raises(OSError, match="No space left") as caught:
        fit(folder=tmp_path, epochs=2)
    assert caught.value.filename.endswith(name)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_bytes() == before


OTHERS = {
    "seeds": {"seeds": [5]},
    "epochs": {"epochs": 3},
    "rate": {"rate": 0.5},
    "numbers of 64 bits": {"precision": "float64"},
    "network": {"net": "s4-mlp"},
    "method": {"method": "sd"},
    "attributes": {"protect": []},
}


def test_a_checkpoint_of_other_settings_is_refused(tmp_path, assert_refused):
    fit(folder=tmp_path)
    for options in OTHERS.values():
        assert_refused(lambda options=options: fit(folder=tmp_path, **options), "of other runs")
    assert_refused(lambda: fit(task=small(1), folder=tmp_path), "of other runs")


def test_no_damage_to_a_checkpoint_goes_unnoticed(tmp_path):
    fit(folder=tmp_path, epochs=2)
    (path,) = tmp_path.iterdir()
    good, expected = path.read_bytes(), fit(epochs=2).scores(small().x)
    for place in range(0, len(good), len(good) // 40):
        path.write_bytes(good[:place] + bytes([good[place] ^ 16]) + good[place + 1 :])
        try:
            assert np.array_equal(fit(folder=tmp_path, epochs=2).scores(small().x), expected)
        except InputError as error:
            assert path.name in str(error)  # noqa: PT017


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06" + bytes(18), b"hello", None])
def test_what_is_no_checkpoint_is_refused(tmp_path, assert_refused, content):
    path = tmp_path / "checkpoint-0000-0000.npz"
    path.mkdir() if content is None else path.write_bytes(content)
    assert_refused(lambda: fit(folder=tmp_path), path.name, "delete it")


def test_what_a_killed_process_left_is_cleared_away(tmp_path):
    old, new = (tmp_path / f".checkpoint-0000-0000.npz.{number}.part" for number in (1, 2))
    old.write_bytes(b"half")
    new.write_bytes(b"of another process that is writing")
    os.utime(old, (0, 0))
    fit(folder=tmp_path)
    assert sorted(os.listdir(tmp_path)) == [new.name, "checkpoint-0000-0000.npz"]


def test_a_saved_fit_that_is_not_whole(tmp_path, assert_refused):
    fit().save(tmp_path / "fit")
    history = tmp_path / "fit" / "history.json"
    text = history.read_text()
    for content in (text[:10], None):
        history.write_text(content) if content else history.unlink()
        assert_refused(lambda: Fitted.load(tmp_path / "fit"), "history.json")
    assert_refused(lambda: Fitted.load(tmp_path), "parameters.npz is missing")
    assert_refused(lambda: Fitted.load(tmp_path / "nothing"), "no saved fit")


def test_a_checkpoint_is_no_saved_fit(tmp_path, assert_refused):
    fit(folder=tmp_path)
    (path,) = tmp_path.iterdir()
    path.rename(tmp_path / "parameters.npz")
    assert_refused(lambda: Fitted.load(tmp_path), "no saved fit")
    np.savez(tmp_path / "parameters.npz", **{"facts.json": np.array([{"a": 1}], dtype=object)})
    assert_refused(lambda: Fitted.load(tmp_path), "parameters.npz")  # a pickle is never opened


def test_a_saved_fit_is_loaded_with_names_too(tmp_path, assert_refused):
    fitted = fit()
    fitted.save(tmp_path)
    loaded = Fitted.load(tmp_path, net="mlp", method="erm")
    assert np.array_equal(loaded.scores(small().x), fitted.scores(small().x))
    assert_refused(lambda: Fitted.load(tmp_path, net="s4-mlp"), "not the one that was saved")


def test_an_attribute_may_be_called_like_a_column_of_ours(tmp_path):
    task = replace(small(), attributes=(Attribute("label", ("0", "1"), small().attributes[0].codes),))
    fit(task=task).save(tmp_path)
    head = pd.read_csv(tmp_path / "predictions.csv.gz").columns.tolist()
    assert head == ["run", "row", "attribute label", "label", "prediction", "score"]


# -- predictions ---------------------------------------------------------------------------------------------


def test_rows_of_any_kind_are_predicted_alike():
    fitted, x = fit(), small().x[:5]
    expected = fitted.scores(x)
    fixed = x.numpy().copy()
    fixed.setflags(write=False)
    rows = {
        "64 bits": x.double(), "numpy": x.numpy(), "a list": x.tolist(), "read only": fixed,
        "another byte order": x.numpy().astype(">f4"), "columns first": np.asfortranarray(x.numpy()),
        "with a gradient": x.clone().requires_grad_(),
    }  # fmt: skip
    for name, value in rows.items():
        assert np.array_equal(fitted.scores(value), expected), name
    assert np.allclose(fitted.scores(x.numpy()[::-1]), expected[::-1], atol=1e-6)
    assert fitted.predict(x[:0]).shape == (0,)
    assert fitted.predict(x.long()).shape == (5,)


NO_ROWS = {
    "an undefined number": (torch.full((2, 6), torch.nan), "row 0"),
    "an infinite number": (np.array([[0.0] * 6, [np.inf] * 6]), "row 1"),
    "other columns": (torch.zeros(5, 3), "(3,)"),
    "a single row": (torch.zeros(6), "()"),
    "a stack": (torch.zeros(1, 5, 6), "(5, 6)"),
    "texts": ([["a"] * 6], "must be numbers"),
    "gaps": (np.array([[1, 2, 3, 4, 5, None]], dtype=object), "must be numbers"),
    "a text": ("abc", "must be numbers"),
    "nothing": (None, "must be numbers"),
    "complex numbers": (torch.zeros(2, 6) + 0j, "must be numbers"),
    "a task": (small(), "must be numbers"),
}


@pytest.mark.parametrize(("rows", "words"), NO_ROWS.values(), ids=NO_ROWS)
def test_what_cannot_be_predicted(assert_refused, rows, words):
    assert_refused(lambda: fit().predict(rows), words)


def test_groups_of_rows_that_are_predicted(assert_refused):
    fitted, x = fit("mlp", DomainIndependent(inference="conditional")), small().x[:5]
    assert_refused(lambda: fitted.predict(x), "give the group ids")
    for groups, words in (
        ([0], "(1,)"),
        ([7] * 5, "no group 7"),
        ([-5] * 5, "no group -5"),
        (["a"] * 5, "groups"),
    ):
        assert_refused(lambda groups=groups: fitted.predict(x, groups=groups), words)
    assert fitted.predict(x, groups=[0, 1, -1, 0, 1]).shape == (5,)


def test_parts_are_found_without_an_import_of_their_own():
    assert evenhand.methods.GroupDRO(eta=0.1).eta == 0.1
    assert evenhand.data.load is evenhand.load
