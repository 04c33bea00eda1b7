"""The table of metrics: one row each, with its formula, ideal, direction, citation and needs.

Adding a metric is adding a row to its family; reports, the command line, the reference page and the contract
tests read this table and nothing else.

>>> CATALOGUE["tpr.gap"].name
'true positive rate: gap'
>>> CATALOGUE["eqodd"].ideal
1.0
"""

from __future__ import annotations

from evenhand.metrics.families import beyond_counts, odds, s0, s1, s2, s3, s3_full_list, s4
from evenhand.metrics.metric import Metric, comparisons
from evenhand.metrics.rates import RATES
from evenhand.metrics.score_rates import SCORE_RATES


def _build() -> dict[str, Metric]:
    rows = [row for rate in RATES.values() for row in comparisons(rate, "counts")]
    rows += odds.ROWS + s0.ROWS + s1.ROWS + s2.ROWS + s3.ROWS + s4.ROWS
    rows += [row for rate in SCORE_RATES.values() for row in comparisons(rate, "scores")]
    rows += comparisons(beyond_counts.TOP_K, "scores") + beyond_counts.ROWS + s3_full_list.ROWS
    return {row.key: row for row in rows}


CATALOGUE: dict[str, Metric] = _build()
COUNT_METRICS: tuple[str, ...] = tuple(key for key, metric in CATALOGUE.items() if metric.needs == "counts")
