"""evenhand.compress on modules as people have them: shared, frozen, attention, 16 bits, NaN."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.nets.int8 import Int8Weight
from evenhand.nets.sparsity import sparsity
from evenhand.train.compressed_files import load_compressed, save_compressed


def small_net(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Conv2d(8, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Flatten(), nn.Linear(256, 3),
    )  # fmt: skip


X = torch.randn(16, 3, 8, 8, generator=torch.Generator().manual_seed(1))


class Shared(nn.Module):
    """Two convolutions of one weight, each with a norm."""

    def __init__(self) -> None:
        super().__init__()
        self.stem, self.one, self.norm = nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.two, self.norm2 = nn.Conv2d(4, 4, 3, padding=1), nn.BatchNorm2d(4)
        self.two.weight = self.one.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm2(self.two(self.norm(self.one(self.stem(x)))))


def test_convolutions_that_share_a_weight_lose_the_same_filters():
    torch.manual_seed(0)
    small = evenhand.compress(Shared(), share=0.5)
    assert small.two.weight is small.one.weight
    gone = (small.one.weight == 0).flatten(1).all(1)
    assert int(gone.sum()) == 2
    for part in (small.one.bias, small.two.bias, small.norm.weight, small.norm2.weight):
        assert bool((part[gone] == 0).all())
    found = sparsity(evenhand.compress(Shared(), "magnitude", 0.5))
    assert [(line.name, line.weights, line.zero_weights) for line in found.layers] == [
        ("stem", 12, 6), ("one", 144, 72),
    ]  # fmt: skip
    assert evenhand.compress(Shared(), "int8", calibration=X)(X).shape == (16, 4, 8, 8)


def test_grouped_convolutions_lose_filters_as_others_do():
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.Conv2d(8, 8, 3, groups=8), nn.BatchNorm2d(8), nn.Conv2d(8, 16, 3, groups=2)
    )
    assert [line.zero_filters for line in sparsity(evenhand.compress(net, share=0.5)).layers] == [0, 4, 8]


def test_frozen_weights_are_pruned_as_well():
    """A model that serves, or a backbone that was not trained: the page says every matrix and kernel."""
    for frozen in (small_net().requires_grad_(False), small_net()):
        frozen[3].requires_grad_(False)
        found = sparsity(evenhand.compress(frozen, "magnitude", 0.5))
        assert [line.zero_weights for line in found.layers] == [108, 576, 384]


def test_the_filters_of_16_bits_are_those_of_32():
    """Sums of 16 bits are equal where the norms are not."""
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 64, 3), nn.Conv2d(64, 512, 3))
    for bits in (torch.float16, torch.bfloat16):
        short = net.to(bits)
        ours = evenhand.compress(short)[1].weight == 0
        assert torch.equal(ours, evenhand.compress(short.float())[1].weight == 0)


@pytest.mark.parametrize("bits", [torch.float16, torch.bfloat16, torch.float64])
@pytest.mark.parametrize("kind", ["filter", "magnitude", "int8"])
def test_a_module_keeps_its_precision(kind, bits):
    net, x = small_net().to(bits).eval(), X.to(bits)
    given = {"calibration": x} if kind == "int8" else {}
    found = evenhand.compress(net, kind, **given)(x)
    assert found.dtype == bits
    assert (found - net(x)).abs().max() < (0.02 if kind == "int8" else 1)


@pytest.mark.parametrize("kind", ["filter", "magnitude", "int8", "int8 calibrated"])
def test_each_part_stays_in_training_or_evaluation(kind):
    net = small_net()
    net[1].eval()
    before = net[4].running_mean.clone()
    given = {"calibration": X} if "calibrated" in kind else {}
    small = evenhand.compress(net, kind.split()[0], **given)
    assert [part.training for part in small] == [part.training for part in net]
    assert torch.equal(small[4].running_mean, before), "calibration is no training"


@pytest.mark.parametrize("value", [math.nan, math.inf])
@pytest.mark.parametrize("kind", ["filter", "magnitude", "int8"])
def test_weights_that_are_no_numbers_are_refused(kind, value):
    net = small_net()
    with torch.no_grad():
        net[3].weight[0, 0, 0, 0] = value
    with pytest.raises(InputError, match=r"'3.weight' of the module holds NaN or infinite numbers"):
        evenhand.compress(net, kind)


def test_what_is_compressed_already():
    pruned = evenhand.compress(small_net(), share=0.25)
    again = evenhand.compress(pruned, share=0.25)
    assert all(torch.equal(a, b) for a, b in zip(again.parameters(), pruned.parameters(), strict=True))
    more = evenhand.compress(pruned, share=0.5)[3].weight == 0
    assert bool((more | (pruned[3].weight != 0)).all()), "what was gone came back"
    eight = evenhand.compress(pruned, "int8")
    assert sparsity(eight).layers[1].zero_filters == 4
    for kind in ("filter", "magnitude", "int8"):
        with pytest.raises(InputError, match="has eight bits already; prune first"):
            evenhand.compress(eight, kind)


def test_attention_and_recurrence_are_pruned_and_counted():
    net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    found = sparsity(evenhand.compress(net, "magnitude", 0.5))
    assert [(line.name, line.share) for line in found.layers] == [
        ("self_attn.in_proj_weight", 0.5), ("self_attn.out_proj", 0.5), ("linear1", 0.5), ("linear2", 0.5),
    ]  # fmt: skip
    found = sparsity(evenhand.compress(nn.LSTM(4, 8), "magnitude", 0.5))
    assert [(line.name, line.share) for line in found.layers] == [
        ("weight_ih_l0", 0.5),
        ("weight_hh_l0", 0.5),
    ]


def test_scales_of_norms_and_channels_are_no_matrices():
    net = nn.Sequential(nn.Conv2d(3, 4, 3), nn.LayerNorm([4, 6, 6]))
    net.scale = nn.Parameter(torch.randn(4, 1, 1))
    small = evenhand.compress(net, "magnitude", 0.5)
    assert torch.equal(small[1].weight, net[1].weight)
    assert torch.equal(small.scale, net.scale)
    assert sparsity(small).total.weights == 108


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
def test_the_fast_path_of_transformers_does_not_pass_int8_layers_by():
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    net, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(4, 5, 8)
    small = evenhand.compress(net, "int8", calibration=x)
    eight = [part for part in small.modules() if isinstance(part, Int8Weight)]
    assert [part.calibrated for part in eight] == [True] * 4
    with torch.no_grad():
        assert 0 < (small(x) - net(x)).abs().max() < 0.1
        slow = small(x.clone().requires_grad_())
        torch.testing.assert_close(small(x), slow)
        eight[0].input_scale.mul_(50)  # coarse steps are seen in what it predicts
        assert not torch.allclose(small(x), slow)
        padded = torch.arange(5) >= torch.tensor([[5], [4], [3], [5]])
        assert small(x, src_key_padding_mask=padded).shape == x.shape


@pytest.mark.parametrize(("theirs", "mine"), [({"calibration": X}, {}), ({}, {"calibration": X})])
def test_a_state_dictionary_says_whether_inputs_are_rounded(theirs, mine):
    """The receiver need not have the calibration inputs, nor be misled by having some."""
    sent = evenhand.compress(small_net().eval(), "int8", **theirs)
    got = evenhand.compress(small_net(1).eval(), "int8", **mine)
    got.load_state_dict(sent.state_dict())
    with torch.no_grad():
        assert torch.equal(got(X), sent(X))
    older = {name: torch.ones(()) if name.endswith("input_scale") and not value else value
             for name, value in sent.state_dict().items()}  # fmt: skip
    fresh = evenhand.compress(small_net(1).eval(), "int8")
    fresh.load_state_dict(older)
    with torch.no_grad():
        assert torch.equal(fresh(X), sent(X))


def test_calibration_inputs_may_come_with_labels():
    plain = evenhand.compress(small_net(), "int8", calibration=[X[:8], X[8:]]).eval()
    pairs = [(X[:8], torch.zeros(8)), [X[8:], torch.zeros(8)]]
    with torch.no_grad():
        assert torch.equal(evenhand.compress(small_net(), "int8", calibration=pairs).eval()(X), plain(X))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        (X * math.nan, "hold NaN or infinite numbers"),
        (torch.zeros(2, 5), r"cannot read calibration inputs of shape \(2, 5\) and torch.float32"),
        (X.numpy(), "are tensors, not ndarray"),
        ("mnist", "are tensors, not str"),
        (3, "are tensors, not int"),
    ],
)
def test_calibration_inputs_that_cannot_be_read(given, told):
    with pytest.raises(InputError, match=told):
        evenhand.compress(small_net(), "int8", calibration=given)


def test_what_a_module_asserts_about_calibration_inputs_is_told():
    class Picky(nn.Linear):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            assert len(x) == 3, "Wrong image height!"
            return super().forward(x)

    with pytest.raises(InputError, match=r"cannot read calibration inputs .*\(Wrong image height!\)"):
        evenhand.compress(nn.Sequential(Picky(2, 2), nn.Linear(2, 2)), "int8", calibration=torch.zeros(2, 2))


class Named(nn.Conv2d):
    """A convolution under a name of one's own, with a method that its network asks for."""

    def width(self) -> int:
        return self.out_channels


