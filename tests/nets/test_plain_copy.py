"""Weights that are made of others: a copy has them as parameters, and the module keeps what it had."""

from __future__ import annotations

import warnings

import pytest
import torch
from torch import nn
from torch.nn.utils import parametrizations, prune

import evenhand
from evenhand.errors import InputError
from evenhand.nets.plain_copy import made_weights, plain_copy
from evenhand.nets.pruning import filter_masks, magnitude_masks
from evenhand.nets.sparsity import sparsity
from evenhand.train.compressed_files import load_compressed, save_compressed


def _old(make):
    def made(layer):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch's word against its older form
            return make(layer)

    return made


def _twice_pruned(layer):
    prune.ln_structured(layer, "weight", 2, 1, 0)
    prune.random_unstructured(layer, "weight", 0.1)
    return prune.l1_unstructured(layer, "bias", 1)


def _both(layer):
    return parametrizations.weight_norm(parametrizations.weight_norm(layer), "bias", dim=None)


MADE = {
    "weight norm": parametrizations.weight_norm,
    "spectral norm": parametrizations.spectral_norm,
    "weight norm of two tensors": _both,
    "weight norm, frozen": lambda layer: parametrizations.weight_norm(layer).requires_grad_(False),
    "older weight norm": _old(torch.nn.utils.weight_norm),
    "older spectral norm": _old(torch.nn.utils.spectral_norm),
    "torch's pruning": _twice_pruned,
}


def net_and_inputs(kind: str) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    layers = nn.Conv2d(3, 4, 3), MADE[kind](nn.Conv2d(4, 8, 3)), nn.BatchNorm2d(8), nn.Flatten()
    net, x = nn.Sequential(*layers, nn.Linear(8 * 16, 2)), torch.randn(6, 3, 8, 8)
    net(x)  # the older forms hold what they computed, which torch does not copy
    return net, x


@pytest.mark.parametrize("kind", list(MADE))
def test_a_copy_has_parameters_and_predicts_the_same(kind):
    net, x = net_and_inputs(kind)
    net[2].eval()
    assert made_weights(net)[0] == "1.weight"
    copy = plain_copy(net)
    assert made_weights(copy) == []
    assert type(copy[1]) is nn.Conv2d
    assert set(dict(copy[1].named_parameters())) == {"weight", "bias"}
    assert (
        [part.training for part in copy] == [part.training for part in net] == [True, True, False, True, True]
    )
    assert torch.equal(copy.eval()(x), net.eval()(x))


@pytest.mark.parametrize("kind", list(MADE))
def test_compress_works_on_it_and_the_module_stays_as_it_is(kind):
    net, x = net_and_inputs(kind)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    given = {"filter": {"share": 0.5}, "magnitude": {"share": 0.5}, "int8": {"calibration": x}}
    small = {name: evenhand.compress(net, name, **options) for name, options in given.items()}
    assert sparsity(small["filter"]).layers[1].zero_filters == 4
    assert sparsity(small["magnitude"]).layers[1].zero_weights == 144
    assert small["int8"][1].weight_int8.dtype == torch.int8
    for each in small.values():
        each(x)  # what was zero stays zero: nothing is made anew
    assert sparsity(small["filter"]).layers[1].zero_filters == 4
    after = net.state_dict()
    assert after.keys() == before.keys()
    assert all(torch.equal(value, before[name]) for name, value in after.items())
    assert made_weights(net)[0] == "1.weight"
    net(x).sum().backward()


@pytest.mark.parametrize("choose", [filter_masks, magnitude_masks])
def test_masks_for_the_module_itself_are_refused(choose):
    """They would be put into a tensor that the next call makes anew."""
    net, _ = net_and_inputs("weight norm")
    with pytest.raises(InputError, match=r"'1.weight' is made of other tensors"):
        choose(net, 0.5)


def test_what_cannot_be_copied_is_told():
    net = nn.Linear(2, 2)
    net.kept = [net(torch.ones(1, 2))]  # in a list, where nobody looks
    with pytest.raises(InputError, match="Linear cannot be copied"):
        plain_copy(net)
    net.kept = net.kept[0]
    assert torch.equal(plain_copy(net).kept, net.kept)
    with pytest.raises(InputError, match="have no weights yet; call it once first"):
        evenhand.compress(nn.Sequential(nn.LazyLinear(3)), "magnitude")


@pytest.mark.parametrize("kind", ["magnitude", "int8"])
def test_a_compressed_module_is_loaded_into_one_with_weight_norm(kind, tmp_path):
    def made() -> nn.Module:
        return nn.Sequential(parametrizations.weight_norm(nn.Linear(6, 5)), nn.ReLU(), nn.Linear(5, 2))

    small = evenhand.compress(made(), kind).eval()
    template = made()
    loaded = load_compressed(template, save_compressed(small, tmp_path / "small.npz"))
    x = torch.rand(4, 6)
    assert torch.equal(loaded(x), small(x))
    assert [name for name, _ in template.named_parameters()] == [
        name for name, _ in made().named_parameters()
    ]
