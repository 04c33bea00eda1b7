"""Hair colour: four classes of drawn faces or of CelebA's photographs, of those with exactly one of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import wraps
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.celeba import celeba
from evenhand.data.encode import check_choice
from evenhand.data.faces import faces
from evenhand.data.faces_pictures import FacePictures
from evenhand.data.images import materialise
from evenhand.data.task import Rows, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

SOURCES = ("faces", "celeba")
COLOURS = ("Black_Hair", "Blond_Hair", "Brown_Hair", "Gray_Hair")
CLASSES = ("black", "blond", "brown", "gray")
PAPER = "Task: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2), Table 4."
NOTE = (
    "Kept are the faces with exactly one of Black_Hair, Blond_Hair, Brown_Hair and Gray_Hair: {kept:,} of "
    "{n:,}. S2 does not say what it does with faces that have none or several of them."
)


@dataclass(eq=False)
class SomeRows:
    """Some of the rows of other inputs, made when they are asked for."""

    rows: Rows
    kept: Tensor = field(repr=False)
    shape: tuple[int, ...] = field(init=False)  # of one input

    def __post_init__(self) -> None:
        self.shape = self.rows.shape

    def __len__(self) -> int:
        return len(self.kept)

    def take(self, rows: Tensor) -> Tensor:
        """The inputs with these numbers."""
        return self.rows.take(self.kept[rows])


def _painted(sketched: Callable[..., Task]) -> Callable[..., Task]:
    """A loader that paints drawn faces at once; `loader.sketch` gives the task without pixels."""

    @wraps(sketched)
    def whole(*given: object, **knobs: object) -> Task:
        task = sketched(*given, **knobs)
        if isinstance(task.x, SomeRows) and isinstance(task.x.rows, FacePictures):
            return replace(task, x=task.x.take(torch.arange(len(task.x))))
        return task  # photographs are decoded when a batch asks for them, unless they are resident

    whole.sketch = sketched  # type: ignore[attr-defined]
    return whole


@_painted
def hair_colour(
    source: str = "faces",
    *,
    n: int = 20_000,
    validation: float = 0.1,
    test: float = 0.2,
    size: int = 32,
    seed: int = 0,
    correlation: float = 1.0,
    difficulty: float = 0.0,
    nuisance: float = 1.0,
    device: str = "auto",
    folder: str | Path | None = None,
    resident: bool = False,
    progress: Progress | None = None,
) -> Task:
    """Predict black, blond, brown or gray hair; CelebA's other 36 attributes can be protected.

    `source`: "faces" (drawn ones: `n` of them before those without exactly one hair colour are left out; the
    shares `validation` and `test` of them; `correlation`, `difficulty`, `nuisance`, `device` and `seed` as in
    the data set `faces`) or "celeba" (all photographs in the published parts, read from `folder`, or `celeba`
    inside EVENHAND_DATA; `resident` decodes all at once). Images have `size` x `size` pixels.

    >>> task = hair_colour.sketch(n=400)
    >>> task.classes, task.n_classes, task.input_shape
    (('black', 'blond', 'brown', 'gray'), 4, (3, 32, 32))
    >>> len(task) < 400, "Male" in [attribute.name for attribute in task.attributes]
    (True, True)
    """
    check_choice("source", source, SOURCES)
    if source == "faces":
        drawn = {
            "n": n, "validation": validation, "test": test, "size": size, "seed": seed,
            "correlation": correlation, "difficulty": difficulty, "nuisance": nuisance,
        }  # fmt: skip
        whole = faces.sketch(list(COLOURS), device=device, **drawn)  # type: ignore[attr-defined]
        return _one_colour(whole, {"source": source, **drawn})
    told = {"n": n, "validation": validation, "test": test, "correlation": correlation,
            "difficulty": difficulty, "nuisance": nuisance}  # fmt: skip
    _refuse_of_faces(told)
    whole = celeba(list(COLOURS), folder=folder, split="official", size=size, seed=seed)
    task = _one_colour(whole, {"source": source, "size": size})
    assert isinstance(task.x, SomeRows)
    return replace(task, x=materialise(task.x, progress, "CelebA")) if resident else task


def _refuse_of_faces(told: Mapping[str, object]) -> None:
    """What shapes drawn faces does nothing to photographs: refused where it is not left as it is."""
    usual = inspect.signature(hair_colour).parameters
    given = next((name for name, value in told.items() if value != usual[name].default), None)
    if given is not None:
        raise InputError(f"the knob {given} is of drawn faces; source='celeba' has its published parts")


def _one_colour(whole: Task, knobs: dict[str, object]) -> Task:
    """The rows with exactly one of the four colours, which is their class."""
    kept = torch.nonzero(whole.y.sum(dim=1) == 1)[:, 0]
    place = torch.full((len(whole.y),), -1)
    place[kept] = torch.arange(len(kept))
    split = {part: place[rows][place[rows] >= 0] for part, rows in whole.split.items()}
    empty = [part for part, rows in split.items() if not len(rows)]
    if empty:
        raise InputError(f"no face of the part '{empty[0]}' has exactly one of the four colours; use more")
    assert isinstance(whole.x, Rows)
    rows = kept.numpy()
    return replace(
        whole,
        name="hair-colour",
        x=SomeRows(whole.x, kept),
        y=whole.y[kept].argmax(dim=1),
        attributes=tuple(
            Attribute(attribute.name, attribute.levels, np.asarray(attribute.codes)[rows].copy())
            for attribute in whole.attributes
            if attribute.name not in COLOURS
        ),
        split=split,
        classes=CLASSES,
        card=_card(whole.card, len(kept), len(whole.y), knobs),
    )


def _card(card: DataCard, kept: int, n: int, knobs: dict[str, object]) -> DataCard:
    return replace(
        card,
        title=f"Hair colour, {card.title}",
        target="hair colour: black, blond, brown, gray",
        citation=f"{card.citation} {PAPER}",
        notes=(*card.notes, NOTE.format(kept=kept, n=n)),
        knobs=knobs,
    )
