"""CIFAR-10 from the binary archive and the .npz forms, and CIFAR-10S with its exact counts."""

import io
import os
import random
import tarfile
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data import cache, cifar10_files
from evenhand.data.cifar10 import channel_scaling, cifar10
from evenhand.data.cifar10_files import BATCHES, CLASSES, FILES, Pictures, read_cifar10
from evenhand.data.cifar10_under import cifar10_under
from evenhand.data.cifar10s import cifar10s, gray_of_training, to_gray
from evenhand.data.splits import evenly_spaced
from evenhand.errors import InputError

DATA = Path(os.environ.get("EVENHAND_DATA", ""))


def needs(form):
    name = FILES[form].name
    return pytest.mark.skipif(not (DATA / name).is_file(), reason=f"EVENHAND_DATA does not lead to {name}")


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A folder for data that holds nothing yet, and no cache beside it."""
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return tmp_path


def write_archive(folder, monkeypatch, names=BATCHES, records=20):
    """A small archive in the official layout; its checksum takes the place of the published one."""
    draw = np.random.default_rng(0)
    path = folder / FILES["official"].name
    written = []
    with tarfile.open(path, "w:gz") as archive:
        for name in names:
            batch = draw.integers(0, 256, (records, 3073)).astype(np.uint8)
            batch[:, 0] %= 10
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = batch.size
            archive.addfile(member, io.BytesIO(batch.tobytes()))
            written.append(batch)
    source = cache.Source(path.name, FILES["official"].urls, sha256=cache.sha256(path))
    monkeypatch.setitem(cifar10_files.FILES, "official", source)
    return np.concatenate(written)


def test_the_binary_archive_is_read_plane_by_plane(nowhere, monkeypatch):
    records = write_archive(nowhere, monkeypatch)
    task = cifar10(validation=0.25, seed=3).check()
    assert task.x.shape == (120, 3, 32, 32)
    assert task.y.tolist() == records[:, 0].tolist()
    assert task.x[7, 1, 2, 5] == records[7, 1 + 1024 + 2 * 32 + 5]  # the green plane, row 2, column 5
    assert {name: len(rows) for name, rows in task.split.items()} == {
        "train": 75,
        "validation": 25,
        "test": 20,
    }
    assert task.rows("test").tolist() == list(range(100, 120))
    assert task.card.knobs["form"] == "official"
    assert task.classes == CLASSES


def test_an_archive_without_a_batch_is_refused(nowhere, monkeypatch):
    write_archive(nowhere, monkeypatch, names=BATCHES[:5])
    with pytest.raises(InputError, match=r"binary version.*test_batch\.bin is missing"):
        read_cifar10()


def test_scaling_is_mean_and_deviation_of_the_training_images(nowhere, monkeypatch):
    records = write_archive(nowhere, monkeypatch)
    task = cifar10()
    planes = records[:100, 1:].reshape(-1, 3, 1024).astype(np.float64)
    np.testing.assert_allclose(task.scaling.shift, planes.mean(axis=(0, 2)), rtol=1e-12)
    np.testing.assert_allclose(task.scaling.scale, planes.std(axis=(0, 2)), rtol=1e-12)
    scaled = task.scaling(task.x[:100])
    np.testing.assert_allclose(scaled.mean(dim=(0, 2, 3)), 0.0, atol=1e-5)


def test_no_form_is_taken_unasked(nowhere):
    """Another form on disk is named, with what it is; nothing is read in the official one's place."""
    name = FILES["jpeg75"].name
    (nowhere / name).write_bytes(b"stand-in")
    changed = cache.Source(name, sha256=cache.sha256(nowhere / name))
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(cifar10_files.FILES, "jpeg75", changed)
        with pytest.raises(
            InputError, match=r"is not here\. There is form='jpeg75' \(all .*form='official'"
        ) as told:
            cifar10()
    assert "lossless" not in str(told.value)


def test_who_lacks_a_form_that_nobody_offers_is_told_of_the_one_that_is(nowhere):
    for form in ("jpeg75", "lossless-4k"):
        with pytest.raises(
            InputError, match=r"has no address.*; or choose form='official', .* downloaded .*--like NAME'\)$"
        ):
            cifar10(form)


def test_an_unknown_form_is_refused():
    with pytest.raises(InputError, match=r"form='png' must be .*official.*lossless-4k.*jpeg75"):
        cifar10("png")


def test_gray_is_pillows():
    image = pytest.importorskip("PIL.Image")
    pixels = np.random.default_rng(0).integers(0, 256, (512, 128, 3)).astype(np.uint8)
    expected = np.asarray(image.fromarray(pixels).convert("L"))
    gray = to_gray(torch.from_numpy(pixels.transpose(2, 0, 1).copy())[None])[0].numpy()
    assert all(np.array_equal(channel, expected) for channel in gray)


def test_gray_by_hand():
    # (19595 * 10 + 38470 * 200 + 7471 * 30 + 32768) >> 16 = 123.8...
    assert to_gray(torch.tensor([10, 200, 30], dtype=torch.uint8).view(1, 3, 1, 1)).unique().tolist() == [124]


