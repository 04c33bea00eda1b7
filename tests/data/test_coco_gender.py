"""COCO with gender in its published layout, a small copy made here, and a large one of annotations alone."""

import json
import re
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.coco_gender import coco_gender
from evenhand.data.coco_gender_files import KNOWN, read_instances, read_mentions
from evenhand.data.coco_gender_words import WORDS, mentions
from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum

pytest.importorskip("PIL")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_situations.py")))
MEN, WOMEN = {9, 25, 30, 73}, {34, 36, 77}  # by the narrow list


@pytest.fixture
def folder(tmp_path):
    return tiny.make_coco(tmp_path / "coco")


def numbers(task, part=None):
    """The numbers of the images of a part, or of all rows."""
    rows = range(len(task)) if part is None else task.rows(part).tolist()
    return [int(task.x.paths[row].stem.rsplit("_", 1)[1]) for row in rows]


def genders(task):
    """The gender of each image by its number, None where it is unknown."""
    found = task.attribute("gender")
    told = [None if code < 0 else found.levels[code] for code in found.codes]
    return dict(zip(numbers(task), told, strict=True))


def test_objects_are_labels_without_people_and_by_number(folder):
    task = coco_gender(folder=folder, size=8).check()
    assert task.classes == ("bicycle", "car", "dog")  # 2, 3, 18; the file has them in another order
    assert task.multi_label
    labels = dict(zip(numbers(task), task.y.tolist(), strict=True))
    assert labels[9] == [1, 0, 0]
    assert labels[25] == [1, 1, 0]
    assert labels[73] == [0, 0, 1]  # two dogs are one label
    assert labels[134] == [0, 1, 1]


def test_gender_is_read_off_the_captions(folder):
    found = genders(coco_gender(folder=folder, size=8))
    expected = dict.fromkeys(MEN, "man") | dict.fromkeys(WOMEN, "woman")
    assert found == expected | {100 + number: told for number, told in expected.items()}


def test_the_wide_list_knows_boys_and_ladies(folder):
    narrow, wide = (genders(coco_gender(folder=folder, size=8, words=words)) for words in WORDS)
    assert {number: told for number, told in wide.items() if number not in narrow} == {
        71: "man", 72: "woman", 171: "man", 172: "woman",
    }  # fmt: skip


def test_an_image_without_objects_is_a_row_of_zeros(folder):
    task = coco_gender(folder=folder, size=8, words="wide")
    assert task.y[numbers(task).index(72)].tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("captions", "code"),
    [
        (["a man"], 0),
        (["A MAN,"], 0),
        (["the man's hat"], 0),
        (["a man/horse"], 0),
        (["a fisherman, a manhole, a batman"], -1),
        (["a human", "mankind"], -1),
        (["a man-made lake"], -1),
        (["a half-man"], -1),
        (["a man", "an old woman"], -1),
        (["a man and a woman"], -1),
        (["women's shoes", "shoes"], 1),
        (["a womanly shape"], -1),
        ([""], -1),
    ],
)
def test_what_counts_as_a_word(captions, code):
    assert mentions([0] * len(captions), captions, 1, "narrow").codes().tolist() == [code]


def test_the_lists_share_no_word_and_the_wide_one_holds_the_narrow():
    for man, woman in WORDS.values():
        assert not set(man) & set(woman)
    for narrow, wide in zip(WORDS["narrow"], WORDS["wide"], strict=True):
        assert set(narrow) < set(wide)


def test_the_page_states_the_lists_of_words():
    page = (Path(__file__).parents[2] / "docs" / "gender-data.md").read_text(encoding="utf-8")
    for name, lists in WORDS.items():
        assert f"| `{name}` | {' | '.join(', '.join(words) for words in lists)} |" in page


