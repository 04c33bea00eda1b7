"""imSitu with gender in its published layout, a small copy made here."""

import json
import re
import runpy
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.imsitu_gender import imsitu_gender
from evenhand.data.imsitu_gender_files import frequent_verbs, read_situations
from evenhand.data.imsitu_gender_nouns import NOUNS, agent_gender
from evenhand.data.registry import load
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum

pytest.importorskip("PIL")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_situations.py")))
MAN, WOMAN, BOY, GIRL, PEOPLE = tiny.MAN, tiny.WOMAN, tiny.BOY, tiny.GIRL, tiny.PEOPLE


@pytest.fixture
def folder(tmp_path):
    return tiny.make_imsitu(tmp_path / "imsitu")


def names(task, part=None):
    rows = range(len(task)) if part is None else task.rows(part).tolist()
    return [task.x.paths[row].stem for row in rows]


def genders(task):
    found = task.attribute("gender")
    told = [None if code < 0 else found.levels[code] for code in found.codes]
    return dict(zip(names(task), told, strict=True))


def test_verbs_are_classes_and_gender_is_of_the_agent(folder):
    task = imsitu_gender(folder=folder, size=8, at_least=1).check()
    assert task.classes == ("cooking", "fishing")  # no woman tunes, nobody rains
    assert [task.classes[k] for k in task.y] == [name.split("_")[0] for name in names(task)]
    assert {name: told for name, told in genders(task).items() if name in names(task, "train")} == {
        f"{verb}_{1 + number}": told
        for verb in task.classes
        for number, told in enumerate(("man", "woman", "man", "woman"))
    }


def test_parts_are_the_published_ones(folder):
    task = imsitu_gender(folder=folder, size=8, at_least=2)
    for part, first in (("train", 1), ("validation", 21), ("test", 41)):
        numbers = {int(name.split("_")[1]) for name in names(task, part)}
        assert numbers == set(range(first, first + 4))
        assert len(task.rows(part)) == 8


@pytest.mark.parametrize(
    ("agents", "narrow", "wide"),
    [
        ([MAN, MAN, MAN], 0, 0),
        (["", "", WOMAN], 1, 1),
        ([MAN, WOMAN, MAN], -1, -1),  # both: not the majority's
        ([PEOPLE, "n09605289", ""], -1, -1),  # people, an adult
        ([BOY, PEOPLE, ""], -1, 0),
        ([GIRL, "", ""], -1, 1),
        ([WOMAN, "", BOY], 1, -1),
        ([], -1, -1),
    ],
)
def test_the_rule_of_nouns(agents, narrow, wide):
    assert [agent_gender(agents, nouns) for nouns in ("narrow", "wide")] == [narrow, wide]


def test_the_page_states_the_nouns():
    page = (Path(__file__).parents[2] / "docs" / "gender-data.md").read_text(encoding="utf-8")
    for name, lists in NOUNS.items():
        told = (", ".join(f"{synset} ({word})" for synset, word in listed.items()) for listed in lists)
        assert f"| `{name}` | {' | '.join(told)} |" in page


def test_wide_nouns_know_children(folder):
    narrow, wide = (genders(imsitu_gender(folder=folder, size=8, at_least=1, nouns=n)) for n in NOUNS)
    assert {wide.get(f"cooking_{n}") for n in (7, 8)} == {"man", "woman"}
    assert "cooking_4" not in wide  # a woman and a boy
    assert narrow["cooking_4"] == "woman"
    assert not {"cooking_7", "cooking_8"} & set(narrow)


def test_unknown_images_are_left_out_or_kept_and_always_counted(folder):
    out, kept = (imsitu_gender(folder=folder, size=8, at_least=1, unknown=u) for u in ("leave-out", "keep"))
    assert (len(out), len(kept)) == (24, 48)
    assert sum(told is None for told in genders(kept).values()) == 24
    assert (
        "12 images show men and 12 women, by the nouns of their agents; 24 others are left out."
        in out.card.notes
    )
    assert any("24 others are kept, with an unknown gender" in note for note in kept.card.notes)


def test_verbs_need_enough_training_images_of_both(folder):
    assert imsitu_gender(folder=folder, size=8, at_least=2).classes == ("cooking", "fishing")
    with pytest.raises(
        InputError, match="0 verbs have at_least=3 training images of men and as many of women"
    ):
        imsitu_gender(folder=folder, size=8, at_least=3)
    with pytest.raises(InputError, match="0 verbs have at_least=5"):
        imsitu_gender(folder=folder, size=8)
    assert frequent_verbs(["b", "a", "b", "a"], np.array([0, 0, 1, 1]), 1) == ("a", "b")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("verbs.txt", "tuning\n cooking \n\n"),
        ("verbs", "tuning\ncooking"),
        ("verbs.json", ["tuning", "cooking"]),
    ],
)
def test_a_list_of_verbs_wins_and_orders_the_classes(folder, name, content):
    tiny.write(folder / name, content)
    task = imsitu_gender(folder=folder, size=8, verbs=name)
    assert task.classes == ("tuning", "cooking")
    assert {n.split("_")[0] for n in names(task)} == set(task.classes)
    assert f"verbs: {name}" in task.card.files
    assert "2 verbs, a list of the user's" in task.card.target


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "cooking\nfisching\n",
            "1 verbs that imsitu_space.json does not have, the first 'fisching'; did you mean 'fishing'",
        ),
        ("cooking\n", "names 1 verbs; it must name at least two"),
        ("cooking\nfishing\ncooking\n", "names 'cooking' twice"),
        ("[", "cannot be read as JSON"),
    ],
)
def test_a_wrong_list_of_verbs_is_told(folder, content, words):
    tiny.write(folder / "verbs.txt", content)
    with pytest.raises(InputError, match=words):
        imsitu_gender(folder=folder, size=8, verbs="verbs.txt")


