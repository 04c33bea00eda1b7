"""Sharing models among threads changes no number, and an error of one comes through."""

import threading
import time

import numpy as np
import pytest

import evenhand
from evenhand.evaluation import each_model as module
from evenhand.evaluation.each_model import each_model


def test_a_comparison_is_the_same_however_many_threads_share_it(monkeypatch):
    draw, y = np.random.default_rng(0), np.arange(300) % 4
    models = {name: np.where(draw.random(300) < 0.2, (y + 1) % 4, y) for name in "abcdef"}
    groups = draw.integers(0, 3, 300)
    found = []
    for threads in (1, 3):
        monkeypatch.setattr(module, "cores", lambda threads=threads: threads)
        found.append(evenhand.compare(y, models, groups, replicates=50).to_dict())
        del found[-1]["method"]["created"]
    np.testing.assert_equal(*found)


@pytest.mark.parametrize(("size", "threads"), [(1, 2), (module.LARGE + 1, 1)])
def test_large_tables_are_made_one_at_a_time(monkeypatch, size, threads):
    monkeypatch.setattr(module, "cores", lambda: 2)
    meet, seen = threading.Barrier(threads, timeout=5), set()

    def work(name):
        meet.wait()  # would break if fewer were at work
        seen.add(threading.get_ident())
        return name * 2

    assert each_model(["a", "b", "c", "d"], work, size) == {"a": "aa", "b": "bb", "c": "cc", "d": "dd"}
    assert (threading.get_ident() in seen) == (threads == 1)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_of_one_comes_through_and_the_rest_is_not_begun(monkeypatch, error):
    monkeypatch.setattr(module, "cores", lambda: 2)
    begun = []

    def work(name):
        begun.append(name)
        if name == "0":
            raise error(name)
        time.sleep(0.05)

    with pytest.raises(error):
        each_model([str(n) for n in range(50)], work)
    assert len(begun) < 50
