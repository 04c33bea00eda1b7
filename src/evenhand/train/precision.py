"""Which numbers training computes in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_map_only

from evenhand.train.recipe import Recipe


def parameter_type(recipe: Recipe) -> torch.dtype:
    """Parameters are float32, also where products are taken in fewer bits; float64 is for checks."""
    return torch.float64 if recipe.precision == "float64" else torch.float32


@contextmanager
def matmul_precision(recipe: Recipe) -> Iterator[None]:
    """Products and convolutions of float32 numbers in full precision unless the recipe says otherwise.

    torch lets cuDNN's convolutions use tf32 by default; "float32" here means float32.
    """
    before = torch.get_float32_matmul_precision(), torch.backends.cudnn.allow_tf32
    short = recipe.precision in ("tf32", "bfloat16")
    torch.set_float32_matmul_precision("high" if short else "highest")
    torch.backends.cudnn.allow_tf32 = short
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before[0])
        torch.backends.cudnn.allow_tf32 = before[1]


def in_bfloat16(network: Callable[..., Any]) -> Callable[..., Any]:
    """A network whose products are taken in bfloat16 and whose results are float32 again.

    Only networks: a loss that counted rows or took means over groups in 8 bits of precision would be wrong.
    """

    def call(*inputs: Tensor, **options: Any) -> Any:
        with torch.autocast(inputs[0].device.type, torch.bfloat16):
            found = network(*inputs, **options)
        return tree_map_only(Tensor, Tensor.float, found)

    return call
