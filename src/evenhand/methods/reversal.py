"""Gradient reversal: the same value forward, the negated gradient backward."""

from __future__ import annotations

from torch import Tensor


def reverse(h: Tensor, factor: float | Tensor = 1.0) -> Tensor:
    """The value of `h` with the gradient `-factor`, by plain arithmetic, so that it stacks.

    What is added is exactly 0 and has the gradient `-(1 + factor)`: the value is that of h to the last bit.

    >>> import torch
    >>> h = torch.tensor([1.0, -2.0], requires_grad=True)
    >>> reverse(h, 3.0).sum().backward()
    >>> h.grad.tolist()
    [-3.0, -3.0]
    """
    return h + (1.0 + factor) * (h.detach() - h)
