"""Other rows of a task: counts that are exact, bounds that hold, and nothing touched outside the part."""

import os
from dataclasses import replace
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.data import load
from evenhand.data.card import DataCard
from evenhand.data.rebalancing import balanced_test, composed, mixed, rebalanced
from evenhand.data.rebalancing_greedy import rows_within
from evenhand.data.registry import load_sketch
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.study.tasks import data_checksum

FAIRFACE = Path(os.environ.get("EVENHAND_DATA", "")) / "fairface32.npz"
SEEDS = st.integers(0, 2**20)
RATIOS = st.sampled_from([1, 1.02, 1.1, 1.5, 2, 2.7, 3, 10])


def drawn(seed, n=600, classes=4, levels=2, labels=0, unknown=0.0):
    """A task whose label and attribute depend on each other; `labels` makes it multi-label."""
    draw = np.random.default_rng(seed)
    g = draw.choice(levels, n, p=draw.dirichlet(np.full(levels, 3.0)))
    if labels:
        often = draw.uniform(0.05, 0.5, (levels, labels))
        y, names = (draw.random((n, labels)) < often[g]).astype(np.int64), labels
    else:
        shares = draw.dirichlet(np.full(classes, 2.0), levels)
        y, names = np.array([draw.choice(classes, p=shares[code]) for code in g]), classes
    codes = np.where(draw.random(n) < unknown, -1, g)
    split = {"train": draw.permutation(n)[: n // 2], "test": np.arange(0)}
    split["test"] = np.setdiff1d(np.arange(n), split["train"])
    return Task(
        "drawn",
        torch.zeros(n, 1),
        torch.from_numpy(y),
        (Attribute("s", tuple(f"s{code}" for code in range(levels)), codes.astype(np.int64)),),
        {part: torch.from_numpy(rows) for part, rows in split.items()},
        DataCard("d", "", "", ""),
        tuple(f"y{name}" for name in range(names)),
    )


def table(task, part="train"):
    """Rows by level and by class or label."""
    rows = task.rows(part).numpy()
    y, g = task.y.numpy()[rows], task.attribute("s").codes[rows]
    has = y if task.multi_label else np.eye(task.n_classes, dtype=np.int64)[y]
    return np.stack([has[g == code].sum(axis=0) for code in range(len(task.attribute("s").levels))])


def rebalanced_or_none(task, ratio, seed=0):
    """The task, or None where nothing would be left: worlds of few rows may have no better answer."""
    try:
        return rebalanced(task, "s", ratio, seed).check()
    except InputError:
        return None


@given(SEEDS, RATIOS, st.integers(2, 4))
@settings(max_examples=60, deadline=None)
def test_single_label_counts_are_exact(seed, ratio, levels):
    """Of every class and group min(n, ratio * smallest), by whole numbers: imSitu's rule."""
    task = drawn(seed, levels=levels)
    before, found = table(task), rebalanced_or_none(task, ratio)
    most = [int(ratio * 100 + 0.5) * int(least) // 100 for least in before.min(axis=0)]
    expected = np.minimum(before, most)
    if found is None:
        assert not expected.any()
    else:
        assert table(found).tolist() == expected.tolist()


@given(SEEDS, RATIOS, st.integers(2, 3))
@settings(max_examples=60, deadline=None)
def test_multi_label_bounds_hold_and_no_row_is_left_out_without_need(seed, ratio, levels):
    task = drawn(seed, labels=5, levels=levels)
    found = rebalanced_or_none(task, ratio)
    if found is None:
        return
    counts = table(found)
    assert (counts.max(axis=0) <= ratio * counts.min(axis=0) + 1e-9).all()
    out = sorted(set(task.rows("train").tolist()) - set(found.rows("train").tolist()))
    for row in out[:50]:  # any of them put back would break the bound of some label
        more = counts.copy()
        more[task.attribute("s").codes[row]] += task.y[row].numpy()
        assert (more.max(axis=0) > ratio * more.min(axis=0) + 1e-9).any()


@pytest.mark.parametrize("labels", [0, 5])
@given(seed=SEEDS, ratio=RATIOS)
@settings(max_examples=25, deadline=None)
def test_nothing_outside_training_is_touched(labels, seed, ratio):
    task = drawn(seed, labels=labels, unknown=0.1)
    found = rebalanced_or_none(task, ratio)
    if found is None:
        return
    assert found.x is task.x
    assert found.y is task.y
    assert found.attributes is task.attributes
    assert torch.equal(found.rows("test"), task.rows("test"))
    kept = found.rows("train").tolist()
    assert kept == [row for row in task.rows("train").tolist() if row in set(kept)]  # in their order
    unknown = {row for row in task.rows("train").tolist() if task.attribute("s").codes[row] < 0}
    assert unknown <= set(kept)
    assert f"({len(unknown)} of unknown group: kept)" in found.card.notes[-1] or not unknown


@pytest.mark.parametrize("labels", [0, 5])
def test_the_seed_decides_and_the_order_of_the_rows_does_not(labels):
    task = drawn(3, labels=labels)
    turned = task.with_split(train=task.rows("train").flip(0))
    rows = [
        set(rebalanced(one, "s", 1.5, seed).rows("train").tolist())
        for one, seed in ((task, 1), (task, 1), (turned, 1), (task, 2))
    ]
    assert rows[0] == rows[1] == rows[2] != rows[3]


def test_the_rows_of_a_smaller_ratio_are_among_those_of_a_larger():
    task = drawn(5)
    rows = [set(rebalanced(task, "s", ratio).rows("train").tolist()) for ratio in (1, 1.2, 2, 3)]
    assert all(few <= more for few, more in pairwise(rows))
    assert rows[0] < rows[-1]


def test_the_greedy_end_is_near_the_best_there_is():
    """Against all subsets of small worlds: never better than the best, and rarely far from it."""
    lost = []
    for seed in range(40):
        draw = np.random.default_rng(seed)
        y, g = draw.integers(0, 2, (11, 3)), draw.integers(0, 2, 11)
        found = rows_within(y, g, 2, 2.0, draw.permutation(11))
        best = next(
            size
            for size in range(11, -1, -1)
            if any(_within(y[list(rows)], g[list(rows)], 2) for rows in combinations(range(11), size))
        )
        assert _within(y[found], g[found], 2)
        assert found.sum() <= best
        lost.append(best - found.sum())
    assert np.mean(lost) < 1.0


def _within(y, g, ratio):
    counts = np.stack([y[g == code].sum(axis=0) for code in (0, 1)])
    return bool((counts.max(axis=0) <= ratio * counts.min(axis=0)).all())


def test_a_label_that_a_group_never_has_is_told():
    task = drawn(2, labels=5)
    y = task.y.clone()
    y[task.attribute("s").codes == 0, 2] = 0
    found = rebalanced(replace(task, y=y), "s", 2)
    assert "Nothing is left of: y2." in found.card.notes[-1]
    assert found.card.knobs == {"ratio": 2.0}
    same = Attribute("s", tuple("abcd"), drawn(2).y.numpy())
    with pytest.raises(InputError, match="leaves no training row of any of the 4 classes"):
        rebalanced(replace(drawn(2), attributes=(same,)), "s", 2)


def test_as_many_rows_and_labels_as_coco_has_take_seconds():
    """22,826 images and 79 objects, the size of the training part of C-*."""
    from time import perf_counter

    draw = np.random.default_rng(0)
    g = (draw.random(22_826) < 0.31).astype(np.int64)
    often = 0.25 / np.arange(1, 80) ** 0.8 * np.exp(draw.normal(0, 0.3, (2, 79)))
    y = draw.random((22_826, 79)) < often[g]
    start = perf_counter()
    kept = rows_within(y, g, 2, 1.0, draw.permutation(len(y)))
    assert perf_counter() - start < 20  # about one on a machine with nothing else to do
    counts = np.stack([y[kept & (g == code)].sum(axis=0) for code in (0, 1)])
    assert counts[0].tolist() == counts[1].tolist()
    assert kept.sum() > 6_156  # what is left of COCO itself


@given(SEEDS, st.sampled_from([0, 0.1, 0.25, 0.5, 0.7, 0.9, 1]))
@settings(max_examples=50, deadline=None)
def test_mixing_keeps_exact_shares(seed, factor):
    task = drawn(seed, classes=2, unknown=0.05)
    found = mixed(task, "s", factor, seed=1).check()

    def sizes(one):
        rows = one.rows("train").numpy()
        y, g = one.y.numpy()[rows], one.attribute("s").codes[rows]
        return [int((g == y).sum()), int(((g != y) & (g >= 0)).sum()), int((g < 0).sum())]

    same, other, unknown = sizes(task)
    tenths = round(20 * factor)  # of 2 * factor, without the last bits of floats
    assert sizes(found) == [min(10, 20 - tenths) * same // 10, min(10, tenths) * other // 10, 0]
    assert torch.equal(found.rows("test"), task.rows("test"))
    assert (f"({unknown} of unknown group: left out)" in found.card.notes[-1]) == (unknown > 0)


def test_a_half_mixes_nothing_and_the_ends_are_pure():
    task = drawn(0, classes=2)
    codes = task.attribute("s").codes
    assert torch.equal(mixed(task, "s", 0.5).rows("train"), task.rows("train"))
    for factor, equal in ((0, True), (1, False)):
        rows = mixed(task, "s", factor).rows("train").numpy()
        assert ((codes[rows] == task.y.numpy()[rows]) == equal).all()
    assert torch.equal(mixed(task, "s", 0.2, 3).rows("train"), mixed(task, "s", 0.2, 3).rows("train"))
    assert not torch.equal(mixed(task, "s", 0.2, 3).rows("train"), mixed(task, "s", 0.2, 4).rows("train"))


def test_numbers_of_numpy_are_numbers():
    task, two = drawn(1), drawn(1, classes=2)
    assert torch.equal(
        rebalanced(task, "s", np.int64(2)).rows("train"), rebalanced(task, "s", 2).rows("train")
    )
    assert torch.equal(mixed(two, "s", np.float32(0.7)).rows("train"), mixed(two, "s", 0.7).rows("train"))
    assert len(balanced_test(task, "s", np.int64(5)).rows("test")) == 10


def test_a_balanced_test_has_as_many_of_each():
    task = drawn(1, levels=3)
    found = balanced_test(task, "s", 20, seed=5).check()
    rows = found.rows("test").numpy()
    assert np.bincount(task.attribute("s").codes[rows]).tolist() == [20, 20, 20]
    assert set(rows.tolist()) <= set(task.rows("test").tolist())
    assert torch.equal(found.rows("train"), task.rows("train"))
    assert set(balanced_test(task, "s", 10, seed=5).rows("test").tolist()) < set(rows.tolist())
    assert set(balanced_test(task, "s", 20, seed=6).rows("test").tolist()) != set(rows.tolist())


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda task: rebalanced(task, "s", 0.5), "at least 1, not 0.5"),
        (lambda task: rebalanced(task, "s", True), "at least 1, not True"),
        (lambda task: rebalanced(task, "s", float("nan")), "at least 1, not nan"),
        (lambda task: rebalanced(task, "t", 2), "no attribute 't'. Its attributes: s"),
        (lambda task: rebalanced(task, "s", 2, seed=-1), "seed=-1"),
        (lambda task: mixed(task, "s", 1.5), r"from 0 \(s = y\) to 1 \(s != y\), not 1.5"),
        (lambda task: mixed(task, "s", 0.5), r"'s' \(2 levels\), and the task 'drawn' has 4 classes"),
        (lambda task: balanced_test(task, "s", 0), "from 1 to"),
        (lambda task: balanced_test(task, "s", 10_000), "from 1 to .*not 10000"),
        (lambda task: composed(task, "s", "s"), "by='s' says what ratio or mixing is about"),
    ],
)
def test_what_cannot_be_done_is_told(call, words):
    with pytest.raises(InputError, match=words):
        call(drawn(0))


def test_faces_with_many_labels_for_c():
    """C-R1 to C-R3 on drawn faces: 39 labels, Male protected."""
    knobs = {"target": "all", "protect": ["Male"], "n": 3_000}
    plain = load_sketch("faces", **knobs)
    sizes = [len(plain.rows("train"))]
    for ratio in (3, 2, 1.05):
        task = load_sketch("faces", **knobs, ratio=ratio).check()
        rows = task.rows("train").numpy()
        male = task.attribute("Male").codes[rows]
        counts = np.stack([task.y.numpy()[rows][male == code].sum(axis=0) for code in (0, 1)])
        assert (counts.max(axis=0) <= ratio * counts.min(axis=0) + 1e-9).all()
        assert torch.equal(task.rows("validation"), plain.rows("validation"))
        assert task.card.knobs["ratio"] == ratio
        sizes.append(len(rows))
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] > 100


