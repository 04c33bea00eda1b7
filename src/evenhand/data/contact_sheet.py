"""Many pictures on one sheet, to look at before a model does."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from evenhand.data.images import pillow
from evenhand.data.task import Task
from evenhand.errors import InputError

COLUMNS, GAP = 12, 2


def contact_sheet(pictures: Tensor, columns: int = COLUMNS) -> Tensor:
    """Pictures `[N, C, h, w]` (bytes; one channel or three) side by side on white, `[3, height, width]`.

    >>> contact_sheet(torch.zeros(5, 1, 8, 8, dtype=torch.uint8), columns=3).shape
    torch.Size([3, 22, 32])
    """
    n, _, height, width = pictures.shape
    columns = min(columns, n)
    lines = -(-n // columns)
    size = (3, GAP + lines * (height + GAP), GAP + columns * (width + GAP))
    sheet = torch.full(size, 255, dtype=torch.uint8)
    for number, picture in enumerate(pictures):
        top = GAP + number // columns * (height + GAP)
        left = GAP + number % columns * (width + GAP)
        sheet[:, top : top + height, left : left + width] = picture
    return sheet


def pictures_of(task: Task, count: int = COLUMNS * COLUMNS, part: str = "train") -> Tensor:
    """The first pictures of a part; `InputError` for a task that has none."""
    rows = task.rows(part)[:count]
    if len(task.input_shape) != 3:
        raise InputError(f"the task '{task.name}' is a table: it has no pictures to show")
    return task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)  # a tensor's take is another


def write_sheet(task: Task, path: Path, count: int = COLUMNS * COLUMNS) -> int:
    """Write the first training pictures as one image file, and say how many they are."""
    pictures = pictures_of(task, count)
    image = pillow().fromarray(contact_sheet(pictures).permute(1, 2, 0).contiguous().numpy())
    try:
        image.save(path)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be written ({error}); name it like faces.png") from error
    return len(pictures)
