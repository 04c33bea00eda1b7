"""evenhand.compress: copies that are pruned or have eight bits, against torch's own int8 arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import evenhand
from evenhand.errors import InputError
from evenhand.nets import NetSpec
from evenhand.nets.int8 import Int8Weight
from evenhand.nets.sparsity import sparsity
from evenhand.train.checkpoint import save_tensors
from evenhand.train.compressed_files import load_compressed, save_compressed

ROOT = Path(__file__).parents[2]
NETS = {
    "mlp": (NetSpec("mlp", widths=(16, 10)), (6,)),
    "convnet": (NetSpec("convnet", widths=(8, 16)), (3, 12, 12)),
    "resnet32x4": (NetSpec("resnet32x4"), (3, 8, 8)),
}
DEPRECATED = pytest.mark.filterwarnings("ignore:.*torch.quantize_per_tensor")


def net_and_inputs(name: str, rows: int = 32) -> tuple[nn.Module, torch.Tensor]:
    torch.manual_seed(0)
    spec, shape = NETS[name]
    net, x = spec.build(shape, 5), torch.randn(rows, *shape)
    net(x)  # batch statistics that are not those of the start
    return net.eval(), x


@pytest.mark.parametrize("name", list(NETS))
@pytest.mark.parametrize("kind", ["filter", "magnitude", "int8", "int8 calibrated"])
def test_saved_and_loaded_it_predicts_the_same_and_the_module_stays_as_it_is(name, kind, tmp_path):
    net, x = net_and_inputs(name)
    if (name, kind) == ("mlp", "filter"):
        return
    before = {key: value.clone() for key, value in net.state_dict().items()}
    given = {"calibration": x} if "calibrated" in kind else {}
    small = evenhand.compress(net, kind.split()[0], **given)
    told = small(x)[0]
    assert not torch.equal(told, net(x)[0])
    assert all(torch.equal(value, before[key]) for key, value in net.state_dict().items())
    path = save_compressed(small, tmp_path / "small.npz")
    other = NETS[name][0].build(NETS[name][1], 5)  # of other weights
    assert torch.equal(load_compressed(other, path)(x)[0], told)
    assert not any(isinstance(part, Int8Weight) for part in other.modules())
    torch.save(small.state_dict(), tmp_path / "small.pt")  # as everybody does, and without code in the file
    again = evenhand.compress(other, kind.split()[0], **given)
    again.load_state_dict(torch.load(tmp_path / "small.pt", weights_only=True))
    assert torch.equal(again.eval()(x)[0], told)


def test_a_torchvision_network_needs_no_change(torchvision, tmp_path):
    torch.manual_seed(0)
    net, x = torchvision.models.resnet18(weights=None, num_classes=10), torch.randn(4, 3, 64, 64)
    for kind, given in (("filter", {}), ("magnitude", {"share": 0.8}), ("int8", {"calibration": x})):
        small = evenhand.compress(net, kind, **given)
        path = save_compressed(small, tmp_path / f"{kind}.npz")
        loaded = load_compressed(torchvision.models.resnet18(weights=None, num_classes=10), path)
        assert torch.equal(loaded(x), small.eval()(x))
    assert (tmp_path / "int8.npz").stat().st_size < 0.27 * (tmp_path / "filter.npz").stat().st_size


@pytest.mark.parametrize("within", [False, True])
@pytest.mark.parametrize("kind", ["filter", "magnitude", "int8"])
def test_what_was_made_for_inference_alone_is_copied_as_ordinary_tensors(kind, within):
    def built():
        torch.manual_seed(0)
        layers = nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3), nn.Flatten(), nn.Linear(64, 2)
        return nn.Sequential(*layers).eval()

    with torch.inference_mode():
        module = built()
    x = torch.rand(3, 1, 8, 8)
    with torch.inference_mode(within):
        small = evenhand.compress(module, kind)
    assert not any(value.is_inference() for value in (*small.parameters(), *small.buffers()))
    assert torch.equal(small(x), evenhand.compress(built(), kind)(x))


def test_what_the_page_says_of_depthwise_convolutions(torchvision):
    text = " ".join((ROOT / "docs" / "compression.md").read_text(encoding="utf-8").split())
    net = torchvision.models.mobilenet_v2(weights=None)
    layers = [
        name for name, part in net.named_modules()
        if isinstance(part, nn.Conv2d) and part.kernel_size == (1, 1)
    ]  # fmt: skip
    told = sparsity(evenhand.compress(net, "filter", 0.3))
    parts = dict(net.named_modules())
    touched = [parts[line.name] for line in told.layers if line.zero_filters]
    assert all(part.groups == part.out_channels for part in touched)
    shares = {
        "depthwise": told.total,
        "ResNet": sparsity(evenhand.compress(torchvision.models.resnet18(weights=None), share=0.3)).total,
        "named": sparsity(evenhand.compress(net, "filter", 0.3, layers=layers)).total,
        "magnitude": sparsity(evenhand.compress(net, "magnitude", 0.3)).total,
    }
    depthwise, resnet, named, magnitude = (
        f"{100 * one.zero_weights / one.weights:.1f} %" for one in shares.values()
    )
    assert f"`share=0.3` makes {depthwise} of the weights of torchvision's `mobilenet_v2` zero" in text
    assert (
        f"{told.total.zero_filters:,} of its {told.total.filters:,} filters; of a `resnet18` {resnet})"
        in text
    )
    assert f'`"magnitude"` takes {magnitude}' in text
    assert f"a share of 0.3 of these is {named} of all weights" in text


def test_every_layer_loses_its_share():
    net, _ = net_and_inputs("convnet")
    found = sparsity(evenhand.compress(net, share=0.25))
    assert [(line.name, line.filters, line.zero_filters) for line in found.layers] == [
        ("convolutions.0", 8, 0), ("convolutions.1", 16, 4), ("last", 5, 0),
    ]  # fmt: skip
    weights = sparsity(evenhand.compress(net, "magnitude", 0.9))
    for line in weights.layers:
        assert line.zero_weights == int(0.9 * line.weights + 0.5)
    total = weights.to_dict()["total"]
    assert total["share"] == total["zero_weights"] / total["weights"] == pytest.approx(0.9, abs=0.01)
    assert sparsity(net).total.zero_weights == 0


@pytest.mark.parametrize(
    ("kind", "share", "net", "told"),
    [
        (
            "filter",
            0.1,
            (4, 4),
            "share=0.1 prunes nothing: it is none of the 4 filters of a layer; from share=0.125",
        ),
        ("filter", 0.03, (4, 7), "none of the 4 to 7 filters of a layer; from share=0.071429 on one goes"),
        (
            "magnitude",
            0.001,
            (4, 4),
            "none of the 36 to 144 weights of a layer; from share=0.003473 on one goes",
        ),
        ("filter", None, (1, 1), "share=0.45 prunes nothing: .* a layer never loses its last one"),
    ],
)
def test_a_share_that_is_no_filter_or_weight_of_any_layer_is_told(kind, share, net, told):
    first, second = net
    layers = nn.Conv2d(1, 4, 3), nn.Conv2d(4, first, 3), nn.Conv2d(first, second, 3)
    module = nn.Sequential(*(layers if kind == "filter" else layers[:2]))
    with pytest.warns(UserWarning, match=told) as caught:
        small = evenhand.compress(module, kind, share)
    assert caught[0].filename == __file__
    assert (
        sparsity(small).total.zero_weights
        == sparsity(evenhand.compress(module, kind, 0)).total.zero_weights
        == 0
    )
    if first > 1:
        least = float(told.split("share=")[-1].split()[0])
        assert sparsity(evenhand.compress(module, kind, least)).total.zero_weights > 0


@DEPRECATED
def test_weights_in_eight_bits_are_torchs():
    net, _ = net_and_inputs("convnet")
    small = evenhand.compress(net, "int8")
    for name in ("convolutions.0", "convolutions.1", "last"):
        ours, weight = small.get_submodule(name), net.get_submodule(name).weight.detach()
        scales = weight.flatten(1).abs().amax(1) / 127.5
        torch.testing.assert_close(ours.weight_scale, scales)
        theirs = torch.quantize_per_channel(
            weight, ours.weight_scale, torch.zeros(len(weight), dtype=torch.int64), 0, torch.qint8
        )
        assert torch.equal(theirs.int_repr(), ours.weight_int8)
        assert torch.equal(theirs.dequantize(), ours.weight)


@DEPRECATED
def test_a_convolution_agrees_with_torchs_int8_kernel_to_the_rounding_of_its_output():
    torch.manual_seed(0)
    layer, x = nn.Conv2d(3, 8, 3, padding=1), torch.randn(16, 3, 9, 9)
    small = evenhand.compress(nn.Sequential(layer), "int8", calibration=x)
    ours, found = small[0], small(x).detach()
    step, none = float(found.abs().max() / 120), torch.zeros(8, dtype=torch.int64)
    packed = torch.ops.quantized.conv2d_prepack(
        torch.quantize_per_channel(layer.weight.detach(), ours.weight_scale, none, 0, torch.qint8),
        layer.bias.detach(), [1, 1], [1, 1], [1, 1], 1,
    )  # fmt: skip
    read = torch.quantize_per_tensor(x, float(ours.input_scale), int(ours.input_zero), torch.quint8)
    theirs = torch.ops.quantized.conv2d(read, packed, step, 128).dequantize()
    assert (theirs - found).abs().max() <= 0.5 * step * 1.01
    assert 0 < (found - layer(x)).abs().max() < 0.1


def test_inputs_are_rounded_only_where_they_were_calibrated():
    net, x = net_and_inputs("mlp")
    plain, calibrated = evenhand.compress(net, "int8"), evenhand.compress(net, "int8", calibration=[x[:8], x])
    rows = 10 * x
    linear = nn.functional.linear(rows, plain.layers[0].weight, plain.layers[0].bias)
    torch.testing.assert_close(plain.layers[0](rows), linear)  # no range: as they are
    layer = calibrated.layers[0]
    steps = ((rows / layer.input_scale).round() + layer.input_zero).clamp(0, 255)
    read = (steps - layer.input_zero) * layer.input_scale
    torch.testing.assert_close(layer(rows), nn.functional.linear(read, layer.weight, layer.bias))


def test_a_row_is_predicted_the_same_whoever_is_beside_it():
    net, x = net_and_inputs("convnet")
    small = evenhand.compress(net, "int8", calibration=x)
    torch.testing.assert_close(small(x)[0][:3], small(torch.cat([x[:3], 9 * x[3:]]))[0][:3])


def test_a_layer_that_is_not_called_keeps_its_inputs(tmp_path):
    class Spare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.unused = nn.Linear(3, 2), nn.Linear(3, 2)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.used(x)

    small = evenhand.compress(Spare(), "int8", calibration=torch.randn(20, 3))
    assert (small.used.calibrated, small.unused.calibrated) == (True, False)
    loaded = load_compressed(Spare(), save_compressed(small, tmp_path / "small.npz"))
    assert (loaded.used.calibrated, loaded.unused.calibrated) == (True, False)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"kind": "int4"}, "no kind of compression 'int4'; did you mean 'int8'"),
        ({"share": 1.0}, "'share' must be at least 0 and less than 1, not 1.0"),
        ({"kind": "int8", "share": 0.5}, "kind='int8' has no 'share'; it takes calibration"),
        ({"kind": "magnitude", "layers": ["a"]}, "kind='magnitude' has no 'layers'; it takes share"),
        ({"calibration": torch.zeros(1)}, "kind='filter' has no 'calibration'"),
        ({"kind": "int8", "calibration": []}, "calibration inputs reached no layer"),
    ],
)
def test_what_makes_no_sense_is_refused(given, told):
    net, _ = net_and_inputs("convnet")
    with pytest.raises(InputError, match=told):
        evenhand.compress(net, **given)


def test_files_of_another_kind_or_network_are_refused(tmp_path):
    net, _ = net_and_inputs("convnet")
    path = save_compressed(evenhand.compress(net), tmp_path / "small.npz")
    with pytest.raises(InputError, match="of another network than this MLP"):
        load_compressed(NetSpec("mlp").build((4,), 2), path)
    eight = save_compressed(evenhand.compress(net, "int8"), tmp_path / "eight.npz")
    with pytest.raises(InputError, match=r"no layer 'convolutions.0' that can be made int8"):
        load_compressed(NetSpec("mlp").build((4,), 2), eight)
    save_tensors(tmp_path / "other.npz", {}, {})
    with pytest.raises(InputError, match="not a compressed module"):
        load_compressed(net, tmp_path / "other.npz")
    with pytest.raises(InputError, match="there is no file"):
        load_compressed(net, tmp_path / "none.npz")
    with pytest.raises(InputError, match="a torch module is compressed, not dict"):
        evenhand.compress({})
    with pytest.raises(InputError, match="no Conv2d or Linear"):
        evenhand.compress(nn.BatchNorm2d(2), "int8")
    with pytest.raises(InputError, match="bfloat16"):
        save_compressed(nn.Linear(2, 2).bfloat16(), tmp_path / "half.npz")


def test_a_file_of_another_network_is_refused_with_the_first_tensor_that_differs(tmp_path):
    def built(classes, more=()):
        return nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4), nn.Linear(4, classes), *more)

    file = save_compressed(evenhand.compress(built(1000), "magnitude"), tmp_path / "small.npz")
    for other, told in (
        (
            built(10),
            "'2.weight' has the shape (1000, 4) in the file and (10, 4) in the module; build the same one",
        ),
        (built(1000, [nn.PReLU()]), "the module's '3.weight' is not in the file"),
        (nn.Sequential(nn.Linear(6, 4)), "the file's '1.weight' is not in the module"),
    ):
        with pytest.raises(InputError) as caught:
            load_compressed(other, file)
        assert f"small.npz is of another network than this Sequential: {told}" in str(caught.value)
    eight = save_compressed(evenhand.compress(built(1000), "int8"), tmp_path / "eight.npz")
    with pytest.raises(
        InputError, match=r"'2\.bias' has the shape \(1000,\) in the file and \(10,\) in the module"
    ):
        load_compressed(built(10), eight)


def test_nobody_is_told_to_delete_a_file_that_is_no_compressed_module(tmp_path):
    net = nn.Linear(3, 2)
    torch.save(net.state_dict(), tmp_path / "net.pt")
    np.savez(tmp_path / "net.npz", weight=np.zeros((2, 3)))
    for name in ("net.pt", "net.npz"):
        with pytest.raises(InputError, match=rf"{name} is not a compressed module, .*torch.load$") as told:
            load_compressed(net, tmp_path / name)
        assert "delete it" not in str(told.value)