def test_files_of_parts_and_genders_win(folder):
    tiny.write(
        folder / "split.json",
        {
            "train": [f"{verb}_{n}.jpg" for verb in ("fishing", "cooking") for n in (42, 41)],
            "dev": ["cooking_1.jpg"],
            "test": ["fishing_2.jpg", "cooking_6.jpg"],
        },
    )
    task = imsitu_gender(folder=folder, size=8, at_least=1, parts="split.json")
    assert names(task, "train") == ["fishing_42", "fishing_41", "cooking_42", "cooking_41"]
    assert (names(task, "validation"), names(task, "test")) == (["cooking_1"], ["fishing_2"])
    own = "image,gender\ncooking_6.jpg,woman\nfishing_41.jpg,man\nfishing_42.jpg,woman\ncooking_41.jpg,male\n"
    tiny.write(folder / "own.csv", own + "cooking_42.jpg,female\n")
    other = imsitu_gender(folder=folder, size=8, at_least=1, parts="split.json", genders="own.csv")
    assert set(other.split) == {"train", "test"}  # the only image for validation is unknown now
    assert names(other, "test") == ["cooking_6"]
    assert any("by a file of the user's; 2 others are left out" in note for note in other.card.notes)
    assert {"parts: split.json", "genders: own.csv"} < set(other.card.files)


def test_unknown_images_in_files_of_the_user_are_told(folder):
    tiny.write(folder / "split.json", {"train": ["cooking_1.jpg"], "test": ["cooking_999.jpg"]})
    with pytest.raises(InputError, match=r"not in the annotations of imSitu; the first: 'cooking_999\.jpg'"):
        imsitu_gender(folder=folder, size=8, parts="split.json")
    tiny.write(folder / "own.json", {"nobody.jpg": "man"})
    with pytest.raises(InputError, match=r"not in the annotations of imSitu; the first: 'nobody\.jpg'"):
        imsitu_gender(folder=folder, size=8, genders="own.json")


def test_training_rows_are_rebalanced_exactly_and_the_test_is_drawn_equally(folder):
    content = tiny.situations(1)
    content |= {
        f"cooking_{n}.jpg": {"verb": "cooking", "frames": [{"agent": MAN}]} for n in range(100, 104)
    }  # 6 men and 2 women cook, 2 and 2 fish
    tiny.write(folder / "train.json", content)
    for n in range(100, 104):
        tiny.colour_image(folder / "of500_images_resized" / f"cooking_{n}.jpg", np.random.default_rng(n))
    for ratio, kept in ((1.0, [2, 2]), (2.0, [4, 2]), (3.0, [6, 2])):
        task = imsitu_gender(folder=folder, size=8, at_least=1, ratio=ratio, per_group=3)
        train = task.rows("train").numpy()
        cooks = task.attribute("gender").codes[train[task.y[train].numpy() == 0]]
        assert np.bincount(cooks).tolist() == kept
        assert np.bincount(task.attribute("gender").codes[task.rows("test").numpy()]).tolist() == [3, 3]
        assert (task.card.knobs["ratio"], task.card.knobs["per_group"]) == (ratio, 3)


def test_images_are_lazy_may_be_resident_and_only_those_used_must_be_there(folder):
    task = imsitu_gender(folder=folder, size=8, at_least=1, limit=3)
    assert [len(rows) for rows in task.split.values()] == [3, 3, 3]
    whole = imsitu_gender(folder=folder, size=8, at_least=1, limit=3, resident=True)
    assert torch.equal(whole.x, task.x.take(torch.arange(len(task))))
    assert data_checksum(whole) == data_checksum(task)
    used = set(task.x.paths)
    for path in (folder / "of500_images_resized").iterdir():
        if path not in used:
            path.unlink()
    assert names(imsitu_gender(folder=folder, size=8, at_least=1, limit=3)) == names(task)
    with pytest.raises(InputError, match="15 of 24 images are missing"):
        imsitu_gender(folder=folder, size=8, at_least=1)


@pytest.mark.parametrize("name", ["of_500_images_resized", "resized_256"])
def test_other_names_of_the_folder_of_images(folder, name):
    (folder / "of500_images_resized").rename(folder / name)
    assert imsitu_gender(folder=folder, size=8, at_least=1).x.paths[0].parent.name == name


