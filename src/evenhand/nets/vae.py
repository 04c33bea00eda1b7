"""Encoders and decoders of variational autoencoders, for images and for tables; all of them stack.

They keep no batch statistics and draw nothing: a code is sampled by whoever asks for one, with noise that is
data. Between layers is a LeakyReLU; what a network ends with is linear.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import cast

import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.nets.convnet import image_shape
from evenhand.nets.head import Head
from evenhand.nets.layers import Linear, activation_of, convolution, draw_weight
from evenhand.nets.products import doubled, halved, weights_of

FORMS = ("auto", "conv", "mlp")
WIDTHS = (32, 64, 64)
BLOCK = 2 ** len(WIDTHS)  # every convolution halves a side


class ConvEncoder(nn.Module):
    """`[B, outputs]` for images `[B, channels, height, width]`: convolutions of stride 2 and two layers.

    Convolutions channels-32-64-64 (4x4) halve an image three times; the rest (1,024 numbers of 32 pixels)
    goes through `hidden` units to the outputs. Sides that are no multiple of 8 are padded with zeros on both
    sides: 28 pixels become 32.

    >>> import torch
    >>> ConvEncoder((1, 28, 28), 31)(torch.zeros(2, 1, 28, 28)).shape
    torch.Size([2, 31])
    """

    stackable = True

    def __init__(
        self, input_shape: Sequence[int], outputs: int, *, hidden: int = 128, slope: float = 0.01
    ) -> None:
        super().__init__()
        channels, *sides = image_shape(input_shape)
        self.margins = _margins(sides)
        self.convolutions = nn.ModuleList(
            convolution(a, b, 4, stride=2, padding=1, init="xavier") for a, b in pairwise((channels, *WIDTHS))
        )
        self.inner = Linear(math.prod(_core(sides)), hidden, init="xavier")
        self.last = Linear(hidden, outputs, init="xavier")
        self.activate = activation_of("leaky_relu", slope)

    def forward(self, x: Tensor) -> Tensor:
        """What the code is made of."""
        h = F.pad(x, self.margins) if any(self.margins) else x
        h = self._by_products(h) if x.is_cuda else self._by_convolutions(h)
        found: Tensor = self.last(self.activate(self.inner(h.flatten(1))))
        return found

    def _by_convolutions(self, h: Tensor) -> Tensor:
        for convolve in self.convolutions:
            h = self.activate(convolve(h))
        return h

    def _by_products(self, h: Tensor) -> Tensor:
        """The same as products, which a stack on a GPU is faster as; a CPU is slower (3 times)."""
        h = h.permute(0, 2, 3, 1)
        for layer in self.convolutions:
            h = self.activate(halved(h, *weights_of(layer)))
        return h.permute(0, 3, 1, 2)


class ConvDecoder(nn.Module):
    """Images `[B, channels, height, width]` (before a sigmoid) for codes: the mirror of `ConvEncoder`.

    >>> import torch
    >>> ConvDecoder((3, 32, 32), 16)(torch.zeros(2, 16)).shape
    torch.Size([2, 3, 32, 32])
    """

    stackable = True

    def __init__(
        self, input_shape: Sequence[int], latent: int, *, hidden: int = 128, slope: float = 0.01
    ) -> None:
        super().__init__()
        channels, *sides = image_shape(input_shape)
        self.margins, self.core = _margins(sides), _core(sides)
        self.first = Linear(latent, hidden, init="xavier")
        self.inner = Linear(hidden, math.prod(self.core), init="xavier")
        self.convolutions = nn.ModuleList(_doubling(a, b) for a, b in pairwise((*WIDTHS[::-1], channels)))
        self.activate = activation_of("leaky_relu", slope)

    def forward(self, code: Tensor) -> Tensor:
        """The logit of every pixel; what was padding for the encoder is cut off."""
        h = self.activate(self.inner(self.activate(self.first(code))))
        h = h.reshape(len(code), *self.core)
        h = self._by_products(h) if code.is_cuda else self._by_convolutions(h)
        left, right, top, bottom = self.margins
        return h[..., top : h.shape[-2] - bottom, left : h.shape[-1] - right]

    def _by_convolutions(self, h: Tensor) -> Tensor:
        *others, last = self.convolutions
        for convolve in others:
            h = self.activate(convolve(h))
        return cast(Tensor, last(h))

    def _by_products(self, h: Tensor) -> Tensor:
        """The same as products: see `ConvEncoder`."""
        h = h.permute(0, 2, 3, 1)
        *others, last = self.convolutions
        for layer in others:
            h = self.activate(doubled(h, *weights_of(layer)))
        return doubled(h, *weights_of(last)).permute(0, 3, 1, 2)


class FlatDecoder(nn.Module):
    """Inputs of any shape for codes, by a perceptron.

    >>> import torch
    >>> FlatDecoder((3, 4, 4), 8, widths=(20,))(torch.zeros(2, 8)).shape
    torch.Size([2, 3, 4, 4])
    """

    stackable = True

    def __init__(self, input_shape: Sequence[int], latent: int, widths: Sequence[int]) -> None:
        super().__init__()
        self.shape = tuple(input_shape)
        self.body = _perceptron(latent, math.prod(self.shape), widths)

    def forward(self, code: Tensor) -> Tensor:
        """The inputs, in their own shape."""
        found: Tensor = self.body(code)
        return found.reshape(len(code), *self.shape)


def encoder_of(
    input_shape: Sequence[int], outputs: int, *, form: str = "auto", hidden: int = 128, layers: int = 1
) -> nn.Module:
    """The encoder of this form; `layers` hidden ones of width `hidden` make the perceptron.

    >>> import torch
    >>> type(encoder_of((3, 32, 32), 31)).__name__, encoder_of((10,), 31)(torch.zeros(2, 10)).shape
    ('ConvEncoder', torch.Size([2, 31]))
    """
    if form_of(input_shape, form) == "conv":
        return ConvEncoder(input_shape, outputs, hidden=hidden)
    return _perceptron(math.prod(input_shape), outputs, (hidden,) * layers)


def decoder_of(
    input_shape: Sequence[int], latent: int, *, form: str = "auto", hidden: int = 128, layers: int = 1
) -> nn.Module:
    """The decoder of this form, the mirror of `encoder_of`'s."""
    if form_of(input_shape, form) == "conv":
        return ConvDecoder(input_shape, latent, hidden=hidden)
    return FlatDecoder(input_shape, latent, (hidden,) * layers)


