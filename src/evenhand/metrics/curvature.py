"""How curved a model's loss is around each row: the spectral norm of the Hessian for the inputs.

    C(x) = || d^2 l(x, y) / dx dx^T ||_2

A row where the loss is much curved is one whose prediction moves much when its inputs move a little. Three
ways to it: the one-shot estimate that is cheap enough to train with, power iteration that is as exact as one
has patience for, and the closed form of two logits and a piecewise linear network.

Citation: Moosavi-Dezfooli et al., Robustness via Curvature Regularization, and Vice Versa, CVPR 2019;
Equalized Robustness: Towards Sustainable Fairness under Distributional Shifts (S4).

>>> weight = torch.tensor([3.0, 4.0])
>>> loss = lambda x: torch.nn.functional.softplus(x @ weight)  # logistic regression, y = 0
>>> spectral_norm(loss, torch.zeros(1, 2)).item()  # p (1 - p) ||w||^2
6.25
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch.func import grad, vjp

Loss = Callable[[Tensor], Tensor]  # inputs [B, ...] -> the losses [B] of these very rows
TINY = 1e-12  # under the root, so that a row without curvature has a finite gradient


def one_shot(loss_of: Loss, x: Tensor, h: float | Tensor = 1.0) -> Tensor:
    """The estimate `[B]` from two gradients, at x and one step of length h up the signs of the first.

        v = sign(g(x)) / ||sign(g(x))||,   C = ||g(x + h v) - g(x)|| / |h|

    Gradients are of the sum of losses: of a mean they would shrink with the batch. The direction is held
    constant. Pure: it goes under vmap, and ordinary autograd outside reaches the parameters.

    >>> one_shot(lambda x: (x**2).sum(1), torch.tensor([[1.0, -2.0]])).item()
    2.0
    """
    x = x.detach()
    slope = _slope(loss_of)
    here = slope(x)
    signs = here.detach().sign()
    direction = signs / _over_rows(signs.abs().flatten(1).sum(1).clamp(min=1).sqrt(), x)
    there = slope((x + h * direction).detach())
    return (((there - here) / h).flatten(1).square().sum(1) + TINY).sqrt()


def spectral_norm(loss_of: Loss, x: Tensor, steps: int = 30) -> Tensor:
    """Power iteration by products with the Hessian, `[B]`: any number of classes, all rows at once.

    A product is a gradient of the gradient, since the Hessian is symmetric; it is the largest absolute
    eigenvalue that is found, whatever its sign.

    >>> spectral_norm(lambda x: 3 * x[:, 0] ** 2 - 5 * x[:, 1] ** 2, torch.ones(1, 2)).item()
    10.0
    """
    x = x.detach()
    product: Callable[[Tensor], tuple[Tensor]] = vjp(_slope(loss_of), x)[1]
    # waves are orthogonal to no direction that one would meet, and the same on every machine
    waves = torch.arange(1, x[0].numel() + 1, device=x.device).sin().to(x.dtype)
    v, size = _unit(waves.view(x[0].shape).expand_as(x))
    for _ in range(steps):
        v, size = _unit(product(v)[0])
    return size


def two_logit_curvature(logits_of: Loss, x: Tensor) -> Tensor:
    """The exact curvature `[B]` of cross-entropy for two logits of a piecewise linear network, for any label.

        C(x) = p (1 - p) ||w||^2,   w = d(logit_1 - logit_0) / dx,   p = sigmoid(logit_1 - logit_0)

    `logits_of` gives `[B, 2]`, or one logit for each row.

    >>> two_logit_curvature(lambda x: x @ torch.tensor([3.0, 4.0]), torch.zeros(1, 2)).item()
    6.25
    """

    def difference(inputs: Tensor) -> Tensor:
        logits = logits_of(inputs).reshape(len(inputs), -1)
        return logits[:, -1] - logits[:, 0] if logits.shape[1] == 2 else logits[:, 0]

    x = x.detach()
    p = difference(x).sigmoid()
    return p * (1 - p) * _slope(difference)(x).flatten(1).square().sum(1)


def _slope(loss_of: Loss) -> Loss:
    found: Loss = grad(lambda inputs: loss_of(inputs).sum())
    return found


def _unit(v: Tensor) -> tuple[Tensor, Tensor]:
    """Vectors of length 1 `[B, ...]`, and how long they were; one of length 0 stays."""
    size = v.flatten(1).square().sum(1).sqrt()
    return v / _over_rows(torch.where(size > 0, size, torch.ones_like(size)), v), size


def _over_rows(size: Tensor, x: Tensor) -> Tensor:
    return size.view(-1, *[1] * (x.ndim - 1))
