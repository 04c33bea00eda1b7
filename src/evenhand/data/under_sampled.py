"""Some classes of a task made rare in training, as S2 does with CIFAR-100; validation and test stay whole.

(S2: "Measure Twice, Cut Once": 15 of 100 classes are cut to 50, 20 and 10 % of their training images.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from evenhand.data.card import DataCard
from evenhand.data.cifar100_under import checked_limit, checked_shares, class_levels, cut_classes, kept_rows
from evenhand.data.splits import check_seed
from evenhand.data.task import Task
from evenhand.groups import Attribute


def under_sampled(
    task: Task, name: str, shares: Sequence[float], *, each: int = 1, seed: int = 0, limit: int = 0
) -> Task:
    """The task with fewer training rows: for each of the `shares`, `each` classes keep that share of theirs.

    Which classes and which rows is drawn by `seed`; with a `limit` at most so many training rows are left, as
    cut as all of them. The attribute `kept` is the share that a row's class has.

    >>> from evenhand.data.mnist import mnist
    >>> task = under_sampled(mnist(), "rare", (0.5, 0.2, 0.1))
    >>> len(task.rows("train")), len(task.rows("test")), task.attribute("kept").levels
    (9382, 2000, ('100 %', '50 %', '20 %', '10 %'))
    """
    found = checked_shares(shares, each, task.n_classes)
    check_seed(seed)
    draw = np.random.default_rng(seed)
    level = class_levels(len(found), each, task.n_classes, draw)
    rows, y = task.split["train"].numpy(), task.y.numpy()
    kept = rows[kept_rows(y[rows], level, found, draw)][: checked_limit(limit) or None]
    names = ("100 %", *(f"{100 * share:g} %" for share in found))
    knobs = {**task.card.knobs, "shares": list(found), "each": each, "seed": seed, "limit": limit}
    return replace(
        task,
        name=name,
        attributes=(Attribute("kept", names, level[y]), *task.attributes),
        split={**task.split, "train": torch.from_numpy(np.ascontiguousarray(kept))},
        card=_card(task.card, cut_classes(names, level, task.classes), knobs),
    )


def _card(card: DataCard, cut: Sequence[str], knobs: dict[str, object]) -> DataCard:
    told = (f"Classes that keep a part of their training rows. {'; '.join(cut)}.",) if cut else ()
    note = "`kept` belongs to a class, so that its levels have no class in common; the test is whole."
    return replace(
        card,
        title=f"{card.title}, some classes rare",
        about=f"{card.about} Some classes are rare in training.",
        citation=f"After: S2, Measure Twice, Cut Once (2021). Images: {card.citation}",
        notes=(*told, note, *card.notes),
        knobs=knobs,
    )
