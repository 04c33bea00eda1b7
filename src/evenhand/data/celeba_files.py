"""Finding CelebA as it is published: files of plain text, and images in a folder or in the one archive."""

from __future__ import annotations

import io
import os
import threading
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.data.cache import check_data_folders, data_folders
from evenhand.data.celeba_texts import LABELS, PARTITION, PERSONS
from evenhand.data.images import FolderRows, check_present, check_size, decode, told_as_image
from evenhand.data.task import Rows
from evenhand.errors import InputError

IMAGES, ARCHIVE = "img_align_celeba", "img_align_celeba.zip"
PLACES = ("", "Anno", "Eval", "Img", IMAGES)  # as published, or all in one folder, or unpacked one too deep
WHERE = (
    f"put {LABELS}, {PARTITION}, {PERSONS} and {ARCHIVE} (or the folder {IMAGES}/ that is in it) of "
    "mmlab.ie.cuhk.edu.hk/projects/CelebA.html into one folder, and name it by folder=... or call it celeba "
    "inside EVENHAND_DATA"
)


def find_folder(folder: Path | None) -> Path:
    """The folder that holds CelebA: the one that is named, or one that EVENHAND_DATA leads to."""
    bases = [folder] if folder else [place for base in data_folders() for place in (base / "celeba", base)]
    for base in bases:
        if _place(base, LABELS):
            return base
    if folder is not None:
        raise InputError(f"there is no {LABELS} in {folder}; {WHERE}")
    check_data_folders("CelebA")
    raise InputError(f"CelebA is not here, and its terms do not let a program fetch it. To have it, {WHERE}")


def published_file(folder: Path, name: str, wanted_for: str) -> Path:
    """One of the text files; where it is not there, what it is wanted for is told."""
    found = _place(folder, name)
    if found is None:
        raise InputError(f"there is no {name} in {folder}, which {wanted_for} needs; {WHERE}")
    return found


def images_of(folder: Path, files: Sequence[str], size: int) -> Rows:
    """These images, each the square in its middle scaled to `size`: from the folder or the archive."""
    for inner in (f"{IMAGES}/{IMAGES}", IMAGES):
        unpacked = next(
            (folder / place / inner for place in PLACES if _has_something(folder / place / inner)), None
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
        self.archive, self.size = archive, check_size(size)
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
            with told_as_image(f"{self.members[row]} in {self.archive}"):
                out[place] = decode(self._stream(row), self.size)
        return torch.from_numpy(out)

    def _stream(self, row: int) -> io.BytesIO:
        try:
            with self._lock:  # an archive has one place at which it is read
                return io.BytesIO(self._zip().read(self.members[row]))
        except (zipfile.BadZipFile, zlib.error) as error:
            raise InputError(
                f"{self.members[row]} in {self.archive} is damaged ({error}); fetch the archive again"
            ) from error

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


def _has_something(folder: Path) -> bool:
    """Whether a folder has anything in it: one that was left empty must not hide the archive beside it."""
    return folder.is_dir() and next(folder.iterdir(), None) is not None
