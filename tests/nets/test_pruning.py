"""Pruning: AGP against the values of the specification, masks against torch's own pruning and by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn.utils import prune

from evenhand.errors import InputError
from evenhand.nets import NetSpec
from evenhand.nets.following import following_norms
from evenhand.nets.prunable import filter_layers, weight_names
from evenhand.nets.pruning import agp, apply_masks, filter_masks, magnitude_masks
from evenhand.nets.smallest import kept_largest, pruned_number
from evenhand.nets.sparsity import sparsity

# S2's schedule, part E of the specification: t = 0, 5, ..., 120 of 120 epochs, from 10 % to 45 %
PRINTED = (
    ".1000 .1420 .1804 .2155 .2475 .2763 .3023 .3256 .3463 .3646 .3805 .3944 .4062 .4163 .4247 .4315 .4370 "
    ".4413 .4445 .4468 .4484 .4493 .4498 .4500 .4500"
)


def test_agp_has_the_values_that_the_specification_prints():
    found = [f"{agp(0.10, 0.45, t, 120):.4f}"[1:] for t in range(0, 121, 5)]
    assert found == PRINTED.split()


def test_agp_of_tensors_is_that_of_numbers():
    times, horizon = torch.arange(0, 12, dtype=torch.float64), torch.tensor(8.0, dtype=torch.float64)
    expected = [agp(0.2, 0.9, float(t), 8) for t in times]
    torch.testing.assert_close(agp(0.2, 0.9, times, horizon), torch.tensor(expected, dtype=torch.float64))
    assert agp(0.2, 0.9, 0, 0) == 0.9
    assert agp(0.2, 0.9, 0, torch.tensor(0)).item() == pytest.approx(0.9)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.45, 0.5, 0.93])
def test_filters_are_those_that_torchs_own_pruning_takes(share):
    torch.manual_seed(0)
    net = NetSpec("cifar-resnet18").build((3, 32, 32), 10)
    masks = filter_masks(net, share)
    for name, (weight, *others) in filter_layers(net).items():
        layer = nn.Conv2d(1, 1, 1)
        layer.weight = nn.Parameter(net.get_parameter(weight).detach().clone())
        gone = int(np.floor(share * len(layer.weight) + 0.5))
        if gone:
            prune.ln_structured(layer, "weight", amount=gone, n=1, dim=0)
            assert torch.equal(masks[weight].expand_as(layer.weight), layer.weight_mask.bool()), name
        assert int((~masks[weight]).sum()) == gone
        assert len(others) == 2, "scale and shift of the norm"
        assert all(torch.equal(masks[other], masks[weight].flatten()) for other in others)


@pytest.mark.parametrize("share", [0.1, 0.45, 0.8])
def test_weights_are_those_that_torchs_own_pruning_takes(share):
    torch.manual_seed(0)
    net = NetSpec("mlp", widths=(20, 10)).build((7,), 3)
    masks = magnitude_masks(net, share)
    assert set(masks) == {f"layers.{place}.weight" for place in range(3)}
    for name, mask in masks.items():
        layer = nn.Linear(1, 1)
        layer.weight = nn.Parameter(net.get_parameter(name).detach().clone())
        prune.l1_unstructured(layer, "weight", amount=int(np.floor(share * mask.numel() + 0.5)))
        assert torch.equal(mask, layer.weight_mask.bool())


def test_the_stem_short_cuts_and_the_last_layer_are_left_alone():
    net = NetSpec("resnet32x4").build((3, 32, 32), 10)
    layers = filter_layers(net)
    assert len(layers) == 30  # 3 stages of 5 blocks of 2
    assert not any("stem" in name or "shortcut" in name or "last" in name for name in layers)
    touched = {name for names in layers.values() for name in names}
    assert "norm.weight" not in touched  # of the stem
    assert layers["stages.2.4.conv1"][1:] == ("stages.2.4.norm1.weight", "stages.2.4.norm1.bias")


def test_torchvisions_networks_are_pruned_as_they_are(torchvision):
    net = torchvision.models.resnet18(weights=None)
    layers = filter_layers(net)
    assert len(layers) == 16
    assert layers["layer3.0.conv2"] == (
        "layer3.0.conv2.weight", "layer3.0.bn2.weight", "layer3.0.bn2.bias",
    )  # fmt: skip
    apply_masks(net, filter_masks(net, 0.45))
    lines = {line.name: line for line in sparsity(net).layers}
    assert lines["layer1.0.conv1"].zero_filters == pruned_number(0.45, 64) == 29
    assert (
        lines["conv1"].zero_weights
        == lines["fc"].zero_weights
        == lines["layer2.0.downsample.0"].zero_weights
        == 0
    )
    bottlenecks = filter_layers(torchvision.models.resnet50(weights=None))
    assert len(bottlenecks) == 16
    assert all(name.endswith("conv2") for name in bottlenecks)


def test_masks_only_grow_whatever_becomes_of_the_weights():
    torch.manual_seed(0)
    net = NetSpec("convnet", widths=(8, 16, 16)).build((3, 16, 16), 2)
    for choose in (filter_masks, magnitude_masks):
        masks = None
        for share in (0.1, 0.3, 0.2, 0.3, 0.6):
            with torch.no_grad():
                for value in net.parameters():
                    value.copy_(torch.randn_like(value))
            later = choose(net, share, masks=masks)
            if masks is not None:
                assert all(bool((masks[name] | ~later[name]).all()) for name in later), "something grew again"
            masks = later
        for name, mask in masks.items():
            assert int((~mask).sum()) == pruned_number(0.6, mask.numel()), name


def test_a_pruned_filter_is_as_good_as_not_there():
    """Thinned by hand, with the channels cut out of the next layer, a network predicts the same."""
    torch.manual_seed(0)
    net = nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.Conv2d(4, 10, 3), nn.BatchNorm2d(10), nn.ReLU(), nn.Conv2d(10, 5, 3),
    ).eval()  # fmt: skip
    net[2].running_mean.normal_()
    net[2].running_var.uniform_(0.5, 2)
    masks = filter_masks(net, 0.4, ["1"])
    apply_masks(net, masks)
    kept = masks["1.weight"].flatten()
    thin = nn.Sequential(net[0], nn.Conv2d(4, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 5, 3)).eval()
    state = net.state_dict()
    for name in ("1.weight", "1.bias", "2.weight", "2.bias", "2.running_mean", "2.running_var"):
        state[name] = state[name][kept]
    thin.load_state_dict(state | {"4.weight": state["4.weight"][:, kept]})
    x = torch.randn(2, 3, 10, 10)
    torch.testing.assert_close(net(x), thin(x))


def test_norms_in_blocks_and_in_lists_are_those_of_their_convolutions():
    """conv1, conv2, bn1, bn2: the first norm is not that of the second convolution."""
    net = nn.Module()
    net.conv1, net.conv2 = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3)
    net.bn1, net.bn2 = nn.BatchNorm2d(8), nn.BatchNorm2d(8)
    assert following_norms(net) == {"conv1": "bn1", "conv2": "bn2"}
    assert filter_layers(net)["conv2"][2:] == ("bn2.weight", "bn2.bias")
    in_order = nn.Sequential(nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8), nn.BatchNorm2d(8))
    assert following_norms(in_order) == {"1": "2"}  # a Sequential calls its parts in their order
    lists = nn.Module()
    lists.convs = nn.ModuleList(nn.Conv2d(4, 4, 3) for _ in range(2))
    lists.bns = nn.ModuleList(nn.BatchNorm2d(4) for _ in range(2))
    assert following_norms(lists) == {"convs.0": "bns.0", "convs.1": "bns.1"}
    lists.convs.append(nn.Conv2d(4, 4, 3))
    assert following_norms(lists) == {}


@pytest.mark.parametrize("share", [0.0, 0.1, 0.45, 0.999, 1.0])
def test_many_weights_are_chosen_without_sorting_and_as_by_sorting(share, monkeypatch):
    drawn = torch.Generator().manual_seed(0)
    some = torch.rand(3000, generator=drawn), torch.randint(0, 4, (3000,), generator=drawn).float()
    for sizes in (*some, torch.where(some[0] > 0.9, torch.nan, some[0])):
        for old in (None, torch.rand(3000, generator=drawn) > 0.3):
            sorted_out = kept_largest(sizes, share, old)
            monkeypatch.setattr("evenhand.nets.smallest.MANY", 0)
            assert torch.equal(kept_largest(sizes, share, old), sorted_out)
            monkeypatch.undo()


def test_norms_are_found_by_order_or_by_what_a_network_says():
    assert following_norms(NetSpec("convnet", widths=(4, 8)).build((3, 8, 8), 2)) == {
        "convolutions.0": "norms.0",
        "convolutions.1": "norms.1",
    }
    other_width = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(3))
    assert following_norms(other_width) == {}


def test_in_a_stack_each_run_has_its_own_share():
    torch.manual_seed(0)
    sizes, old = torch.randn(3, 11).abs(), torch.rand(3, 11) > 0.2
    shares = torch.tensor([0.1, 0.45, 0.9])
    together = torch.func.vmap(kept_largest)(sizes, shares, old)
    alone = [kept_largest(sizes[run], share, old[run]) for run, share in enumerate((0.1, 0.45, 0.9))]
    assert torch.equal(together, torch.stack(alone))


def test_equal_sizes_do_not_change_the_number_and_something_is_always_left():
    assert int(kept_largest(torch.ones(10), 0.3).sum()) == 7
    assert int(kept_largest(torch.ones(10), 1.0).sum()) == 1
    assert [pruned_number(0.45, n) for n in (10, 64, 128, 256, 512)] == [5, 29, 58, 115, 230]
    for n in (*range(1, 300), 20_000_001):  # a share in 32 bits prunes as the number that was written
        assert int(pruned_number(torch.tensor(0.45), n)) == pruned_number(0.45, n)


def test_what_cannot_be_pruned_is_told():
    mlp = NetSpec("mlp").build((4,), 2)
    with pytest.raises(InputError, match=r"MLP has no 3x3 .* kind='magnitude' .* magnitude_masks\)$"):
        filter_masks(mlp, 0.5)  # and no convolution that could be named
    with pytest.raises(InputError, match=r"magnitude_masks\), or name some .* layers=\['0'\]$"):
        filter_masks(nn.Sequential(nn.Conv2d(1, 4, 3), nn.Conv2d(4, 4, 1)), 0.5)
    net = NetSpec("convnet", widths=(4, 8)).build((3, 8, 8), 2)
    with pytest.raises(InputError, match=r"no convolution 'convolution.1'; did you mean 'convolutions.1'"):
        filter_masks(net, 0.5, ["convolution.1"])
    with pytest.raises(InputError, match="no weights that could be pruned"):
        weight_names(nn.BatchNorm2d(3))
