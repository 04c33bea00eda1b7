"""What null-sampling computes beside its networks: inputs with a density, the null-sample, who tells s."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.terms import mask_of, weighted_mean

GREYS = 255  # an image has the whole numbers 0 to 255
Number = float | Tensor


def as_bins(x: Tensor, low: Number, high: Number, bits: int, place: Number = 0.5) -> Tensor:
    """Images as the flow reads them, in [-1, 1]: `2 (floor(grey / 2^(8 - bits)) + place) / 2^bits - 1`.

    `place` is where in its bin a number stands: noise in [0, 1) in training, so that there is a density to
    fit, and else the middle. The gradient for x is that of numbers which are not rounded.

    >>> as_bins(torch.tensor([-1.0, 1.0]), -1.0, 1.0, bits=1).tolist()
    [-0.5, 0.5]
    """
    share: Tensor = (x - low) / (high - low)
    with torch.no_grad():
        bins = torch.floor((share * GREYS).round().clamp(0, GREYS) / 2 ** (8 - bits))
        stood = (bins + place) / 2**bits
    found: Tensor = 2 * (share + (stood - share).detach()) - 1
    return found


def as_image(u: Tensor, low: Number, high: Number) -> Tensor:
    """What the flow gives back as an image: un-scaled, and clamped to what an image can be.

    >>> as_image(torch.tensor([-1.5, 0.0, 3.0]), 0.0, 1.0).tolist()
    [0.0, 0.5, 1.0]
    """
    return low + (high - low) * ((u + 1) / 2).clamp(0, 1)


def sensitive_places(share: Number, z: Tensor) -> Tensor:
    """Which of the d numbers are z_s `[d]`: the last `round(share * d)`, at least one.

    As a mask, because the runs of a stack may differ in it; always in float32, so that a share at the edge
    of rounding means the same alone, in a stack and in 64 bits.

    >>> sensitive_places(0.4, torch.zeros(1, 5)).tolist(), int(sensitive_places(0.0, torch.zeros(1, 5)).sum())
    ([False, False, False, True, True], 1)
    """
    d = z.shape[-1]
    # a number is put there by a kernel: one that is sent could not be recorded (`train/recorded.py`)
    part = share if isinstance(share, Tensor) else torch.full((), share, device=z.device)
    wanted = part.to(torch.float32) * d
    return torch.arange(d, device=z.device) >= d - torch.round(wanted).clamp(min=1)


def null_sampled(z: Tensor, share: Number) -> Tensor:
    """`[z_y, 0]`: what the flow found, with nothing in the places of s.

    >>> null_sampled(torch.ones(1, 4), 0.25).tolist()
    [[1.0, 1.0, 1.0, 0.0]]
    """
    return torch.where(sensitive_places(share, z), 0.0, z)


def committee_loss(logits: Tensor, g: Tensor, n_groups: int) -> Tensor:
    """Mean cross-entropy of the group over discriminators `[K, B, G]` and rows whose group is known.

    >>> round(committee_loss(torch.zeros(3, 2, 2), torch.tensor([0, -1]), 2).item(), 4)
    0.6931
    """
    mask = mask_of(g, n_groups, logits.dtype)
    surprise = -(functional.log_softmax(logits, dim=-1) * mask).sum(-1)
    return weighted_mean(surprise.mean(0), mask.sum(-1))


def needed(noise: Mapping[str, Tensor], name: str) -> Tensor:
    """The random numbers of that name."""
    if name not in noise:
        raise InputError(f"the method 'nifr' draws nothing: give the noise {name!r} in Batch(noise=...)")
    return noise[name]
