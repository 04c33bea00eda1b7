"""Parts of tasks on the device: rows in, a batch out. Bytes stay bytes until they are needed.

Data that fits stays on the device; images that are decoded on demand, or do not fit, are streamed: the next
batch is decoded by a thread while the device works on this one.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.train.gpu_memory import free_for_us
from evenhand.train.inputs import (
    Resident,
    Streamed,
    compiled_fetch,
    holds_floats,
    numbers_in_a_row,
    take_rows,
)
from evenhand.train.runs import protect_of_each

MOST_FLOATS = 256 * 1024 * 1024  # inputs up to this many numbers are scaled once, beforehand


class Part:
    """One part (train, validation, test) of T tasks of one shape, which the runs of a stack may share.

    Row r of task t is found at `t * n + r`, so that a stack of runs on different tasks is one gather. A task
    that is there several times, each time with other attributes protected, has its inputs here once.
    """

    prepared = False  # inputs are the task's own

    def __init__(
        self,
        tasks: Sequence[Task],
        protect: Sequence[str | Sequence[str]],
        part: str,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
        resident: bool | None = None,
    ) -> None:
        protects = protect_of_each(protect, len(tasks))
        problems = [Problem.of(task, names, part) for task, names in zip(tasks, protects, strict=True)]
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
        self.g, self.a = (
            torch.cat([getattr(problem, name) for problem in problems]).to(device) for name in ("g", "a")
        )
        self.scaling = tasks[0].scaling
        first = [next(k for k, other in enumerate(tasks) if other is task) for task in tasks]
        alone = sorted(set(first))
        self.first_alike = torch.tensor(first, device=device)  # of each task, where its inputs came first
        self._block = torch.tensor([alone.index(place) for place in first], device=device)
        self.n_blocks = len(alone)
        self.y = torch.cat([problems[place].y for place in alone]).to(device)
        self._inputs = self._place([tasks[place] for place in alone], part, resident)

    def _place(self, tasks: Sequence[Task], part: str, resident: bool | None) -> Resident | Streamed:
        rows = [task.rows(part) for task in tasks]
        size = sum(len(r) for r in rows) * numbers_in_a_row(tasks[0])
        alike = len({task.scaling for task in tasks}) == 1
        # a GPU reads bytes faster than floats and scales them on the way; a CPU had better find them scaled
        once = self.device.type == "cpu" and size <= MOST_FLOATS
        floats = once or not alike or holds_floats(tasks[0])
        fits = size * (self.dtype.itemsize if floats else 1) <= room(self.device)
        if not (fits if resident is None else resident):
            if len(tasks) > 1:
                raise InputError(
                    "the tasks of this stack do not fit on the device; "
                    "train them one at a time (stack_size=1)"
                )
            return Streamed(tasks[0], rows[0], self.device)
        parts = [take_rows(task, r) for task, r in zip(tasks, rows, strict=True)]
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
        x = self._inputs_of(rows, None if tasks is None else self._block[tasks], compiled)
        return x, *self.labels(rows, tasks)

    def _inputs_of(self, rows: Tensor, blocks: Tensor | None, compiled: bool) -> Tensor:
        if blocks is not None and self.n_blocks == 1:
            if same_for_all(rows):  # nothing is held for each run where all see the same
                x = self._inputs_of(rows[:1], None, compiled)
                return x.expand(len(rows), *x.shape[1:])
            blocks = None
        places = self._places(rows, blocks)
        flat = places.reshape(-1)
        if compiled and isinstance(self._inputs, Resident) and self.dtype == torch.float32:
            x = compiled_fetch()(self._inputs.x, flat, *self.scaling.numbers(self.dtype, self.device))
        else:
            x = self.scaling(self._inputs.take(flat)).to(self.dtype)
        return x.view(*places.shape, *x.shape[1:])

    def labels(self, rows: Tensor, tasks: Tensor | None = None) -> tuple[Tensor, Tensor, Tensor]:
        """Labels, groups and attribute codes of rows `[..., B]`."""
        own = self._places(rows, tasks)
        alike = self._places(rows, None if tasks is None else self._block[tasks])
        y, g, a = (
            part.index_select(0, places.reshape(-1)).view(*places.shape, *part.shape[1:])
            for part, places in ((self.y, alike), (self.g, own), (self.a, own))
        )
        return y, g, a

    def _places(self, rows: Tensor, tasks: Tensor | None) -> Tensor:
        return rows if tasks is None else rows + tasks[:, None] * self.n

    def prefetch(self, rows: Tensor) -> None:
        """Begin to decode rows that will be asked for next."""
        self._inputs.prefetch(rows.reshape(-1))


def same_for_all(rows: Tensor) -> bool:
    """Whether all runs ask for the same rows: one list, expanded."""
    return rows.ndim == 2 and rows.stride(0) == 0


def room(device: torch.device) -> int:
    """How many bytes of inputs may live on the device: half of what we can have of a GPU, 4 GiB of memory."""
    if device.type == "cuda":
        return free_for_us(device) // 2
    return 4 << 30
