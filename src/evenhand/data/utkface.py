"""UTKFace: photographs of faces whose file names say age (0 to 116), gender (2) and race (5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.encode import check_choice
from evenhand.data.folder_listing import LISTING, images_below, listing_checksum, named_folder
from evenhand.data.images import FolderRows, materialise
from evenhand.data.scarce import check_labelled, hide_groups
from evenhand.data.splits import as_split, check_seed, check_share, cut
from evenhand.data.task import Scaling, Task
from evenhand.data.utkface_names import EDGES, GENDERS, RACES, band_names, read_names
from evenhand.errors import InputError
from evenhand.groups import Attribute

ORDER = ("race", "gender", "age")  # of the attributes; the target comes last
FOLDERS = ("utkface", "UTKFace")
WHERE = (
    "unpack the images of susanqq.github.io/UTKFace into a folder (folders inside it are looked into), and "
    "name it by folder=... or call it utkface inside EVENHAND_DATA"
)


def utkface(
    target: str = "gender",
    *,
    folder: str | Path | None = None,
    size: int = 64,
    bands: Sequence[int] = EDGES,
    test: float = 0.2,
    validation: float = 0.1,
    seed: int = 0,
    resident: bool = False,
    limit: int = 0,
    labelled: float = 1.0,
    progress: Progress | None = None,
) -> Task:
    """Predict gender, race or a band of ages from a face; all three are attributes (90 intersections).

    The images are read from `folder`, or `utkface` inside EVENHAND_DATA, whatever folders they are in,
    aligned and cut (`.jpg.chip.jpg`) or as found; what they show is in their names,
    `[age]_[gender]_[race]_[date&time].jpg`. Names that lack a field, or tell no age up to 116, are left out:
    the card says how many. A photograph that is there twice, such as aligned and as found, is refused: it
    could be in two parts. `bands` are the ages at which a band begins (FairFace's by default). There are no
    published parts: `test` of the images, and `validation` of the others, are drawn by `seed`. Images are cut
    to the square in their middle and scaled to `size`, when a batch asks for them or, if `resident`, at once.
    `limit` uses so many of the images; 0: all. `labelled` is the share of training images whose attributes
    are known; the others have -1 there.
    """
    check_choice("target", target, ORDER)
    check_labelled(labelled)
    check_seed(seed)
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of images; 0 uses all")
    root = named_folder(folder, FOLDERS, "UTKFace", WHERE)
    paths, facts, left_out = read_names(images_below(root), root)
    levels, codes = _coded(facts, bands)
    x = FolderRows(paths, size)
    order = np.random.default_rng(seed).permutation(len(paths))[: limit or None]
    n_test = round(check_share("test", test) * len(order))
    if not 0 < n_test < len(order):
        raise InputError(f"test={test} of {len(order):,} images leaves none for the test or for training")
    knobs = {
        "target": target, "size": size, "bands": tuple(bands), "test": test, "validation": validation,
        "seed": seed,
    }  # fmt: skip
    knobs |= {"limit": limit} if limit else {}
    task = Task(
        name="utkface",
        x=materialise(x, progress, "UTKFace") if resident else x,
        y=torch.from_numpy(codes[target].copy()),
        attributes=tuple(
            Attribute(name, levels[name], codes[name]) for name in sorted(ORDER, key=lambda n: n == target)
        ),
        split=as_split(cut(order, len(order) - n_test, validation)),
        card=_card(target, levels[target], {LISTING: listing_checksum(root, paths)}, knobs, left_out),
        classes=levels[target],
        scaling=Scaling(127.5, 127.5),
    )
    return hide_groups(task, labelled, seed)


def _coded(facts: IntArray, edges: Sequence[int]) -> tuple[dict[str, tuple[str, ...]], dict[str, IntArray]]:
    """The levels of each attribute, and the code of each image."""
    levels = {"race": RACES, "gender": GENDERS, "age": band_names(edges)}
    age = np.searchsorted(np.asarray(edges), facts[:, 0], side="right").astype(np.int64)
    return levels, {"race": facts[:, 2].copy(), "gender": facts[:, 1].copy(), "age": age}


def _card(
    target: str,
    levels: Sequence[str],
    files: Mapping[str, str],
    knobs: Mapping[str, object],
    left_out: Sequence[str] = (),
) -> DataCard:
    first = ", ".join(left_out[:3])
    lost = (f"{len(left_out):,} images do not tell all three by their name and are left out: {first}.",)
    return DataCard(
        title="UTKFace",
        about="Photographs of faces from the web, of people of 0 to 116 years; labels are in the names.",
        origin="susanqq.github.io/UTKFace; parts drawn by the seed, for none are published",
        licence="Non-commercial research only; the rights to the images are their owners'",
        citation=(
            "Zhang, Song, Qi. Age Progression/Regression by Conditional Adversarial Autoencoder. CVPR 2017."
        ),
        target=f"{target} ({len(levels)} levels)",
        notes=(
            "Real people, who were not asked: do not use it to identify anybody.",
            "Age, gender and race were guessed by a model and then looked at by annotators; gender has two "
            "levels and race five because the labels do.",
            "Nothing says who is on an image: the same person may be in training and test.",
            *(lost if left_out else ()),
        ),
        files=files,
        knobs=knobs,
    )
