"""Counts, scores and histories as bytes: they come back to the bit, small, and without running any code."""

import json
import runpy
import zlib
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study import codec
from evenhand.study.digests import measured_digest, record_digest
from evenhand.study.records import Measured, RunRecord

make = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("store_things.py"))))


def weighted(seed=0):
    rng = np.random.default_rng(seed)
    y, p, g = (rng.integers(0, 2, 50) for _ in range(3))
    return Counts.from_predictions(y, p, g, 2, 2, weights=rng.random(50))


def multilabel():
    return Counts.from_predictions([[0, 1, 1], [1, 1, 0]], [[0, 1, 0], [1, 0, 0]], [0, -1], n_groups=1)


@pytest.mark.parametrize("counts", [make.counts(0), make.counts(1, 12, 10, 9), weighted(), multilabel()])
def test_counts_come_back(counts):
    layout, payload = codec.pack_counts(counts)
    back = codec.unpack_counts(layout, payload)
    assert back == counts
    assert back.cells.dtype == counts.cells.dtype
    assert back.weighted == counts.weighted


@pytest.mark.parametrize(("high", "kept"), [(255, "|u1"), (256, "<u2"), (65_536, "<u4"), (2**32, "<i8")])
def test_numbers_are_kept_in_the_smallest_type_that_holds_them(high, kept):
    counts = Counts.from_table([[[high, 0], [0, 0]]])
    layout, payload = codec.pack_counts(counts)
    assert json.loads(layout)["arrays"][0][1] == kept
    assert codec.unpack_counts(layout, payload).cells.dtype == np.int64
    assert codec.unpack_counts(layout, payload) == counts


@given(arrays.arrays(np.int64, (3, 2, 2), elements=st.integers(-(2**63), 2**63 - 1)))
def test_any_whole_numbers_come_back(cells):
    assert np.array_equal(codec.unpack_counts(*codec.pack_counts(Counts(cells))).cells, cells)


@pytest.mark.parametrize("per_label", [False, True])
def test_scores_come_back(per_label):
    rng = np.random.default_rng(0)
    scores = rng.random((40, 3)) if per_label else rng.random(40)
    y = rng.integers(0, 3 if per_label else 2, 40)
    found = Scores.from_scores(y, scores, rng.integers(-1, 2, 40), 2, bins=30)
    back = codec.unpack_scores(*codec.pack_scores(found))
    assert back.per_label == per_label
    for kind in ("cells", "score_cells", "score_square_cells"):
        assert np.array_equal(getattr(back, kind), getattr(found, kind))


def test_many_are_unpacked_as_one_by_one():
    runs = [make.counts(seed, high=200) for seed in range(20)]
    layouts, payloads = zip(*(codec.pack_counts(counts) for counts in runs), strict=True)
    assert len(set(layouts)) == 1
    assert codec.unpack_many_counts(layouts[0], payloads) == Counts.stack(runs)


def test_the_payload_is_plain_numbers_that_anybody_can_read():
    payload = codec.pack_counts(Counts.from_table([[[8, 2], [1, 9]]]))[1]
    assert list(zlib.decompress(payload)) == [8, 2, 1, 9, 0, 0, 0, 0]


def test_damage_is_told():
    layout, payload = codec.pack_counts(make.counts(0))
    with pytest.raises(InputError, match="damaged"):
        codec.unpack_counts(layout, payload[:-3])
    with pytest.raises(InputError, match="not as long"):
        codec.unpack_counts(layout, zlib.compress(b"short"))


def test_a_digest_sees_counts_names_and_weights_but_not_times():
    run = make.planned(1)[0]
    first = make.record(run)
    assert record_digest(first) == record_digest(make.record(run, seconds=9.0, host="x", finished="later"))
    assert record_digest(first) != record_digest(make.record(run, seed=5))
    assert record_digest(first) != record_digest(make.record(run, weights="f" * 64))
    part = first.measured[0]
    renamed = Measured(part.part, part.grouping, ("a", "b"), part.classes, part.counts)
    assert measured_digest(part) != measured_digest(renamed)
    turned = RunRecord(first.id, "done", measured=first.measured[::-1], weights=first.weights)
    assert record_digest(turned) == record_digest(first)
