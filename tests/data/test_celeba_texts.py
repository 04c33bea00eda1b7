"""CelebA's text files as users have them: other ends of lines, marks, damage, with the wrong line named."""

import hashlib
import runpy
import zipfile
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data import celeba_texts
from evenhand.data.celeba import celeba
from evenhand.data.celeba_mixed import celeba_mixed
from evenhand.data.celeba_texts import LABELS, PARTITION, read_labels
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum

pytest.importorskip("PIL")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_celeba.py")))
FILES = (LABELS, PARTITION)


@pytest.fixture
def folder(tmp_path):
    return tiny.make(tmp_path / "çelebà 日本")


def official(folder, **knobs):
    return celeba(folder=folder, split="official", size=8, **knobs)


def edit(folder, name, change):
    (folder / name).write_bytes(change((folder / name).read_bytes()))


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "change",
    [
        lambda data: data.replace(b"\n", b"\r\n"),
        lambda data: b"\xef\xbb\xbf" + data,
        lambda data: data + b"\n",
    ],
    ids=["windows", "mark", "empty line"],
)
def test_other_texts_that_say_the_same(folder, name, change):
    before = official(folder)
    edit(folder, name, change)
    after = official(folder)
    assert torch.equal(before.y, after.y)
    assert all(torch.equal(before.split[part], after.split[part]) for part in before.split)
    for one, other in zip(before.attributes, after.attributes, strict=True):
        assert np.array_equal(one.codes, other.codes)


@pytest.mark.parametrize("name", FILES)
def test_bytes_that_are_no_text(folder, name):
    edit(folder, name, lambda data: data.decode().encode("utf-16"))
    with pytest.raises(InputError, match=rf"{name} cannot be read as text .*; fetch it again"):
        official(folder)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("000003.jpg", "000003.jpg 1", r"line 5 is '000003\.jpg 1 .*', and there are 5 names"),
        ("000003.jpg  1", "000003.jpg", "line 5 is "),
        ("000003.jpg  1", "000003.jpg  0", "line 5 is "),
        ("000003.jpg", "000003.jpg #", "line 5 is "),
        ("000003.jpg", "000002.jpg", r"the image '000002\.jpg' is there twice"),
        ("Chubby", "Male", "the attribute 'Male' is there twice"),
        ("24\n", "25\n", "its first line is '25', and 24 images follow"),
    ],
)
def test_the_wrong_line_of_the_labels_is_named(folder, old, new, words):
    text = (folder / LABELS).read_text(encoding="utf-8")
    assert old in text
    (folder / LABELS).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=f"is not as it was published: .*{words}.*; it should have a line"):
        official(folder)


def test_a_remark_behind_the_values_is_no_value(folder):
    text = (folder / LABELS).read_text(encoding="utf-8").rstrip()
    (folder / LABELS).write_text(text + " # 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 26 is "):
        read_labels(folder / LABELS)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("000001.jpg 0", "000001.jpg 7", r"line 1 is '000001\.jpg 7'"),
        ("000001.jpg 0", "000001.jpg 0 1 1", "line 1 is "),
        ("000001.jpg 0", "000001.jpg", "line 1 is "),
        ("000002.jpg 0", "000001.jpg 2", r"the image '000001\.jpg' is there twice"),
        ("000002.jpg 0\n", "", r"1 of the 24 images of .* not there; the first: 000002\.jpg"),
    ],
)
def test_no_image_is_lost_or_moved_by_a_wrong_part(folder, old, new, words):
    text = (folder / PARTITION).read_text(encoding="utf-8")
    (folder / PARTITION).write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=f"is not as it was published: {words}"):
        official(folder)


def test_files_that_are_not_the_published_ones_are_told(folder, monkeypatch):
    other = official(folder)
    assert other.card.unchecked == FILES
    assert "Not the published files, by their checksums" in other.card.notes[-1]
    assert celeba_mixed("Attractive", folder=folder, size=8).card.unchecked == (LABELS,)
    sums = {name: hashlib.md5((folder / name).read_bytes()).hexdigest() for name in FILES}
    monkeypatch.setattr(celeba_texts, "PUBLISHED", sums)
    same = official(folder)
    assert same.card.unchecked == ()
    assert not any("published files" in note for note in same.card.notes)
    assert data_checksum(same) == data_checksum(other)  # what is told of a file is no other data


def test_an_empty_folder_does_not_hide_the_archive(tmp_path):
    folder = tiny.make(tmp_path / "celeba", zipped=True)
    (folder / "img_align_celeba").mkdir()
    assert official(folder).x.take(torch.arange(2)).shape == (2, 3, 8, 8)


def test_a_damaged_image_in_the_archive_is_named(tmp_path):
    folder = tiny.make(tmp_path / "celeba", zipped=True)
    archive = folder / "img_align_celeba.zip"
    with zipfile.ZipFile(archive) as opened:
        start = opened.infolist()[0].header_offset
    data = bytearray(archive.read_bytes())
    data[start + 100 : start + 160] = bytes(60)
    archive.write_bytes(data)
    with pytest.raises(InputError, match=r"000001\.jpg in .*img_align_celeba\.zip is damaged .*fetch"):
        official(folder).x.take(torch.arange(24))


@pytest.mark.parametrize("size", [0, -1, 5000])
@pytest.mark.parametrize("zipped", [False, True])
def test_sizes_that_images_cannot_have(tmp_path, size, zipped):
    folder = tiny.make(tmp_path / "celeba", zipped=zipped)
    with pytest.raises(InputError, match=f"size={size} must be a whole number of pixels from 1 to 4,096"):
        celeba(folder=folder, split="official", size=size)