@pytest.mark.parametrize("skew", [0.75, 0.8, 0.875, 0.9, 0.95, 0.96, 0.975, 0.98, 0.99])
def test_counts_and_weights_of_the_full_size(skew):
    y = np.random.default_rng(1).permutation(np.repeat(np.arange(10), 5000))
    gray = gray_of_training(y, skew)
    majority = round(5000 * skew)
    for label in range(10):
        share = int(gray[y == label].sum())
        assert share == (majority if label % 2 == 0 else 5000 - majority), CLASSES[label]
    if skew == 0.95:  # N_c / (2 N_cd): minority 10, majority .5263
        assert (majority, 5000 / (2 * 250)) == (4750, 10.0)
        assert round(5000 / (2 * majority), 4) == 0.5263


def test_the_draw_is_pythons_with_seed_42_class_by_class():
    y = np.tile(np.arange(10), 40)
    random.seed(42)
    expected = set()
    for label in range(10):
        members = [row for row, value in enumerate(y) if value == label]
        chosen = set(random.sample(members, 38))
        expected |= chosen if label % 2 == 0 else set(members) - chosen
    assert set(np.flatnonzero(gray_of_training(y, 0.95)).tolist()) == expected


@pytest.fixture
def small(monkeypatch):
    """CIFAR-10 in small: 20 training images and 3 test images of each class."""
    draw = torch.Generator().manual_seed(0)
    x = torch.randint(0, 256, (230, 3, 32, 32), generator=draw, dtype=torch.uint8)
    y = torch.cat([torch.arange(10).repeat(20), torch.arange(10).repeat(3)])
    pictures = Pictures(x, y, 200, "official", {})
    monkeypatch.setattr("evenhand.data.cifar10s.read_cifar10", lambda form, progress: pictures)
    return pictures


def test_cifar10s_in_small(small):
    before = small.x.clone()
    task = cifar10s().check()
    assert torch.equal(small.x, before)  # what was read is shared with other tasks
    domain = torch.from_numpy(task.attribute("domain").codes)
    assert task.attribute("domain").levels == ("colour", "gray")
    train, test = task.rows("train"), task.rows("test")
    counts = torch.stack(
        [(domain[train][task.y[train] == label]).bincount(minlength=2) for label in range(10)]
    )
    assert counts.tolist() == [[1, 19], [19, 1]] * 5
    is_gray = (task.x == task.x[:, :1]).flatten(1).all(1)
    assert torch.equal(is_gray, domain == 1)
    assert torch.equal(task.x[domain == 0], torch.cat([before[:200][domain[:200] == 0], before[200:]]))
    colour, gray = test[:30], test[30:]
    assert torch.equal(task.x[gray], to_gray(task.x[colour]))
    assert torch.equal(task.y[gray], task.y[colour])
    assert task.scaling == channel_scaling(task.x, train)


def test_a_skew_that_is_no_share_is_refused():
    with pytest.raises(InputError, match="skew=95"):
        cifar10s(95)


@needs("lossless-4k")
def test_the_lossless_form():
    task = cifar10("lossless-4k").check()
    assert {name: len(rows) for name, rows in task.split.items()} == {"train": 4000, "test": 1000}
    assert [CLASSES[label] for label in task.y[:4]] == ["frog", "truck", "truck", "deer"]
    assert task.x[0, :, 0, 0].tolist() == [59, 62, 63]  # the first pixel of data_batch_1
    np.testing.assert_allclose(task.scaling.shift, (125.3, 123.0, 113.9), atol=0.6)  # of all 50,000
    np.testing.assert_allclose(task.scaling.scale, (63.0, 62.1, 66.7), atol=0.6)
    assert task.card.files == {FILES["lossless-4k"].name: FILES["lossless-4k"].sha256}


@needs("lossless-4k")
@needs("jpeg75")
def test_forms_on_disk_are_offered():
    if (DATA / FILES["official"].name).is_file():
        pytest.skip("the official archive is there")
    with pytest.raises(InputError, match=r"There is form='lossless-4k' .* and form='jpeg75' "):
        cifar10()


@pytest.mark.slow
@needs("jpeg75")
@needs("lossless-4k")
def test_the_jpeg_form_shows_the_same_pictures_less_well():
    pytest.importorskip("PIL.Image")
    jpeg, exact = cifar10("jpeg75").check(), cifar10("lossless-4k")
    assert torch.equal(jpeg.y[:4000], exact.y[:4000])
    error = (jpeg.x[:4000].int() - exact.x[:4000].int()).abs().float().mean()
    assert 5 < error < 7  # 5.8 is on record
    task = cifar10s(form="jpeg75").check()
    assert [len(task.rows(part)) for part in ("train", "test")] == [50_000, 20_000]


def test_a_few_test_images_of_a_file_sorted_by_class_are_of_every_class():
    y = torch.arange(10).repeat_interleave(1000)
    assert y[evenly_spaced(10_000, 50)].bincount().tolist() == [5] * 10
    with pytest.raises(InputError, match="n_test=-1 must be"):
        evenly_spaced(10, -1)


@pytest.mark.slow
@needs("jpeg75")
def test_the_small_form_of_a_study_tests_every_class():
    pytest.importorskip("PIL.Image")
    task = cifar10_under("jpeg75", limit=32, n_test=50)
    assert task.y[task.rows("test")].bincount(minlength=10).tolist() == [5] * 10
