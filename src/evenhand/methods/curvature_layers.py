"""The gap of curvatures and its gradient by hand, for two classes and a ReLU perceptron: a third cheaper.

With the margin m = z_1 - z_0, its slope w = dm/dx and p = sigmoid(m), the loss of a row has the gradient
g = (p - y) w. A ReLU network is linear around a row, with ReLUs that are open or shut, so what a layer's
parameters owe to the curvature of a row is one outer product at each of the two points,

    dm/dz_l  x  (r t_l + q a_l),      r = p - y,   q = p (1 - p) <t, w>

z_l being what layer l gives, a_l what it is given, and t_l the direction t = dL_cm/dg carried that far. The
double backward pass of autograd, which cannot know that both terms share a factor, takes two, and carries
more than it needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from evenhand.methods.curvature_terms import distance_and_slope
from evenhand.metrics.curvature import TINY
from evenhand.nets.affine import Affine


class Passed(NamedTuple):
    """Rows, as columns, on their way through the layers: what each is given, dm/dz of each, and m."""

    given: list[Tensor]
    slopes: list[Tensor]
    margin: Tensor


def layered_gap(
    layers: Sequence[Affine], x: Tensor, y: Tensor, mask: Tensor, h: float | Tensor, sigmas: Sequence[float]
) -> Tensor:
    """`curvature_gap` of a network of these layers, the last of which has two outputs; differentiable once.

    >>> layers = [Affine(torch.tensor([[0.0, 0.0], [3.0, 4.0]]), torch.zeros(2), bends=False)]
    >>> x = torch.tensor([[0.0, 0.0], [0.0, 0.0], [30.0, 0.0], [30.0, 0.0]])
    >>> mask = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> round(layered_gap(layers, x, torch.zeros(4).long(), mask, 1e-3, (1.0,)).item(), 3)
    2.0
    """
    still = _with_margin(layers)
    columns, first = x.detach().flatten(1).mT.contiguous(), still[0].weight
    here = _passed(still, columns)
    r_here = _residue(here.margin, y)
    signs = (first.mT @ here.slopes[0]).sign_()  # of w; those of g = (p - y) w follow
    length = torch.linalg.vector_norm(signs, dim=0).clamp(min=1)
    there = _passed(still, signs.mul_(r_here.sign() * h / length).add_(columns))
    r_there = _residue(there.margin, y)
    change = first.mT @ (there.slopes[0] * r_there).sub_(here.slopes[0] * r_here)
    curvatures = (torch.linalg.vector_norm(change, dim=0).square() / h**2 + TINY).sqrt()
    value, slope = distance_and_slope(curvatures, mask, sigmas)
    direction = change.mul_(slope / (curvatures * h**2))
    start = first @ direction if len(still) > 1 else direction
    owed = (
        _owed(still, here, -1, r_here, direction, start),
        _owed(still, there, 1, r_there, direction, start),
    )
    total = torch.stack([
        (layer.weight * (one[0] + other[0])).sum() + (layer.bias * (one[1] + other[1])).sum()
        for layer, one, other in zip(_with_margin(layers, tracked=True), *owed, strict=True)
    ]).sum()  # fmt: skip
    return value + (total - total.detach())


def _with_margin(layers: Sequence[Affine], *, tracked: bool = False) -> list[Affine]:
    """The layers with the margin in place of the two outputs; constants unless tracked."""
    *hidden, last = layers
    margin = Affine(last.weight[1:] - last.weight[:1], last.bias[1:] - last.bias[:1], bends=False)
    found = [*hidden, margin]
    return found if tracked else [Affine(w.detach(), b.detach(), bends) for w, b, bends in found]


def _passed(layers: Sequence[Affine], columns: Tensor) -> Passed:
    """All layers forwards, and the margin backwards to the first layer."""
    given = [columns]
    for layer in layers[:-1]:
        a = (layer.weight @ given[-1]).add_(layer.bias[:, None])  # in place: fresh memory is what costs
        given.append(torch.relu_(a) if layer.bends else a)
    ends = layers[-1].weight.mT
    margin = (ends * given[-1]).sum(0) + layers[-1].bias
    slopes = [torch.ones_like(margin)[None]]
    for place in range(len(layers) - 1, 0, -1):
        back = ends.expand_as(given[place]) if len(slopes) == 1 else layers[place].weight.mT @ slopes[0]
        slopes.insert(0, _let_through(back, given[place]) if layers[place - 1].bends else back)
    return Passed(given, slopes, margin)


def _residue(margin: Tensor, y: Tensor) -> Tensor:
    """`p - y` with all its digits for rows that are sure and right, where float32 would round it to 0."""
    side = 1 - 2 * y.to(margin.dtype)
    return side * (side * margin).sigmoid()


def _owed(
    layers: Sequence[Affine], point: Passed, sign: int, r: Tensor, direction: Tensor, start: Tensor
) -> list[tuple[Tensor, Tensor]]:
    """What the weight and the bias of each layer owe to one of the two points, which is used up."""
    carried = [direction]
    for place, layer in enumerate(layers[:-1]):
        t = start if place == 0 else layer.weight @ carried[-1]
        carried.append(_let_through(t, point.given[place + 1]) if layer.bends else t)
    along = (layers[-1].weight.mT * carried[-1]).sum(0)
    r, q = sign * r, sign * point.margin.sigmoid() * (-point.margin).sigmoid() * along
    given = [point.given[0] * q, *(a.mul_(q) for a in point.given[1:])]  # the first is not ours to change
    return [
        (slope @ a.add_(t * r).mT, (q[None] @ slope.mT)[0])
        for slope, t, a in zip(point.slopes, carried, given, strict=True)
    ]


def _let_through(values: Tensor, output: Tensor) -> Tensor:
    """Values where the ReLU with this output is open, else 0."""
    found: Tensor = torch.ops.aten.threshold_backward(values, output, 0)
    return found
