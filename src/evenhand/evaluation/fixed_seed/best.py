"""Is S-DI2 the best? Who has the lowest mean bias by each metric, and is that shown against everybody else?

Rule, written before any run: a technique is **shown lowest** by a metric if its mean is the lowest and its
two-sided Mann-Whitney test against every other technique of its family, corrected by Holm over these tests,
is significant. S-DI2 is called best if it is shown lowest by all seven metrics, not best if another technique
is shown lower than it by at least one, and else nothing is decided.
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.fixed_seed.changes import known_mean, why_not
from evenhand.evaluation.fixed_seed.layout import CLAIMED_BEST
from evenhand.evaluation.fixed_seed.trained import Trained
from evenhand.evaluation.replay.published import METRICS
from evenhand.evaluation.replay.rows import Row
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import effect
from evenhand.statistics.outcome import ALPHA
from evenhand.statistics.tests import mann_whitney

HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot tell"


def best_rows(trained: Trained, technique: str = CLAIMED_BEST) -> list[Row]:
    """A row for each metric: the lowest technique of the family, and this one against the nearest other.

    `shown` counts the other techniques that this one is shown lower than, `beaten` names those shown lower
    than it. Nothing where it was not run, or alone.
    """
    others = [one for one in trained.techniques if one[0] == technique[0] and one != technique]
    if technique not in trained.techniques or not others:
        return []
    return [_row(trained, technique, others, metric) for metric in METRICS]


def _row(trained: Trained, technique: str, others: Sequence[str], metric: str) -> Row:
    own = trained.overall(technique, metric)
    runs = {other: trained.overall(other, metric) for other in others}
    means = {other: known_mean(values) for other, values in runs.items()}
    nearest = min(others, key=lambda other: (means[other] != means[other], means[other]))  # undefined: last
    p = [float("nan") if why_not(values, own) else mann_whitney(values, own, method="auto").p
         for values in runs.values()]  # fmt: skip
    mean, sure = known_mean(own), holm(p) <= ALPHA
    moved = effect(runs[nearest], own)
    return {
        "metric": metric, "technique": technique, "mean": mean, "nearest": nearest,
        "nearest_mean": means[nearest], "difference": moved.difference, "low": moved.low, "high": moved.high,
        "lowest": technique if mean < means[nearest] else nearest, "of": len(others),
        "shown": sum(bool(s) and mean < means[o] for o, s in zip(others, sure, strict=True)),
        "beaten": [o for o, s in zip(others, sure, strict=True) if s and mean > means[o]],
    }  # fmt: skip


def best_verdict(rows: Sequence[Row]) -> str:
    """One word for all metrics; see the rule above.

    >>> best_verdict([{"shown": 9, "of": 9, "beaten": []}, {"shown": 8, "of": 9, "beaten": []}])
    'cannot tell'
    """
    if any(row["beaten"] for row in rows):
        return DOES_NOT
    return HOLDS if rows and all(row["shown"] == row["of"] for row in rows) else UNTOLD
