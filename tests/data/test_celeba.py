"""CelebA in its published layout, a small copy made here: labels, splits, crop, archive, refusals."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.celeba import celeba
from evenhand.data.celeba_files import ZipRows
from evenhand.data.celeba_labels import WANG_34, WANG_39, chosen_labels
from evenhand.data.faces_names import ATTRIBUTES
from evenhand.data.images import FolderRows
from evenhand.data.registry import load
from evenhand.errors import InputError

Image = pytest.importorskip("PIL.Image")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_celeba.py")))
SMALL = {"n_train": 12, "n_test": 6, "size": 16}


@pytest.fixture
def folder(tmp_path):
    return tiny.make(tmp_path / "celeba")


def written(folder):
    """The label file, read by hand: codes by file."""
    _, header, *lines = (folder / "list_attr_celeba.txt").read_text(encoding="utf-8").splitlines()
    return header.split(), {line.split()[0]: [int(word) for word in line.split()[1:]] for line in lines}


def test_the_labels_are_those_of_the_file(folder):
    task = celeba(folder=folder, seed=3, **SMALL).check()
    names, codes = written(folder)
    assert isinstance(task.x, FolderRows)
    files = [path.name for path in task.x.paths]
    assert len(set(files)) == 18
    assert task.classes == ("no", "yes")
    assert task.y.tolist() == [(codes[file][names.index("Attractive")] + 1) // 2 for file in files]
    assert [a.name for a in task.attributes] == [name for name in names if name != "Attractive"] + [
        "Attractive"
    ]
    for attribute in task.attributes:
        expected = [(codes[file][names.index(attribute.name)] + 1) // 2 for file in files]
        assert attribute.codes.tolist() == expected
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 12, "test": 6}


def test_another_target_and_held_out_images(folder):
    task = celeba("Male", folder=folder, validation=0.25, **SMALL).check()
    assert task.y.tolist() == task.attribute("Male").codes.tolist()
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 9, "validation": 3, "test": 6}


def test_images_are_the_square_in_the_middle_from_0_to_1(tmp_path):
    folder = tiny.make(tmp_path)
    pixels = np.zeros((218, 178, 3), dtype=np.uint8)
    pixels[20:198] = (255, 0, 128)  # what is above and below is cut off
    for path in (folder / "img_align_celeba").iterdir():
        Image.fromarray(pixels).save(path, quality=100, subsampling=0)
    task = celeba(folder=folder, n_train=12, n_test=6)
    assert task.input_shape == (3, 128, 128)
    x = task.scaling(task.x.take(torch.tensor([0, 17])))
    wanted = torch.tensor([1.0, 0.0, 128 / 255])[:, None, None]
    assert x.shape == (2, 3, 128, 128)
    assert (x - wanted)[:, :, 3:-3].abs().max() < 0.02


def test_a_seed_is_a_draw(folder):
    drawn = [[p.name for p in celeba(folder=folder, seed=seed, **SMALL).x.paths] for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1]
    assert set(drawn[0][:12]) != set(drawn[2][:12])


@pytest.mark.parametrize("seed", range(5))
def test_whole_persons(folder, seed):
    task = celeba(folder=folder, split="persons", seed=seed, **SMALL)
    person = {
        line.split()[0]: line.split()[1]
        for line in (folder / "identity_CelebA.txt").read_text(encoding="utf-8").splitlines()
    }
    of = [person[path.name] for path in task.x.paths]
    assert not set(of[:12]) & set(of[12:])
    assert set(task.card.files) == {"list_attr_celeba.txt", "identity_CelebA.txt"}
    with pytest.raises(InputError, match="cut through the images of one person"):
        celeba(folder=folder, split="persons", seed=seed, n_train=16, n_test=8)


def test_the_published_parts(folder):
    task = celeba(folder=folder, split="official", size=8).check()
    assert task.rows("train").tolist() == list(range(18))
    assert task.rows("validation").tolist() == [18, 19, 20]
    assert task.rows("test").tolist() == [21, 22, 23]
    with pytest.raises(InputError, match="its own validation images"):
        celeba(folder=folder, split="official", validation=0.1)


@pytest.mark.parametrize("published", [False, True])
def test_the_archive_gives_the_same_images(tmp_path, published):
    unpacked = celeba(folder=tiny.make(tmp_path / "a"), seed=2, **SMALL)
    zipped = celeba(
        folder=tiny.make(tmp_path / "b", zipped=True, published=published), seed=2, resident=False, **SMALL
    )
    assert isinstance(zipped.x, ZipRows)
    rows = torch.tensor([5, 0, 17])
    assert torch.equal(zipped.x.take(rows), unpacked.x.take(rows))
    assert len(zipped.x) == 18
    whole = celeba(folder=tmp_path / "b", seed=2, resident=True, **SMALL)
    assert torch.equal(whole.x, unpacked.x.take(torch.arange(18)))


def test_it_is_found_in_the_data_folder(tmp_path, monkeypatch):
    tiny.make(tmp_path / "celeba", published=True)
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    task = load("celeba", **SMALL)
    assert len(task) == 18
    assert "Non-commercial" in task.card.licence


def test_where_it_is_not_the_user_is_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    with pytest.raises(InputError, match=r"CelebA is not here.*put list_attr_celeba\.txt.*folder=\.\.\."):
        celeba()
    with pytest.raises(InputError, match=r"no list_attr_celeba\.txt in"):
        celeba(folder=tmp_path)


def test_what_is_missing_is_named(folder):
    (folder / "list_eval_partition.txt").unlink()
    with pytest.raises(InputError, match=r"no list_eval_partition\.txt in .* split='official' needs"):
        celeba(folder=folder, split="official")
    (folder / "img_align_celeba" / "000003.jpg").unlink()
    with pytest.raises(InputError, match=r"1 of 24 images are missing; the first: .*000003\.jpg"):
        celeba(folder=folder, n_train=20, n_test=4)
    (folder / "img_align_celeba").rename(folder / "elsewhere")
    with pytest.raises(InputError, match=r"neither img_align_celeba/ nor img_align_celeba\.zip"):
        celeba(folder=folder, **SMALL)
    (folder / "img_align_celeba.zip").write_bytes(b"half of it")
    with pytest.raises(InputError, match="is no whole archive"):
        celeba(folder=folder, **SMALL)


def test_more_images_than_there_are(folder):
    with pytest.raises(InputError, match=r"n_train=45,000 and n_test=5,000 .* 24 images there are"):
        celeba(folder=folder)
    with pytest.raises(InputError, match=r"no attribute 'Atractive'.*'Attractive'"):
        celeba("Atractive", folder=folder)


@pytest.mark.parametrize("damage", ["24\nA B\n1.jpg 1 -1\n", "1\nA B\n1.jpg 1 0\n", "1\nA B\n1.jpg 1\n", ""])
def test_a_damaged_label_file_is_refused(folder, damage):
    (folder / "list_attr_celeba.txt").write_text(damage, encoding="utf-8")
    with pytest.raises(InputError, match="is not as it was published"):
        celeba(folder=folder)


def test_all_attributes_at_once_without_the_protected(folder):
    task = celeba("all", protect=["Male"], folder=folder, split="official", size=8).check()
    names, codes = written(folder)
    assert task.multi_label
    assert task.classes == tuple(name for name in names if name != "Male")
    files = [path.name for path in task.x.paths]
    expected = [
        [(codes[file][names.index(name)] + 1) // 2 for name in names if name != "Male"] for file in files
    ]
    assert task.y.tolist() == expected
    assert task.attributes[0].name == "Male"  # what is predicted comes last
    assert {attribute.name for attribute in task.attributes} == set(names)
    assert task.card.knobs["protect"] == ["Male"]
    assert task.card.target == "4 labels a face"
    assert len(task.groups(["Male", "Chubby"])) == 4


@pytest.mark.parametrize("given", [["Male", "Chubby"], ("Chubby", "Male"), "Male, Chubby"])
def test_a_list_of_targets_is_in_the_order_of_the_file(folder, given):
    task = celeba(given, folder=folder, **SMALL)
    assert task.classes == ("Chubby", "Male")
    assert task.y.shape == (18, 2)
    assert task.y[:, 1].tolist() == task.attribute("Male").codes.tolist()


def test_one_name_in_a_list_is_a_label_and_alone_a_class(folder):
    assert celeba(["Male"], folder=folder, **SMALL).y.shape == (18, 1)
    assert celeba("Male", protect="Chubby", folder=folder, **SMALL).y.shape == (18,)


def test_the_lists_of_wang_et_al():
    assert len(WANG_39) == 39
    assert len(WANG_34) == 34
    moved = [name for name in ATTRIBUTES if name != "Male"] + ["Male"]  # as they count, Male is moved last
    assert set(WANG_39) - set(WANG_34) == {moved[place] for place in (0, 16, 21, 29, 37)}
    assert chosen_labels("wang-34", (), ATTRIBUTES) == WANG_34
    assert chosen_labels("wang-39", ["Bald"], ATTRIBUTES) == tuple(n for n in WANG_39 if n != "Bald")


def test_targets_that_are_none(folder):
    with pytest.raises(InputError, match="no attribute 'Femal'"):
        celeba("all", protect=["Femal"], folder=folder)
    with pytest.raises(InputError, match="names 'Male' twice"):
        celeba(["Male", "Male"], folder=folder)
    for target, protect in (("Male", ["Male"]), ("Chubby,Male", "Male, Chubby"), ([], ())):
        with pytest.raises(InputError, match="leaves no attribute to predict"):
            celeba(target, protect=protect, folder=folder)
    with pytest.raises(InputError, match="CelebA has no attribute 'Arched_Eyebrows'"):
        celeba("wang-39", folder=folder)