class OwnForward(nn.Linear):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.linear(x, self.weight - self.weight.mean(), self.bias)


class OwnProduct(nn.Conv2d):
    def _conv_forward(self, x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        return super()._conv_forward(x, weight / weight.norm(), bias)


def of_derived_layers(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(
        Named(3, 8, 3), nn.ReLU(), Named(8, 4, 3), OwnProduct(4, 4, 3), nn.Flatten(), OwnForward(16, 2)
    ).eval()


def test_a_layer_that_differs_by_its_class_alone_gets_eight_bits_and_one_with_its_own_forward_stays():
    net = of_derived_layers()
    plain = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 4, 3), *net[3:])
    plain.load_state_dict(net.state_dict())
    small, known = (evenhand.compress(each, "int8", calibration=X) for each in (net, plain))
    assert [isinstance(part, Int8Weight) for part in small] == [True, False, True, False, False, False]
    assert type(small[0]) is type(small[2])
    assert isinstance(small[0], Named)
    assert small[0].width() == 8
    with torch.no_grad():
        assert torch.equal(small(X), known(X)), "not what the layers they are derived from become"
        assert not torch.equal(small(X), net(X))
    assert type(net[0]) is Named
    for own in (OwnForward(3, 2), nn.Sequential(OwnProduct(3, 2, 1))):
        with pytest.raises(InputError, match="no Conv2d or Linear that has weights and torch's own forward"):
            evenhand.compress(own, "int8")


