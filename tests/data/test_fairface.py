"""FairFace from the official folders (a small copy made here) and, where they are, the real .npz files."""

import csv
import io
import os
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data import cache, fairface_files
from evenhand.data.fairface import fairface
from evenhand.data.fairface_files import FILES
from evenhand.data.fairface_labels import LEVELS, read_labels
from evenhand.data.images import FolderRows
from evenhand.errors import InputError

Image = pytest.importorskip("PIL.Image")

DATA = Path(os.environ.get("EVENHAND_DATA", ""))
HEADER = ["file", "age", "gender", "race", "service_test"]


def needs(form):
    name = FILES[form].name
    return pytest.mark.skipif(not (DATA / name).is_file(), reason=f"EVENHAND_DATA does not lead to {name}")


def write_labels(folder, part, rows):
    with (folder / f"fairface_label_{part}.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([HEADER, *rows])


@pytest.fixture
def official(tmp_path):
    """The published layout with 12 + 4 images of plain colour, 20 x 30 pixels."""
    draw = np.random.default_rng(0)
    for part, n in (("train", 12), ("val", 4)):
        (tmp_path / part).mkdir()
        rows = []
        for number in range(1, n + 1):
            colour = tuple(int(value) for value in draw.integers(0, 256, 3))
            Image.new("RGB", (20, 30), colour).save(tmp_path / part / f"{number}.jpg", quality=95)
            picks = [levels[int(draw.integers(len(levels)))] for levels in LEVELS.values()]
            rows.append([f"{part}/{number}.jpg", *picks, number % 2 == 0])
        write_labels(tmp_path, part, rows)
    return tmp_path


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_the_official_folders(official):
    task = fairface(folder=official, size=16, validation=0.25, seed=1).check()
    assert isinstance(task.x, FolderRows)
    assert task.input_shape == (3, 16, 16)
    assert {name: len(rows) for name, rows in task.split.items()} == {"train": 9, "validation": 3, "test": 4}
    assert task.rows("test").tolist() == [12, 13, 14, 15]  # the official validation set
    assert task.classes == ("Female", "Male")
    assert [attribute.name for attribute in task.attributes] == ["race", "age", "gender"]
    assert len(task.groups()) == 9 * 2 * 7 == 126
    with (official / "fairface_label_train.csv").open(encoding="utf-8") as file:
        written = list(csv.DictReader(file))
    for name in LEVELS:
        attribute = task.attribute(name)
        assert [attribute.levels[code] for code in attribute.codes[:12]] == [row[name] for row in written]
    with Image.open(official / "train" / "5.jpg") as image:
        colour = np.asarray(image.convert("RGB"))[15, 10]
    taken = task.x.take(torch.tensor([4, 0]))
    assert taken.shape == (2, 3, 16, 16)
    assert (taken[0, :, 8, 8].int() - torch.from_numpy(colour.astype(np.int32))).abs().max() <= 2


@pytest.mark.parametrize(("target", "others"), [("race", ["gender", "age"]), ("age", ["race", "gender"])])
def test_other_targets(official, target, others):
    task = fairface(target, folder=official)
    assert task.classes == LEVELS[target]
    assert task.input_shape == (3, 64, 64)
    assert [attribute.name for attribute in task.attributes] == [*others, target]
    assert task.y.tolist() == task.attribute(target).codes.tolist()


def test_resident_images_are_those_of_the_files(official):
    seen = []
    lazy = fairface(folder=official, size=8)
    task = fairface(folder=official, size=8, resident=True, progress=lambda *told: seen.append(told)).check()
    assert torch.equal(task.x, lazy.x.take(torch.arange(16)))
    assert seen == [("FairFace", 16, 16)]


def test_the_folder_may_be_in_the_data_folder(official, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(official))
    assert fairface().card.knobs["form"] == "official"
    monkeypatch.setenv("EVENHAND_DATA", str(official.parent))
    official.rename(official.parent / "fairface")
    assert len(fairface()) == 16


def test_the_split_is_drawn_by_the_seed(official):
    rows = [fairface(folder=official, seed=seed).rows("train").tolist() for seed in (0, 0, 1)]
    assert rows[0] == rows[1] != rows[2]


def test_a_limit_uses_fewer_images_of_each_part(official):
    task = fairface(folder=official, limit=3, validation=0.34, seed=1).check()
    whole = fairface(folder=official, validation=0.0, seed=1)
    assert {name: len(rows) for name, rows in task.split.items()} == {"train": 2, "validation": 1, "test": 3}
    assert task.rows("train").tolist() == whole.rows("train").tolist()[:2]
    assert task.rows("test").tolist() == [12, 13, 14]
    assert "limit" not in whole.card.knobs
    with pytest.raises(InputError, match="limit=-1 must be a number of images"):
        fairface(folder=official, limit=-1)


@pytest.mark.parametrize("target", ["gender", "age", "race"])
def test_up_to_126_groups(official, target):
    task = fairface(target, folder=official)
    for by, number in ((["race"], 7), (["race", "gender"], 14), (["race", "gender", "age"], 126)):
        groups = task.groups(by)
        assert len(groups) == len(groups.names) == number
        assert (groups.ids >= 0).all()
    codes = {name: task.attribute(name).codes for name in LEVELS}
    assert groups.ids.tolist() == ((codes["race"] * 2 + codes["gender"]) * 9 + codes["age"]).tolist()
    assert groups.names[125] == "race=White · gender=Male · age=more than 70"
    assert len(task.groups(["race", "gender", "age"], cross_label=True)) == 126 * task.n_classes


def test_scarce_labels_leave_what_is_predicted(official):
    whole = fairface(folder=official, seed=1, validation=0.25)
    task = fairface(folder=official, seed=1, validation=0.25, labelled=0.34).check()
    ids = task.groups(["race", "gender", "age"]).ids
    assert (ids[task.rows("train")] >= 0).sum() == 3
    for part in ("validation", "test"):
        assert (ids[task.rows(part)] >= 0).all()
    assert task.y.tolist() == whole.y.tolist()
    assert task.card.knobs == {**whole.card.knobs, "labelled": 0.34}
    with pytest.raises(InputError, match="from 0 to 1, not 2"):
        fairface(folder=official, labelled=2)


@pytest.mark.parametrize("damaged", ["03-Sep", "Oct-19", "3-Sep", "09-Mar", "2019-10-01"])
def test_ages_that_a_spreadsheet_made_dates_of_are_refused(official, damaged):
    write_labels(official, "val", [["val/1.jpg", damaged, "Male", "White", True]])
    with pytest.raises(
        InputError, match=rf"age '{damaged}' in data row 1 .*spreadsheet.*as it was published"
    ):
        fairface(folder=official)


def test_an_unknown_level_is_refused(tmp_path):
    write_labels(tmp_path, "val", [["val/1.jpg", "3-9", "male", "White", True]])
    with pytest.raises(InputError, match=r"gender 'male' in data row 1 .*none of its levels: Female, Male"):
        read_labels(tmp_path / "fairface_label_val.csv")


def test_a_label_file_without_a_column_is_refused(tmp_path):
    (tmp_path / "fairface_label_val.csv").write_text(
        "file,age,gender\nval/1.jpg,3-9,Male\n", encoding="utf-8"
    )
    with pytest.raises(InputError, match="no column 'race'"):
        read_labels(tmp_path / "fairface_label_val.csv")


def test_missing_images_are_counted_and_named(official):
    for number in (2, 3, 5, 7):
        (official / "train" / f"{number}.jpg").unlink()
    with pytest.raises(
        InputError, match=r"4 of 16 images are missing; the first: .*2\.jpg, .*3\.jpg, .*5\.jpg$"
    ):
        fairface(folder=official)


def test_a_folder_without_label_files_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"no fairface_label_train\.csv in"):
        fairface(folder=tmp_path)


