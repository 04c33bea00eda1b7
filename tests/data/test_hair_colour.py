"""hair-colour: exactly one of four colours, of drawn faces and of photographs; nothing else is changed."""

import runpy
from pathlib import Path

import numpy as np
import pytest
import torch

from evenhand.data import load
from evenhand.data.faces import faces
from evenhand.data.hair_colour import CLASSES, COLOURS, hair_colour
from evenhand.data.registry import load_sketch
from evenhand.errors import InputError
from evenhand.study.tasks import data_checksum, load_task, look_at_task

tiny = runpy.run_path(str(Path(__file__).with_name("tiny_celeba.py")))


def codes(task, name):
    return next(np.asarray(a.codes) for a in task.attributes if a.name == name)


def test_the_class_is_the_one_colour_that_a_face_has():
    whole, task = faces.sketch("all", n=800), hair_colour.sketch(n=800)
    colours = np.stack([codes(whole, name) for name in COLOURS], axis=1)
    kept = np.flatnonzero(colours.sum(axis=1) == 1)
    assert 0 < len(kept) < 800
    assert len(task) == len(kept)
    assert np.array_equal(task.y.numpy(), colours[kept].argmax(axis=1))
    assert np.array_equal(codes(task, "Male"), codes(whole, "Male")[kept])
    assert task.classes == CLASSES
    assert not {a.name for a in task.attributes} & set(COLOURS)
    assert len(task.attributes) == 36


def test_parts_hold_the_faces_they_held_before():
    whole, task = faces.sketch("all", n=800), hair_colour.sketch(n=800)
    kept = task.x.kept
    assert sum(len(rows) for rows in task.split.values()) == len(task)
    for part, rows in task.split.items():
        assert set(kept[rows].tolist()) <= set(whole.rows(part).tolist())


def test_pictures_are_those_of_the_same_faces():
    task, sketch = load("hair-colour", n=300), load_sketch("hair-colour", n=300)
    assert task.x.shape == (len(task), 3, 32, 32)
    rows = torch.tensor([5, 0, 17])
    assert torch.equal(sketch.x.take(rows), task.x[rows])
    drawn = faces("Male", n=300)
    assert torch.equal(drawn.x[sketch.x.kept[rows]], task.x[rows])


def test_planning_paints_nothing_and_sees_the_same():
    knobs = {"n": 300, "seed": 4}
    assert data_checksum(look_at_task("hair-colour", knobs)) == data_checksum(load_task("hair-colour", knobs))


@pytest.fixture
def photographs(tmp_path, monkeypatch):
    pytest.importorskip("PIL")
    folder = tiny["make"](tmp_path / "celeba")
    path = folder / "list_attr_celeba.txt"
    count, _, *lines = path.read_text("utf-8").splitlines()
    names = (*COLOURS, "Male")
    draw = np.random.default_rng(1)
    values = draw.choice([-1, 1], (len(lines), 5), p=[0.7, 0.3])
    values[-4:, :4] = 2 * np.eye(4, dtype=int) - 1
    values[0, :4] = -1
    values[1, :4] = 1
    rows = [f"{line.split()[0]} " + " ".join(map(str, row)) for line, row in zip(lines, values, strict=True)]
    path.write_text("\n".join([count, " ".join(names), *rows]) + "\n", encoding="utf-8")
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    return values


def test_photographs_with_exactly_one_colour(photographs):
    task = load("hair-colour", source="celeba", size=16)
    wanted = (photographs[:, :4] == 1).sum(axis=1) == 1
    assert len(task) == wanted.sum()
    assert np.array_equal(task.y.numpy(), photographs[wanted][:, :4].argmax(axis=1))
    assert np.array_equal(codes(task, "Male"), (photographs[wanted][:, 4] == 1).astype(int))
    assert set(task.split) == {"train", "validation", "test"}
    rows = torch.arange(len(task))
    assert torch.equal(load("hair-colour", source="celeba", size=16, resident=True).x, task.x.take(rows))
    assert "exactly one of" in task.card.notes[-1]
    assert task.card.knobs == {"source": "celeba", "size": 16}


def test_knobs_of_drawn_faces_are_refused_for_photographs(photographs):
    with pytest.raises(InputError, match="the knob n is of drawn faces"):
        load("hair-colour", source="celeba", n=100)
    with pytest.raises(InputError, match="source"):
        load("hair-colour", source="celebs")


def test_too_few_faces_are_told():
    with pytest.raises(InputError, match=r"no face of the part|at least"):
        hair_colour.sketch(n=10, validation=0.1, test=0.1, seed=1, correlation=0.0)