def test_derived_layers_in_eight_bits_are_copied_and_kept_in_every_kind_of_file(tmp_path):
    small = evenhand.compress(of_derived_layers(), "int8", calibration=X)
    torch.save(small, tmp_path / "whole.pt")
    fresh = evenhand.compress(of_derived_layers(1), "int8")
    fresh.load_state_dict(small.state_dict())
    loaded = load_compressed(of_derived_layers(1), save_compressed(small, tmp_path / "small.npz"))
    pickled = torch.load(tmp_path / "whole.pt", weights_only=False)
    with torch.no_grad():
        for again in (copy.deepcopy(small), fresh, loaded, pickled):
            assert type(again[0]) is type(small[0])
            assert torch.equal(again(X), small(X))


def test_the_matrices_of_attention_stay_in_float():
    small = evenhand.compress(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), "int8")
    assert not isinstance(small.self_attn.out_proj, Int8Weight)
    assert isinstance(small.linear1, Int8Weight)


@pytest.mark.filterwarnings("ignore:Initializing zero-element tensors")
def test_layers_without_weights_stay_as_they_are():
    empty = nn.Sequential(nn.Linear(4, 0), nn.Linear(0, 2))
    net, x = nn.Sequential(*empty, nn.Linear(2, 3)), torch.randn(5, 4)
    small = evenhand.compress(net, "int8")
    assert [isinstance(part, Int8Weight) for part in small] == [False, False, True]
    assert small(x).shape == (5, 3)
    with pytest.raises(InputError, match="no Conv2d or Linear that has weights"):
        evenhand.compress(empty, "int8")


@pytest.mark.filterwarnings("ignore:.torch.jit")
@pytest.mark.parametrize("given", [{}, {"layers": ["3"]}, {"kind": "int8"}])
def test_scripted_and_traced_modules_are_told_from_those_without_layers(given):
    net = small_net().eval()
    told = "a scripted or traced module, whose layers cannot be read; give the module that was scripted"
    for closed in (torch.jit.script(net), torch.jit.trace(net, X)):
        with pytest.raises(InputError, match=f"^the network is {told}"):
            evenhand.compress(closed, **given)
        inside = nn.Sequential(small_net(), closed)  # else a part would stay whole, and nobody be told
        with pytest.raises(InputError, match=f"^the part '1' of the network is {told}"):
            evenhand.compress(inside, **given)
        assert sparsity(evenhand.compress(closed, "magnitude", 0.5)).total.zero_weights == 1068
    scaled = nn.Sequential(torch.jit.script(nn.BatchNorm2d(3)), *small_net()).eval()  # without a matrix
    given = {"layers": ["4"]} if "layers" in given else given
    assert not torch.equal(evenhand.compress(scaled, **given)(X), scaled(X))


def test_shares_and_names_as_people_write_them():
    assert sparsity(evenhand.compress(small_net(), share=np.float32(0.5))).layers[1].zero_filters == 8
    assert sparsity(evenhand.compress(small_net(), share=0)).total.zero_weights == 0
    one = nn.Sequential(nn.Conv2d(3, 4, 1), nn.Conv2d(4, 4, 1))
    one.register_module("later", nn.Conv2d(4, 4, 5))
    assert sparsity(evenhand.compress(one, share=0.5, layers="later")).layers[2].zero_filters == 2
    with pytest.raises(InputError, match="'layers' names no convolution"):
        evenhand.compress(small_net(), layers=[])
    for share in (1, math.nan, "half", True):
        with pytest.raises(InputError, match="'share' must be at least 0 and less than 1"):
            evenhand.compress(small_net(), share=share)


def test_layers_of_complex_numbers_stay_as_they_are():
    """Their imaginary parts had been dropped."""

    class Wave(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.wave, self.head = nn.Linear(4, 4, dtype=torch.cfloat), nn.Linear(4, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.wave(x.to(torch.cfloat)).abs())

    net = Wave()
    small = evenhand.compress(net, "int8")
    assert torch.equal(small.wave.weight, net.wave.weight)
    assert small.head.weight_int8.dtype == torch.int8
    with pytest.raises(InputError, match="nothing is made int8"):
        evenhand.compress(net.wave, "int8")
