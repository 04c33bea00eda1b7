"""A thousand bootstrap replicates of every count metric, beside fairlearn's own bootstrap.

fairlearn resamples the rows, so its time for a thousand is told from the time of one or two.
"""

from __future__ import annotations

import time
import warnings
from importlib.util import find_spec

import numpy as np

from benchmarks.codes import Codes, made_up
from benchmarks.measure import Times, take_turns
from benchmarks.rows import Row
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import Draws, draw_metrics
from evenhand.metrics.margins import margins_of_everyone
from evenhand.metrics.view import View

REPLICATES = 1000


def run(small: bool = False) -> list[Row]:
    rows, replicates = (20_000, 50) if small else (1_000_000, REPLICATES)
    few, many = made_up(rows, 16, 2), made_up(rows, 196, 10)
    if set(draw(few, replicates)) != set(COUNT_METRICS):
        raise AssertionError("not every count metric was drawn")
    first = take_turns({"draw": lambda: draw(few, replicates)}, rounds=2 if small else 10)["draw"]
    large = take_turns({"draw": lambda: draw(many, replicates)}, rounds=1 if small else 2)["draw"]
    named = f"{replicates} replicates of {len(COUNT_METRICS)} metrics"
    found = [
        Row(
            "bootstrap",
            f"{named}, 16 groups, 2 classes",
            first.best,
            "s",
            "<=",
            None if small else 1.0,
            first.to_dict(),
        ),
        Row("bootstrap", f"{named}, 196 groups, 10 classes", large.best, "s", detail=large.to_dict()),
    ]
    return found if find_spec("fairlearn") is None else [*found, _fairlearn(few, first, replicates)]


def draw(codes: Codes, replicates: int) -> dict[str, Draws]:
    """From the rows to the draws: counting them is part of the time."""
    counts = Counts.from_predictions(codes.y, codes.p, codes.g, codes.n_classes, codes.n_groups)
    view = View(counts.margins(), everyone=margins_of_everyone(counts.cells, multilabel=False))
    metrics = [CATALOGUE[key] for key in COUNT_METRICS]
    return draw_metrics(counts, metrics, view, np.arange(codes.n_groups), replicates=replicates)


def _fairlearn(codes: Codes, ours: Times, replicates: int) -> Row:
    """One replicate of four rates there, against one of all metrics here."""
    from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
    from sklearn.metrics import accuracy_score

    metrics = {
        "selection": selection_rate,
        "tpr": true_positive_rate,
        "fpr": false_positive_rate,
        "accuracy": accuracy_score,
    }
    seconds = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for n_boot in (None, 1):
            quantiles = None if n_boot is None else [0.5]
            start = time.process_time()  # it uses one thread, and others may be waiting
            MetricFrame(
                metrics=metrics,
                y_true=codes.y,
                y_pred=codes.p,
                sensitive_features=codes.g,
                n_boot=n_boot,
                ci_quantiles=quantiles,
                random_state=None if n_boot is None else 0,
            )
            seconds.append(time.process_time() - start)
    one = seconds[1] - seconds[0]
    detail = {"fairlearn_without_s": seconds[0], "fairlearn_with_one_s": seconds[1], "ours_s": min(ours.cpu)}
    return Row(
        "bootstrap",
        "times faster a replicate than fairlearn (4 rates)",
        one / (min(ours.cpu) / replicates),
        "x",
        detail=detail,
    )
