"""ImageNet's People subtree: the synset of a photograph of people; who is on it is known of a few."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress, sha256
from evenhand.data.card import DataCard
from evenhand.data.encode import check_choice
from evenhand.data.folder_listing import LISTING, listing_checksum, named_folder
from evenhand.data.imagenet_people_files import (
    ATTRIBUTES,
    Values,
    annotation_file,
    read_annotations,
    safe_synsets,
    synset_images,
)
from evenhand.data.images import FolderRows, materialise
from evenhand.data.splits import as_split, check_seed, check_share
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import UNKNOWN, Attribute

FOLDERS = ("imagenet-people", "imagenet_people")
WHERE = (
    "ask image-net.org for the images of its People subtree and for their demographic annotations, put the "
    "folders of the synsets and the annotations (*demographics*.json) into one folder, and name it by "
    "folder=... or call it imagenet-people inside EVENHAND_DATA"
)
SYNSETS = {
    "annotated": "the synsets of which some image is annotated",
    "safe": "the synsets that Yang et al. find safe and imageable",
    "all": "all synsets that are in the folder",
}
CHOICES = ("level", "unknown")
UNSURE = "unsure"
THIRD = 1 / 3
MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # as S1 (B.2) scales its images


def imagenet_people(
    *,
    folder: str | Path | None = None,
    size: int = 224,
    synsets: str = "annotated",
    several: str = "level",
    unsure: str = "unknown",
    test: float = THIRD,
    validation: float = THIRD,
    seed: int = 0,
    resident: bool = False,
    limit: int = 0,
    progress: Progress | None = None,
) -> Task:
    """Predict the synset of an image of people (284 in S1); gender, skin and age are known of a tenth.

    Read from `folder`, or `imagenet-people` inside EVENHAND_DATA: images in `images/SYNSET/` or `SYNSET/`,
    and the annotations as ImageNet gives them out: a file `*demographics*.json`, a list of
    `{"url": "n10001217_123.JPEG", "gender": ["male"], "skin": ["light", "dark"], "age": ["adult"]}`.
    `evenhand.data.imagenet_people_files` says what is known of that form, and what is assumed.

    `synsets`: "annotated" (some image is), "safe" (needs synsets_safety.csv and imageability_scores.csv of
    image-net.org) or "all". An image may show several people: a set of values ("dark + light") is a level of
    its own, or `several="unknown"`. "unsure" is unknown (-1), or `unsure="level"`. `test` and `validation`
    are shares of the images whose three attributes are known, drawn by `seed`; all others are for training.
    So it is in S1, whose 15,981 annotated images are three times its 5,327 for the test. `limit` uses so
    many of each part; 0: all.
    """
    check_choice("synsets", synsets, tuple(SYNSETS))
    check_choice("several", several, CHOICES)
    check_choice("unsure", unsure, CHOICES)
    check_seed(seed)
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of images; 0 uses all")
    root = named_folder(folder, FOLDERS, "ImageNet's People subtree", WHERE)
    listed = annotation_file(root, WHERE)
    annotations = read_annotations(listed)
    images, tables = _chosen(root, synsets, annotations)
    classes, paths = tuple(images), [path for found in images.values() for path in found]
    y = np.repeat(np.arange(len(classes)), [len(found) for found in images.values()])
    attributes = tuple(_coded(name, paths, annotations, several, unsure) for name in ATTRIBUTES)
    x = FolderRows(paths, size)
    files = {path.name: sha256(path) for path in (listed, *tables)}
    knobs = {
        "size": size, "synsets": synsets, "several": several, "unsure": unsure, "test": test,
        "validation": validation, "seed": seed,
    }  # fmt: skip
    knobs |= {"limit": limit} if limit else {}
    lost = len(annotations) - len({path.name for path in paths} & set(annotations))
    return Task(
        name="imagenet-people",
        x=materialise(x, progress, "ImageNet People") if resident else x,
        y=torch.from_numpy(y),
        attributes=attributes,
        split=as_split(_parts(attributes, test, validation, seed, limit)),
        card=_card(synsets, {**files, LISTING: listing_checksum(root, paths)}, knobs, lost),
        classes=classes,
        scaling=Scaling(tuple(255 * value for value in MEAN), tuple(255 * value for value in DEVIATION)),
    )


def _chosen(
    root: Path, synsets: str, annotations: Mapping[str, Values]
) -> tuple[dict[str, list[Path]], list[Path]]:
    """The images of the synsets that are used, and the tables that decided it."""
    images = synset_images(root)
    wanted, tables = set(images), list[Path]()
    if synsets == "annotated":
        wanted = {synset for synset, paths in images.items() if any(p.name in annotations for p in paths)}
    elif synsets == "safe":
        wanted, tables = safe_synsets(root)
    found = {synset: paths for synset, paths in images.items() if synset in wanted}
    if len(found) < 2:
        names = f"{next(iter(images.values()))[0].name} is there, {next(iter(annotations))} is annotated"
        raise InputError(
            f"{root} has images of {len(images):,} synsets, of which {len(found)} remain with "
            f"synsets='{synsets}' ({SYNSETS[synsets]}; {names}); at least two are needed"
        )
    return found, tables


def _coded(
    name: str, paths: Sequence[Path], annotations: Mapping[str, Values], several: str, unsure: str
) -> Attribute:
    """One attribute: single values first, then sets of them, each sorted; -1 where it is not known."""
    nothing: frozenset[str] = frozenset()
    values = [annotations.get(path.name, {}).get(name, nothing) for path in paths]
    known = [
        value
        if value and (unsure == "level" or UNSURE not in value) and (several == "level" or len(value) == 1)
        else nothing
        for value in values
    ]
    levels = sorted(set(known) - {nothing}, key=lambda value: (len(value), sorted(value)))
    if not levels:
        raise InputError(f"the {name} of no image is known; look at the annotations, or name another folder")
    place = {nothing: UNKNOWN} | {value: code for code, value in enumerate(levels)}
    codes = np.array([place[value] for value in known], dtype=np.int64)
    return Attribute(name, tuple(" + ".join(sorted(value)) for value in levels), codes)


def _parts(
    attributes: Sequence[Attribute], test: float, validation: float, seed: int, limit: int
) -> dict[str, IntArray]:
    """Test and validation rows from those whose attributes are all known; the others are for training."""
    whole = np.all([attribute.codes >= 0 for attribute in attributes], axis=0)
    order = np.random.default_rng(seed).permutation(np.flatnonzero(whole))
    n_test = round(check_share("test", test) * len(order))
    n_held = round(check_share("validation", validation) * len(order))
    if not n_test or n_test + n_held > len(order):
        raise InputError(
            f"test={test} and validation={validation} of the {len(order):,} images whose gender, skin and "
            "age are known must leave some for the test, and be no more than all"
        )
    held = {"test": order[:n_test], "validation": order[n_test : n_test + n_held]}
    train = np.setdiff1d(np.arange(len(whole)), order[: n_test + n_held])
    parts = {"train": np.random.default_rng((seed, 1)).permutation(train), **held}
    return {part: rows[: limit or None] for part, rows in parts.items() if len(rows)}


def _card(synsets: str, files: Mapping[str, str], knobs: Mapping[str, object], lost: int = 0) -> DataCard:
    missing = (f"{lost:,} annotated images are not in the folders of these synsets, and not used.",)
    return DataCard(
        title="ImageNet People",
        about="Photographs from the web by the synset of ImageNet's People subtree that they illustrate.",
        origin=f"image-net.org, on request; {SYNSETS[synsets]}",
        licence="Non-commercial research and education only; ImageNet does not own the images' rights",
        citation=(
            "Yang, Qinami, Fei-Fei, Deng, Russakovsky. Towards Fairer Datasets: Filtering and Balancing the "
            "Distribution of the People Subtree in the ImageNet Hierarchy. FAT* 2020."
        ),
        target="synset",
        notes=(
            "Real people, who were not asked: do not use it to identify anybody, and decide nothing about "
            "anybody by it; many synsets are judgements of a person.",
            "Gender, skin and age are what annotators saw of some of the images; the others have none (-1).",
            "S1 does not say how its 284 synsets and 196 groups were chosen, and its counts disagree (5,861 "
            "+ 2 x 5,327 annotated images, or 15,981): another number of either is to be expected.",
            *(missing if lost else ()),
        ),
        files=files,
        knobs=knobs,
        unchecked=tuple(name for name in files if name != LISTING),
    )
