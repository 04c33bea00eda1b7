"""The small convolutional networks, against hand-made ones and their counted parameters."""

import pytest
import torch
import torch.nn.functional as F

from evenhand.errors import InputError
from evenhand.nets.base import Points
from evenhand.nets.convnet import S3CNN, ConvNet
from evenhand.nets.products import thinned


@pytest.mark.parametrize("size", [28, 32, 64])
def test_convnet_is_what_it_says(size):
    net = ConvNet((3, size, size), 4, widths=(8, 12))
    x = torch.randn(5, 3, size, size)
    first, second = net.convolutions
    one = F.relu(F.group_norm(F.conv2d(x, first.weight, first.bias, padding=1, stride=2), 8))
    two = F.relu(F.group_norm(F.conv2d(one, second.weight, second.bias, padding=1, stride=2), 4))
    logits, features = net(x)
    torch.testing.assert_close(features, two.mean((2, 3)))
    torch.testing.assert_close(logits, net.last(features))
    assert two.shape[-1] == size // 4


def test_an_image_is_judged_by_itself():
    net = ConvNet((1, 28, 28), 10)
    x = torch.randn(6, 1, 28, 28)
    torch.testing.assert_close(net(x)[0][:2], net(x[:2])[0])


def test_convnet_dropout_and_split():
    net = ConvNet((1, 28, 28), 10, widths=(8, 16), dropout=0.5, split="conv2")
    assert net.n_features == 16 * 7 * 7
    x, mask = torch.randn(3, 1, 28, 28), {"dropout": torch.zeros(3, 16)}
    assert torch.equal(net(x, mask)[0], net.last.bias.expand(3, 10))
    with pytest.raises(InputError, match="no split point 'conv9'"):
        ConvNet((1, 28, 28), 10, split="conv9")
    with pytest.raises(InputError, match="channels, height, width"):
        ConvNet((28, 28), 10)


def test_s3_cnn_has_the_layers_of_the_study():
    net = S3CNN((3, 32, 32), 2)
    shapes = [tuple(layer.weight.shape) for layer in net.trunk]
    assert shapes == [(32, 3, 4, 4), (64, 32, 4, 4), (64, 64, 4, 4), (256, 64, 4, 4), (16, 256, 1, 1)]
    assert net.classifier.sizes == (16, 32, 32, 2)
    trunk, classifier = 1568 + 32832 + 65600 + 262400 + 4112, 544 + 1056 + 66  # counted by hand
    assert sum(p.numel() for p in net.parameters()) == trunk + classifier


def test_the_legacy_trunk_of_s3_cnn_is_affine():
    a, b = torch.randn(2, 4, 3, 32, 32, dtype=torch.float64)
    zero = torch.zeros_like(a)
    for legacy in (True, False):
        net = S3CNN((3, 32, 32), 2, legacy_linear=legacy).double()
        f = lambda x: net(x)[1]  # noqa: E731, B023 - called at once
        affine = torch.allclose(f(a + b) - f(zero), f(a) + f(b) - 2 * f(zero), atol=1e-10)
        assert affine is legacy


def test_s3_cnn_reads_images_of_32_pixels_in_minus_one_to_one():
    with pytest.raises(InputError, match="32 by 32 pixels, not 28 by 28"):
        S3CNN((1, 28, 28), 2)
    net = S3CNN((3, 32, 32), 2)
    x = torch.rand(2, 3, 32, 32)
    inside = net.trunk[0]((x * 2 - 1 + 1) / 2)
    torch.testing.assert_close(inside, net.trunk[0](x))
    black = net(torch.full((1, 3, 32, 32), -1.0))[1]
    h = torch.zeros(1, 3, 32, 32)
    for layer in net.trunk[:-1]:
        h = F.leaky_relu(layer(h), 0.01)
    torch.testing.assert_close(black, net.trunk[-1](h).flatten(1))


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 31)])
def test_products_are_the_convolutions_forwards_and_backwards(shape):
    torch.manual_seed(0)
    net = ConvNet(shape, 3, widths=(8, 12, 16)).double()
    x = torch.rand(5, *shape, dtype=torch.float64, requires_grad=True)
    found, expected = (way(x, Points(net, ())) for way in (net._by_products, net._by_convolutions))
    assert torch.allclose(found, expected, rtol=0, atol=1e-12)
    weights = [net.convolutions[0].weight, net.norms[1].weight, net.convolutions[2].bias, x]
    one, other = (torch.autograd.grad(z.square().sum(), weights) for z in (found, expected))
    assert all(torch.allclose(a, b, rtol=0, atol=1e-11) for a, b in zip(one, other, strict=True))


def test_products_hand_out_the_same_features_and_stack():
    torch.manual_seed(0)
    net = ConvNet((3, 16, 16), 2, widths=(4, 8)).double()
    x, taps = torch.rand(3, 3, 16, 16, dtype=torch.float64), ("conv1", "pooled")
    kept = []
    for way in (net._by_products, net._by_convolutions):
        points = Points(net, taps)
        points.at("pooled", way(x, points))
        kept.append(points.features())
    assert kept[0][0].shape == (3, 4, 8, 8)
    assert all(torch.allclose(a, b, rtol=0, atol=1e-12) for a, b in zip(*kept, strict=True))
    weights, bias = torch.stack([net.convolutions[0].weight] * 2), net.convolutions[0].bias
    stacked = torch.vmap(lambda weight: thinned(x.permute(0, 2, 3, 1), weight, bias))(weights)
    assert torch.allclose(stacked[1], thinned(x.permute(0, 2, 3, 1), weights[0], bias), atol=1e-12)