def test_unknown_images_are_left_out_or_kept_and_always_counted(folder):
    out, kept = (coco_gender(folder=folder, size=8, unknown=choice) for choice in ("leave-out", "keep"))
    assert len(out) == 14
    assert len(kept) == 24
    assert {n for n, told in genders(kept).items() if told is None} == set(genders(kept)) - set(genders(out))
    assert (
        "8 images show men and 6 women, by the words of their captions; 10 others are left out."
        in out.card.notes
    )
    assert any("10 others are kept, with an unknown gender (-1)" in note for note in kept.card.notes)
    for part in out.split:  # whether the others are kept moves nobody
        assert set(numbers(out, part)) == set(numbers(kept, part)) & set(numbers(out))


def test_parts_are_train2014_and_two_draws_of_val2014(folder):
    task = coco_gender(folder=folder, size=8)
    assert set(numbers(task, "train")) == MEN | WOMEN
    held = set(numbers(task, "validation")) | set(numbers(task, "test"))
    assert held == {100 + number for number in MEN | WOMEN}
    assert (len(task.rows("validation")), len(task.rows("test"))) == (3, 4)
    draws = {tuple(numbers(coco_gender(folder=folder, size=8, seed=seed), "test")) for seed in range(6)}
    assert len(draws) > 1
    whole = coco_gender(folder=folder, size=8, test=0.99)
    assert set(whole.split) == {"train", "test"}


def test_a_file_of_parts_wins(folder):
    tiny.write(folder / "split.json", {"train": [134, 9], "val": [25], "test": [30, 36, 49]})
    task = coco_gender(folder=folder, size=8, parts="split.json")  # found beside the annotations
    assert [numbers(task, part) for part in ("train", "validation", "test")] == [[134, 9], [25], [30, 36]]
    assert any("1 others are left out" in note for note in task.card.notes)  # 49 shows both
    assert "file of the user" in task.card.origin
    assert "parts: split.json" in task.card.files
    assert numbers(coco_gender(folder=folder, size=8, parts=folder / "split.json")) == numbers(task)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"train": [9], "tset": [25]}, "has a part 'tset'; did you mean 'test'"),
        (
            {"train": [9], "test": [25, 4, 5]},
            "2 of 3 images in .*split.json are not in the annotations of COCO",
        ),
        ({"train": [9], "test": [[25]]}, "1 of 1 images in .* are not in the annotations"),
        ({"train": [9]}, "has no images for the part 'test'"),
        ({"train": [9, 25], "test": [25]}, "names the image 25 twice"),
        ({"train": [9], "val": [25], "dev": [25], "test": [30]}, "names the image 25 twice"),
        ([9, 25], "does not say which images are for which part"),
        ({"train": 9}, "does not say which images are for which part"),
        ("{", "cannot be read as JSON"),
        ({"train": [49], "test": [9]}, "no image of COCO with gender in the part 'train' has a known gender"),
    ],
)
def test_a_wrong_file_of_parts_is_told(folder, content, words):
    tiny.write(folder / "split.json", content)
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8, parts="split.json")


@pytest.mark.parametrize("start", [b"\x80\x03]q\x00.", b"(lp0\nI9\na."])
def test_a_pickle_is_refused_with_the_way_to_convert_it(folder, start):
    (folder / "train.data").write_bytes(start)
    with pytest.raises(InputError, match="opening one runs code; where you trust it, convert it"):
        coco_gender(folder=folder, size=8, parts="train.data")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("own.json", {"9": "woman", "34": "Man", "49": "", "61": "female", "134": "man", "136": "woman"}),
        ("own.csv", "image_id,gender\n9,woman\n34,man\n49,\n61,female\n134,male\n136,woman\n"),
    ],
)
def test_genders_of_the_users_own_win_and_need_no_captions(folder, name, content):
    for path in (folder / "annotations").glob("captions_*"):
        path.unlink()
    tiny.write(folder / name, content)
    task = coco_gender(folder=folder, size=8, genders=name)
    assert genders(task) == {9: "woman", 34: "man", 61: "woman", 134: "man", 136: "woman"}
    assert f"genders: {name}" in task.card.files
    assert any("by a file of the user's; 19 others" in note for note in task.card.notes)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("own.json", {"9": "person"}, "gives 9 the gender 'person'; it must be man, woman or empty"),
        (
            "own.json",
            {"8": "man"},
            "1 of 1 images in .*own.json are not in the annotations of COCO; the first: 8",
        ),
        ("own.json", ["man"], "does not give a gender for each image"),
        ("own.csv", "image_id,sex\n9,man\n", "needs a column 'gender' and one of image_id"),
        ("own.csv", "image_id,gender\n9,man\n9,man\n", "names the image 9 twice"),
        ("own.csv", "image_id,gender\n9,man\n", "no image of COCO with gender in the part 'test'"),
    ],
)
def test_wrong_genders_are_told(folder, name, content, words):
    tiny.write(folder / name, content)
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8, genders=name)