def test_where_nothing_is_the_user_is_told_what_to_do(nowhere):
    with pytest.raises(InputError, match=r"are not here\. To have them, put fairface_label_train\.csv"):
        fairface()
    with pytest.raises(InputError, match="are not here"):
        fairface(form="official")
    with pytest.raises(InputError, match=r"no file fairface32\.npz"):
        fairface(form="npz32")


def test_a_smaller_form_is_offered_and_not_taken(nowhere, monkeypatch):
    (nowhere / "fairface32.npz").write_bytes(b"stand-in")
    source = cache.Source("fairface32.npz", sha256=cache.sha256(nowhere / "fairface32.npz"))
    monkeypatch.setitem(fairface_files.FILES, "npz32", source)
    with pytest.raises(InputError, match=r"There is form='npz32' \(the first 16,000 .*choose one; or put"):
        fairface()


@needs("npz32")
def test_the_32_pixel_file():
    task = fairface(form="npz32").check()
    assert {name: len(rows) for name, rows in task.split.items()} == {
        "train": 14_400,
        "validation": 1_600,
        "test": 5_000,
    }
    with np.load(DATA / "fairface32.npz", allow_pickle=False) as stored:
        for part, row, first in (("train", 15_999, 0), ("val", 3, 16_000)):
            start, end = stored[f"{part}_offsets"][row : row + 2]
            stream = io.BytesIO(stored[f"{part}_webp"][start:end].tobytes())
            expected = np.asarray(Image.open(stream).convert("RGB"))
            assert np.array_equal(task.x[first + row].numpy().transpose(1, 2, 0), expected)
        assert task.y[16_000:].tolist() == stored["val_gender"].tolist()
    assert round(float(task.y.float().mean()), 3) == pytest.approx(0.529, abs=0.005)  # male, on record
    races = np.bincount(task.attribute("race").codes) / len(task)
    assert 0.10 < races.min() < races.max() < 0.20
    again = fairface("age", form="npz32")
    assert again.x is task.x  # decoded once in a process


