"""CelebA: photographs of celebrities' faces with forty attributes, and S4's draw of 45,000 and 5,000."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress, checksums
from evenhand.data.card import DataCard
from evenhand.data.celeba_files import (
    LABELS,
    PARTITION,
    PERSONS,
    Labels,
    find_folder,
    images_of,
    published_file,
    read_labels,
    read_numbers,
)
from evenhand.data.encode import check_choice
from evenhand.data.images import materialise
from evenhand.data.splits import as_split, check_seed, cut
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

SPLITS = {
    "random": "images drawn by the seed, as S4 does: a person may be in training and test",
    "persons": "the same with whole persons, so that nobody is in both",
    "official": "all images in the published parts, which share no person",
}
LEVELS = ("no", "yes")
OFFICIAL_PARTS = ("train", "validation", "test")  # coded 0, 1, 2


def celeba(
    target: str = "Attractive",
    *,
    folder: str | Path | None = None,
    split: str = "random",
    n_train: int = 45_000,
    n_test: int = 5_000,
    validation: float = 0.0,
    size: int = 128,
    seed: int = 0,
    resident: bool = False,
    progress: Progress | None = None,
) -> Task:
    """Predict one of the forty attributes from a face; all forty can be protected ("no" is 0, "yes" 1).

    The published files are read from `folder`, or `celeba` inside EVENHAND_DATA, unpacked or from the archive
    of images. `split`: "random" (S4: `n_train` and `n_test` images drawn by `seed`), "persons" (the same with
    whole persons, so that nobody is in both) or "official" (all images in the published parts; the two
    numbers do not count there). `validation` of the training images are held out. Images are cut to the
    square in their middle, scaled to `size`, and trained on as numbers from 0 to 1. `resident` decodes all
    of them at once: 2.5 GB for 50,000 of 128 pixels.
    """
    check_choice("split", split, tuple(SPLITS))
    check_seed(seed)
    root = find_folder(Path(folder) if folder is not None else None)
    paths = {LABELS: published_file(root, LABELS, "CelebA")}
    labels = read_labels(paths[LABELS])
    place = _checked_target(target, labels.names)
    chosen, parts = _parts(root, labels, paths, split, n_train, n_test, validation, seed)
    x = images_of(root, [labels.files[row] for row in chosen.tolist()], size)
    codes = labels.codes[chosen]
    knobs = {
        "target": target, "split": split, "n_train": n_train, "n_test": n_test, "validation": validation,
        "size": size, "seed": seed,
    }  # fmt: skip
    order = sorted(range(len(labels.names)), key=lambda number: number == place)  # the target comes last
    return Task(
        name="celeba",
        x=materialise(x, progress, "CelebA") if resident else x,
        y=torch.from_numpy(codes[:, place].copy()),
        attributes=tuple(
            Attribute(labels.names[number], LEVELS, codes[:, number].copy()) for number in order
        ),
        split=parts,
        card=_card(target, split, checksums(paths), knobs),
        classes=LEVELS,
        scaling=Scaling(0.0, 255.0),
    )


def _checked_target(target: str, names: tuple[str, ...]) -> int:
    if target not in names:
        near = get_close_matches(target, names, n=2, cutoff=0.4)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
        raise InputError(f"CelebA has no attribute {target!r} to predict{hint} It has: {', '.join(names)}")
    return names.index(target)


def _parts(
    root: Path, labels: Labels, paths: dict[str, Path], split: str, n_train: int, n_test: int,
    validation: float, seed: int,
) -> tuple[IntArray, dict[str, Tensor]]:  # fmt: skip
    """The numbers of the images that are used, and which of these are for which part; files are noted."""
    if split == "official":
        paths[PARTITION] = published_file(root, PARTITION, "split='official'")
        return _official(read_numbers(paths[PARTITION], labels.files), validation)
    n, draw = len(labels.files), np.random.default_rng(seed)
    if n_train < 1 or n_test < 1 or n_train + n_test > n:
        raise InputError(
            f"n_train={n_train:,} and n_test={n_test:,} must be at least 1 each and no more than the {n:,} "
            "images there are"
        )
    if split == "random":
        order = draw.permutation(n)
    else:
        paths[PERSONS] = published_file(root, PERSONS, "split='persons'")
        order = _by_person(read_numbers(paths[PERSONS], labels.files), n_train, n_test, draw)
    chosen = np.concatenate([order[:n_train], order[-n_test:]])
    return chosen, as_split(cut(np.arange(len(chosen)), n_train, validation))


def _official(codes: IntArray, validation: float) -> tuple[IntArray, dict[str, Tensor]]:
    if validation:
        raise InputError("split='official' has its own validation images; leave out validation")
    parts = {part: np.flatnonzero(codes == code) for code, part in enumerate(OFFICIAL_PARTS)}
    return np.arange(len(codes)), as_split({part: rows for part, rows in parts.items() if len(rows)})


def _by_person(persons: IntArray, n_train: int, n_test: int, draw: np.random.Generator) -> IntArray:
    """An order of the images in which those of one person stand together, persons in a drawn order.

    The first are for training and the last for the test, so that only one person could be in both: that is
    refused where the two numbers leave too few images between them.
    """
    known, codes = np.unique(persons, return_inverse=True)
    order = np.argsort(draw.permutation(len(known))[codes], kind="stable")
    if persons[order[n_train - 1]] == persons[order[-n_test]]:
        raise InputError(
            f"n_train={n_train:,} and n_test={n_test:,} cut through the images of one person; 'persons' "
            "needs some images that are in neither"
        )
    return order


def _card(target: str, split: str, files: Mapping[str, str], knobs: Mapping[str, object]) -> DataCard:
    return DataCard(
        title="CelebA",
        about="Aligned photographs of celebrities from the web, 178 x 218 pixels, with forty attributes.",
        origin=f"mmlab.ie.cuhk.edu.hk/projects/CelebA.html; {SPLITS[split]}",
        licence="Non-commercial research only; images may not be passed on",
        citation="Liu, Luo, Wang, Tang. Deep Learning Face Attributes in the Wild. ICCV 2015.",
        target=f"{target} (no, yes)",
        notes=(
            "Real people, who were not asked: do not use it to identify anybody.",
            "Attributes are what annotators saw. Attractive, Chubby or Male are their judgement, not a "
            "property of the person; nothing should be decided about anybody by a model of them.",
            "The images are not part of this package and are never downloaded by it.",
        ),
        files=files,
        knobs=knobs,
    )
