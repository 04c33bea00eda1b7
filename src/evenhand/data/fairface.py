"""FairFace: photographs of faces, with age (9 levels), gender (2) and race (7) as crowd workers saw them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.data.cache import Progress
from evenhand.data.card import DataCard
from evenhand.data.encode import check_choice
from evenhand.data.fairface_files import FORMS, SIZES, choose_form, read_npz, read_official
from evenhand.data.fairface_labels import LEVELS
from evenhand.data.images import materialise
from evenhand.data.rebalancing import composed
from evenhand.data.scarce import check_labelled, hide_groups
from evenhand.data.splits import as_split, cut
from evenhand.data.task import Scaling, Task
from evenhand.errors import InputError
from evenhand.groups import Attribute

ORDER = ("race", "gender", "age")  # of the attributes; the target comes last


def fairface(
    target: str = "gender",
    *,
    form: str | None = None,
    folder: str | Path | None = None,
    size: int | None = None,
    validation: float = 0.1,
    seed: int = 0,
    resident: bool | None = None,
    limit: int = 0,
    labelled: float = 1.0,
    ratio: float | None = None,
    by: str = "",
    progress: Progress | None = None,
) -> Task:
    """Predict gender, age or race from a face; all three are attributes (126 intersections).

    `form`: "official" (the published folders: `folder`, or `fairface` inside EVENHAND_DATA; any `size`, 64 by
    default), "npz32" or "npz64" (files of reduced images). Without it the official folders are read if they
    are there; a smaller form is never taken unasked. The official validation set is the test part;
    `validation` of the training images, drawn by `seed`, are for validation. `resident` images are decoded at
    once (the npz forms unless told otherwise, once in a process), others when a batch asks for them. `limit`
    uses so many of the training images (with those for validation) and of the test images; 0: all.
    `labelled` is the share of training images whose race, gender and age are known as attributes; the others
    have -1 there, and keep what is predicted. `ratio` leaves out training images until no class has more than
    `ratio` times as many of one group as of another; groups are those of `by`: gender, or race where gender
    is predicted, unless it is named.
    """
    check_choice("target", target, ORDER)
    check_labelled(labelled)
    if limit < 0:
        raise InputError(f"the knob limit={limit} must be a number of images; 0 uses all")
    place = Path(folder) if folder is not None else None
    chosen = choose_form(form, place)
    if chosen == "official":
        faces = read_official(place, 64 if size is None else size)
    else:
        if size not in (None, SIZES[chosen]):
            raise InputError(f"the images of form='{chosen}' have {SIZES[chosen]} pixels, not size={size}")
        faces = read_npz(chosen, resident is not False, progress)
    x = faces.x
    if resident and not isinstance(x, Tensor):
        x = materialise(x, progress, "FairFace")
    order = np.random.default_rng(seed).permutation(faces.n_train)[: limit or None]
    tested = np.arange(faces.n_train, len(faces.codes["age"]))[: limit or None]
    rows = np.concatenate([order, tested])
    size = int(x.shape[-1])
    knobs = {"target": target, "form": chosen, "size": size, "validation": validation, "seed": seed}
    knobs |= {"limit": limit} if limit else {}
    task = Task(
        name="fairface",
        x=x,
        y=torch.from_numpy(faces.codes[target]),
        attributes=tuple(
            Attribute(name, LEVELS[name], faces.codes[name])
            for name in sorted(ORDER, key=lambda name: name == target)
        ),
        split=as_split(cut(rows, len(order), validation)),
        card=_card(target, chosen, faces.files, knobs),
        classes=LEVELS[target],
        scaling=Scaling(127.5, 127.5),
    )
    usual = "race" if target == "gender" else "gender"
    return hide_groups(composed(task, by, usual, ratio=ratio, seed=seed), labelled, seed)


def _card(target: str, form: str, files: Mapping[str, str], knobs: Mapping[str, object]) -> DataCard:
    return DataCard(
        title="FairFace",
        about="Photographs of faces from Flickr, balanced by race, 224 x 224 pixels in the original.",
        origin=f"{FORMS[form]} (github.com/joojs/fairface)",
        licence="CC BY 4.0",
        citation=(
            "Karkkainen, Joo. FairFace: Face Attribute Dataset for Balanced Race, Gender, and Age for Bias "
            "Measurement and Mitigation. WACV 2021."
        ),
        target=f"{target} ({len(LEVELS[target])} levels)",
        notes=(
            "Real people: do not use it to identify anybody.",
            "Age, gender and race are what crowd workers saw, not what people say of themselves; "
            "gender has two levels and race seven because the labels do.",
            "The official validation set is the test part here; the official test set is not published.",
        ),
        files=files,
        knobs=knobs,
        unchecked=tuple(files) if form == "official" else (),
    )
