"""Biased CIFAR-100: the binary archive is read plane by plane, and counts are exact; pickles are refused."""

import runpy
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from evenhand.data import cifar100_files
from evenhand.data.cifar100_under import cifar100_under, kept_rows
from evenhand.errors import InputError

tiny = SimpleNamespace(**runpy.run_path(str(Path(__file__).parent / "tiny_cifar100.py")))


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_DATA", str(tmp_path))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return tmp_path


@pytest.fixture
def archive(nowhere, monkeypatch):
    monkeypatch.setattr(cifar100_files, "BINARY", tiny.make(nowhere / "here"))
    return nowhere


def counts(task, part="train"):
    return np.bincount(task.y[task.rows(part)].numpy(), minlength=100)


def test_the_binary_archive_is_read_plane_by_plane(archive):
    task = cifar100_under().check()
    written = np.concatenate([tiny.records(tiny.TRAIN, 1), tiny.records(tiny.TEST, 2)])
    assert task.y.tolist() == written[:, 1].tolist()
    assert task.attribute("superclass").codes.tolist() == written[:, 0].tolist()
    assert task.x[:, 1, 2, 5].tolist() == written[:, 1].tolist()
    assert np.array_equal(task.x.flatten(1).numpy(), written[:, 2:])
    assert task.classes == tiny.FINE
    assert task.attribute("superclass").levels == tiny.COARSE


@pytest.mark.parametrize("seed", range(3))
def test_fifteen_classes_are_cut_to_exact_counts_and_the_test_is_whole(archive, seed):
    task = cifar100_under(seed=seed)
    assert sorted(counts(task).tolist()) == sorted([1] * 5 + [2] * 5 + [5] * 5 + [10] * 85)
    assert counts(task, "test").tolist() == [2] * 100
    kept = task.attribute("kept")
    assert kept.levels == ("100 %", "50 %", "20 %", "10 %")
    level = {int(y): int(code) for y, code in zip(task.y, kept.codes, strict=True)}
    assert [counts(task)[label] for label in range(100)] == [(10, 5, 2, 1)[level[y]] for y in range(100)]
    named = task.card.notes[0]
    for label in range(100):  # the card names what was cut, and nothing else
        assert (tiny.FINE[label] in named) == (level[label] > 0)


def test_the_real_sizes_are_those_of_the_spec():
    """85 x 500 + 5 x (250 + 100 + 50) = 44,500."""
    y, level = np.repeat(np.arange(100), 500), np.repeat([1, 2, 3, 0], [5, 5, 5, 85])
    rows = kept_rows(y, level, (0.5, 0.2, 0.1), np.random.default_rng(0))
    assert len(rows) == len(set(rows.tolist())) == 44_500
    assert np.bincount(y[rows]).tolist() == [250] * 5 + [100] * 5 + [50] * 5 + [500] * 85


def test_rows_at_both_ends_have_the_rare_classes_in_their_share():
    """A limit takes the first rows and validation the last: neither may hold all rare ones, or none."""
    y, level = np.repeat(np.arange(4), 5000), np.array([0, 1, 2, 3])
    rows = kept_rows(y, level, (0.5, 0.2, 0.1), np.random.default_rng(0))
    expected = 900 * np.array([5000, 2500, 1000, 500]) / 9000
    for end in (rows[:900], rows[-900:]):
        assert (np.abs(np.bincount(y[end], minlength=4) - expected) < 4 * np.sqrt(expected)).all()


def test_the_seed_decides_and_validation_is_held_out_of_what_is_left(archive):
    one, same, other = cifar100_under(seed=1), cifar100_under(seed=1), cifar100_under(seed=2)
    assert torch.equal(one.rows("train"), same.rows("train"))
    assert set(one.rows("train").tolist()) != set(other.rows("train").tolist())
    held = cifar100_under(seed=1, validation=0.2)
    together = torch.cat([held.rows("train"), held.rows("validation")])
    assert together.tolist() == one.rows("train").tolist()
    assert len(held.rows("validation")) == round(0.2 * len(together))


def test_a_small_form_is_cut_in_the_same_way_and_tests_many_classes(archive):
    whole, few = cifar100_under(seed=1), cifar100_under(seed=1, limit=30, n_test=50)
    assert few.rows("train").tolist() == whole.rows("train").tolist()[:30]
    assert len(few.rows("test")) == 50
    assert set(few.rows("test").tolist()) < set(whole.rows("test").tolist())
    assert few.card.knobs["n_test"] == 50
    assert "limit" not in whole.card.knobs  # what is published keeps its card
    with pytest.raises(InputError, match="limit=-3 must be"):
        cifar100_under(limit=-3)


def test_other_shares(archive):
    task = cifar100_under([0.3], each=2)
    assert sorted(counts(task).tolist()) == [3, 3] + [10] * 98
    assert task.card.knobs["shares"] == [0.3]


@pytest.mark.parametrize("name", cifar100_files.PICKLED)
def test_the_python_version_is_refused_with_the_way_to_the_binary_one(nowhere, name):
    (nowhere / name).write_bytes(b"cos\nsystem\n(S'exit 1'\ntR.")
    with pytest.raises(
        InputError, match=r"holds pickles; .* never opened\. Put the binary version, https"
    ) as told:
        cifar100_under()
    assert "cifar-100-binary.tar.gz" in str(told.value)


def test_the_binary_version_is_read_beside_the_python_one(archive):
    (archive / cifar100_files.PICKLED[0]).write_bytes(b"not opened")
    assert len(cifar100_under()) == 1200


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("train.bin", b"", "train.bin is missing or cut short"),
        ("test.bin", bytes(3073), "test.bin is missing or cut short"),
        ("fine_label_names.txt", b"apple\n", "does not name all its classes"),
        ("test.bin", b"\x00\x64" + bytes(3072), "more than a hundred"),
    ],
)
def test_an_archive_of_something_else(nowhere, monkeypatch, name, content, words):
    source = tiny.make(nowhere / "here", {**tiny.members(), name: content})
    monkeypatch.setattr(cifar100_files, "BINARY", source)
    with pytest.raises(InputError, match=words):
        cifar100_under()


def test_an_archive_of_the_wrong_bytes_is_refused(nowhere):
    tiny.make(nowhere / "here")
    with pytest.raises(InputError, match="expected 58a81ae1"):
        cifar100_under()


@pytest.mark.parametrize(
    ("knobs", "words"),
    [({"shares": (1.5,)}, "shares="), ({"shares": "half"}, "shares='half'"), ({"shares": ()}, "shares="),
     ({"each": 0}, "each=0"), ({"each": 40}, "each=40"), ({"seed": -1}, "seed=-1")],
)  # fmt: skip
def test_knobs_that_are_none(knobs, words):
    with pytest.raises(InputError, match=words):
        cifar100_under(**knobs)
