"""The table of score rates: a value per group from scores, exact (from rows) or binned (from a histogram).

>>> sorted(SCORE_RATES)
['ap', 'auc', 'brier', 'ece', 'log_loss', 'mean_score']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from evenhand.arrays import FloatArray
from evenhand.metrics import binned, ranked
from evenhand.metrics.rates import Better
from evenhand.metrics.scores import Scores


@dataclass(frozen=True)
class ScoreRate:
    """A score rate: what it is, in which direction it is better, and its two ways of being worked out.

    `exact(y, score, weights)` reads rows of one label; `binned(scores)` reads `Scores` and returns `[..., G]`
    (`per_class=True`: `[..., K, G]`). `empty` says when a group has no value.

    >>> SCORE_RATES["auc"](Scores.from_scores([1, 0], [0.9, 0.1], [0, 0])).tolist()
    [1.0]
    """

    key: str
    name: str
    formula: str
    better: Better
    exact: ranked.RowMetric
    binned: Callable[..., FloatArray]
    empty: str = "no rows"
    low: float = 0.0
    high: float = 1.0

    def __call__(self, scores: Scores, per_class: bool = False) -> FloatArray:
        return self.binned(scores, per_class=per_class)


SCORE_RATES: dict[str, ScoreRate] = {
    rate.key: rate
    for rate in (
        ScoreRate(
            "auc",
            "area under the ROC curve",
            "P(score of a positive > score of a negative), ties one half",
            "higher",
            ranked.exact_auc,
            binned.auc,
            empty="no positives or no negatives",
        ),
        ScoreRate(
            "ap",
            "average precision",
            "sum over thresholds of precision x gain in recall",
            "higher",
            ranked.exact_average_precision,
            binned.average_precision,
            empty="no positives",
        ),
        ScoreRate("brier", "Brier score", "mean (score - y)^2", "lower", ranked.brier, binned.brier),
        ScoreRate(
            "ece",
            "expected calibration error",
            "sum over 15 bins of share x |mean score - share of positives|",
            "lower",
            ranked.expected_calibration_error,
            binned.ece,
        ),
        ScoreRate(
            "log_loss",
            "log loss",
            "mean of -log of the probability given to the label",
            "lower",
            ranked.log_loss,
            binned.log_loss,
            high=float("inf"),
        ),
        ScoreRate("mean_score", "mean score", "mean score", "none", ranked.mean_score, binned.mean_score),
    )
}
