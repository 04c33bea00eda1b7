"""The code of FFVAE and the terms of its loss: pure functions of tensors, all of which vmap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.errors import InputError
from evenhand.methods.terms import label_losses, mask_of, weighted_mean

GRID = 4096.0  # inputs are told apart at this resolution when noise is made of them
ODD = (0x9E3779B97F4A7C15 - (1 << 64), 0xBF58476D1CE4E5B9 - (1 << 64), 0x94D049BB133111EB - (1 << 64))


class Posterior(NamedTuple):
    """What the encoder says of a row: mean and log variance of z, and the logits b."""

    mean: Tensor
    log_variance: Tensor
    b: Tensor


class Layout:
    """Where things are in a code `[z, b]`: an attribute of two levels has one number, of more one for each.

    >>> layout = Layout(16, (2, 3))
    >>> layout.n_z, layout.blocks, layout.encoded
    (12, ((0, 1), (1, 4)), 28)
    """

    def __init__(self, latent: int, n_levels: Sequence[int]) -> None:
        self.n_levels = tuple(n_levels)
        sizes = [1 if levels <= 2 else levels for levels in n_levels]
        self.blocks = tuple(pairwise(accumulate(sizes, initial=0)))  # of each attribute, within b
        self.n_b, self.n_z = sum(sizes), latent - sum(sizes)
        self.encoded = 2 * self.n_z + self.n_b  # numbers that the encoder gives

    def posterior(self, encoded: Tensor) -> Posterior:
        """The encoder's numbers `[B, encoded]` by what they mean."""
        n = self.n_z
        return Posterior(encoded[:, :n], encoded[:, n : 2 * n], encoded[:, 2 * n :])

    def without(self, b: Tensor, attributes: Sequence[int], stand_in: Tensor | None = None) -> Tensor:
        """B with the numbers of these attributes replaced, by 0 or by a stand-in `[B, n_b]`.

        >>> Layout(16, (2, 3)).without(torch.ones(1, 4), (1,)).tolist()
        [[1.0, 0.0, 0.0, 0.0]]
        """
        other = torch.zeros_like(b) if stand_in is None else stand_in
        parts = [(other if j in attributes else b)[:, low:high] for j, (low, high) in enumerate(self.blocks)]
        return torch.cat(parts, dim=-1)


def sampled(posterior: Posterior, noise: Tensor) -> Tensor:
    """A code `[z, b]`: z drawn from its posterior with this noise, b as it is."""
    z = posterior.mean + torch.exp(posterior.log_variance / 2) * noise
    return torch.cat([z, posterior.b], dim=-1)


def reconstruction_loss(decoded: Tensor, x: Tensor) -> Tensor:
    """`sum (x - decoded)^2 / 2` of a row, mean over rows: a Gaussian of unit variance without its constant.

    >>> reconstruction_loss(torch.zeros(2, 3), torch.ones(2, 3)).item()
    1.5
    """
    return (decoded - x).flatten(1).square().sum(1).mean() / 2


def divergence(posterior: Posterior) -> Tensor:
    """KL(q(z|x) || N(0, I)): summed over z, mean over rows; b has no part in it.

    >>> divergence(Posterior(torch.ones(4, 2), torch.zeros(4, 2), torch.zeros(4, 1))).item()
    1.0
    """
    mean, log_variance, _ = posterior
    return (mean.square() + log_variance.exp() - 1 - log_variance).sum(1).mean() / 2


def attribute_loss(b: Tensor, a: Tensor, layout: Layout) -> Tensor:
    """Mean over attributes of the logistic loss of their numbers; rows of unknown level are left out.

    >>> a = torch.tensor([[1], [-1]])
    >>> round(attribute_loss(torch.tensor([[0.0], [9.0]]), a, Layout(4, (2,))).item(), 4)
    0.6931
    """
    found = []
    for (low, high), levels, codes in zip(layout.blocks, layout.n_levels, a.unbind(1), strict=True):
        target = codes[:, None] == 1 if levels <= 2 else mask_of(codes, levels, b.dtype)
        known = (codes >= 0).to(b.dtype)
        found.append(weighted_mean(label_losses(b[:, low:high], target).mean(1), known))
    return torch.stack(found).mean()


def permuted(code: Tensor, layout: Layout, noise: Mapping[str, Tensor]) -> Tensor:
    """Codes with every marginal and no pairing: z as one block and each attribute's b, shuffled apart."""
    z, b = code[:, : layout.n_z], code[:, layout.n_z :]
    parts = [z, *(b[:, low:high] for low, high in layout.blocks)]
    names = ["order_z", *(f"order_b{place}" for place in range(len(layout.blocks)))]
    return torch.cat([part[needed(noise, name)] for part, name in zip(parts, names, strict=True)], dim=-1)


def discriminator_loss(true: Tensor, shuffled: Tensor) -> Tensor:
    """`(CE(D(z, b), 0) + CE(D(shuffled), 1)) / 2`; ln 2 where the two cannot be told apart."""
    first, second = (functional.log_softmax(logits, dim=-1) for logits in (true, shuffled))
    return -(first[:, 0].mean() + second[:, 1].mean()) / 2


def needed(noise: Mapping[str, Tensor], name: str) -> Tensor:
    """The random numbers of that name."""
    if name not in noise:
        raise InputError(f"the method 'ffvae' draws nothing: give the noise {name!r} in Batch(noise=...)")
    return noise[name]


def noise_of_rows(x: Tensor, n: int) -> Tensor:
    """Numbers `[B, n]` that look drawn from N(0, 1), and are the same whenever a row is seen.

    They are made of the inputs by whole-number arithmetic, whose sums do not depend on their order: a row's
    noise depends neither on the rows nor on the runs beside it.

    >>> x = torch.tensor([[0.5, 1.0], [0.25, 1.0]])
    >>> torch.equal(noise_of_rows(x, 3)[1], noise_of_rows(x.flip(0), 3)[0])
    True
    """
    whole = (x.flatten(1) * GRID).round().to(torch.int64)
    places = torch.arange(1, whole.shape[1] + 1, device=x.device)
    key = (_mixed(places) * whole).sum(1)
    bits = _mixed(key[:, None] + _mixed(torch.arange(1, n + 1, device=x.device)))
    uniform = ((bits >> 11) & ((1 << 53) - 1)).to(torch.float64) * 2.0**-53
    normal: Tensor = torch.special.ndtri(uniform.clamp(2.0**-53, 1 - 2.0**-53))
    return normal.to(x.dtype)


def _mixed(bits: Tensor) -> Tensor:
    """Whole numbers scrambled (Steele et al. 2014, SplitMix); products wrap around."""
    bits = bits * ODD[0]
    bits = (bits ^ ((bits >> 30) & ((1 << 34) - 1))) * ODD[1]
    bits = (bits ^ ((bits >> 27) & ((1 << 37) - 1))) * ODD[2]
    return bits ^ ((bits >> 31) & ((1 << 33) - 1))
