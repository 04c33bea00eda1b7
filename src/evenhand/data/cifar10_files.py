"""Reading CIFAR-10: the official binary archive, or one of two .npz files. No pickle is ever opened."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.cache import Progress, Source, find, on_disk
from evenhand.data.encode import check_choice
from evenhand.data.images import EncodedRows, decode_once
from evenhand.errors import InputError

CLASSES = ("airplane", "automobile", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck")
RECORD = 1 + 3 * 32 * 32  # the class, then the red, the green and the blue plane
BATCHES = (*(f"data_batch_{number}.bin" for number in range(1, 6)), "test_batch.bin")
FILES = {
    "official": Source(
        "cifar-10-binary.tar.gz",
        ("https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",),
        sha256="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",
        md5="c32a1d4ab5d03f1284b67883e8d87530",
        size=170_052_171,
    ),
    "lossless-4k": Source(
        "cifar10_lossless_4k1k.npz", sha256="53a42f99675e6e95549cdb8a004349da61d5d81cf1d3143ad50a0be311adbdf9"
    ),
    "jpeg75": Source(
        "cifar10_jpeg75_60k.npz", sha256="0d39ce6f73e4865fd0f1c7f7e5ef29c6549d090e3476f9995192c1b76207de92"
    ),
}
FORMS = {
    "official": "all 50,000 + 10,000 images as published",
    "lossless-4k": "the first 4,000 training and 1,000 test images as published",
    "jpeg75": "all 50,000 + 10,000 images recompressed as JPEG of quality 75, which costs accuracy",
}


@dataclass(frozen=True)
class Pictures:
    """Images `[N, 3, 32, 32]` uint8 and classes `[N]`: the training images, then the test images."""

    x: Tensor = field(repr=False)
    y: Tensor = field(repr=False)
    n_train: int
    form: str
    files: Mapping[str, str]


def read_cifar10(form: str | None = None, progress: Progress | None = None) -> Pictures:
    """The form asked for; without one the official archive, unless only other forms are on disk."""
    chosen = _choose(form)
    try:
        path = find(FILES[chosen], progress=progress)
    except InputError as error:
        if FILES[chosen].urls:
            raise
        raise InputError(
            f"{error}; or choose form='official', the images as published, which are downloaded "
            "(where a study of the package says which form, in a copy of it: 'evenhand study init FILE.toml "
            "--like NAME')"
        ) from error
    read = {"official": _read_official, "lossless-4k": _read_lossless, "jpeg75": _read_jpeg}[chosen]
    x, y, n_train = read(path, progress)
    files = {FILES[chosen].name: FILES[chosen].sha256}
    return Pictures(x, torch.from_numpy(y.astype(np.int64)), n_train, chosen, files)


def _choose(form: str | None) -> str:
    if form is not None:
        return check_choice("form", form, tuple(FORMS))
    there = [name for name, source in FILES.items() if on_disk(source)]
    if "official" in there or not there:
        return "official"
    told = " and ".join(f"form='{name}' ({FORMS[name]})" for name in there)
    raise InputError(
        f"the official archive of CIFAR-10 ({FILES['official'].name}) is not here. There is {told}: choose "
        "one, or form='official' to download the archive"
    )


def _read_official(path: Path, progress: Progress | None) -> tuple[Tensor, Array, int]:
    found: dict[str, Array] = {}
    with tarfile.open(path) as archive:
        for member in archive:
            name = Path(member.name).name
            file = archive.extractfile(member) if name in BATCHES else None
            if file is not None:
                found[name] = np.frombuffer(file.read(), dtype=np.uint8)
    lost = [name for name in BATCHES if found.get(name, np.zeros(1)).size % RECORD or name not in found]
    if lost:
        raise InputError(f"{path} is not the binary version of CIFAR-10: {lost[0]} is missing or cut short")
    records = np.concatenate([found[name] for name in BATCHES]).reshape(-1, RECORD)
    x = torch.from_numpy(np.ascontiguousarray(records[:, 1:])).view(-1, 3, 32, 32)
    return x, records[:, 0], len(records) - found["test_batch.bin"].size // RECORD


def _read_lossless(path: Path, progress: Progress | None) -> tuple[Tensor, Array, int]:
    with np.load(path, allow_pickle=False) as stored:
        x = np.concatenate([stored["x_train"], stored["x_test"]])
        y = np.concatenate([stored["y_train"], stored["y_test"]])
        n_train = len(stored["y_train"])
    return torch.from_numpy(np.ascontiguousarray(x.transpose(0, 3, 1, 2))), y, n_train


def _read_jpeg(path: Path, progress: Progress | None) -> tuple[Tensor, Array, int]:
    with np.load(path, allow_pickle=False) as stored:
        streams = np.concatenate([stored["train_jpeg"], stored["test_jpeg"]])
        first, second = (stored[f"{part}_offsets"].astype(np.int64) for part in ("train", "test"))
        y = np.concatenate([stored["y_train"], stored["y_test"]])
    offsets = np.concatenate([first, first[-1] + second[1:]])
    rows = EncodedRows(streams, offsets, (3, 32, 32), path.name)
    return decode_once(FILES["jpeg75"].sha256, rows, progress), y, len(first) - 1
