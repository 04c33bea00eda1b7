"""The task `faces`: its parts, labels and knobs, and that looking at it paints nothing."""

import sys

import numpy as np
import pytest
import torch

import evenhand.data.faces_pictures as pictures
from evenhand.data import load
from evenhand.data.faces import faces
from evenhand.data.faces_draw import draw_faces
from evenhand.data.faces_names import ATTRIBUTES, BALANCED, INCONSISTENT
from evenhand.data.faces_statistics import celeba_statistics
from evenhand.data.faces_world import APART, World
from evenhand.data.registry import load_sketch
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum, load_task, look_at_task

RATES = dict(zip(ATTRIBUTES, celeba_statistics().rates, strict=True))


def share(task, name):
    return float((task.attribute(name).codes == 1).mean())


def codes(task):
    return np.stack([task.attribute(name).codes for name in ATTRIBUTES], axis=1)


@pytest.fixture
def no_painting(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a face was painted")

    monkeypatch.setattr("evenhand.data.faces_draw.draw_faces", refuse)


# ------------------------------------------------------------------------------------- targets and attributes


def test_one_name_is_a_task_of_two_classes():
    task = faces.sketch("Smiling", n=20_000).check()
    assert task.classes == ("no", "yes")
    assert task.y.shape == (20_000,)
    assert {part: len(rows) for part, rows in task.split.items()} == {
        "train": 14_000,
        "validation": 2_000,
        "test": 4_000,
    }
    assert {attribute.name for attribute in task.attributes} == set(ATTRIBUTES)
    assert np.array_equal(task.attribute("Smiling").codes, task.y.numpy())
    for name, rate in RATES.items():
        assert share(task, name) == pytest.approx(rate, abs=0.015), name


def test_all_is_a_label_for_each_attribute_that_is_not_protected():
    task = faces.sketch("all", protect=BALANCED[:3], n=500).check()
    assert task.multi_label
    assert task.classes == tuple(name for name in ATTRIBUTES if name not in BALANCED[:3])
    assert task.y.shape == (500, 37)
    for place, name in enumerate(task.classes):
        assert np.array_equal(task.y[:, place].numpy(), task.attribute(name).codes)
    assert len(task.attributes) == 40


@pytest.mark.parametrize("target", [["Young", "Bald"], ("Young", "Bald"), "Young, Bald"])
def test_a_list_of_names_may_be_written_in_three_ways(target):
    task = faces.sketch(target, n=50)
    assert task.classes == ("Bald", "Young")
    assert task.y.shape == (50, 2)


def test_the_constructor_and_the_registry_give_the_same_task():
    one, other = Task.faces("Bald", n=30), load("faces", target="Bald", n=30)
    assert torch.equal(one.x, other.x)
    assert data_checksum(one) == data_checksum(other)


# --------------------------------------------------------------------------------------------- who is drawn


def test_more_faces_are_the_same_faces_and_others():
    few, many = faces.sketch(n=1000), faces.sketch(n=3000)
    for part in ("train", "validation", "test"):
        first = many.rows(part)[: len(few.rows(part))]
        assert np.array_equal(codes(few)[few.rows(part)], codes(many)[first])
        assert torch.equal(few.x.ids[few.rows(part)], many.x.ids[first])


def test_parts_share_no_face():
    ids = World(n=1000).ids()
    assert len(ids.unique()) == 1000
    assert ids.max() < 2**31  # the counters of a face are of 32 bits
    assert ids[700] == APART


def test_seeds_draw_others():
    assert (codes(faces.sketch(n=500)) != codes(faces.sketch(n=500, seed=1))).mean() > 0.1


def test_shares_move_what_they_name_and_nothing_that_is_independent():
    task = faces.sketch(n=20_000, shares={"Male": 0.2, "Bald": 0.5}, correlation=0.0)
    assert share(task, "Male") == pytest.approx(0.2, abs=0.012)
    assert share(task, "Bald") == pytest.approx(0.5, abs=0.015)
    plain = faces.sketch(n=20_000, correlation=0.0)
    others = [place for place, name in enumerate(ATTRIBUTES) if name not in ("Male", "Bald")]
    assert np.array_equal(codes(task)[:, others], codes(plain)[:, others])


@pytest.mark.parametrize("correlation", [0.0, 0.5, 1.0])
def test_correlation_is_weakened_and_shares_stay(correlation):
    task = faces.sketch(n=20_000, correlation=correlation)
    found = np.corrcoef(task.attribute("Male").codes, task.attribute("Wearing_Lipstick").codes)[0, 1]
    assert found == pytest.approx({0.0: 0.0, 0.5: -0.29, 1.0: -0.77}[correlation], abs=0.05)
    assert share(task, "Male") == pytest.approx(RATES["Male"], abs=0.015)


# ------------------------------------------------------------------------------------- what is written down


def test_noise_changes_labels_of_inconsistent_attributes_and_no_picture():
    clean, noisy = (faces.sketch("Big_Nose", n=20_000, noise=noise) for noise in (0.0, 0.2))
    wrong = (codes(clean) != codes(noisy)).mean(axis=0)
    for name, rate in zip(ATTRIBUTES, wrong, strict=True):
        assert rate == (pytest.approx(0.2, abs=0.012) if name in INCONSISTENT else 0), name
    assert torch.equal(clean.x.facts, noisy.x.facts)
    assert np.array_equal(noisy.y.numpy(), noisy.attribute("Big_Nose").codes)


def test_noise_by_name_and_a_true_test():
    clean, noisy = faces.sketch(n=2000), faces.sketch(n=2000, noise={"Male": 0.5}, clean_test=True)
    wrong = codes(clean) != codes(noisy)
    assert wrong[:, [name != "Male" for name in ATTRIBUTES]].sum() == 0
    assert wrong[clean.rows("test")].sum() == 0
    for part in ("train", "validation"):
        assert wrong[clean.rows(part)].sum() > 0.4 * len(clean.rows(part))


def test_labelled_hides_all_attributes_of_training_rows_alone():
    whole, scarce = faces.sketch(n=2000), faces.sketch(n=2000, labelled=0.05)
    hidden = codes(scarce) < 0
    assert (hidden.all(axis=1) == hidden.any(axis=1)).all()
    assert (~hidden[whole.rows("train")]).all(axis=1).sum() == round(0.05 * 1400)
    assert not hidden[whole.rows("validation")].any()
    assert not hidden[whole.rows("test")].any()
    assert torch.equal(whole.y, scarce.y)
    assert np.array_equal(codes(scarce)[~hidden], codes(whole)[~hidden])


# -------------------------------------------------------------------------------------------- the pictures


def test_planning_paints_nothing(no_painting):
    for protect in (BALANCED[:count] for count in range(1, 8)):
        task = look_at_task("faces", {"target": "all", "protect": list(protect), "n": 400})
        assert task.groups(list(protect)).n_groups == 2 ** len(protect)
        data_checksum(task)
    assert len(load_sketch("faces")) == 20_000


def test_a_sketch_has_the_checksum_of_the_task():
    knobs = {"target": "Bald", "n": 40, "shares": {"Male": 0.5}, "protect": ["Young"]}
    assert data_checksum(look_at_task("faces", knobs)) == data_checksum(load_task("faces", knobs))


def test_pictures_are_those_of_facts_and_ids_however_they_are_asked_for(monkeypatch):
    knobs = {"size": 40, "seed": 3, "difficulty": 0.3, "nuisance": 0.7}
    task = faces(n=20, device="cpu", **knobs)
    assert task.x.shape == (20, 3, 40, 40)
    assert task.x.dtype == torch.uint8
    rows = faces.sketch(n=20, device="cpu", **knobs).x
    assert torch.equal(task.x, draw_faces(rows.facts, rows.ids, **knobs))
    some = torch.tensor([7, 0, 19])
    assert torch.equal(rows.take(some), task.x[some])
    monkeypatch.setattr(pictures, "BLOCK", 3)
    monkeypatch.setattr(pictures, "_kept", {})
    assert torch.equal(faces(n=20, device="cpu", **knobs).x, task.x)


def test_tasks_of_one_population_share_their_pictures(monkeypatch):
    monkeypatch.setattr(pictures, "_kept", {})
    one = faces("Smiling", n=20)
    assert faces("all", n=20, noise=0.3, labelled=0.5, protect="Male").x is one.x
    for knobs in ({"seed": 1}, {"correlation": 0.5}, {"shares": {"Male": 0.9}}, {"n": 21}, {"nuisance": 0.5}):
        other = faces("Smiling", **{"n": 20, **knobs}).x
        assert not torch.equal(other[:10], one.x[:10]) or knobs == {"n": 21}


@pytest.mark.gpu
def test_a_gpu_paints_the_same_faces():
    on_cpu, on_gpu = (faces(n=200, size=64, device=device).x.int() for device in ("cpu", "cuda"))
    assert (on_cpu - on_gpu).abs().max() <= 2
    assert ((on_cpu - on_gpu) != 0).float().mean() < 0.01


# ------------------------------------------------------------------------------------------------ bad knobs


@pytest.mark.parametrize(
    ("knobs", "words"),
    [
        ({"target": "Smilling"}, "did you mean 'Smiling'"),
        ({"target": ["Male"], "protect": ["Male"]}, "leaves no attribute to predict"),
        ({"target": "all", "protect": "Mail"}, "did you mean 'Male'"),
        ({"target": 3}, "names of attributes are needed, as in 'Male' or ['Male', 'Young'], not 3"),
        ({"target": "all", "protect": 3}, "names of attributes are needed"),
        ({"n": 0}, "n=0 must be a number of faces"),
        ({"n": 10.0}, "n=10.0 must be a whole number"),
        ({"n": 10, "validation": 0.6, "test": 0.6}, "leave none to train on"),
        ({"size": 16}, "a whole number of pixels from 32 to 128"),
        ({"correlation": 1.5}, "correlation=1.5 must be a number from 0 to 1"),
        ({"correlation": float("nan")}, "correlation=nan must be a number"),
        (
            {"shares": {"Mal": 0.5}},
            "the knob shares names 'Mal', which is no attribute of faces; did you mean",
        ),
        ({"shares": {"Male": 1.0}}, "must be more than 0 and less than 1"),
        ({"shares": 0.5}, "must name attributes"),
        ({"noise": 1.2}, "noise=1.2 must be a number from 0 to 1"),
        ({"noise": {"Male": -0.1}}, "noise['Male']=-0.1 must be"),
        ({"noise": {"Mael": 0.1}}, "the knob noise names 'Mael'"),
        ({"noise": "much"}, "noise='much' must be"),
        ({"labelled": 1.1}, "must be a number from 0 to 1"),
        ({"difficulty": 2.0}, "difficulty=2.0 of the faces must be"),
        ({"nuisance": -1.0}, "nuisance=-1.0 of the faces must be"),
        ({"seed": -1}, "seed=-1 must be a whole number of at least 0"),
        ({"device": "tpu"}, "must be auto or cpu or cuda"),
        ({"sise": 32}, "did you mean 'size'"),
    ],
)
def test_a_wrong_knob_is_told(knobs, words, no_painting):
    with pytest.raises(InputError) as caught:
        load("faces", **knobs)
    assert words in str(caught.value)


def test_another_drawing_is_other_data(monkeypatch):
    before = data_checksum(faces.sketch(n=200))
    assert data_checksum(faces.sketch(n=200)) == before
    monkeypatch.setattr(sys.modules["evenhand.data.faces"], "DRAWING", "another")
    assert data_checksum(faces.sketch(n=200)) != before
