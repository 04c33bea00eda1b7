"""Did a technique move a bias against its baseline? S0's own tests, and proper ones, side by side.

S0: Mann-Whitney with the side chosen after the means, 5 % for each of many tests. Proper: two-sided, exact
where it can be, with Holm's correction over all comparisons of a set. Levene's test of the relative spread is
the same in both, without and with Holm. Runs that are all equal on both sides are one run each: their
difference is known, and nothing is left to test; nor is it where a technique changed nothing, and each of its
runs is the baseline's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.fixed_seed.layout import FEWEST
from evenhand.evaluation.fixed_seed.trained import Trained
from evenhand.evaluation.replay.published import METRICS, base_of
from evenhand.evaluation.replay.rows import TESTS, Row
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import effect, effect_band
from evenhand.statistics.outcome import ALPHA, label_of
from evenhand.statistics.power import attainable_p
from evenhand.statistics.rows import change_row
from evenhand.statistics.samples import constant

NAN = float("nan")
NOT_TESTED = "not tested"


def change_rows(trained: Trained) -> list[Row]:
    """A row for each technique that has its baseline beside it, and each metric.

    Columns of the replay (`TESTS`) hold S0's tests; `two_sided_p`, `holm_p` and `holm` the proper ones of the
    level, `levene_holm_p` and `variance_holm` of the spread; `band` names |d|; `note` says why no test was
    made.
    """
    rows = [_row(trained, technique, metric) for technique in trained.mitigations for metric in METRICS]
    _correct(rows, "two_sided_p", "holm_p", "holm", _rise)
    _correct(rows, "levene_p", "levene_holm_p", "variance_holm", _wider)
    return rows


def _row(trained: Trained, technique: str, metric: str) -> Row:
    base, other = (trained.overall(name, metric) for name in (base_of(technique), technique))
    note = why_not(base, other)
    place = dict.fromkeys(TESTS, NAN) | {"technique": technique, "metric": metric}
    if note:
        means = {"base_mean": known_mean(base), "mean": known_mean(other)}
        untold = dict.fromkeys(("direction", "variance_direction"), NOT_TESTED)
        rest = {"two_sided_p": NAN, "difference": means["mean"] - means["base_mean"], "low": NAN,
                "high": NAN, "band": "undefined"}  # fmt: skip
        return place | means | untold | rest | {"note": note}
    official, proper = change_row(base, other, "artifact"), change_row(base, other, "plain")
    moved = effect(base, other)
    seen: dict[str, Any] = dict(zip(TESTS[2:], vars(official).values(), strict=True))
    return place | seen | {
        "two_sided_p": proper.p, "difference": moved.difference, "low": moved.low, "high": moved.high,
        "band": effect_band(official.d), "note": "",
    }  # fmt: skip


def attainable(trained: Trained, rows: Sequence[Row]) -> dict[str, Any]:
    """The smallest two-sided p that any tested comparison of the set could have come to, and their number.

    Five runs against five come to 2 / 252 at best: with 28 comparisons Holm asks the first for 0.05 / 28.
    """
    tested = [row for row in rows if not row["note"]]
    smallest = [_attainable(trained, row) for row in tested]
    return {"p": min(smallest, default=NAN), "of": len(tested), "shown": ALPHA}


def _attainable(trained: Trained, row: Row) -> float:
    base, other = (
        int(np.isfinite(trained.overall(name, row["metric"])).sum())
        for name in (base_of(row["technique"]), row["technique"])
    )
    return attainable_p("mann-whitney", base, other)


def why_not(base: FloatArray, other: FloatArray) -> str:
    """Why two samples cannot be tested; nothing where they can.

    >>> why_not(np.array([0.1, 0.1]), np.array([0.2, 0.2]))
    'all runs are equal on both sides'
    >>> why_not(np.array([0.1, 0.2]), np.array([0.1, 0.2]))  # a technique that changes nothing
    "each run is the baseline's"
    """
    known = [values[~np.isnan(values)] for values in (base, other)]
    if min(map(len, known)) < FEWEST:
        return f"fewer than {FEWEST} runs with a value"
    if all(map(constant, known)):
        return "all runs are equal on both sides"
    return "each run is the baseline's" if np.array_equal(base, other, equal_nan=True) else ""


def _correct(rows: list[Row], p: str, adjusted: str, label: str, rise: Callable[[Row], float]) -> None:
    """Holm over all rows that were tested, and the direction of what is left."""
    for row, value in zip(rows, holm([row[p] for row in rows]) if rows else (), strict=True):
        row[adjusted] = float(value)
        row[label] = NOT_TESTED if row["note"] else label_of(float(value), rise(row))


def _rise(row: Row) -> float:
    return float(row["mean"] - row["base_mean"])


def _wider(row: Row) -> float:
    """Which way the spread went by the uncorrected test: no correction finds what that did not."""
    return {"+": 1.0, "-": -1.0}.get(row["variance_direction"], 0.0)


def known_mean(values: FloatArray) -> float:
    """The mean of the defined values; NaN where there are none.

    >>> known_mean(np.array([0.1, np.nan, 0.3]))
    0.2
    """
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else NAN
