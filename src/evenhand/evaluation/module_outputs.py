"""What a module returned, read as class codes: logits, or the codes themselves; the rest is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import IntArray
from evenhand.errors import InputError

if TYPE_CHECKING:
    from torch import Tensor


def read_batch(out: Any, n: int, n_names: int | None = None) -> Tensor:
    """One number for each of n rows: whole ones are class codes, others the logit of the class 1.

    A row of logits becomes the code of the largest. Whether single numbers are logits at all is asked once
    all of them are there (`class_codes`): a batch may be too small to tell. `n_names` is how many names the
    outputs have, where they have any. Nothing of what was returned is kept.

    >>> import torch
    >>> read_batch(torch.tensor([[0.1, 0.9], [2.0, 1.0]]), 2).tolist()
    [1, 0]
    """
    logits = _tensor(out[0], "model(x)[0]") if isinstance(out, tuple) and out else _tensor(out, "model(x)")
    shape = tuple(logits.shape)
    if len(shape) not in (1, 2) or shape[0] != n or 0 in shape:
        raise InputError(f"a module must give one row of logits for each input, not {shape} for {n} inputs")
    if not logits.is_floating_point():
        logits = logits.long()
    elif unknown := int(logits.isnan().reshape(n, -1).any(1).sum()):
        raise InputError(
            f"a module gives NaN for {unknown} of {n} inputs, which is no class; look at its weights"
        )
    single = logits[0].numel() == 1
    if n_names is not None:
        _check_names(logits, single, n_names)
    # a module may return a part of its input: what is only looked at would hold on to all of it
    return (logits.reshape(-1) if single else logits.argmax(dim=1)).to("cpu", copy=True)


def class_codes(told: Tensor, n_classes: int | None = None) -> IntArray:
    """The codes of all rows; `n_classes` is how many classes the labels have, where that is known.

    >>> import torch
    >>> class_codes(torch.tensor([2, 0])).tolist(), class_codes(torch.tensor([0.3, -2.0])).tolist()
    ([2, 0], [1, 0])
    """
    if told.is_floating_point():
        _check_single_logits(told, n_classes)
        told = told > 0
    elif (least := int(told.min())) < 0:
        raise InputError(
            f"a module gives whole numbers, which are read as class codes, and {least} is none; return codes "
            "from 0 on, or logits as floating-point numbers"
        )
    return np.asarray(told.numpy(), dtype=np.int64)


def _check_names(logits: Tensor, single: bool, n_names: int) -> None:
    """Refuse more or fewer names than the module tells classes apart."""
    if single and not logits.is_floating_point():
        if (most := int(logits.max())) >= n_names:
            raise InputError(
                f"a module answers with the class code {most}, and there are {n_names} class names, whose "
                f"places go from 0 to {n_names - 1}"
            )
        return
    told = 2 if single else logits.shape[1]
    if told != n_names:
        how = "one logit a row, which tells two classes apart" if single else f"{told} logits a row"
        raise InputError(
            f"a module gives {how}, and there are {n_names} class names; give one for each class"
        )


def _check_single_logits(told: Tensor, n_classes: int | None) -> None:
    """Refuse single numbers that tell too few classes apart, or that mean another class as probabilities."""
    if n_classes is not None and n_classes > 2:
        raise InputError(
            f"a module gives one number a row, which tells two classes apart, and labels have {n_classes}; "
            "return a logit for each class, or class codes as whole numbers, such as logits.argmax(1)"
        )
    inside, disputed = (told >= 0) & (told <= 1), (told > 0) & (told <= 0.5)
    if bool(inside.all()) and bool(disputed.any()):
        raise InputError(
            f"a module gives one number a row, all from 0 to 1 (like {float(told[disputed][0]):.3g}): these "
            "look like probabilities, where logits are read and class 1 is above 0; return class codes, "
            "(p > 0.5).long() of probabilities or (z > 0).long() of logits"
        )


def _tensor(out: Any, said: str) -> Tensor:
    """What was returned if it is a tensor; else what came, and what a module around this one returns."""
    from torch import Tensor

    if isinstance(out, Tensor) and not out.is_complex():
        return out
    came, part = _named(out)
    raise InputError(
        f"a module must return logits as a tensor of numbers, or a tuple that begins with them, not {came}; "
        f"wrap it in a module whose forward(self, x) returns them, such as {said}{part}"
    )


def _named(out: Any) -> tuple[str, str]:
    """What came, in words, and how its logits would be taken from it."""
    kind = f"a {type(out).__name__}"
    if isinstance(out, Mapping):
        keys = [str(key) for key in out]
        key = "logits" if "logits" in keys or not keys else keys[0]
        return f"{kind} of {', '.join(map(repr, keys)) or 'nothing'}", f"[{key!r}]"
    if hasattr(out, "logits"):
        return f"{kind} that has .logits", ".logits"
    if isinstance(out, (list, tuple)):
        return f"{kind} of {len(out)}", "[0]"
    return ("a complex tensor", ".abs()") if hasattr(out, "is_complex") else (kind, ".logits")
