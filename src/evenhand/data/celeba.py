"""CelebA: photographs of celebrities' faces with forty attributes, and S4's draw of 45,000 and 5,000."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress, checksums
from evenhand.data.card import DataCard
from evenhand.data.celeba_files import find_folder, images_of, published_file
from evenhand.data.celeba_labels import chosen_labels, is_one_name, names_of, told_labels
from evenhand.data.celeba_texts import (
    LABELS,
    PARTITION,
    PERSONS,
    Labels,
    read_labels,
    read_numbers,
    unpublished,
)
from evenhand.data.encode import check_choice
from evenhand.data.images import materialise
from evenhand.data.scarce import check_labelled, hide_groups
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
    target: str | Sequence[str] = "Attractive",
    *,
    protect: str | Sequence[str] = (),
    folder: str | Path | None = None,
    split: str = "random",
    n_train: int = 45_000,
    n_test: int = 5_000,
    validation: float = 0.0,
    size: int = 128,
    seed: int = 0,
    resident: bool = False,
    labelled: float = 1.0,
    progress: Progress | None = None,
) -> Task:
    """Predict some of the forty attributes from a face; all forty can be protected ("no" is 0, "yes" 1).

    `target`: the name of one attribute (two classes), a list of names, "all", or "wang-39" or "wang-34" (what
    Wang et al. 2020 train on and evaluate); a list gives a task with a label for each name, without the names
    in `protect`. `labelled`: the share of training images whose attributes are known, the others are -1.

    The published files are read from `folder`, or `celeba` inside EVENHAND_DATA, unpacked or from the archive
    of images; the card names the text files that are not the published ones by their MD5. `split`: "random"
    (S4: `n_train` and `n_test` images drawn by `seed`), "persons" (the same with whole persons, so that
    nobody is in both) or "official" (all images in the published parts; the two numbers do not count there).
    `validation` of the training images are held out. Images are cut to the square in their middle, scaled to
    `size`, and trained on as numbers from 0 to 1. `resident` decodes all of them at once: 2.5 GB for 50,000
    of 128 pixels.
    """
    check_choice("split", split, tuple(SPLITS))
    check_seed(seed)
    root = find_folder(Path(folder) if folder is not None else None)
    paths = {LABELS: published_file(root, LABELS, "CelebA")}
    labels = read_labels(paths[LABELS])
    predicted = chosen_labels(target, protect, labels.names)
    check_labelled(labelled)
    chosen, parts = _parts(root, labels, paths, split, n_train, n_test, validation, seed)
    x = images_of(root, [labels.files[row] for row in chosen.tolist()], size)
    codes = labels.codes[chosen]
    knobs = {
        "target": target if isinstance(target, str) else list(target), "split": split, "n_train": n_train,
        "n_test": n_test, "validation": validation, "size": size, "seed": seed,
    }  # fmt: skip
    knobs |= {"protect": list(names_of(protect))} if names_of(protect) else {}
    y = codes[:, [labels.names.index(name) for name in predicted]]
    task = Task(
        name="celeba",
        x=materialise(x, progress, "CelebA") if resident else x,
        y=torch.from_numpy(y[:, 0].copy() if is_one_name(target) else y.copy()),
        attributes=tuple(
            Attribute(name, LEVELS, codes[:, labels.names.index(name)].copy())
            for name in sorted(labels.names, key=lambda name: name in predicted)  # what is predicted is last
        ),
        split=parts,
        card=_card(target, predicted, split, checksums(paths), knobs, unpublished(paths)),
        classes=LEVELS if is_one_name(target) else predicted,
        scaling=Scaling(0.0, 255.0),
    )
    return hide_groups(task, labelled, seed)


def _parts(
    root: Path, labels: Labels, paths: dict[str, Path], split: str, n_train: int, n_test: int,
    validation: float, seed: int,
) -> tuple[IntArray, dict[str, Tensor]]:  # fmt: skip
    """The numbers of the images that are used, and which of these are for which part; files are noted."""
    if split == "official":
        paths[PARTITION] = published_file(root, PARTITION, "split='official'")
        return _official(read_numbers(paths[PARTITION], labels.files, range(3)), validation)
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


def _card(
    target: str | Sequence[str], predicted: Sequence[str], split: str, files: Mapping[str, str],
    knobs: Mapping[str, object], unchecked: Sequence[str] = (),
) -> DataCard:  # fmt: skip
    other = f"Not the published files, by their checksums, but other ones: {', '.join(unchecked)}."
    return DataCard(
        title="CelebA",
        about="Aligned photographs of celebrities from the web, 178 x 218 pixels, with forty attributes.",
        origin=f"mmlab.ie.cuhk.edu.hk/projects/CelebA.html; {SPLITS[split]}",
        licence="Non-commercial research only; images may not be passed on",
        citation="Liu, Luo, Wang, Tang. Deep Learning Face Attributes in the Wild. ICCV 2015.",
        target=told_labels(target, predicted),
        notes=(
            "Real people, who were not asked: do not use it to identify anybody.",
            "Attributes are what annotators saw. Attractive, Chubby or Male are their judgement, not a "
            "property of the person; nothing should be decided about anybody by a model of them.",
            "The images are not part of this package and are never downloaded by it.",
            *((other,) if unchecked else ()),
        ),
        files=files,
        knobs=knobs,
        unchecked=tuple(unchecked),
    )