def test_it_is_found_in_the_data_folder_and_else_told(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    assert len(load("imsitu-gender", size=8, at_least=1)) == 24
    (folder / "of500_images_resized").rename(folder / "pictures")
    with pytest.raises(InputError, match=r"the images are not in .*no folder of500_images_resized or"):
        load("imsitu-gender", size=8, at_least=1)
    folder.rename(tmp_path / "elsewhere")
    with pytest.raises(
        InputError, match=r"imSitu is not here.*github\.com/my89/imSitu.*of500_images_resized\.tar"
    ):
        load("imsitu-gender")


@pytest.mark.parametrize("name", ["train.json", "dev.json", "test.json", "imsitu_space.json"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(InputError, match=rf"there is no {re.escape(name)} in .*; put train\.json, dev\.json"):
        imsitu_gender(folder=folder, size=8)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "dev.json cannot be read as JSON"),
        ([], "is not as imSitu gives it out"),
        ({}, "is not as imSitu gives it out"),
        ({"cooking_21.jpg": "cooking"}, "but has 'cooking_21.jpg': 'cooking'"),
        ({"cooking_21.jpg": {"frames": []}}, "but has 'cooking_21.jpg'"),
        ({"cooking_21.jpg": {"verb": "cooking", "frames": [3]}}, "but has 'cooking_21.jpg'"),
        ({"cooking_21.jpg": {"verb": "cooking", "frames": [{"agent": 3}]}}, "but has 'cooking_21.jpg'"),
        ({"x_1.jpg": {"verb": "cookin", "frames": []}}, "the first 'cookin'; did you mean 'cooking'"),
        ({"cooking_1.jpg": {"verb": "cooking", "frames": []}}, "'cooking_1.jpg' is in two of train.json"),
    ],
)
def test_annotations_of_another_form_are_refused(folder, content, words):
    tiny.write(folder / "dev.json", content)
    with pytest.raises(InputError, match=words):
        imsitu_gender(folder=folder, size=8, at_least=1)


def test_the_space_must_be_of_the_same_wordnet(folder):
    content = tiny.space()
    for entry, words in (({"gloss": ["lion"]}, r"must be 'woman'.*has \['lion'\] there"), (None, "lacks it")):
        nouns = {**content["nouns"], WOMAN: entry}
        tiny.write(folder / "imsitu_space.json", {**content, "nouns": nouns})
        with pytest.raises(InputError, match=words):
            imsitu_gender(folder=folder, size=8, at_least=1)
    for wrong in ([], {"nouns": {}}, {"nouns": content["nouns"], "verbs": {}}):
        tiny.write(folder / "imsitu_space.json", wrong)
        with pytest.raises(InputError, match="is not as imSitu gives it out"):
            imsitu_gender(folder=folder, size=8, at_least=1)


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"nouns": "all"}, "nouns='all' must be narrow or wide"),
        ({"unknown": "drop"}, "unknown='drop' must be leave-out or keep"),
        ({"at_least": 0}, "at_least=0 must be a number of images of at least 1"),
        ({"limit": -1}, "limit=-1 must be a number of images"),
        ({"ratio": 0.9}, "must be at least 1"),
        ({"verbs": "none.txt"}, "the knob verbs names none.txt, which is no file"),
    ],
)
def test_wrong_knobs_are_told(folder, knobs, words):
    with pytest.raises(InputError, match=words):
        imsitu_gender(folder=folder, size=8, **{"at_least": 1, **knobs})


def test_the_card_tells_licence_files_and_what_is_ours(folder):
    card = imsitu_gender(folder=folder, size=8, at_least=1).card
    assert card.licence.startswith("None stated")
    assert set(card.files) == {"train.json", "dev.json", "test.json", "imsitu_space.json"}
    assert any("24,301, 7,730 and 7,669 images of 211 verbs" in note for note in card.notes)
    assert card.knobs == {"at_least": 1, "nouns": "narrow", "unknown": "leave-out", "size": 8, "seed": 0}


def test_seventy_five_thousand_images_are_read_in_seconds(tmp_path):
    n, draw = 75_000, np.random.default_rng(0)
    nouns = [MAN, WOMAN, PEOPLE, ""]
    said = draw.integers(0, 4, (n, 3))
    content = {
        f"verb_{i}.jpg": {"verb": f"verb{i % 504}", "frames": [{"agent": nouns[k], "place": ""} for k in row]}
        for i, row in enumerate(said.tolist())
    }
    path = tmp_path / "train.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    start = time.process_time()
    found = read_situations(path)
    codes = np.array([agent_gender(agents, "narrow") for agents in found.agents])
    verbs = frequent_verbs(found.verbs, codes, 5)
    assert time.process_time() - start < 8  # about one
    man, woman = (said == 0).any(axis=1), (said == 1).any(axis=1)
    assert np.array_equal(codes, np.where(man & ~woman, 0, np.where(woman & ~man, 1, -1)))
    assert len(verbs) == 504
