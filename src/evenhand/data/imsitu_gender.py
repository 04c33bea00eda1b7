"""imSitu: what a man or a woman on a photograph does, one of 211 verbs in S0 (I-*)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.annotation_files import annotated_folder, checksum, first_folder, stamp
from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.encode import check_choice
from evenhand.data.gender_parts import Given, Parts
from evenhand.data.gender_task import PEOPLE, Annotated, Choices, gender_task
from evenhand.data.imsitu_gender_files import (
    FILES,
    IMAGES,
    SPACE,
    WHERE,
    Situations,
    annotation_path,
    check_verbs,
    frequent_verbs,
    listed_verbs,
    read_situations,
    read_verbs,
)
from evenhand.data.imsitu_gender_nouns import NOUNS, agent_gender
from evenhand.data.task import Task
from evenhand.errors import InputError

FOLDERS = ("imsitu-gender", "imsitu", "imSitu")


def imsitu_gender(
    *,
    folder: str | Path | None = None,
    genders: str | Path | None = None,
    parts: str | Path | None = None,
    verbs: str | Path | None = None,
    at_least: int = 5,
    nouns: str = "narrow",
    unknown: str = "leave-out",
    size: int = 224,
    seed: int = 0,
    ratio: float | None = None,
    per_group: int = 0,
    limit: int = 0,
    resident: bool = False,
    progress: Progress | None = None,
) -> Task:
    """Predict the verb of a photograph (211 in S0); the gender of who acts is protected.

    Read from `folder`, or `imsitu` inside EVENHAND_DATA, as published: `train.json`, `dev.json`, `test.json`,
    `imsitu_space.json`, and the images in `of500_images_resized`.

    Gender is read off the nouns that three annotators gave the agent: man if any of them is one for a man
    and none one for a woman, and the other way round. `nouns` is "narrow" (WordNet's man, n10287213, and
    woman, n10787470) or "wide" (also boy, male; girl, female): `evenhand.data.imsitu_gender_nouns`. Other
    images are left out, or kept as unknown (-1) by `unknown="keep"`. `genders` names a file of your own
    instead: JSON {image: "man" or "woman"}, or CSV with the columns image and gender.

    `verbs` names a list of verbs, one a line, whose order is that of the classes. Without it, the verbs are
    those with at least `at_least` training images of each gender, sorted: a rule of ours, for that of the 211
    is not known. Parts are the official ones, or those of a file `parts`, {"train": [images], "validation":
    [...], "test": [...]}. `ratio` thins the training images until no verb has more than `ratio` of one gender
    for each of the other (S0's R1 to R3: 1, 2, 3); `per_group` draws so many test images of each gender (S0:
    3,000). `limit` uses so many images of each part; 0: all, for both. Images are cut to the square in
    their middle and scaled to `size`.
    """
    check_choice("nouns", nouns, tuple(NOUNS))
    if at_least < 1:
        raise InputError(f"the knob at_least={at_least} must be a number of images of at least 1")
    choices = Choices(unknown, size, seed, ratio, per_group, limit)
    choices.check()
    root = annotated_folder(folder, FOLDERS, "imSitu", WHERE)
    read = {part: annotation_path(root, name) for part, name in FILES.items()}
    space = annotation_path(root, SPACE)
    known = read_verbs(space, nouns)
    all_parts = {part: _situations(path, known) for part, path in read.items()}
    images = [image for one in all_parts.values() for image in one.images]
    given = Given(root, _places(images), "imSitu")
    codes = given.genders(genders, lambda: _by_nouns(all_parts, nouns))
    chosen = given.parts(parts, lambda: _official(all_parts))
    shown = [verb for one in all_parts.values() for verb in one.verbs]
    if verbs is None:
        classes = _frequent(shown, codes, chosen["train"], at_least)
    else:
        classes = listed_verbs(given.noted(verbs, "verbs"), known)
    y = _coded(shown, classes)
    annotated = Annotated(
        classes=classes,
        y=y,
        codes=codes,
        parts={part: rows[y[rows] >= 0] for part, rows in chosen.items()},
        known_by="by the nouns of their agents" if genders is None else "by a file of the user's",
    )
    files = {path.name: checksum(stamp(path)) for path in (*read.values(), space)}
    knobs = {"at_least": at_least, "nouns": nouns}
    card = _card(len(classes), verbs is not None, parts is not None, {**files, **given.files}, knobs)
    base = first_folder(root, IMAGES, "the images", WHERE)
    return gender_task(
        "imsitu-gender", annotated, lambda rows: [base / images[row] for row in rows], card, choices,
        resident, progress,
    )  # fmt: skip


def _situations(path: Path, known: frozenset[str]) -> Situations:
    """The images of one file, after looking whether their verbs are known."""
    found = read_situations(path)
    check_verbs(path, found.verbs, known)
    return found


def _places(images: Sequence[str]) -> dict[str, int]:
    places = {image: row for row, image in enumerate(images)}
    if len(places) < len(images):
        twice = next(image for row, image in enumerate(images) if places[image] != row)
        raise InputError(
            f"the image {twice!r} is in two of {', '.join(FILES.values())}; take the published files"
        )
    return places


def _by_nouns(all_parts: Mapping[str, Situations], nouns: str) -> IntArray:
    """The gender of who acts on each image."""
    agents = [some for one in all_parts.values() for some in one.agents]
    return np.array([agent_gender(some, nouns) for some in agents], dtype=np.int64)


def _official(all_parts: Mapping[str, Situations]) -> Parts:
    """All images of each of the three files."""
    ends = np.cumsum([len(one.images) for one in all_parts.values()])
    return dict(zip(all_parts, np.split(np.arange(ends[-1]), ends[:-1]), strict=True))


def _frequent(shown: Sequence[str], codes: IntArray, rows: IntArray, at_least: int) -> tuple[str, ...]:
    classes = frequent_verbs([shown[row] for row in rows.tolist()], codes[rows], at_least)
    if len(classes) < 2:
        raise InputError(
            f"{len(classes)} verbs have at_least={at_least} training images of men and as many of women; two "
            "are needed: name a smaller number, or a list of verbs"
        )
    return classes


def _coded(shown: Sequence[str], classes: Sequence[str]) -> IntArray:
    """The class of each image, -1 where its verb is none."""
    code = {verb: place for place, verb in enumerate(classes)}
    return np.array([code.get(verb, -1) for verb in shown], dtype=np.int64)


def _card(
    n_verbs: int | None, own_verbs: bool, own_parts: bool, files: Mapping[str, str],
    knobs: Mapping[str, object],
) -> DataCard:  # fmt: skip
    rule = "a list of the user's" if own_verbs else "those with enough training images of both genders"
    return DataCard(
        title="imSitu with gender",
        about="Photographs from the web of people and animals that do something, one verb each.",
        origin=f"github.com/my89/imSitu; parts {'from a file of the user' if own_parts else 'as published'}",
        licence="None stated by the authors; images are from Google's search, the rights are their owners'",
        citation=(
            "Yatskar, Zettlemoyer, Farhadi. Situation Recognition: Visual Semantic Role Labeling for Image "
            "Understanding. CVPR 2016. Gender after: Zhao, Wang, Yatskar, Ordonez, Chang. Men Also Like "
            "Shopping. EMNLP 2017. As in: Wang, Zhao, Yatskar, Chang, Ordonez. Balanced Datasets Are Not "
            "Enough. ICCV 2019."
        ),
        target=f"verb ({'' if n_verbs is None else f'{n_verbs} verbs, '}{rule})",
        notes=(
            PEOPLE,
            "Gender is what three annotators saw of who acts, in two levels because the nouns have two.",
            "S0 and Wang et al. have 24,301, 7,730 and 7,669 images of 211 verbs; how these were chosen is "
            "not known here: ours come from the rules above and are other images, unless `verbs`, `parts` "
            "and `genders` name files with theirs.",
            "No checksums of the annotations are publicly documented: what is read is what is in the folder.",
        ),
        files=files,
        knobs=knobs,
        unchecked=tuple(files),
    )
