"""What every registered network must keep, so that methods and training need not know which one it is."""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path

import pytest
import torch
from torch import Tensor
from torch.func import functional_call, stack_module_state, vmap

from evenhand.nets import NETS, NetSpec
from evenhand.nets.base import Net

CONFTEST = Path(__file__).parents[1] / "nets" / "conftest.py"
PIXELS = {"cifar-resnet18": 8, "resnet32x4": 8}  # enough to meet every layer
CASES = [(name, kind) for name, entry in NETS.items() for kind in entry.inputs]
FIRST = {entry.home: name for name, entry in reversed(NETS.items())}
EACH = [case for case in CASES if case[0] in FIRST.values()]  # of one builder's sizes, the first
STACKED = [case for case in CASES if NETS[case[0]].stackable]
MLPS = [case for case in STACKED if "mlp" in case[0]]
THINNED = [case for case in EACH if "dropout" in NETS[case[0]].options()]
OUTPUTS, ROWS, RUNS = 3, 4, 3


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """Products as small as these are slower on two, and much slower on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def shape_of(name: str, kind: str) -> tuple[int, ...]:
    side = PIXELS.get(name, 32)
    return (12,) if kind == "table" else (3, side, side)


def build(name: str, kind: str, seed: int = 0, **options) -> Net:
    if "torchvision" in NETS[name].home:
        runpy.run_path(str(CONFTEST))["load_torchvision"]()
    torch.manual_seed(seed)
    return NetSpec(name, options).build(shape_of(name, kind), OUTPUTS)


@cache
def net_of(name: str, kind: str) -> Net:
    """One network for the tests that leave it as it is; batch statistics do not move."""
    return build(name, kind).eval()


def rows(name: str, kind: str, *front: int) -> Tensor:
    return torch.randn(*(front or (ROWS,)), *shape_of(name, kind), generator=torch.Generator().manual_seed(1))


def same_state(one: Net, other: Net) -> bool:
    first, second = one.state_dict(), other.state_dict()
    return first.keys() == second.keys() and all(torch.equal(first[key], second[key]) for key in first)


# -- the entry itself -------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", NETS)
def test_an_entry_is_complete(name):
    entry = NETS[name]
    assert entry.name == name
    assert all(text.strip() for text in (entry.summary, entry.citation, entry.builder().__doc__ or ""))
    assert set(entry.inputs) <= {"table", "image"}
    assert all(hash(default) is not None for default in entry.options().values())


# -- what it gives ----------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_logits_and_features(name, kind):
    net, x = net_of(name, kind), rows(name, kind)
    logits, features = net(x)
    assert logits.shape == (ROWS, OUTPUTS)
    assert features.flatten(1).shape == (ROWS, net.n_features)
    assert net.split in net.splits
    _, taps = net(x, taps=net.splits)
    assert torch.equal(taps[net.splits.index(net.split)], features)


@pytest.mark.parametrize(("name", "kind"), CASES)
def test_every_split_point_has_the_width_it_says(name, kind):
    if "split" not in NETS[name].options():
        pytest.skip("it has one split point")
    splits = net_of(name, kind).splits
    with torch.device("meta"):  # shapes without the arithmetic
        for split in splits:
            net = build(name, kind, split=split)
            assert net(torch.empty(2, *shape_of(name, kind)))[1].flatten(1).shape == (2, net.n_features)


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_gradients_are_finite_and_inputs_unmodified(name, kind):
    net, x = build(name, kind), rows(name, kind)
    before = x.clone()
    logits, features = net(x)
    gradients = torch.autograd.grad(logits.square().sum() + features.sum(), list(net.parameters()))
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert torch.equal(x, before)


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_the_same_seed_gives_the_same_network(name, kind):
    net = net_of(name, kind)
    assert same_state(net, build(name, kind))
    assert not same_state(net, build(name, kind, seed=1))
    assert all(parameter.is_contiguous() for parameter in net.parameters())
    assert len({parameter.data_ptr() for parameter in net.parameters()}) == len(list(net.parameters()))


@pytest.mark.parametrize(("name", "kind"), EACH)
def test_it_can_be_copied_and_stored(name, kind):
    net, x = net_of(name, kind), rows(name, kind)
    copy, other = deepcopy(net), build(name, kind, seed=1).eval()
    other.load_state_dict(net.state_dict())
    assert torch.equal(copy(x)[0], net(x)[0])
    assert torch.equal(other(x)[0], net(x)[0])


# -- noise ------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "kind"), EACH)
def test_a_network_without_dropout_wants_no_noise(name, kind):
    net, x = net_of(name, kind), rows(name, kind)
    if not net.noise():
        assert torch.equal(net(x, noise={})[0], net(x)[0])


@pytest.mark.parametrize(("name", "kind"), THINNED)
def test_noise_is_honoured(name, kind):
    net, x = build(name, kind, dropout=0.5).eval(), rows(name, kind)
    specs = net.noise()
    assert specs
    assert all(spec.kind == "keep" and spec.p == 0.5 for spec in specs.values())
    plain = net(x)[0]
    ones = {key: torch.ones(ROWS, *spec.shape) for key, spec in specs.items()}
    assert torch.equal(net(x, ones)[0], plain)
    for key in specs:
        mask = ones[key].clone()
        mask[0] = 0
        thinned = net(x, {**ones, key: mask})[0]
        assert not torch.equal(thinned[0], plain[0])
        torch.testing.assert_close(thinned[1:], plain[1:])  # a row's mask is its own


# -- stacks -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_what_keeps_statistics_does_not_stack(name, kind):
    net = net_of(name, kind)
    assert net.stackable is NETS[name].stackable
    assert net.stackable is (not list(net.buffers()))


def in_stack(nets: list[Net], x: Tensor, own: bool) -> tuple[Tensor, Tensor, dict[str, Tensor]]:
    parameters, _ = stack_module_state(nets)

    def call(values: dict[str, Tensor], rows: Tensor) -> tuple[Tensor, Tensor]:
        return functional_call(nets[0], values, (rows,))

    logits, features = vmap(call, in_dims=(0, 0 if own else None))(parameters, x)
    gradients = torch.autograd.grad(logits.sin().sum(), list(parameters.values()))
    return logits, features, dict(zip(parameters, gradients, strict=True))


def check_stack(nets: list[Net], x: Tensor, own: bool, same) -> None:
    logits, features, gradients = in_stack(nets, x, own)
    for run, net in enumerate(nets):
        alone, z = net(x[run] if own else x)
        assert same(alone, logits[run])
        assert same(z, features[run])
        keys = [key for key, _ in net.named_parameters()]
        own_gradients = torch.autograd.grad(alone.sin().sum(), list(net.parameters()))
        assert all(same(one, gradients[key][run]) for key, one in zip(keys, own_gradients, strict=True))


def close(one: Tensor, other: Tensor) -> bool:
    return torch.allclose(one, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("own", [True, False], ids=["own rows", "shared rows"])
@pytest.mark.parametrize(("name", "kind"), STACKED)
def test_a_stack_equals_its_networks_alone(name, kind, own):
    nets = [build(name, kind, seed).double() for seed in range(RUNS)]
    x = rows(name, kind, RUNS, ROWS) if own else rows(name, kind)
    check_stack(nets, x.double(), own, close)


@pytest.mark.parametrize("name", ["cifar-resnet18", "resnet32x4"])
def test_with_group_normalisation_a_residual_network_stacks(name):
    nets = [build(name, "image", seed, norm="group").double() for seed in range(2)]
    assert nets[0].stackable
    check_stack(nets, rows(name, "image", 2, 2).double(), True, close)


@pytest.mark.parametrize("own", [True, False], ids=["own rows", "shared rows"])
@pytest.mark.parametrize(("name", "kind"), MLPS)
def test_perceptrons_are_equal_to_the_bit(name, kind, own):
    """In float32 on the CPU; a batch of a usual size, because tiny products take other ways."""
    nets = [build(name, kind, seed) for seed in range(8)]
    x = rows(name, kind, 8, 64) if own else rows(name, kind, 64)
    check_stack(nets, x, own, torch.equal)
