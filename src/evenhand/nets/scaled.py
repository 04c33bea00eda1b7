"""A trained network with the scaling of its inputs before it."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn


class Scaled(nn.Module):
    """Reads inputs as a task has them, images as bytes, and gives the logits of the network.

    >>> import torch
    >>> from evenhand.nets import NetSpec
    >>> net = Scaled(NetSpec("mlp", widths=(4,)).build((3,), 2), lambda x: x / 255)
    >>> net(torch.zeros(5, 3, dtype=torch.uint8)).shape
    torch.Size([5, 2])
    """

    def __init__(self, net: nn.Module, scaling: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.net, self.scaling = net, scaling

    def forward(self, x: Tensor) -> Tensor:
        """Logits `[B, outputs]`."""
        held = (*self.net.parameters(), *self.net.buffers())
        dtype = next(value.dtype for value in held if value.is_floating_point())
        logits: Tensor = self.net(self.scaling(x).to(dtype))[0]
        return logits
