"""A small CIFAR-100 in the layout of the official binary archive: ten training, two test images a class."""

import io
import tarfile

import numpy as np

from evenhand.data import cache
from evenhand.data.cifar100_files import BINARY

TRAIN, TEST = 10, 2  # images a class
FINE = tuple(f"fine{label:02d}" for label in range(100))
COARSE = tuple(f"coarse{label:02d}" for label in range(20))


def records(each, seed):
    """Superclass, class, and three planes of one colour each with a mark, in a drawn order."""
    draw = np.random.default_rng(seed)
    found = np.zeros((100 * each, 3074), dtype=np.uint8)
    found[:, 1] = draw.permutation(np.repeat(np.arange(100), each))
    found[:, 0] = found[:, 1] // 5
    found[:, 2:] = draw.integers(0, 256, (len(found), 3)).repeat(1024, axis=1)
    found[:, 2 + 1024 + 2 * 32 + 5] = found[:, 1]  # the green plane, row 2, column 5
    return found


def members():
    """The files of the archive by name."""
    return {
        "train.bin": records(TRAIN, 1).tobytes(),
        "test.bin": records(TEST, 2).tobytes(),
        "fine_label_names.txt": "\n".join((*FINE, "")).encode(),
        "coarse_label_names.txt": "\n".join((*COARSE, "")).encode(),
    }


def make(folder, files=None):
    """Write the archive beside the folder; gives back the source that has its checksum."""
    path = folder.parent / BINARY.name
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for name, content in (members() if files is None else files).items():
            member = tarfile.TarInfo(f"cifar-100-binary/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return cache.Source(path.name, BINARY.urls, sha256=cache.sha256(path))
