"""CelebA with label and group mixed: NIFR's three parts, as S0's N-Base and N-Flow are trained on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data import celeba
from evenhand.data.cache import Progress, checksums
from evenhand.data.card import DataCard
from evenhand.data.celeba_files import find_folder, images_of, published_file
from evenhand.data.celeba_labels import place_of
from evenhand.data.celeba_texts import LABELS, read_labels, unpublished
from evenhand.data.encode import check_choice
from evenhand.data.images import materialise
from evenhand.data.rebalancing import mixed
from evenhand.data.rebalancing_rows import check_mixing
from evenhand.data.splits import as_split, check_seed, check_share
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

SPLITS = {
    "random": "images in an order drawn by the seed",
    "sequential": "images in the order of their files",
}
PRETRAIN, TEST = 0.4, 0.2  # of all images; the others are for the task
NIFR = "Kehrenberg, Bartlett, Thomas, Quadrianto. Null-sampling for Interpretable and Fair Representations."


def celeba_mixed(
    target: str = "Smiling",
    *,
    mixing: float = 0.0,
    by: str = "Male",
    folder: str | Path | None = None,
    split: str = "random",
    n: int = 0,
    validation: float = 0.0,
    size: int = 64,
    seed: int = 0,
    resident: bool = False,
    progress: Progress | None = None,
) -> Task:
    """Predict one attribute where training images say more, or less, about it by another than others do.

    Of all images 40 % are the part "train_pretrain" (for a representation), 20 % the test and 40 % for
    training; these are mixed: the share min(1, 2 (1 - mixing)) of those in which `by` equals `target` is
    kept, and the share min(1, 2 mixing) of those in which it does not (0: equal alone, 0.5: all, 1: different
    alone). Pretraining and test images are mixed by nobody. `validation` of the mixed images are held out.

    `split`: "random" (the seed's order) or "sequential" (the order of the files). S0 trains N-Base with
    mixing=0 on a sequential split and N-Flow with mixing=0.5 on a random one, so that its two numbers are
    not of the same data: compare at one mixing and one split. `n` uses the first so many images of that
    order (0: all). Files are found as by `celeba`; images are the square in the middle, scaled to `size` and
    to [-1, 1].
    """
    check_choice("split", split, tuple(SPLITS))
    check_seed(seed)
    check_mixing(mixing)
    check_share("validation", validation)
    root = find_folder(Path(folder) if folder is not None else None)
    path = published_file(root, LABELS, "CelebA")
    labels = read_labels(path)
    column = place_of(target, labels.names)
    place_of(by, labels.names)
    if by == target:
        raise InputError(f"by={by!r} is what is predicted; name another attribute to mix it with")
    order = _order(len(labels.files), n, split, seed)
    x = images_of(root, [labels.files[row] for row in order.tolist()], size)
    codes = labels.codes[order]
    knobs = {
        "target": target, "mixing": mixing, "by": by, "split": split, "n": n, "validation": validation,
        "size": size, "seed": seed,
    }  # fmt: skip
    task = Task(
        name="celeba-mixed",
        x=materialise(x, progress, "CelebA") if resident else x,
        y=torch.from_numpy(codes[:, column].copy()),
        attributes=tuple(
            Attribute(name, celeba.LEVELS, codes[:, labels.names.index(name)].copy())
            for name in sorted(labels.names, key=lambda name: (name != by, name == target))
        ),
        split=_parts(len(order)),
        card=_card(target, split, checksums({LABELS: path}), knobs, unpublished({LABELS: path})),
        classes=celeba.LEVELS,
        scaling=Scaling(127.5, 127.5),
    )
    return _held_out(mixed(task, by, mixing, seed), validation)


def _order(n_images: int, n: int, split: str, seed: int) -> IntArray:
    if n and not 5 <= n <= n_images:
        raise InputError(f"the knob n={n:,} must be a number of images from 5 to {n_images:,}, or 0 for all")
    drawn = np.random.default_rng(seed).permutation(n_images)
    return (drawn if split == "random" else np.arange(n_images))[: n or None]


def _parts(n: int) -> dict[str, Tensor]:
    """40 % to pretrain on, 20 % for the test, the others for the task: 81,040, 40,520 and 81,039 of all."""
    first, second = round(PRETRAIN * n), round(PRETRAIN * n) + round(TEST * n)
    rows = np.arange(n)
    return as_split({"train": rows[second:], "train_pretrain": rows[:first], "test": rows[first:second]})


def _held_out(task: Task, validation: float) -> Task:
    """The last of the mixed images for validation: chosen on is what is trained on, not a better mixture."""
    rows = task.rows("train")
    held = round(validation * len(rows))
    if not held:
        return task
    return task.with_split(train=rows[: len(rows) - held], validation=rows[len(rows) - held :])


def _card(
    target: str, split: str, files: Mapping[str, str], knobs: Mapping[str, object],
    unchecked: Sequence[str] = (),
) -> DataCard:  # fmt: skip
    plain = celeba._card(target, (target,), "official", files, knobs, unchecked)
    origin = f"mmlab.ie.cuhk.edu.hk/projects/CelebA.html; {SPLITS[split]}, 40 % / 20 % / 40 %"
    citation = f"{plain.citation} Parts and mixing: {NIFR} ECCV 2020."
    return replace(plain, title="CelebA, mixed", origin=origin, citation=citation)
