"""Reading CIFAR-100: the official binary archive. The Python version holds pickles and is never opened."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.cache import Progress, Source, cache_folder, data_folders, find, on_disk
from evenhand.errors import InputError

BINARY = Source(
    "cifar-100-binary.tar.gz",
    ("https://www.cs.toronto.edu/~kriz/cifar-100-binary.tar.gz",),
    sha256="58a81ae192c23a4be8b1804d68e518ed807d710a4eb253b1f2a199162a40d8ec",
    md5="03b5dce01913d631647c71ecec9e9cb8",
    size=168_513_733,
)
PICKLED = ("cifar-100-python.tar.gz", "cifar-100-python")  # the Python version, packed or unpacked
RECORD = 2 + 3 * 32 * 32  # the superclass, the class, then the red, the green and the blue plane
IMAGES, NAMES = ("train.bin", "test.bin"), ("fine_label_names.txt", "coarse_label_names.txt")
N_CLASSES, N_SUPERCLASSES = 100, 20


@dataclass(frozen=True)
class Pictures100:
    """Images `[N, 3, 32, 32]` uint8, classes and superclasses `[N]`: training images, then test images."""

    x: Tensor = field(repr=False)
    y: Tensor = field(repr=False)
    superclass: Tensor = field(repr=False)
    n_train: int
    classes: tuple[str, ...]
    superclasses: tuple[str, ...]
    files: Mapping[str, str]


def read_cifar100(progress: Progress | None = None) -> Pictures100:
    """All 50,000 + 10,000 images as published, after the archive's checksum was verified."""
    if on_disk(BINARY) is None:
        _refuse_pickles()
    path = find(BINARY, progress=progress)
    members = _members(path)
    records, n_train = _records(path, members)
    names = [tuple(members[name].decode().split()) for name in NAMES]
    if [len(found) for found in names] != [N_CLASSES, N_SUPERCLASSES]:
        raise InputError(f"{path} is not the binary version of CIFAR-100: it does not name all its classes")
    superclass, y = torch.from_numpy(records[:, :2].T.astype(np.int64))
    return Pictures100(
        x=torch.from_numpy(np.ascontiguousarray(records[:, 2:])).view(-1, 3, 32, 32),
        y=y,
        superclass=superclass,
        n_train=n_train,
        classes=names[0],
        superclasses=names[1],
        files={BINARY.name: BINARY.sha256},
    )


def _refuse_pickles() -> None:
    """The Python version in the binary one's place is told before anything is downloaded."""
    for folder in (*data_folders(), cache_folder()):
        for name in PICKLED:
            if (folder / name).exists():
                raise InputError(
                    f"{folder / name} is the Python version of CIFAR-100, which holds pickles; those can run "
                    f"code and are never opened. Put the binary version, {BINARY.urls[0]}, beside it as "
                    f"{BINARY.name}"
                )


def _members(path: Path) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = Path(member.name).name
            file = archive.extractfile(member) if name in (*IMAGES, *NAMES) else None
            if file is not None:
                found[name] = file.read()
    lost = [name for name in (*IMAGES, *NAMES) if not found.get(name)]
    lost += [name for name in IMAGES if len(found.get(name, b"")) % RECORD]
    if lost:
        raise InputError(f"{path} is not the binary version of CIFAR-100: {lost[0]} is missing or cut short")
    return found


def _records(path: Path, members: Mapping[str, bytes]) -> tuple[Array, int]:
    parts = [np.frombuffer(members[name], dtype=np.uint8).reshape(-1, RECORD) for name in IMAGES]
    records = np.concatenate(parts)
    if records[:, 0].max() >= N_SUPERCLASSES or records[:, 1].max() >= N_CLASSES:
        raise InputError(f"{path} is not the binary version of CIFAR-100: it has more than a hundred")
    return records, len(parts[0])
