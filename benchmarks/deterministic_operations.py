"""Operations that torch documents as having, or once having had, no deterministic form; tried one by one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from evenhand.train.determinism import deterministic, obstacles

Work = Callable[[torch.device], Tensor | tuple[Tensor, ...] | None]


@dataclass(frozen=True)
class Operation:
    """A name and what to run on a device; gradients of what it gives back are taken."""

    name: str
    work: Work


def leaf(device: torch.device, *shape: int) -> Tensor:
    """Numbers that want a gradient."""
    return torch.rand(*shape, device=device).requires_grad_()


def places(device: torch.device, count: int, most: int) -> Tensor:
    """Places with repetitions: what makes sums depend on their order."""
    return torch.arange(count, device=device) % most


def module(made: Callable[[], nn.Module], *shape: int) -> Work:
    """Forward and backward through a module."""
    return lambda device: made().to(device)(leaf(device, *shape))


def resized(mode: str, *shape: int) -> Work:
    """Forward and backward through `interpolate`."""
    return lambda device: F.interpolate(leaf(device, *shape), scale_factor=2, mode=mode)


def embedding_bag(mode: str) -> Work:
    """Bags of words, taken together by a sum, a mean or the largest."""
    return lambda device: nn.EmbeddingBag(5, 3, mode=mode).to(device)(places(device, 12, 5).view(3, 4))


def ctc(device: torch.device) -> Tensor:
    """The loss of sequences without alignment, at a length that cuDNN does not take."""
    scores = leaf(device, 50, 4, 20).log_softmax(2)
    targets = torch.randint(1, 20, (4, 30), device=device)
    sizes = torch.full((4,), 50), torch.full((4,), 30)
    return F.ctc_loss(scores, targets, *sizes)


def spatial_nll(device: torch.device) -> Tensor:
    """Cross-entropy of a label for each pixel."""
    return F.cross_entropy(leaf(device, 2, 5, 8, 8), torch.zeros(2, 8, 8, dtype=torch.long, device=device))


def put_accumulate(device: torch.device) -> Tensor:
    """`index_put_` that adds."""
    return torch.zeros(5, device=device).index_put(
        (places(device, 20, 5),), leaf(device, 20), accumulate=True
    )


def cumsum(device: torch.device) -> Tensor:
    """Sums along a line, of floats."""
    return leaf(device, 4096).cumsum(0)


def rolled(mode: str) -> Work:
    """`scatter_reduce` by one of its ways."""
    return lambda device: torch.zeros(5, device=device).scatter_reduce(
        0, places(device, 20, 5), leaf(device, 20), mode
    )


OPERATIONS = (
    Operation("index_add", lambda d: torch.zeros(5, device=d).index_add(0, places(d, 20, 5), leaf(d, 20))),
    Operation("index_put, accumulate", put_accumulate),
    Operation("index_select", lambda d: leaf(d, 5, 3).index_select(0, places(d, 20, 5))),
    Operation("index_copy", lambda d: torch.zeros(5, device=d).index_copy(0, places(d, 5, 5), leaf(d, 5))),
    Operation("gather", lambda d: leaf(d, 5).gather(0, places(d, 20, 5))),
    Operation("scatter_add, one dimension",
              lambda d: torch.zeros(5, device=d).scatter_add(0, places(d, 20, 5), leaf(d, 20))),
    Operation("scatter_add, two dimensions",
              lambda d: torch.zeros(5, 3, device=d).scatter_add(
                  0, places(d, 20, 5)[:, None].expand(20, 3), leaf(d, 20, 3))),
    Operation("scatter_reduce, mean", rolled("mean")),
    Operation("scatter_reduce, prod", rolled("prod")),
    Operation("repeat_interleave", lambda d: leaf(d, 5).repeat_interleave(torch.full((5,), 3, device=d))),
    Operation("put, accumulate", lambda d: torch.zeros(5, device=d).put_(
        places(d, 20, 5), torch.rand(20, device=d), accumulate=True)),
    Operation("bincount, weights", lambda d: torch.bincount(places(d, 20, 5), torch.rand(20, device=d))),
    Operation("histc", lambda d: torch.histc(torch.rand(20, device=d), 5)),
    Operation("cumsum", cumsum),
    Operation("kthvalue", lambda d: leaf(d, 20).kthvalue(3)),
    Operation("median, with indices", lambda d: leaf(d, 4, 20).median(0)),
    Operation("conv2d", module(lambda: nn.Conv2d(3, 4, 3), 2, 3, 8, 8)),
    Operation("conv_transpose2d", module(lambda: nn.ConvTranspose2d(3, 4, 3), 2, 3, 8, 8)),
    Operation("adaptive_avg_pool2d", module(lambda: nn.AdaptiveAvgPool2d(3), 2, 3, 8, 8)),
    Operation("adaptive_avg_pool3d", module(lambda: nn.AdaptiveAvgPool3d(3), 2, 3, 8, 8, 8)),
    Operation("adaptive_max_pool2d", module(lambda: nn.AdaptiveMaxPool2d(3), 2, 3, 8, 8)),
    Operation("avg_pool3d", module(lambda: nn.AvgPool3d(3), 2, 3, 9, 9, 9)),
    Operation("max_pool3d", module(lambda: nn.MaxPool3d(3), 2, 3, 9, 9, 9)),
    Operation("fractional_max_pool2d", module(lambda: nn.FractionalMaxPool2d(3, 3), 2, 3, 8, 8)),
    Operation("max_unpool2d", lambda d: F.max_unpool2d(
        *F.max_pool2d(leaf(d, 2, 3, 8, 8), 2, return_indices=True), 2)),
    Operation("interpolate, nearest", resized("nearest", 2, 3, 8, 8)),
    Operation("interpolate, linear", resized("linear", 2, 3, 8)),
    Operation("interpolate, bilinear", resized("bilinear", 2, 3, 8, 8)),
    Operation("interpolate, bicubic", resized("bicubic", 2, 3, 8, 8)),
    Operation("interpolate, trilinear", resized("trilinear", 2, 3, 4, 4, 4)),
    Operation("grid_sample, 2 dimensions", lambda d: F.grid_sample(
        leaf(d, 2, 3, 8, 8), leaf(d, 2, 4, 4, 2), align_corners=False)),
    Operation("reflection_pad1d", module(lambda: nn.ReflectionPad1d(2), 2, 3, 8)),
    Operation("reflection_pad2d", module(lambda: nn.ReflectionPad2d(2), 2, 3, 8, 8)),
    Operation("replication_pad2d", module(lambda: nn.ReplicationPad2d(2), 2, 3, 8, 8)),
    Operation("cross_entropy, spatial", spatial_nll),
    Operation("ctc_loss", ctc),
    Operation("embedding", lambda d: nn.Embedding(5, 3).to(d)(places(d, 20, 5))),
    Operation("embedding_bag, sum", embedding_bag("sum")),
    Operation("embedding_bag, max", embedding_bag("max")),
)  # fmt: skip


def tried(operation: Operation, device: torch.device) -> dict[str, Any]:
    """Whether an operation raises in deterministic mode, and what torch names.

    Torch's own check is asked for the name; whether it raises is seen by raising. `raises` is None where the
    operation cannot be run here at all, whatever the mode.
    """
    torch.manual_seed(0)
    row: dict[str, Any] = {"operation": operation.name, "raises": None, "why": ""}
    try:
        named = obstacles(lambda: _through(operation, device))
    except (RuntimeError, NotImplementedError, TypeError, ValueError) as error:
        return row | {"why": str(error).splitlines()[0][:120]}
    return row | {"raises": _raises(operation, device), "why": ", ".join(named)}


def _through(operation: Operation, device: torch.device) -> None:
    """Forward, and backward through what has a gradient."""
    found = operation.work(device)
    for tensor in found if isinstance(found, tuple) else (found,):
        if tensor is not None and tensor.requires_grad:
            tensor.sum().backward()


def _raises(operation: Operation, device: torch.device) -> bool:
    with deterministic():
        try:
            _through(operation, device)
        except RuntimeError as error:
            if "deterministic" not in str(error):
                raise
            return True
    return False