@pytest.mark.skipif(not FAIRFACE.is_file(), reason="EVENHAND_DATA does not lead to fairface32.npz")
def test_fairface_by_age_for_i():
    """I-R1 to I-R3 on FairFace: nine ages, gender protected; race where gender is predicted."""
    knobs = {"form": "npz32", "resident": False}
    before, gender = _ages(load("fairface", target="age", **knobs))
    for ratio in (1, 2, 3):
        task = load("fairface", target="age", **knobs, ratio=ratio)
        assert _ages(task)[0].tolist() == np.minimum(before, ratio * before.min(axis=0)).tolist()
    assert gender == ("Female", "Male")
    task = load("fairface", **knobs, ratio=1)
    rows = task.rows("train").numpy()
    cells = np.bincount(7 * task.y.numpy()[rows] + task.attribute("race").codes[rows]).reshape(2, 7)
    assert (cells == cells[:, :1]).all()


def _ages(task):
    rows = task.rows("train").numpy()
    gender = task.attribute("gender")
    cells = np.bincount(9 * gender.codes[rows] + task.y.numpy()[rows], minlength=18)
    return cells.reshape(2, 9), gender.levels


def test_faces_and_adult_can_be_mixed():
    task = load_sketch("faces", target="Smiling", n=500, mixing=0.0)
    rows = task.rows("train")
    assert (task.attribute("Male").codes[rows] == task.y[rows].numpy()).all()
    other = load_sketch("faces", target="Smiling", n=500, mixing=1, by="Young", labelled=0.5)
    young = load_sketch("faces", target="Smiling", n=500).attribute("Young").codes
    assert (young[other.rows("train")] != other.y[other.rows("train")].numpy()).all()
    assert (other.card.knobs["mixing"], other.card.knobs["by"], other.card.knobs["labelled"]) == (
        1.0,
        "Young",
        0.5,
    )
    people = load("adult", mixing=0.0, seed=3)
    rows = people.rows("train")
    assert (people.attribute("sex").codes[rows] == people.y[rows].numpy()).all()
    assert torch.equal(people.rows("test"), load("adult", seed=3).rows("test"))
    assert len(load("adult", preparation="s3", mixing=1.0, by="race_binary").rows("train")) > 1_000


def test_without_the_knobs_the_identity_is_that_of_published_runs():
    """Checksums from before the knobs were there: a run's record names the data by them."""
    assert data_checksum(load("adult")) == "98bef095926d71331074370950353e18bd4035e7218c9afde6103a5c85d68286"
    s3 = load("adult", preparation="s3", age_ratio="0.1,0.1")
    assert data_checksum(s3) == "891d46a2059ea4a7a146115d2e07964cd48658571aba8733d1264df441860a8d"
    faces = load_sketch("faces", n=300)
    assert data_checksum(faces) == "8d1edb5e1f0bfa8f5f4e4f86e41a58a71ee05b665c8d71899e8fa7328b5d1783"
    several = load_sketch("faces", target="all", protect=["Male"], n=200, labelled=0.5)
    assert data_checksum(several) == "7411cf0c3de3274b28ab15658d8cfee293cf7c2ea68ce6b83238575e3d8c9db2"
    assert data_checksum(load_sketch("faces", n=300, mixing=0.5)) != data_checksum(faces)
