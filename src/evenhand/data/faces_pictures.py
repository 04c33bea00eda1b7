"""Faces before they are painted: facts and numbers, and pixels when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from evenhand.data.encode import check_choice
from evenhand.errors import InputError

BLOCK = 1 << 16  # faces that are on the device at once
DEVICES = ("auto", "cpu", "cuda")
MOST_KEPT = 2 << 30  # bytes of painted faces that are kept for the next task of the same population
_kept: dict[tuple[object, ...], Tensor] = {}  # what was painted last


@dataclass(eq=False)
class FacePictures:
    """Inputs of a task, painted when they are asked for: a face depends on its facts, its id and the knobs.

    `population` says who they are, so that tasks that differ in their labels alone share what is painted.
    """

    facts: Tensor = field(repr=False)
    ids: Tensor = field(repr=False)
    size: int
    seed: int
    difficulty: float
    nuisance: float
    device: str = "auto"
    population: tuple[object, ...] = ()
    shape: tuple[int, ...] = field(init=False)  # of one picture

    def __post_init__(self) -> None:
        self.shape = (3, self.size, self.size)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, rows: Tensor) -> Tensor:
        """The pictures with these numbers, `[len(rows), 3, size, size]`, uint8, in main memory."""
        if torch.equal(rows, torch.arange(len(self))):
            return self._whole()
        return self._paint(rows)

    def _whole(self) -> Tensor:
        """All of them; tasks share the tensor, which nobody may write to."""
        key = (*self.population, self.size, self.seed, self.difficulty, self.nuisance, self.device)
        if not self.population or key not in _kept:
            painted = self._paint(torch.arange(len(self)))
            if not self.population or painted.numel() > MOST_KEPT:
                return painted
            _kept.clear()
            _kept[key] = painted
        return _kept[key]

    def _paint(self, rows: Tensor) -> Tensor:
        from evenhand.data.faces_draw import draw_faces

        device = painting_device(self.device)
        painted = torch.empty((len(rows), *self.shape), dtype=torch.uint8)
        for start in range(0, len(rows), BLOCK):
            some = rows[start : start + BLOCK]
            painted[start : start + len(some)] = draw_faces(
                self.facts[some],
                self.ids[some],
                size=self.size,
                seed=self.seed,
                difficulty=self.difficulty,
                nuisance=self.nuisance,
                device=device,
            )
        if torch.device(device).type == "cuda":  # painting takes gigabytes, and is done once
            torch.cuda.empty_cache()
        return painted


def painting_device(name: str) -> torch.device:
    """Where faces are painted: "auto" is a GPU where there is one.

    >>> painting_device("cpu").type
    'cpu'
    """
    check_choice("device", name, DEVICES)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and not torch.cuda.is_available():
        raise InputError("the knob device='cuda' needs a GPU, and torch finds none here; say device='cpu'")
    return torch.device(name)
