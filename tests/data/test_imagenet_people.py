"""ImageNet's People subtree in the layout that its loader describes, a small copy made here."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.imagenet_people import imagenet_people
from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum

pytest.importorskip("PIL")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_folders.py")))
FILE = "ImageNet demographics annotations.json"


@pytest.fixture
def folder(tmp_path):
    return tiny.make_imagenet_people(tmp_path / "imagenet-people")


def row_of(task, name):
    return next(row for row, path in enumerate(task.x.paths) if path.name == name)


def value(task, attribute, number, synset=tiny.SYNSETS[1]):
    """The level of an attribute for one image, None where it is unknown."""
    found = task.attribute(attribute)
    code = found.codes[row_of(task, f"{synset}_{number}.JPEG")]
    return None if code < 0 else found.levels[code]


def test_synsets_are_classes_and_the_lonely_one_is_none(folder):
    task = imagenet_people(folder=folder, size=8).check()
    assert task.classes == tiny.SYNSETS
    assert len(task) == 36
    assert [task.classes[k] for k in task.y] == [path.parent.name for path in task.x.paths]
    assert imagenet_people(folder=folder, size=8, synsets="all").classes == (*tiny.SYNSETS, tiny.LONELY)


def test_partial_labels_are_unknown_and_several_people_are_a_level(folder):
    task = imagenet_people(folder=folder, size=8)
    assert task.attribute("gender").levels == ("female", "male", "female + male")
    assert task.attribute("skin").levels == ("dark", "light", "medium", "dark + light")
    assert [value(task, "gender", n) for n in range(9)] == [
        *("male", "female", "female + male", "female + male", None, "female", None, "male", None)
    ]
    assert [value(task, "skin", n) for n in (3, 5, 6, 11)] == ["dark + light", None, "dark", None]
    assert len(task.groups(["gender", "skin", "age"])) == 3 * 4 * 4
    assert (task.groups(["gender", "skin", "age"]).ids >= 0).sum() == 3 * 5  # of 24 that are listed


def test_unsure_and_several_by_choice(folder):
    sure = imagenet_people(folder=folder, size=8, several="unknown")
    assert sure.attribute("gender").levels == ("female", "male")
    assert value(sure, "gender", 2) is None
    told = imagenet_people(folder=folder, size=8, unsure="level")
    assert told.attribute("gender").levels == ("female", "male", "unsure", "female + male")
    assert value(told, "skin", 5) == "dark + unsure"
    assert value(told, "gender", 6) is None  # nobody said anything


def test_test_and_validation_are_known_and_the_rest_is_for_training(folder):
    task = imagenet_people(folder=folder, size=8, seed=2)
    groups = task.groups().ids
    assert {part: len(rows) for part, rows in task.split.items()} == {"train": 26, "test": 5, "validation": 5}
    for part in ("test", "validation"):
        assert (groups[task.rows(part)] >= 0).all()
    assert (groups[task.rows("train")] >= 0).sum() == 5
    other = imagenet_people(folder=folder, size=8, seed=3)
    assert set(other.rows("test").tolist()) != set(task.rows("test").tolist())
    few = imagenet_people(folder=folder, size=8, limit=2)
    assert [len(rows) for rows in few.split.values()] == [2, 2, 2]
    for shares in ({"test": 0.0}, {"test": 0.6, "validation": 0.6}):
        with pytest.raises(InputError, match="15 images whose gender, skin and age are known must leave"):
            imagenet_people(folder=folder, **shares)


def test_safe_synsets_are_those_of_the_two_tables(folder):
    task = imagenet_people(folder=folder, size=8, synsets="safe")
    assert task.classes == (tiny.SYNSETS[0], tiny.LONELY)  # one is unsafe, one below 4
    assert {"synsets_safety.csv", "imageability_scores.csv", FILE} < set(task.card.files)
    (folder / "imageability_scores.csv").unlink()
    with pytest.raises(InputError, match=r"synsets='safe' needs imageability_scores\.csv"):
        imagenet_people(folder=folder, synsets="safe")


def test_images_are_scaled_as_in_s1_and_may_be_resident(folder):
    task = imagenet_people(folder=folder, size=8)
    white = torch.full((1, 3, 8, 8), 255, dtype=torch.uint8)
    expected = torch.tensor([(1 - 0.485) / 0.229, (1 - 0.456) / 0.224, (1 - 0.406) / 0.225])
    assert torch.allclose(task.scaling(white)[0, :, 0, 0], expected, atol=1e-5)
    whole = imagenet_people(folder=folder, size=8, resident=True)
    assert torch.equal(whole.x, task.x.take(torch.arange(len(task))))
    assert data_checksum(whole) == data_checksum(task)


def test_images_that_are_not_there_are_counted(folder):
    assert not [note for note in imagenet_people(folder=folder).card.notes if "annotated images are" in note]
    (folder / "images" / tiny.SYNSETS[0] / f"{tiny.SYNSETS[0]}_0.JPEG").unlink()
    (note,) = [note for note in imagenet_people(folder=folder).card.notes if "annotated images are" in note]
    assert note.startswith("1 annotated images are not in the folders")


def test_an_image_that_is_listed_twice_has_both(tmp_path):
    extra = {"url": f"{tiny.SYNSETS[1]}_0.JPEG", "gender": "female", "skin": "light", "age": ["adult"]}
    listed = [*tiny.entries(), extra]  # a lone text is a list of one
    task = imagenet_people(folder=tiny.make_imagenet_people(tmp_path / "two", listed), size=8)
    assert value(task, "gender", 0) == "female + male"
    assert value(task, "skin", 0) == "light"


def test_synsets_may_lie_beside_the_annotations(tmp_path, folder):
    beside = imagenet_people(folder=tiny.make_imagenet_people(tmp_path / "flat", inner=""), size=8)
    inside = imagenet_people(folder=folder, size=8)
    assert np.array_equal(beside.y, inside.y)
    assert beside.rows("test").tolist() == inside.rows("test").tolist()


def test_it_is_found_in_the_data_folder_and_else_told(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    assert len(load("imagenet-people", size=8)) == 36
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(InputError, match=r"People subtree is not here.*ask image-net\.org.*folder=\.\.\."):
        load("imagenet-people")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read as JSON"),
        ("[]", "is not as ImageNet gives it out"),
        ('{"url": 1}', "is not as ImageNet gives it out"),
        ('[{"url": "n09840520_0.JPEG", "gender": ["male"], "age": ["adult"]}]', "entry 1 of .* not as"),
        ('[{"url": "cat.JPEG", "gender": [], "skin": [], "age": []}]', "entry 1 of .* not as"),
        ("[3]", "entry 1 of .* not as"),
    ],
)
def test_annotations_of_another_form_are_refused(folder, text, words):
    (folder / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=words):
        imagenet_people(folder=folder)


def test_what_is_missing_is_named(folder):
    nobody = [{**entry, "skin color": []} for entry in tiny.entries()]
    (folder / FILE).write_text(json.dumps(nobody), encoding="utf-8")
    with pytest.raises(InputError, match="the skin of no image is known"):
        imagenet_people(folder=folder)
    (folder / FILE).write_text(json.dumps(tiny.entries()[:8]), encoding="utf-8")
    with pytest.raises(InputError, match="4 synsets, of which 1 remain with synsets='annotated'"):
        imagenet_people(folder=folder)
    (folder / "images").rename(folder / "else")
    with pytest.raises(InputError, match=r"no images in .*/SYNSET/"):
        imagenet_people(folder=folder)
    (folder / FILE).unlink()
    with pytest.raises(InputError, match=r"one file \*demographics\*\.json, and has none"):
        imagenet_people(folder=folder)


def test_a_mark_before_the_annotations_is_none_of_them(folder):
    before = imagenet_people(folder=folder, size=8)
    (folder / FILE).write_bytes(b"\xef\xbb\xbf" + (folder / FILE).read_bytes())
    after = imagenet_people(folder=folder, size=8)
    for one, other in zip(before.attributes, after.attributes, strict=True):
        assert one.levels == other.levels
        assert np.array_equal(one.codes, other.codes)


@pytest.mark.parametrize("gender", [5, {"male": 1}, [["male"]], float("nan"), [True]])
def test_values_that_are_no_texts_are_no_levels(tmp_path, gender):
    listed = [{**entry, "gender": gender} for entry in tiny.entries()]
    folder = tiny.make_imagenet_people(tmp_path / "people", listed=listed)
    with pytest.raises(InputError, match=r"entry 1 of .* is not as ImageNet gives it out"):
        imagenet_people(folder=folder, size=8)


def test_blank_values_are_none(tmp_path):
    listed = [{**entry, "gender": [None, "  ", *entry["gender"]]} for entry in tiny.entries()]
    task = imagenet_people(folder=tiny.make_imagenet_people(tmp_path / "people", listed=listed), size=8)
    assert task.attribute("gender").levels == ("female", "male", "female + male")


def test_a_key_that_only_begins_like_an_attribute_is_another(tmp_path):
    listed = [{"age_source": "web", **entry} for entry in tiny.entries()]
    task = imagenet_people(folder=tiny.make_imagenet_people(tmp_path / "people", listed=listed), size=8)
    assert "web" not in task.attribute("age").levels
    listed = [{"skin tone": "x", **entry} for entry in tiny.entries()]  # beside "skin color": which is it?
    with pytest.raises(InputError, match=r"entry 1 of .* is not as ImageNet gives it out"):
        imagenet_people(folder=tiny.make_imagenet_people(tmp_path / "two", listed=listed), size=8)


def test_an_image_in_the_folder_of_another_synset_is_refused(folder):
    image = folder / "images" / tiny.SYNSETS[0] / f"{tiny.SYNSETS[1]}_3.JPEG"
    image.write_bytes((folder / "images" / tiny.SYNSETS[1] / f"{tiny.SYNSETS[1]}_3.JPEG").read_bytes())
    with pytest.raises(InputError, match=rf"another synset; move it to {tiny.SYNSETS[1]}/"):
        imagenet_people(folder=folder, size=8)


def test_hidden_files_are_no_images(folder):
    before = len(imagenet_people(folder=folder, size=8))
    (folder / "images" / tiny.SYNSETS[0] / f"._{tiny.SYNSETS[0]}_0.JPEG").write_bytes(b"of a Mac")
    assert len(imagenet_people(folder=folder, size=8)) == before


def test_annotations_of_other_names_are_shown(tmp_path):
    listed = [{**entry, "url": entry["url"].replace("JPEG", "png")} for entry in tiny.entries()]
    folder = tiny.make_imagenet_people(tmp_path / "people", listed=listed)
    with pytest.raises(InputError, match=r"_0\.JPEG is there, n09840520_0\.png is annotated"):
        imagenet_people(folder=folder, size=8)


def test_annotations_are_read_and_not_called_verified(folder):
    card = imagenet_people(folder=folder, size=8).card
    assert card.unchecked == (FILE,)
