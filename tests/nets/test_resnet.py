"""The residual networks for small images: counted parameters, shapes, and batch statistics."""

import pytest
import torch

from evenhand.errors import InputError
from evenhand.nets.resnet import BasicBlock, CifarResNet, cifar_resnet18, resnet32x4


def count(net: torch.nn.Module) -> int:
    return sum(parameter.numel() for parameter in net.parameters())


def by_arithmetic(stem: int, widths: tuple[int, ...], blocks: int, outputs: int) -> int:
    """Parameters of such a network: 9ab for a 3x3 convolution, 2b for a normalisation, ab for a short cut."""
    total = 27 * stem + 2 * stem
    for a, b in zip((stem, *widths), widths, strict=False):
        shortcut = 0 if a == b else a * b + 2 * b
        total += 9 * a * b + 9 * b * b + 4 * b + shortcut + (blocks - 1) * (18 * b * b + 4 * b)
    return total + widths[-1] * outputs + outputs


def test_parameter_counts():
    with torch.device("meta"):
        wide, narrow = cifar_resnet18((3, 32, 32), 10), resnet32x4((3, 32, 32), 100)
    assert count(wide) == by_arithmetic(64, (64, 128, 256, 512), 2, 10) == 11_173_962
    assert count(narrow) == by_arithmetic(32, (64, 128, 256), 5, 100) == 7_433_860


def test_the_taps_of_resnet32x4():
    with torch.device("meta"):
        net, x = resnet32x4((3, 32, 32), 100), torch.empty(2, 3, 32, 32)
        logits, taps = net(x, taps=("f0", "f1", "f2", "f3", "f4"))
    assert logits.shape == (2, 100)
    assert [tuple(tap.shape[1:]) for tap in taps] == [
        (32, 32, 32),
        (64, 32, 32),
        (128, 16, 16),
        (256, 8, 8),
        (256,),
    ]


def test_the_stages_of_cifar_resnet18():
    with torch.device("meta"):
        net, x = cifar_resnet18((3, 32, 32), 10), torch.empty(2, 3, 32, 32)
        _, taps = net(x, taps=net.splits)
    assert [tap.shape[-1] for tap in taps] == [32, 32, 16, 8, 4, 512]


def test_a_block_against_its_formula():
    block = BasicBlock(4, 8, 2, "batch", "default").eval()
    x = torch.randn(2, 4, 6, 6)
    through = block.norm2(block.conv2(torch.relu(block.norm1(block.conv1(x)))))
    around = block.shortcut[1](block.shortcut[0](x))
    torch.testing.assert_close(block(x), torch.relu(through + around))
    same = BasicBlock(4, 4, 1, "batch", "default")
    assert len(same.shortcut) == 0


def small(norm: str) -> CifarResNet:
    return CifarResNet((3, 8, 8), 2, stem=8, widths=(8, 16), blocks=1, norm=norm)


def test_batch_statistics_move_in_training_only():
    net = small("batch")
    x = torch.randn(16, 3, 8, 8)
    before = net.norm.running_mean.clone()
    net.eval()(x)
    assert torch.equal(net.norm.running_mean, before)
    net.train()(x)
    seen = net.stem(x).mean((0, 2, 3))
    torch.testing.assert_close(net.norm.running_mean, 0.1 * seen)  # momentum .1, from 0
    assert not net.stackable
    alone, among = net.eval()(x[:1])[0], net(x)[0][:1]
    torch.testing.assert_close(alone, among)
    assert not torch.allclose(net.train()(x[:2])[0], net(x)[0][:2])


def test_group_normalisation_keeps_nothing():
    net = small("group")
    assert net.stackable
    assert list(net.buffers()) == []
    with pytest.raises(InputError, match="no normalisation 'layer'"):
        small("layer")


def test_kaiming_by_fan_out():
    torch.manual_seed(0)
    stage = resnet32x4((3, 8, 8), 2).stages[1]
    wanted = (2 / (9 * 128)) ** 0.5
    assert stage[1].conv1.weight.std().item() == pytest.approx(wanted, rel=0.02)
    assert torch.equal(stage[1].norm1.weight, torch.ones(128))
