"""Reading MNIST: the part in the package, the whole as one .npz file, or the four official files."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

from evenhand.arrays import Array
from evenhand.data.cache import Progress, Source, checksums, find_any, packaged
from evenhand.data.encode import check_choice
from evenhand.errors import InputError

Part = Literal["packaged", "full"]
PACKAGED = "mnist_part.npz"  # written by tools/make_packaged_mnist.py
PACKAGED_TRAIN = 14_000  # the first training images
PACKAGED_TEST_STEP = 5  # every fifth test image
IMAGE, LABEL = 2051, 2049  # the "magic" numbers of the two kinds of file

_MIRRORS = (
    "https://ossci-datasets.s3.amazonaws.com/mnist/",
    "https://storage.googleapis.com/cvdf-datasets/mnist/",
)


def _official(name: str, size: int, sha256: str, md5: str) -> Source:
    return Source(name, tuple(mirror + name for mirror in _MIRRORS), sha256=sha256, md5=md5, size=size)


NPZ = Source("mnist.npz", sha256="a7ca5941ed14a4e275a85c70d92dc1ec30216050a9a8efb4cd648939b6ce6b80")
OFFICIAL = (
    _official(
        "train-images-idx3-ubyte.gz",
        9_912_422,
        "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
        "f68b3c2dcbeaaa9fbdd348bbdeb94873",
    ),
    _official(
        "train-labels-idx1-ubyte.gz",
        28_881,
        "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
        "d53e105ee54ea40749a09fcbcd1e9432",
    ),
    _official(
        "t10k-images-idx3-ubyte.gz",
        1_648_877,
        "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
        "9fb629c4189551a2d022fa330f9573f3",
    ),
    _official(
        "t10k-labels-idx1-ubyte.gz",
        4_542,
        "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
        "ec29112dd5afa0611ce80d1b7f02629c",
    ),
)


@dataclass(frozen=True)
class Digits:
    """Images `[N, 28, 28]` and digits `[N]`, both uint8, in the order of the files they were read from.

    The last `n_validation` training images are for validation: S3 cuts the file without shuffling it.
    """

    x_train: Array = field(repr=False)
    y_train: Array = field(repr=False)
    x_test: Array = field(repr=False)
    y_test: Array = field(repr=False)
    n_validation: int
    files: Mapping[str, str]

    def parts(self) -> dict[str, tuple[Array, Array]]:
        """Images and digits of "train", "validation" and "test"."""
        cut = len(self.x_train) - self.n_validation
        return {
            "train": (self.x_train[:cut], self.y_train[:cut]),
            "validation": (self.x_train[cut:], self.y_train[cut:]),
            "test": (self.x_test, self.y_test),
        }


def read_digits(part: str = "packaged", progress: Progress | None = None) -> Digits:
    """The packaged part of MNIST, or all of it.

    >>> {name: len(digits) for name, (_, digits) in read_digits().parts().items()}
    {'train': 12000, 'validation': 2000, 'test': 2000}
    """
    if check_choice("part", part, ("packaged", "full")) == "packaged":
        path = packaged(PACKAGED)
        return _from_npz(path, 2_000, checksums({path.name: path}))
    return read_full(progress)


def read_full(progress: Progress | None = None) -> Digits:
    """All of MNIST, from `mnist.npz` or the four official files, whichever is there; verified."""
    paths = find_any((NPZ,), OFFICIAL, progress=progress)
    sums = checksums(paths)
    if NPZ.name in paths:
        return _from_npz(paths[NPZ.name], 10_000, sums)
    images, labels, test_images, test_labels = (read_idx(paths[source.name]) for source in OFFICIAL)
    return Digits(images, labels, test_images, test_labels, 10_000, sums)


def _from_npz(path: Path, n_validation: int, files: Mapping[str, str]) -> Digits:
    with np.load(path, allow_pickle=False) as stored:
        arrays = [stored[name] for name in ("x_train", "y_train", "x_test", "y_test")]
    images, labels, test_images, test_labels = arrays
    return Digits(images, labels, test_images, test_labels, n_validation, files)


def read_idx(path: Path) -> Array:
    """One of the official gzipped files: big-endian magic number, sizes, then one byte for each value."""
    data = gzip.decompress(path.read_bytes())
    magic = struct.unpack(">i", data[:4])[0] if len(data) >= 4 else 0
    if magic not in (IMAGE, LABEL):
        raise InputError(f"{path} is not a file of MNIST: it starts with {magic}, not {IMAGE} or {LABEL}")
    dimensions = magic & 0xFF  # the last byte of the magic number
    head = 4 + 4 * dimensions
    shape = struct.unpack(f">{dimensions}i", data[4:head])
    if len(data) != head + int(np.prod(shape)):
        raise InputError(f"{path} is cut short or too long: {len(data):,} bytes for the shape {shape}")
    return np.frombuffer(data, dtype=np.uint8, offset=head).reshape(shape)