def test_training_rows_are_rebalanced_and_the_test_is_drawn_equally(folder):
    task = coco_gender(folder=folder, size=8, words="wide", ratio=1.0, per_group=1, test=0.9)
    plain = coco_gender(
        folder=folder, size=8, words="wide", test=0.9
    )  # one car more with men than with women
    train = task.rows("train")
    codes = task.attribute("gender").codes[train.numpy()]
    per_gender = [task.y[train][codes == code].sum(dim=0) for code in (0, 1)]
    assert torch.equal(*per_gender)
    assert 0 < len(train) < len(plain.rows("train"))
    assert sorted(task.attribute("gender").codes[task.rows("test").numpy()]) == [0, 1]
    assert task.rows("validation").tolist() == plain.rows("validation").tolist()
    assert (task.card.knobs["ratio"], task.card.knobs["per_group"]) == (1.0, 1)
    assert not {"ratio", "per_group", "limit"} & set(plain.card.knobs)  # the plain task keeps its identity
    assert data_checksum(task) != data_checksum(plain)


def test_limit_needs_only_the_images_it_uses(folder):
    few = coco_gender(folder=folder, size=8, limit=2)
    assert [len(rows) for rows in few.split.values()] == [2, 2, 2]
    used = {path.name for path in few.x.paths}
    for path in [*folder.glob("train2014/*"), *folder.glob("val2014/*")]:
        if path.name not in used:
            path.unlink()
    assert numbers(coco_gender(folder=folder, size=8, limit=2)) == numbers(few)
    with pytest.raises(InputError, match=r"8 of 14 images are missing; the first: .*COCO_train2014_"):
        coco_gender(folder=folder, size=8)


def test_images_are_decoded_when_asked_for_and_scaled_as_imagenet(folder):
    task = coco_gender(folder=folder, size=8)
    whole = coco_gender(folder=folder, size=8, resident=True)
    assert torch.equal(whole.x, task.x.take(torch.arange(len(task))))
    assert data_checksum(whole) == data_checksum(task)
    assert task.input_shape == (3, 8, 8)
    white = torch.full((1, 3, 8, 8), 255, dtype=torch.uint8)
    expected = torch.tensor([(1 - 0.485) / 0.229, (1 - 0.456) / 0.224, (1 - 0.406) / 0.225])
    assert torch.allclose(task.scaling(white)[0, :, 0, 0], expected, atol=1e-5)


def test_images_may_be_in_a_folder_of_their_own(tmp_path, folder):
    inside = tiny.make_coco(tmp_path / "other", inner="images")
    assert numbers(coco_gender(folder=inside, size=8)) == numbers(coco_gender(folder=folder, size=8))


