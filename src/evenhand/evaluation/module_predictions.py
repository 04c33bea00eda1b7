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

    The module is put at rest (`eval`) for the time of the call, runs where its parameters are and in their
    precision, and may return logits or a tuple that begins with them. NaN and no rows at all are refused.

    >>> import torch
    >>> predicted_classes(torch.nn.Identity(), torch.tensor([[0.1, 0.9], [2.0, 1.0]])).tolist()
    [1, 0]
    """
    import torch

    _check(module, batch_size)
    x = _rows(x)
    learning = [part for part in module.modules() if part.training]
    module.eval()
    try:
        with torch.no_grad():
            parts = [_classes(_asked(module, rows), len(rows)) for rows in torch.split(x, batch_size)]
    finally:
        for part in learning:  # some may have been at rest before
            part.training = True
    return np.concatenate(parts)


def _check(module: object, batch_size: int) -> None:
    from torch import nn

    if not isinstance(module, nn.Module):
        raise InputError(f"a torch module is asked for predictions, not {type(module).__name__}")
    if batch_size < 1:
        raise InputError(f"'batch_size' must be at least 1, not {batch_size}")


def _rows(x: Any) -> Tensor:
    """The inputs as a tensor that has rows."""
    import torch

    try:
        rows = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"the inputs must be a tensor or an array with a row for each label, not {type(x).__name__}; "
            "join the batches of a loader first, as in torch.cat([x for x, y in loader])"
        ) from error
    if rows.ndim == 0 or len(rows) == 0:
        raise InputError(
            f"the modules are asked about no input at all: 'x' has the shape {tuple(rows.shape)}; give a row "
            "for each label"
        )
    return rows


def _asked(module: nn.Module, rows: Tensor) -> Any:
    """What the module says; where it cannot take such inputs, which they are."""
    import torch

    try:
        return module(_as_read_by(module, rows))
    except torch.OutOfMemoryError:
        raise
    except RuntimeError as error:
        kind = str(rows.dtype).removeprefix("torch.")
        told = next(iter(str(error).splitlines()), "")
        raise InputError(
            f"a module does not take inputs of the shape {tuple(rows.shape)} and type {kind}; give them as "
            f"it was trained on them (torch says: {told})"
        ) from error


def _as_read_by(module: nn.Module, rows: Tensor) -> Tensor:
    """The rows where the module is, and of as many bits as its parameters, unless they are codes."""
    held = (*module.parameters(), *module.buffers())  # a layer of eight bits may have buffers alone
    own = next((value for value in held if value.is_floating_point()), None)
    if own is None:
        return rows
    return rows.to(own.device, own.dtype) if rows.is_floating_point() else rows.to(own.device)


def _classes(out: Any, n: int) -> IntArray:
    logits = out[0] if isinstance(out, tuple) else out
    shape = tuple(getattr(logits, "shape", ()))
    if len(shape) not in (1, 2) or shape[0] != n or 0 in shape:
        raise InputError(f"a module must give one row of logits for each input, not {shape} for {n} inputs")
    if unknown := int(logits.isnan().reshape(n, -1).any(1).sum()):
        raise InputError(
            f"a module gives NaN for {unknown} of {n} inputs, which is no class; look at its weights"
        )
    if logits.ndim == 1 or logits.shape[1] == 1:
        return np.asarray((logits.reshape(-1) > 0).cpu().numpy(), dtype=np.int64)
    return np.asarray(logits.argmax(dim=1).cpu().numpy(), dtype=np.int64)
