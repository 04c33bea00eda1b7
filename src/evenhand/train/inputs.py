"""Where the inputs of a part are: on the device, or decoded on the CPU one batch ahead."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

from evenhand.data.task import Task


class Resident:
    """Inputs that live on the device."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def take(self, rows: Tensor) -> Tensor:
        """Rows by number."""
        return self.x.index_select(0, rows)

    def prefetch(self, rows: Tensor) -> None:
        """Nothing to do."""


class Streamed:
    """Inputs that are decoded on the CPU and sent over, one batch ahead."""

    def __init__(self, task: Task, rows: Tensor, device: torch.device) -> None:
        self._task, self._rows, self._device = task, rows, device
        self._worker = ThreadPoolExecutor(1)
        self._ahead: tuple[Tensor, Future[Tensor]] | None = None

    def take(self, rows: Tensor) -> Tensor:
        """Rows by number, from what was decoded ahead if it is the same."""
        rows = rows.cpu()
        ahead, self._ahead = self._ahead, None
        if ahead is not None and torch.equal(ahead[0], rows):
            return ahead[1].result().to(self._device, non_blocking=True)
        return self._decode(rows).to(self._device, non_blocking=True)

    def prefetch(self, rows: Tensor) -> None:
        """Decode these rows in the background."""
        rows = rows.cpu()
        self._ahead = (rows, self._worker.submit(self._decode, rows))

    def _decode(self, rows: Tensor) -> Tensor:
        decoded = take_rows(self._task, self._rows[rows])
        return decoded.pin_memory() if self._device.type == "cuda" else decoded


@cache
def compiled_fetch() -> Callable[..., Tensor]:
    """Rows fetched and scaled, as one kernel."""

    def fetch(x: Tensor, rows: Tensor, shift: float | Tensor, scale: float | Tensor) -> Tensor:
        return (x[rows].to(torch.float32) - shift) / scale

    found: Callable[..., Tensor] = torch.compile(fetch, dynamic=False)
    return found


def take_rows(task: Task, rows: Tensor) -> Tensor:
    """Rows of a task's inputs, decoded if need be."""
    return task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)


def holds_floats(task: Task) -> bool:
    """Whether inputs are numbers already; whatever is decoded on demand is bytes."""
    return isinstance(task.x, Tensor) and task.x.is_floating_point()


def numbers_in_a_row(task: Task) -> int:
    """Numbers in one row of inputs."""
    return int(torch.Size(task.input_shape).numel())