def test_it_is_found_in_the_data_folder_and_else_told(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    assert len(load("coco-gender", size=8)) == 14
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(
        InputError, match=r"COCO is not here.*annotations_trainval2014\.zip.*cocodataset\.org"
    ):
        load("coco-gender")
    with pytest.raises(InputError, match="there is no folder nowhere"):
        coco_gender(folder="nowhere")


@pytest.mark.parametrize("name", sorted(KNOWN))
def test_a_missing_annotation_file_is_named(folder, name):
    (folder / "annotations" / name).unlink()
    words = rf"there is no {re.escape(name)} in .*annotations; unpack annotations_trainval2014\.zip"
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8)


def test_missing_images_are_named(folder):
    (folder / "val2014").rename(folder / "elsewhere")
    with pytest.raises(InputError, match=r"images of val2014 are not in .*folder val2014 or images/val2014"):
        coco_gender(folder=folder, size=8)


def changed(content, path, value):
    """A copy of the content with something else at one place; a missing value is taken out."""
    content = json.loads(json.dumps(content))
    *way, last = path
    place = content
    for step in way:
        place = place[step]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return content


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("images",), None, "is not as COCO gives it out"),
        (("annotations",), 3, "is not as COCO gives it out"),
        (("categories",), None, "is not as COCO gives it out"),
        (("images", 0, "file_name"), None, "an entry lacks 'file_name'"),
        (("annotations", 0, "category_id"), None, "an entry lacks 'category_id'"),
        (("annotations", 0, "image_id"), "nine", "is not as COCO gives it out.*nine"),
        (("annotations", 0), 7, "is not as COCO gives it out"),
        (("annotations", 0, "image_id"), 8, "unknown image numbers, the first 8"),
        (("annotations", 0, "category_id"), 99, "unknown category numbers, the first 99"),
        (("categories", 1, "name"), "cat", "has no category 'person'"),
        (("images", 0, "id"), 25, "two images with the number 25"),
    ],
)
def test_instances_of_another_form_are_refused(folder, path, value, words):
    content = changed(tiny.instances("train", tiny.TRAIN), path, value)
    tiny.write(folder / "annotations" / "instances_train2014.json", content)
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8)


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("annotations",), None, "is not as COCO gives it out"),
        (("annotations", 0, "caption"), None, "an entry lacks 'caption'"),
        (("annotations", 0, "caption"), 4, "is not as COCO gives it out"),
        (("annotations", 0, "image_id"), 8, "unknown image numbers, the first 8"),
    ],
)
def test_captions_of_another_form_are_refused(folder, path, value, words):
    content = changed(tiny.captions("train", tiny.TRAIN), path, value)
    tiny.write(folder / "annotations" / "captions_train2014.json", content)
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8)


def test_the_two_files_must_be_of_one_release(folder):
    place = folder / "annotations" / "instances_val2014.json"
    content = tiny.instances("val", tiny.HELD)
    tiny.write(place, changed(content, ("categories", 0, "name"), "hound"))
    with pytest.raises(InputError, match="other categories"):
        coco_gender(folder=folder, size=8)
    moved = changed(content, ("images", 0, "id"), 9)
    tiny.write(place, changed(moved, ("annotations",), []))
    with pytest.raises(InputError, match="in train2014 and in val2014"):
        coco_gender(folder=folder, size=8)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"words": "wider"}, "words='wider' must be narrow or wide"),
        ({"unknown": "drop"}, "unknown='drop' must be leave-out or keep"),
        ({"limit": -1}, "limit=-1 must be a number of images"),
        ({"per_group": -1}, "per_group=-1 must be a number of images"),
        ({"per_group": 50}, "balanced test needs"),
        ({"ratio": 0.5}, "must be at least 1, not 0.5"),
        ({"test": 1.0}, "test=1.0 must be a share"),
        ({"test": 0.0}, "in the part 'test'"),
        ({"seed": -1}, "seed=-1"),
        ({"genders": "none.csv"}, "the knob genders names none.csv, which is no file"),
    ],
)
def test_wrong_knobs_are_told(folder, knobs, words):
    with pytest.raises(InputError, match=words):
        coco_gender(folder=folder, size=8, **knobs)


