"""MNIST: the packaged part is a part of the whole, and the official files are read as published."""

import gzip
import importlib.util
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data import cache, mnist_files
from evenhand.data.mnist import mnist
from evenhand.data.mnist_files import PACKAGED, read_digits, read_full, read_idx
from evenhand.errors import InputError

ROOT = Path(__file__).parents[2]
FULL = Path(os.environ.get("EVENHAND_DATA", "")) / "mnist.npz"
needs_full = pytest.mark.skipif(not FULL.is_file(), reason="EVENHAND_DATA does not lead to mnist.npz")


def write_idx(path: Path, array: np.ndarray, magic: int | None = None) -> None:
    magic = {3: 2051, 1: 2049}[array.ndim] if magic is None else magic
    head = struct.pack(f">i{array.ndim}i", magic, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes(), mtime=0))


def test_the_packaged_part_is_small_and_has_all_digits():
    assert cache.packaged(PACKAGED).stat().st_size < 2_500_000
    digits = read_digits()
    # the counts of the first 14,000 training labels are a fact of MNIST; all digits in every part
    assert np.bincount(digits.y_train).sum() == 14_000
    assert digits.y_train[:10].tolist() == [5, 0, 4, 1, 9, 2, 1, 3, 1, 4]  # how MNIST begins
    assert all(np.bincount(labels, minlength=10).min() > 100 for _, labels in digits.parts().values())


def test_the_task_of_the_packaged_part():
    task = mnist().check()
    assert task.x.shape == (16_000, 1, 28, 28)
    assert task.x.dtype == torch.uint8
    assert {name: len(rows) for name, rows in task.split.items()} == {
        "train": 12_000,
        "validation": 2_000,
        "test": 2_000,
    }
    assert task.scaling(task.x[:100]).max() == 1.0
    assert task.classes == tuple("0123456789")
    assert task.card.files == {PACKAGED: cache.CHECKSUMS[PACKAGED]}
    assert "packaged" in task.card.title


def test_ink_is_cut_at_the_median_of_the_training_images():
    task = mnist()
    train = task.rows("train").numpy()
    ink, within = (task.attribute(name).codes for name in ("ink", "ink_in_class"))
    assert abs(ink[train].mean() - 0.5) < 0.001
    totals = task.x.flatten(1).sum(1, dtype=torch.int64).numpy()
    assert totals[ink == 0].max() < totals[ink == 1].min()
    ones = (task.y == 1).numpy()
    assert ink[ones].mean() < 0.1  # most ones are light ...
    for digit in range(10):  # ... but not among ones
        assert abs(within[train][task.y[train].numpy() == digit].mean() - 0.5) < 0.01


@needs_full
def test_the_packaged_part_is_a_part_of_the_whole():
    part, full = read_digits(), read_full()
    assert np.array_equal(part.x_train, full.x_train[:14_000])
    assert np.array_equal(part.y_train, full.y_train[:14_000])
    assert np.array_equal(part.x_test, full.x_test[::5])
    assert np.array_equal(part.y_test, full.y_test[::5])


def test_the_writer_of_the_packaged_part_writes_the_same_bytes_every_time(tmp_path):
    path = ROOT / "tools" / "make_packaged_mnist.py"
    spec = importlib.util.spec_from_file_location("make_packaged_mnist", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arrays = {"x_train": read_digits().x_train[:20], "y_train": read_digits().y_train[:20]}
    for name in ("one.npz", "two.npz"):
        module.write_arrays(tmp_path / name, arrays)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    with np.load(tmp_path / "one.npz", allow_pickle=False) as stored:
        assert all(np.array_equal(stored[name], array) for name, array in arrays.items())


@needs_full
def test_the_whole_is_split_as_the_spec_says():
    task = mnist("full")
    full = read_full()
    assert [len(task.rows(part)) for part in ("train", "validation", "test")] == [50_000, 10_000, 10_000]
    assert torch.equal(
        task.y[task.rows("validation")], torch.from_numpy(full.y_train[50_000:].astype(np.int64))
    )
    assert np.array_equal(task.x[task.rows("test"), 0].numpy(), full.x_test)
    assert task.card.files == {"mnist.npz": mnist_files.NPZ.sha256}


def test_the_official_files_are_read_where_they_are(tmp_path, monkeypatch):
    """Four small files in MNIST's format take the place of the real ones, with their own checksums."""
    draw = np.random.default_rng(0)
    arrays = [
        draw.integers(0, 256, shape).astype(np.uint8)
        for shape in [(12_000, 2, 2), (12_000,), (7, 2, 2), (7,)]
    ]
    sources = []
    for array, source in zip(arrays, mnist_files.OFFICIAL, strict=True):
        write_idx(tmp_path / source.name, array)
        sources.append(cache.Source(source.name, source.urls, sha256=cache.sha256(tmp_path / source.name)))
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(mnist_files, "OFFICIAL", tuple(sources))
    full = read_full()
    assert np.array_equal(full.x_train, arrays[0])
    assert np.array_equal(full.parts()["validation"][1], arrays[1][2_000:])
    assert np.array_equal(full.y_test, arrays[3])
    assert set(full.files) == {source.name for source in sources}


def test_an_official_file_of_the_wrong_bytes_is_refused(tmp_path, monkeypatch):
    for source in mnist_files.OFFICIAL:
        write_idx(tmp_path / source.name, np.zeros(3, dtype=np.uint8))
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte\.gz .*expected 440fcabf"):
        mnist("full")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (struct.pack(">i", 99), "starts with 99"),
        (b"", "starts with 0"),
        (struct.pack(">ii", 2049, 5) + b"abc", "cut short or too long"),
        (struct.pack(">ii", 2049, 2) + b"abc", "cut short or too long"),
    ],
)
def test_what_is_no_idx_file_is_refused(tmp_path, content, message):
    (tmp_path / "labels.gz").write_bytes(gzip.compress(content))
    with pytest.raises(InputError, match=message):
        read_idx(tmp_path / "labels.gz")
