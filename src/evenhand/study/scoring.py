"""Scores of the parts that a run is measured on: as they are, or under a shift, one part after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.shift_registry import find_shift
from evenhand.data.shifts import shift_rows
from evenhand.data.task import Task
from evenhand.groups import Attribute, Groups
from evenhand.study.shifted import ShiftedName, clean_part
from evenhand.train.parts import Part
from evenhand.train.shifted import ShiftedPart
from evenhand.train.trainer import Trainer


def scored_parts(trainer: Trainer, names: Sequence[str]) -> Iterator[tuple[str, Tensor]]:
    """The scores `[R, N, C]` of each part on the device; those of one part only are held at a time.

    A shift that chooses other rows asks nothing new of the networks: it has the scores of the clean part,
    from which `measured_rows` picks. The parts of one clean part come together, so that its inputs are on the
    device once.
    """
    for clean in dict.fromkeys(map(clean_part, names)):
        part, plain = part_of(trainer, clean), None
        for name in (name for name in names if clean_part(name) == clean):
            shifted = ShiftedName.parse(name)
            if shifted is None or acts_on_rows(shifted):
                plain = trainer.scores(part) if plain is None else plain
                yield name, plain
            else:
                how = (shifted.kind, shifted.severity, shifted.draw)
                yield name, trainer.scores(ShiftedPart(part, trainer.tasks, clean, *how))


def part_of(trainer: Trainer, name: str) -> Part:
    """A part of the data on the device; what training has there already is not brought a second time."""
    there = {"train": trainer.train, "validation": trainer.validation}.get(name)
    return trainer.part(name) if there is None else there


def acts_on_rows(name: ShiftedName) -> bool:
    """Whether a shift chooses other rows; otherwise it changes inputs."""
    return find_shift(name.kind)[0].acts_on == "rows"


def measured_rows(task: Task, part: str, protect: Sequence[str]) -> tuple[Tensor, Tensor | None]:
    """The rows of the task that a measured part has, and their places among the clean part's rows.

    The places are None where the part has the clean part's rows in their order. A shift that chooses other
    rows may take one several times and another never: labels and groups are then those of the chosen rows.
    """
    shifted = ShiftedName.parse(part)
    if shifted is None or not acts_on_rows(shifted):
        return task.rows(clean_part(part)), None
    of, by = (shifted.kind, task, shifted.part, shifted.severity), tuple(protect) or None
    rows = shift_rows(*of, seed=shifted.draw, protect=by)
    place = torch.full((len(task),), -1, dtype=torch.int64)
    place[task.rows(shifted.part)] = torch.arange(len(task.rows(shifted.part)))
    return rows, place[rows]


def groups_of(task: Task, by: Sequence[str], rows: Array) -> Groups:
    """The groups of some rows; where nothing is protected, everybody is one group."""
    if not by:
        return Groups.from_attributes([Attribute("all", ("everybody",), np.zeros(len(rows), dtype=np.int64))])
    return task.groups(list(by)).keep(rows)