def test_the_card_says_whether_the_release_is_a_known_one(folder, monkeypatch):
    task = coco_gender(folder=folder, size=8)
    assert any(
        "not the bytes of the copies" in note and "captions_val2014" in note for note in task.card.notes
    )
    assert set(KNOWN) == set(task.card.files)
    monkeypatch.setattr("evenhand.data.coco_gender.KNOWN", dict(task.card.files))
    assert not any("not the bytes" in note for note in coco_gender(folder=folder, size=8).card.notes)
    assert all(re.fullmatch("[0-9a-f]{64}", checksum) for checksum in KNOWN.values())


def test_a_file_that_was_changed_is_read_again(folder):
    before = coco_gender(folder=folder, size=8)
    content = tiny.captions("train", tiny.TRAIN)
    told = next(k for k, one in enumerate(content["annotations"]) if one["image_id"] == 61)
    tiny.write(
        folder / "annotations" / "captions_train2014.json",
        changed(content, ("annotations", told, "caption"), "a woman and her dog"),
    )
    after = coco_gender(folder=folder, size=8)
    assert genders(after) == genders(before) | {61: "woman"}
    assert before.card.files != after.card.files


def test_outlines_are_skipped_whatever_follows_them(tmp_path):
    content = tiny.instances("train", tiny.TRAIN)
    plain = read_instances(tiny.write(tmp_path / "plain.json", content))
    crowd = {"counts": [1, 2, 3], "size": [30, 24]}
    outlines = [[[1.5, 2e-3, -3.0]], crowd, [], [[1, 2], [3, 4]], {"counts": "ab]1", "size": [1, 2]}]
    for number, one in enumerate(content["annotations"]):
        one["segmentation"] = outlines[number % len(outlines)]  # the last field, before a brace
        if number % 2:  # or the first
            content["annotations"][number] = {"segmentation": one.pop("segmentation")} | one
    for name, style in (
        ("wide.json", {"indent": 1}),
        ("tight.json", {"separators": (",", ":")}),
        ("usual.json", {}),
    ):
        found = read_instances(tiny.write(tmp_path / name, json.dumps(content, **style)))
        assert np.array_equal(found.y, plain.y)
        assert found.files == plain.files


def test_twenty_thousand_images_are_read_in_seconds(tmp_path):
    n, draw = 20_000, np.random.default_rng(0)
    kinds = [k + 1 + k // 10 for k in range(80)]  # with gaps, as COCO numbers them
    shown = draw.random((n, 80)) < 0.04
    outline = [[float(k) for k in range(40)]]
    content = {
        "images": [{"id": 7 * i, "file_name": f"{i}.jpg"} for i in range(n)],
        "annotations": [
            {"segmentation": outline, "image_id": 7 * int(i), "category_id": kinds[k]}
            for i, k in np.argwhere(shown).tolist()
        ],
        "categories": [{"id": kind, "name": f"thing {kind}" if kind > 1 else "person"} for kind in kinds],
    }
    texts = ["a man surfs a wave in the sea", "a woman under an umbrella", "a plate of food", "two people"]
    said = draw.integers(0, 4, (n, 5))
    listed = [{"image_id": 7 * i, "caption": texts[k]} for i, row in enumerate(said.tolist()) for k in row]
    paths = tiny.write(tmp_path / "i.json", content), tiny.write(tmp_path / "c.json", {"annotations": listed})
    start = time.process_time()
    found = read_instances(paths[0])
    codes = read_mentions(paths[1], found.ids, "narrow").codes()
    assert time.process_time() - start < 8  # about one
    assert found.y.shape == (n, 79)
    assert np.array_equal(found.y, shown[:, 1:])
    man, woman = (said == 0).any(axis=1), (said == 1).any(axis=1)
    assert np.array_equal(codes, np.where(man & ~woman, 0, np.where(woman & ~man, 1, -1)))
