"""Inputs under a shift: changed on the device as they are fetched, so that only one piece is in memory."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from evenhand.data.shifts import shift_inputs, white_of
from evenhand.data.task import Task
from evenhand.train.parts import Part, same_for_all
from evenhand.train.prepared import PreparedPart


class ShiftedPart:
    """A part whose inputs are seen through a shift; labels and groups are the part's.

    Noise depends on the seed, on a row's number in its task and on the place in the row alone: a row gets the
    same in every piece, in every stack and on every device.
    """

    prepared = False

    def __init__(
        self, part: Part, tasks: Sequence[Task], name: str, key: str, severity: float, seed: int
    ) -> None:
        self.part, self.n, self.device, self.problems = part, part.n, part.device, part.problems
        self.n_blocks = part.n_blocks
        self._rows = torch.cat([task.rows(name) for task in tasks]).to(part.device)
        self._scalings = [(task.scaling, white_of(task)) for task in tasks]
        self._shift = (key, severity, seed)

    def take(
        self, rows: Tensor, tasks: Tensor | None = None, compiled: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Inputs, labels, groups and attribute codes of the rows `[..., B]`, as `Part.take` gives them."""
        if tasks is None or not same_for_all(rows):
            x = self._shifted(self.part.take(rows, tasks)[0], rows, tasks)
        else:  # several runs on one task see the same inputs: these are shifted once
            some, place = torch.unique(self.part.first_alike[tasks], return_inverse=True)
            own = rows[: len(some)]
            x = self._shifted(self.part.take(own, some)[0], own, some)
            x = x.expand(len(rows), *x.shape[1:]) if len(some) == 1 else x.index_select(0, place)
        return x, *self.part.labels(rows, tasks)

    def _shifted(self, x: Tensor, rows: Tensor, tasks: Tensor | None) -> Tensor:
        """All rows at once; task by task where each scales its inputs in its own way."""
        places = rows if tasks is None else rows + tasks[:, None] * self.n
        ids = self._rows[places]
        if tasks is None or len(set(self._scalings)) == 1:
            return self._call(x.flatten(0, rows.ndim - 1), ids.flatten(), 0).view_as(x)
        each = zip(x, ids, tasks.tolist(), strict=True)
        return torch.stack([self._call(own, numbers, task) for own, numbers, task in each])

    def _call(self, x: Tensor, rows: Tensor, task: int) -> Tensor:
        (key, severity, seed), (scaling, white) = self._shift, self._scalings[task]
        return shift_inputs(key, x, severity, seed=seed, rows=rows, scaling=scaling, white=white)

    def prefetch(self, rows: Tensor) -> None:
        """Begin to decode rows that will be asked for next."""
        self.part.prefetch(rows)


Seen = Part | PreparedPart | ShiftedPart
