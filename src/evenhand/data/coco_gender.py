"""COCO: which of 79 objects are on a photograph of a man or of a woman (C-* of S0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import annotated_folder, checksum, first_folder, stamp
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.coco_gender_files import (
    KNOWN,
    SETS,
    WHERE,
    Instances,
    annotation_path,
    read_instances,
    read_mentions,
)
from evenhand.data.coco_gender_words import WORDS
from evenhand.data.encode import check_choice
from evenhand.data.gender_parts import Given, Parts
from evenhand.data.gender_task import PEOPLE, Annotated, Choices, gender_task
from evenhand.data.splits import check_share
from evenhand.data.task import Task
from evenhand.errors import InputError

FOLDERS = ("coco-gender", "coco", "coco2014", "mscoco")
TITLE = "COCO"


def coco_gender(
    *,
    folder: str | Path | None = None,
    genders: str | Path | None = None,
    parts: str | Path | None = None,
    words: str = "narrow",
    unknown: str = "leave-out",
    test: float = 0.5,
    size: int = 224,
    seed: int = 0,
    ratio: float | None = None,
    per_group: int = 0,
    limit: int = 0,
    resident: bool = False,
    progress: Progress | None = None,
) -> Task:
    """Predict which of 79 objects are on a photograph (80 without people); the gender is protected.

    Read from `folder`, or `coco` inside EVENHAND_DATA, as published: `annotations/instances_train2014.json`,
    `captions_train2014.json` and the same for val2014, and the folders of images `train2014`, `val2014` (or
    inside `images`). Where `genders` is given, captions are not read.

    Gender is read off the captions, after Zhao et al.: man if any caption has a word for a man and none a
    word for a woman, and the other way round. `words` is "narrow" (man, men; woman, women) or "wide" (also
    boy, girl, lady, ...): `evenhand.data.coco_gender_words` has both lists. Images with words of both or of
    neither are left out, or kept as unknown (-1) by `unknown="keep"`. `genders` names a file of your own
    instead: JSON {image number: "man" or "woman"}, or CSV with the columns image_id and gender.

    Images of train2014 are for training; a share `test` of those of val2014, drawn by `seed`, is for the test
    and the rest for validation. `parts` names a file that decides it instead, {"train": [image numbers],
    "validation": [...], "test": [...]}, such as the authors' split. `ratio` thins the training images until
    no object is on more than `ratio` images of one gender for each of the other (S0's R1 to R3: 1, 2, 3);
    `per_group` draws so many test images of each gender (S0: 1,500). `limit` uses so many images of each
    part; 0: all, for both. Images are cut to the square in their middle and scaled to `size`.
    """
    check_choice("words", words, tuple(WORDS))
    check_share("test", test)
    choices = Choices(unknown, size, seed, ratio, per_group, limit)
    choices.check()
    root = annotated_folder(folder, FOLDERS, "COCO", WHERE)
    read = [annotation_path(root, "instances", one) for one in SETS]
    both = [read_instances(path) for path in read]
    given = Given(root, _places(*both), "COCO")
    if genders is None:
        read += [annotation_path(root, "captions", one) for one in SETS]
    codes = given.genders(genders, lambda: _by_words(read[len(SETS) :], both, words))
    annotated = Annotated(
        classes=both[0].objects,
        y=np.concatenate([one.y for one in both]),
        codes=codes,
        parts=given.parts(parts, lambda: _official(len(both[0].ids), codes, test, seed)),
        known_by="by the words of their captions" if genders is None else "by a file of the user's",
    )
    files = {path.name: checksum(stamp(path)) for path in read}
    knobs = {"words": words, "test": test}
    card = _card(len(annotated.classes), parts is not None, {**files, **given.files}, knobs, _release(files))
    return gender_task(
        "coco-gender", annotated, lambda rows: _images(root, both, rows), card, choices, resident, progress
    )


def _places(train: Instances, held: Instances) -> dict[int, int]:
    """The row of each image by its number: those of train2014, then those of val2014."""
    if train.objects != held.objects:
        raise InputError("the instances of train2014 and val2014 have other categories; take one release")
    places = {number: row for row, number in enumerate((*train.ids, *held.ids))}
    if len(places) < len(train.ids) + len(held.ids):
        raise InputError("some image is in train2014 and in val2014; take both files of one release")
    return places


def _official(n_train: int, codes: IntArray, test: float, seed: int) -> Parts:
    """Training images of train2014; those of val2014 drawn into test and validation.

    Images of known and of unknown gender are drawn one after the other: whether the latter are kept does not
    change the parts of the former.
    """
    draw = np.random.default_rng(seed)
    held = np.flatnonzero(np.arange(len(codes)) >= n_train)
    parts: dict[str, list[IntArray]] = {"validation": [], "test": []}
    for some in (held[codes[held] >= 0], held[codes[held] < 0]):
        order = draw.permutation(some)
        cut = round(check_share("test", test) * len(order))
        parts["test"].append(order[:cut])
        parts["validation"].append(order[cut:])
    drawn = {part: np.sort(np.concatenate(pieces)) for part, pieces in parts.items()}
    return {"train": np.arange(n_train), **{part: rows for part, rows in drawn.items() if len(rows)}}


def _by_words(paths: Sequence[Path], both: Sequence[Instances], words: str) -> IntArray:
    """The gender of each image by its captions."""
    pairs = zip(paths, both, strict=True)
    return np.concatenate([read_mentions(path, one.ids, words).codes() for path, one in pairs])


def _images(root: Path, both: Sequence[Instances], rows: Sequence[int]) -> list[Path]:
    """The files of these rows, in the folder of train2014 or of val2014."""
    folders = [
        first_folder(root, (f"{one}2014", f"images/{one}2014"), f"the images of {one}2014", WHERE)
        for one in SETS
    ]
    files = [(folder, name) for folder, one in zip(folders, both, strict=True) for name in one.files]
    return [files[row][0] / files[row][1] for row in rows]


def _release(files: Mapping[str, str]) -> tuple[str, ...]:
    """Which annotation files are not those whose checksums are known: another release, or an edited copy."""
    other = [name for name, found in files.items() if KNOWN.get(name) != found]
    told = "not the bytes of the copies whose checksums are known: another release, or edited."
    return (f"Annotation files that are {told} {', '.join(other)}",) if other else ()


def _card(
    n_objects: int, own_parts: bool, files: Mapping[str, str], knobs: Mapping[str, object],
    notes: Sequence[str] = (),
) -> DataCard:  # fmt: skip
    drawn = "train2014 for training, val2014 drawn into validation and test by the seed"
    return DataCard(
        title="COCO with gender",
        about="Photographs of everyday scenes from Flickr, with the objects that are on them and captions.",
        origin=f"cocodataset.org, 2014; {'parts from a file of the user' if own_parts else drawn}",
        licence="Annotations: CC BY 4.0; images: Flickr's terms of use, the rights are their owners'",
        citation=(
            "Lin et al. Microsoft COCO: Common Objects in Context. ECCV 2014. Gender after: Zhao, Wang, "
            "Yatskar, Ordonez, Chang. Men Also Like Shopping. EMNLP 2017. As in: Wang, Zhao, Yatskar, Chang, "
            "Ordonez. Balanced Datasets Are Not Enough. ICCV 2019."
        ),
        target=f"{n_objects} objects, each there or not",
        notes=(
            PEOPLE,
            "Gender is what those who wrote the captions saw, in two levels because the words have two.",
            "S0 and Wang et al. have 22,826, 5,367 and 5,473 images; the words they looked for are not known "
            "here: ours come from the rule above and are other images, unless `parts` and `genders` name "
            "files with theirs.",
            *notes,
        ),
        files=files,
        knobs=knobs,
        unchecked=tuple(name for name, found in files.items() if KNOWN.get(name) != found),
    )
