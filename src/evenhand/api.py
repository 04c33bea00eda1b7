"""The functions users call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.evaluation.audit import Audit, assess
from evenhand.evaluation.options import Options
from evenhand.evaluation.rows import subject_of_rows


def audit(
    y_true: object,
    y_pred: object,
    groups: object,
    scores: object | None = None,
    weights: object | None = None,
    min_count: int = 1,
    confidence: float = 0.95,
    *,
    metrics: Sequence[str] | None = None,
    positive: object | None = None,
    classes: Sequence[object] | None = None,
    name: str | None = None,
    **options: Any,
) -> Audit:
    """Measure how predictions differ between groups: every metric, with interval, bounds and reasons.

    `y_true [N]` and `y_pred [N]` hold any class values (numbers, texts, booleans); `y_pred [R, N]` holds R runs
    of one model; `y_true [N, L]` is multi-label. `groups` is a column, several named ones (a dict, a data
    frame: their intersection is audited, and each alone), or `Groups`; missing values and -1 are unknown.
    `scores` are probabilities: `[N]` of the positive class, or `[N, C]`. Groups with fewer than `min_count`
    rows are shown but left out of comparisons. `positive` names the positive class (default: the last one in
    order). Further options: see `evenhand.evaluation.options.Options`.

    >>> import evenhand
    >>> y, p = [1, 1, 0, 0, 1, 1, 0, 0], [1, 1, 0, 1, 1, 0, 0, 0]
    >>> found = evenhand.audit(y, p, groups=["a", "a", "a", "a", "b", "b", "b", "b"])
    >>> found.metrics["tpr.gap"].value, found.metrics["tpr.gap"].decided_by
    (0.5, ('a', 'b'))
    """
    chosen = Options(min_count=min_count, confidence=confidence,
                     metrics=None if metrics is None else tuple(metrics), **options)
    chosen.check()
    subject = subject_of_rows(y_true, y_pred, groups, scores, weights, positive=positive, classes=classes, name=name,
                              topk=chosen.topk)
    return assess(subject, chosen)
