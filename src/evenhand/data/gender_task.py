"""The task of photographs with the gender of who is on them: what COCO's and imSitu's have in common."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import GENDERS
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.encode import check_choice
from evenhand.data.gender_parts import Parts, known_only, limited, renumbered
from evenhand.data.images import FolderRows, check_present, materialise
from evenhand.data.rebalancing import balanced_test, rebalanced
from evenhand.data.rebalancing_rows import check_ratio
from evenhand.data.splits import as_split, check_seed
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

GENDER = "gender"
UNKNOWNS = ("leave-out", "keep")
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet, as S0 scales both
PEOPLE = "Real people, who were not asked: do not use it to identify anybody."


@dataclass(frozen=True)
class Choices:
    """The knobs that both data sets have."""

    unknown: str
    size: int
    seed: int
    ratio: float | None
    per_group: int
    limit: int

    def check(self) -> None:
        """Refuse what can be seen to be wrong before a file is read; the rest is told where it is used."""
        check_choice("unknown", self.unknown, UNKNOWNS)
        check_seed(self.seed)
        limited({}, self.limit, self.seed)
        if self.ratio is not None:
            check_ratio(self.ratio)
        if self.per_group < 0:
            raise InputError(f"the knob per_group={self.per_group} must be a number of images; 0 uses all")

    def told(self) -> dict[str, object]:
        """As a card has them; those that change nothing are not named."""
        beside = {"ratio": self.ratio, "per_group": self.per_group, "limit": self.limit}
        always = {"unknown": self.unknown, "size": self.size, "seed": self.seed}
        return always | {name: value for name, value in beside.items() if value}


@dataclass(frozen=True)
class Annotated:
    """What is known of all annotated images: labels, genders (-1: unknown), parts, whence gender is known."""

    classes: tuple[str, ...]
    y: IntArray = field(repr=False)
    codes: IntArray = field(repr=False)
    parts: Parts = field(repr=False)
    known_by: str


def gender_task(
    name: str,
    annotated: Annotated,
    images: Callable[[Sequence[int]], list[Path]],
    card: DataCard,
    choices: Choices,
    resident: bool,
    progress: Progress | None,
) -> Task:
    """The task of the images that some part uses; only these must be there, as files that `images` names."""
    parts, lost = known_only(annotated.parts, annotated.codes, choices.unknown, card.title)
    rows, parts = renumbered(limited(parts, choices.limit, choices.seed))
    paths = images(rows.tolist())
    check_present(paths)
    x, codes = FolderRows(paths, choices.size), annotated.codes[rows]
    notes = (*card.notes, _who(codes, lost, annotated.known_by, choices.unknown))
    task = Task(
        name=name,
        x=materialise(x, progress, card.title) if resident else x,
        y=torch.from_numpy(annotated.y[rows]),
        attributes=(Attribute(GENDER, GENDERS, codes),),
        split=as_split(parts),
        card=replace(card, notes=notes, knobs={**card.knobs, **choices.told()}),
        classes=annotated.classes,
        scaling=Scaling(tuple(255 * value for value in MEAN), tuple(255 * value for value in DEVIATION)),
    )
    if choices.ratio is not None:
        task = rebalanced(task, GENDER, choices.ratio, choices.seed)
    return balanced_test(task, GENDER, choices.per_group, choices.seed) if choices.per_group else task


def _who(codes: IntArray, lost: int, known_by: str, unknown: str) -> str:
    """How many images show whom, and what became of those of which it is not known."""
    men, women = (int((codes == code).sum()) for code in range(len(GENDERS)))
    kept = "are kept, with an unknown gender (-1)" if unknown == "keep" else "are left out"
    return f"{men:,} images show men and {women:,} women, {known_by}; {lost:,} others {kept}."
