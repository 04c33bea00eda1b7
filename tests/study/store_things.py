"""What the tests of the store share: small runs, records and counts that are easy to tell apart."""

from __future__ import annotations

import numpy as np

from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study.records import Measured, PlannedRun, RunRecord, RunSpec, identity

STUDY = {"name": "small", "kind": "train", "seeds": [0, 1]}
GROUPS, CLASSES = ("Female", "Male"), ("<=50K", ">50K")


def spec(seed, method="erm", **changed):
    values = {
        "data": "adult", "knobs": {"validation": 0.2}, "protect": ("sex",), "net": "mlp",
        "net_options": {"widths": [64]}, "method": method, "fields": {"lam": 0.1},
        "recipe": {"epochs": 3, "rate": 0.001}, "seed": seed, "groupings": (("sex",), ("sex", "race")),
    }  # fmt: skip
    return RunSpec(**{**values, **changed})


def planned(n=4, method="erm", version="0.1.0", task="adult", setting=None, start=0, data="d0", **changed):
    runs = []
    for place in range(start, start + n):
        one = spec(place, method, **changed)
        labels = (task, "sex", "mlp", method, setting or {})
        runs.append(PlannedRun(identity(one, version, data), one, *labels, data, place))
    return runs


def counts(seed, groups=2, classes=2, high=300):
    cells = np.random.default_rng(seed).integers(0, high, (groups + 1, classes, classes))
    return Counts(cells)


def binned(seed, bins=12):
    rng = np.random.default_rng(seed)
    return Scores.from_scores(rng.integers(0, 2, 80), rng.random(80), rng.integers(-1, 2, 80), 2, bins=bins)


def record(run, seed=None, scores=False, **changed):
    seed = run.spec.seed if seed is None else seed
    measured = tuple(
        Measured(part, "sex", GROUPS, CLASSES, counts(1000 * seed + k), binned(seed) if scores else None)
        for k, part in enumerate(("validation", "test"))
    )
    values = {
        "measured": measured, "history": {"loss": [0.7, 0.5 + seed / 100, float("nan")]}, "seconds": 0.5,
        "stack_seconds": 4.0, "stack": 8, "peak_memory": 1000, "host": "here", "weights": f"{seed:064x}",
        "versions": {"evenhand": "0.1.0", "torch": "2.6"}, "started": "2026-01-01T00:00:00+00:00",
        "finished": "2026-01-01T00:00:04+00:00",
    }  # fmt: skip
    return RunRecord(run.id, "done", **{**values, **changed})


def failed(run, reason="the loss became NaN"):
    return RunRecord(run.id, "failed", reason, detail="Traceback ...")
