"""One model at a time: accuracy against a metric for every setting of every model, and whom none beats.

The best values of a table come from different models; here a point is one setting, with both its numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.ci_mnist.layout import ACCURACY, METRICS, MODELS, ODDS, SETTINGS
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import setting_words
from evenhand.study.select import TEST
from evenhand.study.select_rules import cost, undominated

SHOWN = ("s3.cv", ODDS)


def pareto_views(frame: Frame, part: str) -> list[dict[str, Any]]:
    """For the last row of each setting and each width: all settings' means on test, and the unbeaten ones.

    Who is unbeaten is found on the selection part, so that it is not picked by the numbers that are shown.
    """
    last = {setting.rows[-1].task: setting for setting in SETTINGS}
    return [
        {"width": problem.net, "setting": last[problem.task].name, "row": last[problem.task].rows[-1].label,
         "metric": key, "head": METRICS[key], "points": _points(frame, number, key, part)}
        for number, problem in enumerate(frame.layout.problems)
        if problem.task in last
        for key in SHOWN
    ]  # fmt: skip


def _points(frame: Frame, problem: int, key: str, part: str) -> list[dict[str, Any]]:
    candidates = frame.layout.candidates
    places = np.array(
        [place for place in frame.layout.of(problem) if candidates[place].method in MODELS], dtype=np.int64
    )
    x, y = (cost(frame.means(part, name)[places], CATALOGUE[name]) for name in (ACCURACY, key))
    best = set(places[undominated(x, y)].tolist())
    nearest = _nearest([candidates[place].method for place in places.tolist()], places, x + y)
    shown = {place: [frame.means(TEST, name)[place] for name in (ACCURACY, key)] for place in places.tolist()}
    return [
        {"model": candidates[place].method, "words": setting_words(candidates[place].setting),
         "x": float(x), "y": float(y), "unbeaten": place in best, "named": place in nearest}
        for place, (x, y) in shown.items()
        if np.isfinite([x, y]).all()
    ]  # fmt: skip


def _nearest(methods: list[str], places: IntArray, far: FloatArray) -> set[int]:
    """The setting of each model that is nearest to both ideals on the selection part: it carries the name."""
    best: dict[str, tuple[float, int]] = {}
    for method, place, distance in zip(methods, places.tolist(), far.tolist(), strict=True):
        if distance == distance:
            best[method] = min(best.get(method, (np.inf, -1)), (distance, place))
    return {place for _, place in best.values()}
