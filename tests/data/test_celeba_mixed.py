"""CelebA with label and group mixed: parts of fixed shares, of which training images alone are mixed."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data.celeba_mixed import _parts, celeba_mixed
from evenhand.data.celeba_texts import read_labels
from evenhand.errors import InputError

pytest.importorskip("PIL")
tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_celeba.py")))
COUNT = 60


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tiny.make(tmp_path_factory.mktemp("data") / "celeba", count=COUNT)


def load(folder, **knobs):
    return celeba_mixed(**{"target": "Attractive", "folder": folder, "size": 8, **knobs}).check()


def same(task, part):
    rows = task.rows(part).numpy()
    return task.attribute("Male").codes[rows] == task.y.numpy()[rows]


def test_the_parts_of_all_of_celeba_are_s0s():
    parts = _parts(202_599)
    assert {part: len(rows) for part, rows in parts.items()} == {
        "train": 81_039,
        "train_pretrain": 81_040,
        "test": 40_520,
    }
    assert torch.cat([parts["train_pretrain"], parts["test"], parts["train"]]).tolist() == list(
        range(202_599)
    )


@pytest.mark.parametrize("split", ["random", "sequential"])
def test_training_images_alone_are_mixed(folder, split):
    plain, pure, other = (load(folder, split=split, mixing=mixing) for mixing in (0.5, 0.0, 1.0))
    assert [len(plain.rows(part)) for part in ("train_pretrain", "test", "train")] == [24, 12, 24]
    assert same(pure, "train").all()
    assert not same(other, "train").any()
    assert len(pure.rows("train")) + len(other.rows("train")) == 24
    for part in ("train_pretrain", "test"):
        assert torch.equal(plain.rows(part), pure.rows(part))
        assert 0 < same(pure, part).mean() < 1
    assert pure.card.knobs["mixing"] == 0.0
    assert "mixed by the factor 0" in pure.card.notes[-1]


def test_labels_and_pictures_are_of_the_same_image(folder):
    """Rows are in a drawn order: an image keeps its attributes, and its one colour."""
    labels = read_labels(folder / "list_attr_celeba.txt")
    task, plain = load(folder, mixing=0.5, seed=4), load(folder, mixing=0.5, split="sequential")
    order = np.random.default_rng(4).permutation(COUNT)
    assert task.attribute("Male").codes.tolist() == labels.codes[order, labels.names.index("Male")].tolist()
    assert task.y.tolist() == labels.codes[order, labels.names.index("Attractive")].tolist()
    everything = torch.arange(COUNT)
    assert torch.equal(task.x.take(everything), plain.x.take(torch.from_numpy(order)))
    assert [attribute.name for attribute in task.attributes][::4] == ["Male", "Attractive"]


def test_it_is_seen_from_minus_one_to_one(folder):
    x = load(folder, resident=True).x
    assert x.shape == (COUNT, 3, 8, 8)
    assert -1.0 <= float(load(folder).scaling(x).min()) < float(load(folder).scaling(x).max()) <= 1.0


def test_validation_is_of_the_mixed_images(folder):
    plain, held = load(folder, mixing=0.0), load(folder, mixing=0.0, validation=0.25)
    assert torch.equal(torch.cat([held.rows("train"), held.rows("validation")]), plain.rows("train"))
    assert len(held.rows("validation")) == round(0.25 * len(plain.rows("train")))
    assert same(held, "validation").all()


def test_fewer_images_and_another_attribute(folder):
    task = load(folder, n=30, by="Chubby", mixing=1.0)
    assert len(task) == 30
    rows = task.rows("train").numpy()
    assert (task.attribute("Chubby").codes[rows] != task.y.numpy()[rows]).all()
    assert task.attributes[0].name == "Chubby"


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"target": "Smilling"}, "no attribute 'Smilling'"), ({"by": "Mal"}, "did you mean 'Male'"),
     ({"by": "Attractive"}, "is what is predicted"), ({"mixing": 2.0}, "mixing factor"),
     ({"split": "official"}, "split"), ({"n": 3}, "n=3"), ({"n": 100}, "n=100"), ({"seed": -1}, "seed=-1"),
     ({"validation": 1.0}, "validation=1.0")],
)  # fmt: skip
def test_knobs_that_are_none(folder, knobs, words):
    with pytest.raises(InputError, match=words):
        load(folder, **knobs)
