"""Inputs that networks at rest have seen already: made once a row, then fetched like any other inputs."""

from __future__ import annotations

import torch
from torch import Tensor

from evenhand.train.parts import Part


class PreparedPart:
    """A part of which every run has inputs of its own `[R, N, ...]`; labels and groups are the part's."""

    prepared = True
    n_blocks = 0  # every run has inputs of its own

    def __init__(self, part: Part, x: Tensor) -> None:
        self.part, self.n, self.device, self.problems = part, part.n, part.device, part.problems
        self._x = x.flatten(0, 1)
        self._first = torch.arange(len(x), device=part.device)[:, None] * part.n

    def take(
        self, rows: Tensor, tasks: Tensor | None = None, compiled: bool = False
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Inputs, labels, groups and attribute codes of the rows `[R, B]`, as `Part.take` gives them."""
        places = (rows + self._first).reshape(-1)
        x = self._x.index_select(0, places)
        return x.view(*rows.shape, *x.shape[1:]), *self.part.labels(rows, tasks)

    def prefetch(self, rows: Tensor) -> None:
        """Nothing to do: they are on the device."""
