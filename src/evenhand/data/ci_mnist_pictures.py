"""CI-MNIST before it is painted: every choice is drawn, and pixels are made when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import ParamSpec

import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.ci_mnist_draw import Drawn
from evenhand.data.ci_mnist_look import Look
from evenhand.data.ci_mnist_paint import SIZE, paint_on
from evenhand.data.task import Rows, Task

Knobs = ParamSpec("Knobs")


@dataclass(frozen=True)
class Picture:
    """The images of one part: the digits, what is drawn for each of them, and the seed of the shades."""

    images: Array = field(repr=False)
    drawn: Drawn = field(repr=False)
    look: Look
    seed: tuple[int, int]


class Pictures:
    """All parts one after the other, as inputs of a task that are painted when they are asked for."""

    shape: tuple[int, ...] = (3, SIZE, SIZE)
    dtype = torch.uint8

    def __init__(self, parts: Sequence[Picture]) -> None:
        self.parts = tuple(parts)

    def __len__(self) -> int:
        return sum(len(part.images) for part in self.parts)

    def painted(self) -> Tensor:
        """All of them, `[N, 3, 32, 32]`, uint8."""
        return torch.cat([paint_on(part.images, part.drawn, part.look, part.seed) for part in self.parts])

    def take(self, rows: Tensor) -> Tensor:
        """The rows with these numbers; all are painted for it, so ask for many at once."""
        return self.painted()[rows]


def painted_at_once(sketched: Callable[Knobs, Task]) -> Callable[Knobs, Task]:
    """A loader whose task has its pixels; `loader.sketch` gives the task without them, which is quick.

    Planning a study looks at labels, attributes and parts of every task, and never at a pixel.
    """

    @wraps(sketched)
    def whole(*args: Knobs.args, **knobs: Knobs.kwargs) -> Task:
        task = sketched(*args, **knobs)
        assert isinstance(task.x, Rows)
        return replace(task, x=task.x.take(torch.arange(len(task.x))))

    whole.sketch = sketched  # type: ignore[attr-defined]
    return whole