def form_of(input_shape: Sequence[int], form: str = "auto") -> str:
    """ "conv" or "mlp": as asked for, and with "auto" convolutions for images.

    >>> form_of((3, 32, 32)), form_of((10,)), form_of((1, 28, 28), "mlp")
    ('conv', 'mlp', 'mlp')
    """
    image = len(input_shape) == 3
    if form == "conv" and not image:
        raise InputError(f"form='conv' is for images; an input has the shape {tuple(input_shape)}: use 'mlp'")
    return ("conv" if image else "mlp") if form == "auto" else form


def _perceptron(inputs: int, outputs: int, widths: Sequence[int]) -> Head:
    return Head(inputs, outputs, widths, activation="leaky_relu", init="xavier")


def _doubling(inputs: int, outputs: int) -> nn.ConvTranspose2d:
    layer = nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1)
    draw_weight(layer.weight, "xavier")
    return layer


def _margins(sides: Sequence[int]) -> tuple[int, int, int, int]:
    """Zeros to add left, right, above and below, so that a side can be halved three times."""
    (height, width) = (-side % BLOCK for side in sides)
    return width // 2, width - width // 2, height // 2, height - height // 2


def _core(sides: Sequence[int]) -> tuple[int, int, int]:
    """Channels and sides of what the convolutions end with."""
    height, width = (-(-side // BLOCK) for side in sides)
    return WIDTHS[-1], height, width
