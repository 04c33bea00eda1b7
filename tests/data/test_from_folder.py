"""Task.from_folder: any image in, squares of bytes out, and clear words where something is missing."""

import sys
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch

from evenhand.data.images import EncodedRows, FolderRows, decode, materialise
from evenhand.data.task import Rows, Task
from evenhand.errors import InputError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def folder(tmp_path):
    """Ten images of plain colour, and a table: two classes, an attribute with a gap, a part for each."""
    root = tmp_path / "pictures"
    root.mkdir()
    lines = ["file,label,region,part"]
    for number in range(10):
        Image.new("RGB", (40 + number, 30), (20 * number, 0, 255)).save(root / f"{number}.png")
        part = "train" if number < 6 else "val" if number < 8 else "Test"
        lines.append(f"{number}.png,{'cat' if number % 2 else 'dog'},{'' if number == 3 else 'north'},{part}")
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return root


def columns(n=10):
    return {"file": [f"{i}.png" for i in range(n)], "label": [i % 2 for i in range(n)]}


def test_a_folder_and_a_csv_file(folder):
    task = Task.from_folder(folder, folder.parent / "labels.csv", attributes=["region"], size=16, seed=1)
    assert isinstance(task.x, FolderRows)
    assert isinstance(task.x, Rows)
    assert task.name == "pictures"
    assert task.classes == ("cat", "dog")
    assert task.y.tolist() == [1, 0] * 5
    assert task.attribute("region").codes.tolist() == [0, 0, 0, -1, 0, 0, 0, 0, 0, 0]
    assert {name: len(rows) for name, rows in task.split.items()} == {"train": 8, "test": 2}
    assert sorted(task.y[task.rows("test")].tolist()) == [0, 1]  # the classes in equal shares
    taken = task.x.take(torch.tensor([7, 2]))
    assert taken.shape == (2, 3, 16, 16)
    assert taken.dtype == torch.uint8
    assert taken[0].flatten(1).unique(dim=1).flatten().tolist() == [140, 0, 255]
    assert taken[1].flatten(1).unique(dim=1).flatten().tolist() == [40, 0, 255]


def test_a_column_may_say_the_parts(folder):
    task = Task.from_folder(folder, folder.parent / "labels.csv", split="part")
    assert {name: rows.tolist() for name, rows in task.split.items()} == {
        "train": [0, 1, 2, 3, 4, 5],
        "validation": [6, 7],
        "test": [8, 9],
    }


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame])
def test_labels_from_columns(folder, kind):
    task = Task.from_folder(folder, kind(columns()), split={"train": [0, 1, 2], "test": [3, 4]}, size=8)
    assert task.classes == ("0", "1")
    assert task.rows("train").tolist() == [0, 1, 2]
    assert len(task) == 10


def test_class_names_that_are_numbers_sort_as_numbers(folder):
    table = folder.parent / "labels.csv"
    lines = ["file,label", *(f"{i}.png,{[9, 10][i % 2]}" for i in range(10))]
    table.write_text("\n".join(lines), encoding="utf-8-sig")  # as a spreadsheet saves it
    assert Task.from_folder(folder, str(table)).classes == ("9", "10")


def test_a_folder_for_each_class(tmp_path):
    for number in range(6):
        place = tmp_path / ("b" if number % 3 else "a")
        place.mkdir(exist_ok=True)
        Image.new("L", (9, 9), number).save(place / f"{number}.PNG")
    (tmp_path / "a" / "notes.txt").write_text("no image", encoding="utf-8")
    task = Task.from_folder(tmp_path, None, split=0.5, name="mine")
    assert (task.name, task.classes, task.y.tolist()) == ("mine", ("a", "b"), [0, 0, 1, 1, 1, 1])
    assert task.x.take(torch.tensor([1]))[0, :, 0, 0].tolist() == [3, 3, 3]


def test_resident_images_are_a_tensor(folder):
    lazy = Task.from_folder(folder, columns(), size=8)
    task = Task.from_folder(folder, columns(), size=8, resident=True)
    assert isinstance(task.x, torch.Tensor)
    assert torch.equal(task.x, lazy.x.take(torch.arange(10)))


def test_the_square_is_cut_from_the_middle(tmp_path):
    pixels = np.zeros((10, 30, 3), dtype=np.uint8)
    pixels[:, :10, 0] = pixels[:, 20:, 2] = 255
    pixels[:, 10:20, 1] = np.arange(0, 100, 10)
    Image.fromarray(pixels).save(tmp_path / "wide.png")
    assert np.array_equal(decode(tmp_path / "wide.png", 10), pixels[:, 10:20].transpose(2, 0, 1))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGBA", "CMYK", "YCbCr", "I;16"])
def test_every_mode_becomes_rgb(tmp_path, mode):
    suffix = "tif" if mode in {"CMYK", "YCbCr", "I;16"} else "png"
    if mode == "I;16":
        image = Image.fromarray(np.full((8, 8), 200 << 8, dtype=np.uint16))
    else:
        image = Image.new("RGB", (8, 8), (255, 255, 255)).convert("RGBA" if mode == "LA" else mode)
        image = image.convert(mode)
    image.save(tmp_path / f"x.{suffix}")
    found = decode(tmp_path / f"x.{suffix}", 4)
    assert found.shape == (3, 4, 4)
    assert np.abs(found.astype(int) - (200 if mode == "I;16" else 255)).max() <= 1