@needs("npz32")
def test_the_32_pixel_file_as_rows():
    task = fairface(form="npz32", resident=False).check()
    assert task.input_shape == (3, 32, 32)
    assert task.x.take(torch.tensor([3, 20_999])).shape == (2, 3, 32, 32)


@needs("npz64")
def test_the_64_pixel_file_as_rows():
    task = fairface("race", form="npz64", resident=False).check()
    assert [len(task.rows(part)) for part in ("train", "validation", "test")] == [36_000, 4_000, 5_000]
    assert task.x.take(torch.tensor([0])).shape == (1, 3, 64, 64)


def test_the_size_of_a_form_cannot_be_chosen():
    with pytest.raises(InputError, match=r"form='npz32' have 32 pixels, not size=48"):
        fairface(form="npz32", size=48)


@pytest.mark.parametrize(("part", "number"), [("train", 3), ("val", 3)])
def test_an_image_that_is_listed_twice_is_refused(official, part, number):
    path = official / f"fairface_label_{part}.csv"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace(f"{part}/{number}.jpg", "train/2.jpg"), encoding="utf-8")
    with pytest.raises(InputError, match=r"list 1 images more than once, the first 'train/2\.jpg'"):
        fairface(folder=official)


def test_an_empty_field_is_told_as_one(official):
    path = official / "fairface_label_train.csv"
    lines = path.read_text(encoding="utf-8").splitlines()
    file, age, gender, _, tested = lines[3].split(",")
    path.write_text("\n".join([*lines[:3], f"{file},{age},{gender},,{tested}", *lines[4:]]), encoding="utf-8")
    with pytest.raises(InputError, match=r"has no race in data row 3 \(1 such row\); fill it in"):
        fairface(folder=official)


@pytest.mark.parametrize("size", [0, -3])
def test_a_size_is_no_wish_for_the_usual_one(official, size):
    with pytest.raises(InputError, match=f"size={size} must be a whole number of pixels"):
        fairface(folder=official, size=size)


def test_official_files_are_read_and_not_called_verified(official):
    card = fairface(folder=official, size=8).card
    assert card.unchecked == tuple(card.files) == ("fairface_label_train.csv", "fairface_label_val.csv")
