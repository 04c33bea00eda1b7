"""Scarce group labels: hidden in one part, nested over shares, the same whatever the order of the rows."""

import runpy
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data import load
from evenhand.data.card import DataCard
from evenhand.data.celeba import celeba
from evenhand.data.scarce import hide_groups
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.study.tasks import data_checksum

tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_celeba.py")))
N = 1_000


@pytest.fixture
def task():
    draw = np.random.default_rng(0)
    attributes = tuple(Attribute(name, ("a", "b"), draw.integers(0, 2, N)) for name in ("one", "other"))
    split = {"train": torch.from_numpy(draw.permutation(800)), "test": torch.arange(800, N)}
    y = torch.from_numpy(draw.integers(0, 2, N))
    return Task("drawn", torch.zeros(N, 1), y, attributes, split, DataCard("d", "", "", ""), ("no", "yes"))


def known(task, name="one"):
    return set(np.flatnonzero(task.attribute(name).codes >= 0).tolist())


@pytest.mark.parametrize("share", [0.0, 0.05, 0.333, 0.9, 1.0])
def test_a_share_of_the_training_rows_keeps_all_its_attributes(task, share):
    found = hide_groups(task, share, seed=4).check()
    assert known(found, "one") == known(found, "other")
    assert len(known(found) & set(range(800))) == round(share * 800)
    assert known(found) >= set(range(800, N))  # the test is known
    for old, new in zip(task.attributes, found.attributes, strict=True):
        kept = new.codes >= 0
        assert np.array_equal(new.codes[kept], old.codes[kept])
        assert set(new.codes[~kept].tolist()) <= {-1}
    assert found.y is task.y
    assert found.x is task.x
    assert (found is task) == (share == 1.0)


@pytest.mark.parametrize("seed", range(4))
def test_a_smaller_share_is_part_of_a_larger(task, seed):
    rows = [known(hide_groups(task, share, seed)) for share in (0.02, 0.05, 0.1, 0.5, 1.0)]
    assert all(few < more for few, more in pairwise(rows))


def test_the_seed_decides_and_the_order_of_the_rows_does_not(task):
    turned = task.with_split(train=task.rows("train").flip(0))
    assert known(hide_groups(task, 0.1, 2)) == known(hide_groups(turned, 0.1, 2))
    assert known(hide_groups(task, 0.1, 2)) != known(hide_groups(task, 0.1, 3))
    together = known(hide_groups(task, 0.1, 2)) & known(hide_groups(task, 0.1, 3)) & set(range(800))
    assert len(together) < 25  # 8 are expected of two draws of 80


def test_groups_and_labels_do_not_decide_who_is_kept():
    """Kept rows are a plain sample: a group has the share among them that it has among all."""
    task = load("titanic")
    train = task.rows("train").numpy()
    women = task.attribute("sex").codes[train] == 0
    shares = []
    for seed in range(50):
        kept = hide_groups(task, 0.2, seed).attribute("sex").codes[train] >= 0
        shares.append(women[kept].mean())
    deviation = np.sqrt(women.mean() * (1 - women.mean()) * 0.8 / (0.2 * len(train)))
    assert abs(np.mean(shares) - women.mean()) < 4 * deviation / np.sqrt(50)
    assert np.std(shares) == pytest.approx(deviation, rel=0.4)


def test_the_task_it_was_made_of_is_not_changed(task):
    before = [attribute.codes.copy() for attribute in task.attributes]
    found = task.with_scarce_groups(0.1, seed=1)
    assert all(np.array_equal(a.codes, b) for a, b in zip(task.attributes, before, strict=True))
    assert found.card.knobs == {"labelled": 0.1}
    assert "80 of the 800 rows of 'train'" in found.card.notes[-1]
    assert data_checksum(found) != data_checksum(task)
    assert task.card.notes == ()


def test_another_part_may_be_scarce(task):
    found = hide_groups(task, 0.5, part="test")
    assert known(found) >= set(range(800))
    assert len(known(found)) == 900


def test_intersections_are_unknown_where_an_attribute_was_before(task):
    codes = task.attribute("one").codes.copy()
    codes[:100] = -1
    task = replace(task, attributes=(Attribute("one", ("a", "b"), codes), task.attribute("other")))
    groups = hide_groups(task, 0.5).groups(["one", "other"]).ids
    assert (groups[:100] == -1).all()
    assert 300 < (groups[:800] >= 0).sum() < 400


@pytest.mark.parametrize(
    ("share", "words"),
    [(1.5, "from 0 to 1, not 1.5"), (-0.1, "from 0 to 1"), (True, "from 0 to 1"), ("5%", "from 0 to 1"),
     (float("nan"), "from 0 to 1"), (0.0001, "none of the 800 rows of 'train'")],
)  # fmt: skip
def test_a_share_that_is_none(task, share, words):
    with pytest.raises(InputError, match=words):
        hide_groups(task, share)


def test_a_part_that_is_not_there(task):
    with pytest.raises(InputError, match="no part 'validation'; it has train, test"):
        hide_groups(task, 0.5, part="validation")
    with pytest.raises(InputError, match="seed=-1"):
        hide_groups(task, 0.5, seed=-1)


def test_the_knob_of_a_loader_is_the_same_thing(tmp_path):
    pytest.importorskip("PIL")
    folder = tiny.make(tmp_path / "celeba")
    chosen = {"folder": folder, "split": "official", "size": 8, "seed": 3}
    plain, scarce = celeba(**chosen), celeba(**chosen, labelled=0.5)
    expected = hide_groups(plain, 0.5, 3)
    assert data_checksum(scarce) == data_checksum(expected) != data_checksum(plain)
    assert torch.equal(scarce.y, plain.y)
    assert scarce.card.knobs["labelled"] == 0.5
    assert len(known(scarce, "Male")) == 9 + 6


def test_without_the_knob_the_identity_is_that_of_published_runs(tmp_path):
    """Checksums from before the knob was there: a run's record names the data by them."""
    pytest.importorskip("PIL")
    folder = tiny.make(tmp_path / "celeba")
    drawn = celeba(folder=folder, n_train=12, n_test=6, size=16, seed=3)
    official = celeba("Male", folder=folder, split="official", size=16)
    assert data_checksum(drawn) == "db7cb75cc430a54585104ceaaba84b88a98c9c9722d44a6694d8b7d8a6cbcdf0"
    assert data_checksum(official) == "d32e77643c6466fde9f22bc9c47785fa11222eddeab8f1f6f374b9c586f2c3bc"
    assert "labelled" not in drawn.card.knobs
    assert "protect" not in drawn.card.knobs
