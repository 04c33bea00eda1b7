"""Reading FairFace: the published folders, or the .npz files of reduced images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.cache import Progress, Source, check_data_folders, data_folders, find, on_disk, sha256
from evenhand.data.encode import check_choice
from evenhand.data.fairface_labels import LEVELS, check_once, read_labels
from evenhand.data.images import EncodedRows, FolderRows, check_present, decode_once
from evenhand.data.task import Rows
from evenhand.errors import InputError

FILES = {
    "npz32": Source(
        "fairface32.npz", sha256="01c8cd601ac93c39c395b91c9033a97f3fcec6b46d7e4e486ccad3597b1b28c9"
    ),
    "npz64": Source(
        "fairface64.npz", sha256="1454ec2da4b8c4edb26ff67edb28cb2d0ff3652e9ed8ed1de44ea2d976bd322c"
    ),
}
SIZES = {"npz32": 32, "npz64": 64}
FORMS = {
    "official": "the official images, cut to a square and scaled",
    "npz32": "the first 16,000 training and 5,000 validation images at 32 x 32, recompressed as WebP",
    "npz64": "the first 40,000 training and 5,000 validation images at 64 x 64, recompressed as WebP",
}
PARTS = ("train", "val")
WHERE = (
    "put fairface_label_train.csv, fairface_label_val.csv and the image folders train/ and val/ of "
    "github.com/joojs/fairface into one folder, and name it by folder=... or call it fairface inside "
    "EVENHAND_DATA"
)


@dataclass(frozen=True)
class Faces:
    """Images and codes of age, gender and race: the official training set, then the validation set."""

    x: Tensor | Rows = field(repr=False)
    codes: Mapping[str, IntArray] = field(repr=False)
    n_train: int
    files: Mapping[str, str]


def choose_form(form: str | None, folder: Path | None) -> str:
    """The form asked for, or the official one if it is there; otherwise the user is told what there is."""
    if form is not None:
        return check_choice("form", form, tuple(FORMS))
    if folder is not None or _folders():
        return "official"
    check_data_folders("FairFace")
    there = [f"form='{name}' ({FORMS[name]})" for name, source in FILES.items() if on_disk(source)]
    choice = f"There is {' and '.join(there)}: choose one; or " if there else "To have them, "
    raise InputError(f"the official images of FairFace are not here. {choice}{WHERE}")


def read_official(folder: Path | None, size: int) -> Faces:
    """The published folders: images stay files until they are asked for."""
    found = [folder] if folder is not None else _folders()
    if not found:
        check_data_folders("FairFace")
        raise InputError(f"the official images of FairFace are not here. To have them, {WHERE}")
    names = [_label_file(part) for part in PARTS]
    for name in names:
        if not (found[0] / name).is_file():
            raise InputError(f"there is no {name} in {found[0]}; {WHERE}")
    read = [read_labels(found[0] / name) for name in names]
    listed = [file for files, _ in read for file in files]
    check_once(listed, found[0])
    paths = [found[0] / file for file in listed]
    check_present(paths)
    codes = {name: np.concatenate([part[name] for _, part in read]) for name in LEVELS}
    sums = {name: sha256(found[0] / name) for name in names}
    return Faces(FolderRows(paths, size), codes, len(read[0][0]), sums)


def read_npz(form: str, resident: bool, progress: Progress | None = None) -> Faces:
    """One of the .npz forms; resident images are decoded now, unless this process has done so before."""
    source, shape = FILES[form], (3, SIZES[form], SIZES[form])
    path = find(source, progress=progress)
    with np.load(path, allow_pickle=False) as stored:
        streams = np.concatenate([stored[f"{part}_webp"] for part in PARTS])
        ends = [stored[f"{part}_offsets"].astype(np.int64) for part in PARTS]
        codes = {
            name: np.concatenate([stored[f"{part}_{name}"] for part in PARTS]).astype(np.int64)
            for name in LEVELS
        }
        for name in LEVELS:  # the codes mean what we say they mean
            if tuple(stored[f"{name}_names"].tolist()) != LEVELS[name]:
                raise InputError(
                    f"{path} names the levels of {name} otherwise: {stored[f'{name}_names'].tolist()}"
                )
    offsets = np.concatenate([ends[0], ends[0][-1] + ends[1][1:]])
    rows = EncodedRows(streams, offsets, shape, source.name)
    x = decode_once(source.sha256, rows, progress) if resident else rows
    return Faces(x, codes, len(ends[0]) - 1, {source.name: source.sha256})


def _label_file(part: str) -> str:
    return f"fairface_label_{part}.csv"


def _folders() -> list[Path]:
    """The folders with official label files that EVENHAND_DATA leads to."""
    folders = [place for base in data_folders() for place in (base / "fairface", base)]
    return [folder for folder in folders if (folder / _label_file("train")).is_file()]
