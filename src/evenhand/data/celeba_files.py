"""Reading CelebA as it is published: label files of plain text, images in a folder or in the one archive."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import IntArray
from evenhand.data.cache import data_folders
from evenhand.data.images import FolderRows, check_present, decode, pillow
from evenhand.data.task import Rows
from evenhand.errors import InputError

LABELS, PARTITION, PERSONS = "list_attr_celeba.txt", "list_eval_partition.txt", "identity_CelebA.txt"
IMAGES, ARCHIVE = "img_align_celeba", "img_align_celeba.zip"
PLACES = ("", "Anno", "Eval", "Img", IMAGES)  # as published, or all in one folder, or unpacked one too deep
WHERE = (
    f"put {LABELS}, {PARTITION}, {PERSONS} and {ARCHIVE} (or the folder {IMAGES}/ that is in it) of "
    "mmlab.ie.cuhk.edu.hk/projects/CelebA.html into one folder, and name it by folder=... or call it celeba "
    "inside EVENHAND_DATA"
)


@dataclass(frozen=True)
class Labels:
    """The file of every image, the names of the attributes, and codes `[images, attributes]`, 0 or 1."""

    files: tuple[str, ...] = field(repr=False)
    names: tuple[str, ...]
    codes: IntArray = field(repr=False)


def find_folder(folder: Path | None) -> Path:
    """The folder that holds CelebA: the one that is named, or one that EVENHAND_DATA leads to."""
    bases = [folder] if folder else [place for base in data_folders() for place in (base / "celeba", base)]
    for base in bases:
        if _place(base, LABELS):
            return base
    if folder is not None:
        raise InputError(f"there is no {LABELS} in {folder}; {WHERE}")
    raise InputError(f"CelebA is not here, and its terms do not let a program fetch it. To have it, {WHERE}")


def published_file(folder: Path, name: str, wanted_for: str) -> Path:
    """One of the text files; where it is not there, what it is wanted for is told."""
    found = _place(folder, name)
    if found is None:
        raise InputError(f"there is no {name} in {folder}, which {wanted_for} needs; {WHERE}")
    return found


def read_labels(path: Path) -> Labels:
    """`list_attr_celeba.txt`: the number of images, the names, then a file and -1 or 1 for each name."""
    count, header, *lines = (*path.read_text(encoding="utf-8").splitlines(), "", "")
    lines = [line for line in lines if line.strip()]
    names, pairs = tuple(header.split()), [(*line.split(None, 1), "")[:2] for line in lines]
    try:
        whole = int(count) == len(lines) > 0
        values = np.loadtxt([rest for _, rest in pairs] if whole else ["0"], dtype=np.int64, ndmin=2)
        whole = whole and values.shape == (len(lines), len(names))
    except ValueError:
        values, whole = np.zeros((0, 0), dtype=np.int64), False
    if not whole or not np.isin(values, (-1, 1)).all():
        raise InputError(
            f"{path} is not as it was published: a line with the number of images, one with the names of the "
            "attributes, then for each image its file and -1 or 1 for every name"
        )
    return Labels(tuple(file for file, _ in pairs), names, (values > 0).astype(np.int64))


def read_numbers(path: Path, files: Sequence[str]) -> IntArray:
    """A whole number for each of the files, from a text with a file and its number on each line."""
    words = path.read_text(encoding="utf-8").split()
    try:
        found = {file: int(number) for file, number in zip(words[::2], words[1::2], strict=True)}
        return np.array([found[file] for file in files], dtype=np.int64)
    except (ValueError, KeyError) as error:
        raise InputError(
            f"{path} is not as it was published: a file and its number on each line, for all {len(files):,} "
            f"images of {LABELS} ({error})"
        ) from error


def images_of(folder: Path, files: Sequence[str], size: int) -> Rows:
    """These images, each the square in its middle scaled to `size`: from the folder or the archive."""
    for inner in (f"{IMAGES}/{IMAGES}", IMAGES):
        unpacked = next(
            (folder / place / inner for place in PLACES if (folder / place / inner).is_dir()), None
        )
        if unpacked is not None:
            paths = [unpacked / file for file in files]
            check_present(paths)
            return FolderRows(paths, size)
    archive = _place(folder, ARCHIVE)
    if archive is None:
        raise InputError(
            f"the images of CelebA are not in {folder}: neither {IMAGES}/ nor {ARCHIVE}; {WHERE}"
        )
    return ZipRows(archive, files, size)


class ZipRows:
    """Images in an archive, decoded when they are asked for; the archive is opened once in each process."""

    def __init__(self, archive: Path, files: Sequence[str], size: int) -> None:
        self.archive, self.size = archive, size
        self.shape: tuple[int, ...] = (3, size, size)
        self._lock, self._open = threading.Lock(), dict[int, zipfile.ZipFile]()
        members = {Path(name).name: name for name in self._zip().namelist()}
        lost = [file for file in files if file not in members]
        if lost:
            first = ", ".join(lost[:3])
            raise InputError(
                f"{len(lost):,} of {len(files):,} images are not in {archive}; the first: {first}"
            )
        self.members = [members[file] for file in files]

    def __len__(self) -> int:
        return len(self.members)

    def take(self, rows: Tensor) -> Tensor:
        """The images with these numbers, `[len(rows), 3, size, size]`, uint8."""
        out = np.empty((len(rows), *self.shape), dtype=np.uint8)
        for place, row in enumerate(rows.tolist()):
            with self._lock:  # an archive has one place at which it is read
                stream = io.BytesIO(self._zip().read(self.members[row]))
            try:
                out[place] = decode(stream, self.size)
            except (OSError, SyntaxError, ValueError, pillow().DecompressionBombError) as error:
                name = f"{self.members[row]} in {self.archive}"
                raise InputError(f"{name} cannot be read as an image ({error})") from error
        return torch.from_numpy(out)

    def _zip(self) -> zipfile.ZipFile:
        process = os.getpid()  # a process that was forked off must not share the place at which is read
        if process not in self._open:
            try:
                self._open[process] = zipfile.ZipFile(self.archive)
            except zipfile.BadZipFile as error:
                raise InputError(f"{self.archive} is no whole archive ({error}); fetch it again") from error
        return self._open[process]


def _place(folder: Path, name: str) -> Path | None:
    return next((folder / place / name for place in PLACES if (folder / place / name).is_file()), None)