def test_a_camera_held_sideways_is_turned(tmp_path):
    pixels = np.zeros((8, 8, 3), dtype=np.uint8)
    pixels[:4] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # orientation: turn clockwise to see it upright
    Image.fromarray(pixels).save(tmp_path / "x.png", exif=exif)
    found = decode(tmp_path / "x.png")
    assert (found[:, :, 4:] == 255).all()
    assert (found[:, :, :4] == 0).all()


def test_missing_images_are_counted_and_named(folder):
    with pytest.raises(
        InputError, match=r"5 of 15 images are missing; the first: .*10\.png, .*11\.png, .*12\.png$"
    ):
        Task.from_folder(folder, columns(15))


def test_an_unreadable_image_is_named(folder):
    (folder / "4.png").write_bytes(b"not a picture")
    task = Task.from_folder(folder, columns())
    with pytest.raises(InputError, match=r"4\.png cannot be read as an image"):
        task.x.take(torch.arange(10))


def test_an_image_cut_short_is_named(folder):
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3)).astype(np.uint8)
    Image.fromarray(noise).save(folder / "4.png")
    (folder / "4.png").write_bytes((folder / "4.png").read_bytes()[:4000])
    with pytest.raises(InputError, match=r"4\.png cannot be read as an image"):
        FolderRows([folder / "4.png"], 8).take(torch.tensor([0]))


def test_without_pillow_the_user_is_told_how_to_get_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(InputError, match=r"Pillow: pip install 'evenhand\[vision\]'"):
        Task.from_folder(folder, columns())


@pytest.mark.parametrize(
    ("labels", "options", "message"),
    [
        (columns(), {"label": "lable"}, r"no column 'lable' .*did you mean 'label'"),
        (columns(), {"attributes": ["sex"]}, "no column 'sex' for the attributes"),
        (columns(), {"image": "path"}, "no column 'path' for the images"),
        ({"file": ["0.png", None], "label": [0, 1]}, {}, "names no file in 1 rows, the first of them row 1"),
        ({"file": ["0.png", "1.png"], "label": ["a", None]}, {}, "label 'label' is missing in 1 rows"),
        ({"file": ["0.png", "1.png"], "label": ["a", "a"]}, {}, "only the class 'a'"),
        (7, {}, "not a int"),
    ],
)
def test_wrong_labels_are_refused(folder, labels, options, message):
    with pytest.raises(InputError, match=message):
        Task.from_folder(folder, labels, **options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("file,label\n", "hold no rows"),
        ("file,label\n0.png\n", "row 1 of .* has 1 fields, its header 2"),
        ("file,file\n0.png,a\n", "names a column twice"),
    ],
)
def test_wrong_label_files_are_refused(folder, text, message):
    (folder.parent / "bad.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        Task.from_folder(folder, folder.parent / "bad.csv")


def test_files_and_folders_that_are_not_there(folder, tmp_path):
    with pytest.raises(InputError, match=r"labels .*none\.csv cannot be read"):
        Task.from_folder(folder, folder / "none.csv")
    with pytest.raises(InputError, match=r"there is no folder .*nowhere"):
        Task.from_folder(tmp_path / "nowhere", columns())
    with pytest.raises(InputError, match=r"there are no images in .*CLASS"):
        Task.from_folder(folder, None)


def test_files_are_decoded_by_several_threads(folder, monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 4)
    seen = set()
    barrier = threading.Barrier(4, timeout=10)  # passes only if four threads are at it at once

    def watched(path, size):
        if threading.get_ident() not in seen:
            seen.add(threading.get_ident())
            barrier.wait()
        return decode(path, size)

    paths = [folder / f"{number}.png" for number in range(10)]
    plain = np.stack([decode(path, 8) for path in paths])
    monkeypatch.setattr("evenhand.data.images.decode", watched)
    assert np.array_equal(FolderRows(paths, 8).take(torch.arange(10)).numpy(), plain)
    assert len(seen) == 4


def test_encoded_rows_tell_which_image_is_damaged():
    rows = EncodedRows(np.frombuffer(b"rubbish", dtype=np.uint8), np.array([0, 7]), (3, 8, 8), "faces.npz")
    with pytest.raises(InputError, match=r"image 0 of faces\.npz cannot be read as an image"):
        rows.take(torch.tensor([0]))


def test_materialise_reports_each_block(folder, monkeypatch):
    monkeypatch.setattr("evenhand.data.images.BLOCK", 4)
    told = []
    rows = FolderRows([folder / f"{number}.png" for number in range(10)], 8)
    images = materialise(rows, lambda *report: told.append(report), "mine")
    assert told == [("mine", 4, 10), ("mine", 8, 10), ("mine", 10, 10)]
    assert torch.equal(images, rows.take(torch.arange(10)))
