"""Task: what is predicted, from what, and for whom; usable without the trainer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
import torch
from torch import Tensor

from evenhand.data.card import DataCard
from evenhand.errors import InputError
from evenhand.groups import Attribute, Groups

if TYPE_CHECKING:
    from evenhand.data.encoding import TableEncoding

PARTS = ("train", "validation", "test")


@runtime_checkable
class Rows(Protocol):
    """Inputs that are decoded when they are asked for, such as the images of a folder."""

    shape: tuple[int, ...]  # of one row

    def __len__(self) -> int:
        """How many rows there are."""
        ...

    def take(self, rows: Tensor) -> Tensor:
        """The rows with these numbers, `[len(rows), *shape]`, uint8."""
        ...


@dataclass(frozen=True)
class Scaling:
    """Inputs are trained on as `(x - shift) / scale`, computed on the device: images stay bytes until then.

    A tuple has one number for each channel (dimension 1 of a batch); a single number serves all.

    >>> Scaling(127.5, 127.5)(torch.tensor([0, 255], dtype=torch.uint8)).tolist()
    [-1.0, 1.0]
    """

    shift: float | tuple[float, ...] = 0.0
    scale: float | tuple[float, ...] = 1.0

    def __call__(self, x: Tensor) -> Tensor:
        """Scaled inputs as floats; a batch `[..., channel, height, width]` where there are channels."""
        x = x if x.is_floating_point() else x.to(torch.float32)
        if self.shift == 0.0 and self.scale == 1.0:
            return x
        shift, scale = self.numbers(x.dtype, x.device)
        return (x - shift) / scale

    def numbers(self, dtype: torch.dtype, device: torch.device) -> tuple[float | Tensor, float | Tensor]:
        """Shift and scale in the shape that a batch is computed with."""
        return _along_channels(self.shift, dtype, device), _along_channels(self.scale, dtype, device)


@cache  # a GPU would wait for the same few numbers at every batch
def _along_channels(
    value: float | tuple[float, ...], dtype: torch.dtype, device: torch.device
) -> float | Tensor:
    if not isinstance(value, tuple):
        return value
    return torch.tensor(value, dtype=dtype, device=device).view(-1, 1, 1)


@dataclass(frozen=True, eq=False)  # two tasks are compared by what they hold, never by accident
class Task:
    """Inputs, labels, protected attributes, and which rows are for training, validation and test.

    `y [N]` holds class codes; `y [N, L]` holds 0 and 1 for each of L labels (multi-label). An attribute's
    code is -1 where it is not known. `split` maps "train", "validation" (may be absent) and "test" to row
    numbers. `columns` names the inputs of a table; `encoding` makes them of other rows of a user's table.

    >>> sex = Attribute.from_values(["f", "m", "m", None], "sex")
    >>> task = Task("tiny", torch.eye(4), torch.tensor([0, 1, 1, 0]), (sex,), {"train": torch.arange(4)},
    ...             DataCard("tiny", "", "by hand", "none"), classes=("no", "yes"))
    >>> task.n_classes, task.groups(["sex"]).ids.tolist()
    (2, [0, 1, 1, -1])
    >>> task.groups(["sex"], cross_label=True).names[:2]
    ('label=no · sex=f', 'label=no · sex=m')
    """

    name: str
    x: Tensor | Rows = field(repr=False)
    y: Tensor = field(repr=False)
    attributes: tuple[Attribute, ...]
    split: Mapping[str, Tensor] = field(repr=False)
    card: DataCard = field(repr=False)
    classes: tuple[str, ...] = ()
    scaling: Scaling = Scaling()
    columns: tuple[str, ...] = field(default=(), repr=False)
    encoding: TableEncoding | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.y)

    @property
    def multi_label(self) -> bool:
        """Whether a row has several labels at once."""
        return self.y.ndim == 2

    @property
    def n_classes(self) -> int:
        """Number of classes, or of labels of a multi-label task."""
        return len(self.classes)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """The shape of one row of inputs."""
        return tuple(self.x.shape[1:]) if isinstance(self.x, Tensor) else tuple(self.x.shape)

    def attribute(self, name: str) -> Attribute:
        """The attribute of that name; a wrong name is told with the nearest right ones."""
        names = [attribute.name for attribute in self.attributes]
        if name in names:
            return self.attributes[names.index(name)]
        near = get_close_matches(str(name), names, n=3, cutoff=0.4)
        hint = f"; did you mean {' or '.join(repr(n) for n in near)}?" if near else "."
        known = ", ".join(names) or "none"
        raise InputError(f"the task '{self.name}' has no attribute {name!r}{hint} Its attributes: {known}")

    def groups(self, by: Sequence[str] | str | None = None, *, cross_label: bool = False) -> Groups:
        """Groups by some of the attributes (default: all), crossed with the label if asked for."""
        names = [by] if isinstance(by, str) else [a.name for a in self.attributes] if by is None else list(by)
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:  # half of the groups would be of people who cannot be
            raise InputError(f"groups of the task '{self.name}' name {twice!r} twice; name it once")
        if not names and not cross_label:
            raise InputError(
                f"groups of the task '{self.name}' need at least one attribute; name one in `by`"
            )
        attributes = [self.attribute(name) for name in names]
        if cross_label:
            if self.multi_label:
                raise InputError(
                    f"the task '{self.name}' has several labels: groups cannot be crossed with them"
                )
            label = Attribute("label", self.classes, np.asarray(self.y, dtype=np.int64))
            attributes = [label, *attributes]
        return Groups.from_attributes(attributes)

    def rows(self, part: str) -> Tensor:
        """The row numbers of one part of the split."""
        if part not in self.split:
            raise InputError(f"the task '{self.name}' has no part {part!r}; it has {', '.join(self.split)}")
        return self.split[part]

    def with_split(self, **parts: Tensor) -> Task:
        """The same task with other rows for training, validation or test."""
        return replace(self, split={**self.split, **parts})

    def with_scarce_groups(self, share: float, seed: int = 0, part: str = "train") -> Task:
        """The same task, its attributes known for a share of a part's rows: see `evenhand.data.scarce`."""
        from evenhand.data.scarce import hide_groups

        return hide_groups(self, share, seed, part)

    def check(self) -> Task:
        """The task itself, after checking that its parts fit together; raises `InputError` if not."""
        from evenhand.data.checks import check_task

        check_task(self)
        return self

    @classmethod
    def from_table(cls, table: Any, label: str, attributes: Sequence[str], **options: Any) -> Task:
        """A task from a data frame (pandas, polars) or a dict of columns: see `evenhand.data.from_table`."""
        from evenhand.data.from_table import task_from_table

        return task_from_table(table, label, attributes, **options)

    @classmethod
    def from_folder(cls, folder: Any, labels: Any = None, **options: Any) -> Task:
        """A task from a folder of images and a table of labels: see `evenhand.data.from_folder`."""
        from evenhand.data.from_folder import task_from_folder

        return task_from_folder(folder, labels, **options)

    @classmethod
    def ci_mnist(cls, variant: str = "A", **knobs: Any) -> Task:
        """Coloured digits whose correlations you set: see `evenhand.data.ci_mnist`.

        >>> Task.ci_mnist(clr_ratio=(0.01, 0.99)).attribute("colour").levels
        ('red', 'blue')
        """
        from evenhand.data.ci_mnist import ci_mnist

        return ci_mnist(variant, **knobs)

    @classmethod
    def faces(cls, target: str | Sequence[str] = "Blond_Hair", **knobs: Any) -> Task:
        """Drawn faces with CelebA's forty attributes as visible facts: see `evenhand.data.faces`.

        >>> Task.faces("Smiling", n=20).attribute("Male").levels
        ('no', 'yes')
        """
        from evenhand.data.faces import faces

        return faces(target, **knobs)
