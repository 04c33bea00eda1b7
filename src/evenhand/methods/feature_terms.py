"""How far a student's features are from its teacher's: the terms of AT, PKT, SP and FSP, without weights.

Features are `[B, C, H, W]` maps or `[B, n]` vectors of the same rows; each term is 0 for equal features, and
all of them vmap. What is not fixed by the papers follows the code that S2 used (Tian, Krishnan, Isola,
Contrastive representation distillation, ICLR 2020): means, not sums, over rows and places.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

PKT_EPS = 1e-7


def attention_term(student: Sequence[Tensor], teacher: Sequence[Tensor]) -> Tensor:
    """AT: `sum_l mean (a_s - a_t)^2`, a the mean of squares over channels, of length 1 in each row.

    Zagoruyko, Komodakis, Paying more attention to attention, ICLR 2017. Which channel shows what does not
    matter; where two maps differ in size the larger one is pooled.

    >>> maps = [torch.arange(8.0).view(1, 2, 2, 2)]
    >>> attention_term(maps, [maps[0].flip(1)]).item()
    0.0
    """
    terms = []
    for ours, theirs in zip(student, teacher, strict=True):
        ours, theirs = of_one_size(ours, theirs)
        terms.append((_attention(ours) - _attention(theirs)).square().mean())
    return torch.stack(terms).sum()


def _attention(maps: Tensor) -> Tensor:
    return functional.normalize(maps.square().mean(1).flatten(1), dim=1)


def pkt_term(student: Tensor, teacher: Tensor) -> Tensor:
    """PKT: `mean_ij p_ij log(p_ij / q_ij)`, p of the teacher: shares of (1 + cosine) / 2 in each row.

    Passalis, Tefas, Learning deep representations with probabilistic knowledge transfer, ECCV 2018. A row of
    zeros has the cosine 0 with all others, and no gradient.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    >>> pkt_term(x @ torch.tensor([[0.0, 1.0], [-1.0, 0.0]]), x).item()
    0.0
    """
    said, guessed = _affinities(teacher), _affinities(student)
    return (said * ((said + PKT_EPS) / (guessed + PKT_EPS)).log()).mean()


def _affinities(features: Tensor) -> Tensor:
    """How near each row is to each other one: shares `[B, B]` that sum to 1 in each row."""
    rows = features.flatten(1)
    rows = rows / (torch.linalg.vector_norm(rows, dim=1, keepdim=True) + PKT_EPS)
    near: Tensor = (rows @ rows.mT + 1) / 2
    return near / near.sum(1, keepdim=True)


def similarity_term(student: Tensor, teacher: Tensor) -> Tensor:
    """SP: `||G_s - G_t||^2 / B^2`, G the products of all pairs of rows, of length 1 in each row.

    Tung, Mori, Similarity-preserving knowledge distillation, ICCV 2019.

    >>> x = torch.tensor([[1.0, 0.0], [0.0, 2.0]])
    >>> similarity_term(x.flip(1), x).item(), round(similarity_term(torch.ones(2, 2), x).item(), 4)
    (0.0, 0.2929)
    """
    return (_products(student) - _products(teacher)).square().mean()


def _products(features: Tensor) -> Tensor:
    rows = features.flatten(1)
    return functional.normalize(rows @ rows.mT, dim=1)


def flow_term(student: Sequence[Tensor], teacher: Sequence[Tensor]) -> Tensor:
    """FSP: `sum_l mean (F_s - F_t)^2`, F[c, d] the mean over places of map c of a layer times d of the next.

    Yim, Joo, Bae, Kim, A gift from knowledge distillation, CVPR 2017. The larger of two layers is pooled to
    the smaller; student and teacher have as many channels.

    >>> maps = [torch.ones(1, 2, 4, 4), torch.ones(1, 3, 2, 2)]
    >>> flow_term([2 * each for each in maps], maps).item()
    9.0
    """
    pairs = zip(_flows(student), _flows(teacher), strict=True)
    return torch.stack([(ours - theirs).square().mean() for ours, theirs in pairs]).sum()


def _flows(maps: Sequence[Tensor]) -> list[Tensor]:
    """The matrices `[B, C, D]` of consecutive layers."""
    found = []
    for lower, upper in pairwise(maps):
        below, above = (each.flatten(2) for each in of_one_size(lower, upper))
        found.append(below @ above.mT / below.shape[-1])
    return found


def of_one_size(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """Two maps with the height and width of the smaller of them.

    >>> [tuple(each.shape) for each in of_one_size(torch.zeros(1, 2, 7, 7), torch.zeros(1, 3, 4, 4))]
    [(1, 2, 4, 4), (1, 3, 4, 4)]
    """
    height, width = (min(a, b) for a, b in zip(one.shape[-2:], other.shape[-2:], strict=True))
    return _pooled(one, height, width), _pooled(other, height, width)


def _pooled(maps: Tensor, height: int, width: int) -> Tensor:
    """Means over windows, as adaptive pooling has them, but as products: whose gradient is deterministic."""
    if maps.shape[-2:] == (height, width):
        return maps
    down, across = _windows(maps.shape[-2], height, maps), _windows(maps.shape[-1], width, maps)
    return down @ maps @ across.mT


def _windows(size: int, wanted: int, like: Tensor) -> Tensor:
    """The means over windows as a matrix `[m, n]`: window k is from floor(k n/m) to ceil((k + 1) n/m)."""
    k, place = torch.arange(wanted, device=like.device)[:, None], torch.arange(size, device=like.device)
    first, end = k * size // wanted, -(-(k + 1) * size // wanted)
    inside = ((place >= first) & (place < end)).to(like.dtype)
    return inside / inside.sum(1, keepdim=True)
