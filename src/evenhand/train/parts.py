"""Parts of tasks on the device: rows in, a batch out. Bytes stay bytes until they are needed.

Data that fits stays on the device; images that are decoded on demand, or do not fit, are streamed: the next
batch is decoded by a thread while the device works on this one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache

import torch
from torch import Tensor

from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.methods.problem import Problem

MOST_FLOATS = 256 * 1024 * 1024  # inputs up to this many numbers are scaled once, beforehand


class Part:
    """One part (train, validation, test) of T tasks of one shape, which the runs of a stack may share.

    Row r of task t is found at `t * n + r`, so that a stack of runs on different tasks is one gather.
    """

    prepared = False  # inputs are the task's own

    def __init__(
        self,
        tasks: Sequence[Task],
        protect: Sequence[str],
        part: str,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        resident: bool | None = None,
    ) -> None:
        problems = [Problem.of(task, protect, part) for task in tasks]
        if (
            len({len(problem) for problem in problems}) > 1
            or len({problem.sizes for problem in problems}) > 1
        ):
            raise InputError(
                "tasks of one stack must have the same shapes, groups and numbers of rows; "
                "train them one at a time (stack_size=1)"
            )
        self.n, self.n_tasks = len(problems[0]), len(tasks)
        self.device, self.dtype = device, dtype
        self.problems = problems
        self.y, self.g, self.a = (
            torch.cat([getattr(problem, name) for problem in problems]).to(device) for name in ("y", "g", "a")
        )
        self.scaling = tasks[0].scaling
        self._inputs = self._place(tasks, part, resident)

    def _place(self, tasks: Sequence[Task], part: str, resident: bool | None) -> Resident | Streamed:
        rows = [task.rows(part) for task in tasks]
        size = sum(len(r) for r in rows) * _numbers(tasks[0])
        alike = len({task.scaling for task in tasks}) == 1
        # a GPU reads bytes faster than floats and scales them on the way; a CPU had better find them scaled
        once = self.device.type == "cpu" and size <= MOST_FLOATS
        floats = once or not alike or _holds_floats(tasks[0])
        fits = size * (self.dtype.itemsize if floats else 1) <= room(self.device)
        if not (fits if resident is None else resident):
            if len(tasks) > 1:
                raise InputError(
                    "the tasks of this stack do not fit on the device; "
                    "train them one at a time (stack_size=1)"
                )
            return Streamed(tasks[0], rows[0], self.device)
        parts = [_take(task, r) for task, r in zip(tasks, rows, strict=True)]
        if floats:
            scaled = [task.scaling(x).to(self.dtype) for task, x in zip(tasks, parts, strict=True)]
            parts, self.scaling = scaled, Scaling()
        return Resident(torch.cat(parts).to(self.device))

    def take(
        self, rows: Tensor, tasks: Tensor | None = None, compiled: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Scaled inputs, labels, groups and attribute codes of rows `[..., B]`; `tasks [R]` of each run.

        `compiled` fetches and scales in one pass over memory; it pays where many batches of one shape come.
        """
        places = self._places(rows, tasks)
        flat = places.reshape(-1)
        if compiled and isinstance(self._inputs, Resident) and self.dtype == torch.float32:
            x = compiled_fetch()(self._inputs.x, flat, *self.scaling.numbers(self.dtype, self.device))
        else:
            x = self.scaling(self._inputs.take(flat)).to(self.dtype)
        return x.view(*places.shape, *x.shape[1:]), *self.labels(rows, tasks)

    def labels(self, rows: Tensor, tasks: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Labels, groups and attribute codes of rows `[..., B]`."""
        places = self._places(rows, tasks)
        flat = places.reshape(-1)
        y, g, a = (
            part.index_select(0, flat).view(*places.shape, *part.shape[1:])
            for part in (self.y, self.g, self.a)
        )
        return y, g, a

    def _places(self, rows: Tensor, tasks: Tensor | None) -> Tensor:
        return rows if tasks is None else rows + tasks[:, None] * self.n

    def prefetch(self, rows: Tensor) -> None:
        """Begin to decode rows that will be asked for next."""
        self._inputs.prefetch(rows.reshape(-1))


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
        decoded = _take(self._task, self._rows[rows])
        return decoded.pin_memory() if self._device.type == "cuda" else decoded


@cache
def compiled_fetch() -> Callable[..., Tensor]:
    """Rows fetched and scaled, as one kernel."""

    def fetch(x: Tensor, rows: Tensor, shift: float | Tensor, scale: float | Tensor) -> Tensor:
        return (x[rows].to(torch.float32) - shift) / scale

    found: Callable[..., Tensor] = torch.compile(fetch, dynamic=False)
    return found


def _take(task: Task, rows: Tensor) -> Tensor:
    return task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)


def _holds_floats(task: Task) -> bool:
    """Whether inputs are numbers already; whatever is decoded on demand is bytes."""
    return isinstance(task.x, Tensor) and task.x.is_floating_point()


def _numbers(task: Task) -> int:
    """Numbers in one row of inputs."""
    return int(torch.Size(task.input_shape).numel())


def room(device: torch.device) -> int:
    """How many bytes of inputs may live on the device: half of what a GPU has free, 4 GiB of main memory."""
    if device.type == "cuda":
        return int(torch.cuda.mem_get_info(device)[0] // 2)
    return 4 << 30
