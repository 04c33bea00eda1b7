"""The gap of curvatures of a model's own loss, the shorter way where there is one."""

from __future__ import annotations

from torch import Tensor

from evenhand.methods.curvature_layers import layered_gap
from evenhand.methods.curvature_terms import curvature_gap
from evenhand.methods.nets import Nets
from evenhand.methods.terms import label_losses, mask_of, row_losses
from evenhand.metrics.mmd import KERNELS
from evenhand.records import Batch


def outputs_gap(nets: Nets, batch: Batch, *, h: float | Tensor = 1.0, kernels: str = "default") -> Tensor:
    """L_cm of a batch for the cross-entropy of the model's outputs, without dropout.

    >>> import torch
    >>> from evenhand.nets import NetSpec
    >>> from evenhand.records import Sizes
    >>> nets = Nets.of(NetSpec("mlp").build((3,), 2), Sizes((3,), 2, 2))
    >>> outputs_gap(nets, Batch(torch.ones(4, 3), torch.zeros(4).long(), torch.tensor([0, 0, 1, 1]))).item()
    0.0
    """
    layers, sizes = nets.layers("model"), nets.sizes
    if layers is not None and batch.y.ndim == 1 and len(layers[-1].bias) == 2 and not layers[-1].bends:
        mask = mask_of(batch.g, sizes.n_groups, batch.x.dtype)
        return layered_gap(layers, batch.x, batch.y, mask, h, KERNELS[kernels])
    model = nets.measured()["model"]
    return curvature_gap(
        lambda x: _losses(model(x)[0], batch.y), batch.x, batch.g, sizes.n_groups, h=h, kernels=kernels
    )


def _losses(logits: Tensor, y: Tensor) -> Tensor:
    """`row_losses`, of two classes from the margin: the slope of a row that is sure and right is then not 0.

    The slope of a softmax is 1 - p for the true class, which float32 rounds to 0 from a margin of 17 on.
    """
    if y.ndim == 1 and logits.shape[-1] == 2:
        return label_losses(logits[:, 1] - logits[:, 0], y)
    return row_losses(logits, y)
