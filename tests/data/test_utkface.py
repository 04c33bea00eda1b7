"""UTKFace in its published layout, a small copy made here: names, bands, parts, refusals."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.images import FolderRows
from evenhand.data.registry import load
from evenhand.data.utkface import utkface
from evenhand.data.utkface_names import band_names, read_name
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum

Image = pytest.importorskip("PIL.Image")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_folders.py")))


@pytest.fixture
def folder(tmp_path):
    return tiny.make_utkface(tmp_path / "utkface")


def test_labels_are_those_of_the_names(folder):
    task = utkface(folder=folder, size=8).check()
    assert isinstance(task.x, FolderRows)
    names = [path.name for path in task.x.paths]
    assert sorted(names) == names
    assert set(names) == set(tiny.NAMES)
    said = np.array([[int(word) for word in name.split("_")[:3]] for name in names])
    assert task.y.tolist() == task.attribute("gender").codes.tolist() == said[:, 1].tolist()
    assert task.classes == ("Male", "Female")
    assert task.attribute("race").codes.tolist() == said[:, 2].tolist()
    assert task.attribute("race").levels == ("White", "Black", "Asian", "Indian", "Others")
    assert [attribute.name for attribute in task.attributes] == ["race", "age", "gender"]
    assert len(task.groups()) == 5 * 2 * 9


@pytest.mark.parametrize(
    ("age", "band"),
    [(1, "0-2"), (2, "0-2"), (3, "3-9"), (9, "3-9"), (10, "10-19"), (69, "60-69"), (70, "70 or more"),
     (116, "70 or more")],
)  # fmt: skip
def test_ages_fall_into_bands(folder, age, band):
    task = utkface("age", folder=folder)
    row = next(i for i, path in enumerate(task.x.paths) if path.name.startswith(f"{age}_"))
    assert task.attribute("age").levels[task.attribute("age").codes[row]] == band
    assert task.classes[task.y[row]] == band


def test_other_bands(folder):
    task = utkface("age", folder=folder, bands=(18, 65))
    assert task.classes == ("0-17", "18-64", "65 or more")
    assert np.bincount(task.y).tolist() == [5, 4, 3]
    for wrong in ((), (0, 18), (18, 18), (30, 20), (18, 200)):
        with pytest.raises(InputError, match="must be growing ages"):
            utkface(folder=folder, bands=wrong)
    assert band_names((1,)) == ("0-0", "1 or more")


def test_short_names_are_left_out_and_told(folder):
    task = utkface(folder=folder)
    (note,) = [note for note in task.card.notes if "left out" in note]
    assert note.startswith("3 images do not tell all three by their name")
    assert "61_3_20170109150557335.jpg.chip.jpg" in note
    for name in tiny.SHORT:
        (folder / name).unlink()
    assert not [note for note in utkface(folder=folder).card.notes if "left out" in note]


@pytest.mark.parametrize(
    "name",
    ["117_0_0_20170109142408075.jpg", "20_2_0_20170109142408075.jpg", "20_0_5_20170109142408075.jpg",
     "20_0_0.jpg", "_0_0_20170109142408075.jpg", "face.jpg", *tiny.SHORT],
)  # fmt: skip
def test_names_that_say_too_little(name):
    assert read_name(name) is None


def test_parts_are_drawn_by_the_seed(folder):
    task = utkface(folder=folder, test=0.25, validation=0.34, seed=1).check()
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 6, "validation": 3, "test": 3}
    again, other = (utkface(folder=folder, test=0.25, validation=0.34, seed=seed) for seed in (1, 2))
    assert again.rows("test").tolist() == task.rows("test").tolist() != other.rows("test").tolist()
    few = utkface(folder=folder, limit=5, seed=1)
    assert sum(map(len, few.split.values())) == 5
    with pytest.raises(InputError, match=r"test=0\.0 of 12 images leaves none"):
        utkface(folder=folder, test=0.0)
    with pytest.raises(InputError, match="limit=-1"):
        utkface(folder=folder, limit=-1)


def test_images_in_any_folder_below_and_at_once(folder):
    whole = utkface(folder=folder, size=8)
    pictures = whole.x.take(torch.arange(12))
    (folder / "part1").mkdir()
    (folder / ".cache").mkdir()
    for name in tiny.NAMES[:6]:
        (folder / ".cache" / name).write_bytes(b"")
        (folder / name).rename(folder / "part1" / name)
    parted = utkface(folder=folder, size=8, resident=True)
    assert len(parted) == len(whole) == 12
    by_name = {path.name: row for row, path in enumerate(whole.x.paths)}
    names = [path.name for path in utkface(folder=folder, size=8).x.paths]
    assert torch.equal(parted.x, pictures[[by_name[name] for name in names]])


def test_the_checksum_knows_other_images(folder):
    before = data_checksum(utkface(folder=folder))
    assert before == data_checksum(utkface(folder=folder, resident=True))
    Image.new("RGB", (90, 90)).save(folder / tiny.NAMES[0], format="JPEG")
    assert data_checksum(utkface(folder=folder)) != before


def test_scarce_labels(folder):
    task = utkface("race", folder=folder, labelled=0.5)
    train = task.rows("train").numpy()
    assert (task.attribute("gender").codes[train] >= 0).sum() == round(len(train) / 2)
    assert int((task.y < 0).sum()) == 0


def test_where_it_is_not_the_user_is_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"UTKFace is not here.*susanqq\.github\.io/UTKFace.*folder=\.\.\."):
        utkface()
    with pytest.raises(InputError, match="there is no folder"):
        utkface(folder=tmp_path / "nowhere")
    (tmp_path / "UTKFace").mkdir()
    with pytest.raises(InputError, match=r"no file in .* is named as UTKFace"):
        utkface()
    Image.new("RGB", (9, 9)).save(tmp_path / "UTKFace" / "face.jpg")
    with pytest.raises(InputError, match=r"the first of 1 images: face\.jpg"):
        utkface()
    tiny.make_utkface(tmp_path / "utkface")
    assert len(load("utkface", size=8)) == 12
    assert "Non-commercial" in load("utkface").card.licence


def test_a_target_that_is_none(folder):
    with pytest.raises(InputError, match="target='sex' must be race or gender or age"):
        utkface("sex", folder=folder)


@pytest.mark.parametrize("again", ["part2/{}.jpg.chip.jpg", "as_found/{}.jpg", "{} (1).jpg"])
def test_a_photograph_that_is_there_twice_is_refused(folder, again):
    first = tiny.NAMES[0]
    copy = folder / again.format(first.split(".")[0])
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes((folder / first).read_bytes())
    with pytest.raises(InputError, match=r"1 images below .* are there twice.*name one of the folders"):
        utkface(folder=folder)


def test_grey_and_printed_and_transparent_images(folder):
    for number, (mode, end) in enumerate([("L", "jpg"), ("CMYK", "jpg"), ("RGBA", "png"), ("P", "png")]):
        name = f"{30 + number}_1_1_20170116184024662.{end}"
        Image.new("RGB", (24, 30), (200, 100, 50)).convert(mode).save(folder / name)
    palette = Image.new("P", (24, 30))
    palette.putpalette([200, 100, 50] * 256)
    palette.save(folder / "34_1_1_20170116184024662.png", transparency=bytes(10))
    task = utkface(folder=folder, size=8)
    rows = [
        row for row, path in enumerate(task.x.paths) if path.name.startswith("3") and "_1_1_" in path.name
    ]
    middle = task.x.take(torch.tensor(rows))[:, :, 4, 4].tolist()
    assert middle[0] == [124, 124, 124]  # 0.299 R + 0.587 G + 0.114 B
    assert np.abs(np.array(middle[1:]) - (200, 100, 50)).max() <= 3
