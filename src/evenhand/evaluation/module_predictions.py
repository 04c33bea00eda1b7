"""What a module of one's own predicts, batch by batch, as class codes: for those who have no files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor, nn


def predicted_classes(module: nn.Module, x: Tensor, batch_size: int = 512) -> IntArray:
    """The class of the largest output for every row of `x`; with one output, 1 where it is above 0.

    The module is put at rest (`eval`) for the time of the call, runs where its parameters are, and may return
    logits or a tuple that begins with them.

    >>> import torch
    >>> predicted_classes(torch.nn.Identity(), torch.tensor([[0.1, 0.9], [2.0, 1.0]])).tolist()
    [1, 0]
    """
    import torch

    place = next(iter(module.parameters()), x).device
    learning = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            parts = [_classes(module(rows.to(place)), len(rows)) for rows in torch.split(x, batch_size)]
    finally:
        for part in learning:  # some may have been at rest before
            part.training = True
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _classes(out: Any, n: int) -> IntArray:
    logits = out[0] if isinstance(out, tuple) else out
    if getattr(logits, "ndim", 0) not in (1, 2) or len(logits) != n:
        shape = tuple(getattr(logits, "shape", ()))
        raise InputError(f"a module must give one row of logits for each input, not {shape} for {n} inputs")
    if logits.ndim == 1 or logits.shape[1] == 1:
        return np.asarray((logits.reshape(-1) > 0).cpu().numpy(), dtype=np.int64)
    return np.asarray(logits.argmax(dim=1).cpu().numpy(), dtype=np.int64)
