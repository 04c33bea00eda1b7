"""Encoders and decoders: shapes, padding, no linear trunk, and stacks that equal single networks."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch.func import functional_call, stack_module_state, vmap

from evenhand.errors import InputError
from evenhand.nets.vae import ConvDecoder, ConvEncoder, FlatDecoder, decoder_of, encoder_of, form_of

SHAPES = [(3, 32, 32), (1, 28, 28), (2, 20, 9), (7,)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("form", ["auto", "mlp"])
def test_a_decoder_gives_what_its_encoder_takes(shape, form):
    encoder = encoder_of(shape, 31, form=form)
    decoder = decoder_of(shape, 16, form=form)
    assert encoder(torch.randn(5, *shape)).shape == (5, 31)
    assert decoder(torch.randn(5, 16)).shape == (5, *shape)
    assert encoder.stackable
    assert decoder.stackable


def test_the_networks_of_s3_have_its_sizes():
    shapes = [
        tuple(p.shape) for name, p in ConvEncoder((3, 32, 32), 31).named_parameters() if "weight" in name
    ]
    assert shapes == [(32, 3, 4, 4), (64, 32, 4, 4), (64, 64, 4, 4), (128, 1024), (31, 128)]
    shapes = [
        tuple(p.shape) for name, p in ConvDecoder((3, 32, 32), 16).named_parameters() if "weight" in name
    ]
    assert shapes == [(128, 16), (1024, 128), (64, 64, 4, 4), (64, 32, 4, 4), (32, 3, 4, 4)]


def test_28_pixels_are_32_with_a_margin_of_zeros():
    torch.manual_seed(0)
    small, large = ConvEncoder((1, 28, 28), 4), ConvEncoder((1, 32, 32), 4)
    large.load_state_dict(small.state_dict())
    x = torch.randn(3, 1, 28, 28)
    assert torch.equal(small(x), large(torch.nn.functional.pad(x, (2, 2, 2, 2))))
    decoder, wide = ConvDecoder((1, 28, 28), 4), ConvDecoder((1, 32, 32), 4)
    wide.load_state_dict(decoder.state_dict())
    code = torch.randn(3, 4)
    assert torch.equal(decoder(code), wide(code)[..., 2:30, 2:30])


@pytest.mark.parametrize("make", [lambda: ConvEncoder((3, 32, 32), 5), lambda: ConvDecoder((3, 32, 32), 8)])
def test_the_trunk_is_not_affine(make):
    """S3's code has the identity between convolutions: f(x) + f(-x) = 2 f(0) there, and not here."""
    torch.manual_seed(0)
    net = make().double()
    x = torch.randn(4, *((3, 32, 32) if isinstance(net, ConvEncoder) else (8,)), dtype=torch.float64)
    assert (net(x) + net(-x) - 2 * net(torch.zeros_like(x))).abs().max() > 1e-3


@pytest.mark.parametrize(("dtype", "within"), [(torch.float64, 1e-12), (torch.float32, 1e-5)])
@pytest.mark.parametrize("kind", ["conv", "flat"])
def test_a_stack_equals_its_networks_forwards_and_backwards(kind, dtype, within):
    torch.manual_seed(0)
    pairs = [autoencoder(kind).to(dtype) for _ in range(3)]
    x = torch.randn(3, 6, 2, 16, 16, dtype=dtype)
    parameters, _ = stack_module_state(pairs)

    def loss(values, x):
        return functional_call(pairs[0], values, (x,)).square().sum((1, 2, 3)).mean()

    together = vmap(loss)(parameters, x)
    grads = torch.autograd.grad(together.sum(), list(parameters.values()))
    for run, pair in enumerate(pairs):
        alone = pair(x[run]).square().sum((1, 2, 3)).mean()
        assert (together[run] - alone).abs() <= within * alone.abs().detach()
        own = torch.autograd.grad(alone, list(pair.parameters()))
        for stacked, single in zip(grads, own, strict=True):
            assert (stacked[run] - single).abs().max() <= within * single.abs().max().clamp(min=1)


def autoencoder(kind: str) -> nn.Module:
    if kind == "conv":
        return nn.Sequential(ConvEncoder((2, 16, 16), 4), ConvDecoder((2, 16, 16), 4))
    return nn.Sequential(
        encoder_of((2, 16, 16), 4, form="mlp", hidden=12), FlatDecoder((2, 16, 16), 4, (12,))
    )


def test_the_form_is_said_or_found():
    assert form_of((3, 32, 32)) == "conv"
    assert form_of((12,)) == "mlp"
    with pytest.raises(InputError, match="form='conv' is for images"):
        encoder_of((12,), 4, form="conv")


@pytest.mark.parametrize("shape", [(3, 32, 32), (1, 28, 24)])
def test_products_are_the_convolutions_forwards_and_backwards(shape):
    torch.manual_seed(0)
    encoder, decoder = ConvEncoder(shape, 9).double(), ConvDecoder(shape, 5).double()
    image = torch.rand(4, shape[0], 32, 32, dtype=torch.float64, requires_grad=True)
    core = torch.rand(4, *decoder.core, dtype=torch.float64, requires_grad=True)
    for net, h in ((encoder, image), (decoder, core)):
        found, expected = net._by_products(h), net._by_convolutions(h)
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)
        inputs = [h, *net.convolutions.parameters()]
        weights = torch.rand_like(expected)
        for a, b in zip(
            *(torch.autograd.grad((out * weights).sum(), inputs) for out in (found, expected)), strict=True
        ):
            torch.testing.assert_close(a, b, rtol=0, atol=1e-11)
