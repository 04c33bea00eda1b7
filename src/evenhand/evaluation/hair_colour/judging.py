"""The rules of the study: which subgroups are uneven beyond chance, which are more accurate, and S2.10.

The rule that was written before the runs did not ask whether a subgroup is more uneven than its complement,
which the claim says. That is asked too, and where the rule is met by subgroups that are not, nothing is
decided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.evaluation.hair_colour.layout import ALPHA, DOES_NOT, HOLDS, METRICS, UNTOLD
from evenhand.statistics.corrections import holm
from evenhand.statistics.effects import p_of_mean

Json = Mapping[str, Any]


def judged(groups: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Adds corrected p-values to the rows; the verdict and the names of the subgroups that decide it."""
    adjusted = holm([row[key]["p"] for row in groups for key in METRICS]).reshape(-1, len(METRICS))
    for row, p in zip(groups, adjusted.tolist(), strict=True):
        for key, own in zip(METRICS, p, strict=True):
            row[key]["p_holm"] = own
        row["uneven"] = all(row[key]["p_holm"] <= ALPHA for key in METRICS)
    _ahead(groups)
    _beyond(groups)
    uneven = [row for row in groups if row["uneven"]]
    both = [row["name"] for row in uneven if row["order"] > 0]
    more = [row["name"] for row in uneven if row["order"] > 0 and row["more_uneven"]]
    first = verdict([row["order"] for row in uneven])
    return {
        "first_rule": first, "verdict": UNTOLD if first == HOLDS and not more else first,
        "uneven": [row["name"] for row in uneven], "both": both, "more": more,
    }  # fmt: skip


def verdict(orders: Sequence[int]) -> str:
    """By how the uneven subgroups stand to their complements: 1 more accurate, -1 less, 0 not told.

    >>> verdict([1, -1]), verdict([-1, -1]), verdict([-1, 0]), verdict([])
    ('holds', 'does not', 'cannot tell', 'cannot tell')
    """
    if any(order > 0 for order in orders):
        return HOLDS
    return DOES_NOT if orders and all(order < 0 for order in orders) else UNTOLD


def _ahead(groups: Sequence[dict[str, Any]]) -> None:
    """Whether each subgroup is more (1) or less (-1) accurate than its complement, or neither is told (0)."""
    attributes = list(dict.fromkeys(row["attribute"] for row in groups))
    first = [next(row for row in groups if row["attribute"] == name) for name in attributes]
    adjusted = holm([p_of_mean(row["ahead"]["runs"]) for row in first])
    found = dict(zip(attributes, adjusted.tolist(), strict=True))
    for row in groups:
        p = found[row["attribute"]]
        row["ahead"]["p_holm"] = p
        row["order"] = int(np.sign(row["ahead"]["value"])) if p <= ALPHA else 0


def _beyond(groups: Sequence[dict[str, Any]]) -> None:
    """Whether each subgroup is more uneven than its complement, beyond what sizes give, in both metrics.

    Not part of the rule that was written before the runs; see the page.
    """
    ps = [p_of_mean(row[key]["beyond_complement"]["runs"]) for row in groups for key in METRICS]
    adjusted = holm(ps).reshape(-1, len(METRICS)).tolist()
    for row, p in zip(groups, adjusted, strict=True):
        larger = [row[key]["beyond_complement"]["value"] > 0 for key in METRICS]
        row["more_uneven"] = all(larger) and all(one <= ALPHA for one in p)
