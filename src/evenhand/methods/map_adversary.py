"""The adversary of `grl-conv`: a perceptron with batch normalisation on a flattened feature map."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from evenhand.nets.layers import Linear

EPS = 1e-5  # torch's


class BatchNormalised(nn.Module):
    """`gamma (h - mean) / sqrt(var + eps) + beta` with mean and variance of the batch: `[B, width]`.

    What `torch.nn.BatchNorm1d` does in training, without the running statistics that it keeps for predictions
    and that cannot be stacked. An adversary predicts nothing after training.

    >>> h = torch.tensor([[1.0], [3.0]])
    >>> [round(value, 3) for value in BatchNormalised(1)(h)[:, 0].tolist()]
    [-1.0, 1.0]
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width))

    def forward(self, h: Tensor) -> Tensor:
        """The same shape, in the precision of the parameters: means of few bits would be wrong."""
        wide = h.to(self.weight.dtype)
        centred = wide - wide.mean(0)
        return centred * (centred.square().mean(0) + EPS).rsqrt() * self.weight + self.bias


class MapAdversary(nn.Module):
    """Logits of groups `[B, groups]` for features `[B, ...]`, flattened: three hidden layers, a linear end.

    >>> MapAdversary(16, 2, width=8)(torch.randn(4, 4, 2, 2)).shape
    torch.Size([4, 2])
    """

    stackable = True

    def __init__(self, inputs: int, n_groups: int, width: int = 300) -> None:
        super().__init__()
        sizes = (inputs, width, width)
        self.layers = nn.ModuleList(Linear(size, width) for size in sizes)
        self.norms = nn.ModuleList(BatchNormalised(width) for _ in sizes)
        self.last = Linear(width, n_groups)

    def forward(self, z: Tensor) -> Tensor:
        """What it makes of each row; a row's answer depends on the others of the batch."""
        h = z.flatten(1)
        for layer, normalise in zip(self.layers, self.norms, strict=True):
            h = functional.leaky_relu(normalise(layer(h)))
        return self.last(h)  # type: ignore[no-any-return]
