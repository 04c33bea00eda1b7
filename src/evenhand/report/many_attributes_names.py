"""What panels, metrics and diagrams of S1's studies are called."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Json = Mapping[str, Any]
METRICS = {
    "acc_u.label_attr": "reweighted accuracy", "acc_u": "reweighted accuracy", "map_u": "reweighted mAP",
    "ba_signed.positive": "bias amplification", "eps": "intersectional bias", "acc": "accuracy", "map": "mAP",
    "min_acc.label_attr": "worst-cell accuracy",
}  # fmt: skip
SLOTS = {
    "performance": "reweighted accuracy or mAP",
    "amplification": "bias amplification",
    "epsilon": "intersectional bias",
}
ARROWS = {"performance": "↑", "amplification": "↓", "epsilon": "↓"}
BY_SIZE = "attributes"


def inside(study: Json, several: bool) -> str:
    """The folder of one study among several; none of its own where it is alone.

    >>> inside({"name": "mine"}, True), inside({"name": "mine"}, False)
    ('mine/', '')
    """
    return f"{study['name']}/" if several else ""


def metric_name(one: Json, slot: str) -> str:
    """A metric as a figure's own tasks have it.

    >>> metric_name({"keys": {"performance": "map_u"}}, "performance")
    'reweighted mAP'
    """
    key = one["keys"].get(slot, slot)
    return METRICS.get(key, SLOTS.get(slot, slot))


def panel_title(one: Json, place: int) -> str:
    """The letter, the metric, and which way is better.

    >>> panel = {"slot": "epsilon", "x": "attributes", "relative": True}
    >>> panel_title({"keys": {}, "panels": [panel]}, 0)
    '(a) intersectional bias less ERM ↓'
    """
    panel = one["panels"][place]
    less = " less ERM" if panel.get("relative") else ""
    return f"({chr(97 + place)}) {metric_name(one, panel['slot'])}{less} {ARROWS[panel['slot']]}"


def axis_name(panel: Json, metric: str) -> str:
    """What runs across a panel."""
    return "attributes crossed" if panel["x"] == BY_SIZE else f"{metric} of ERM"


def rank_title(study: Json, row: Json) -> str:
    """What a diagram of ranks is called."""
    return f"Mean ranks by {SLOTS[row['slot']]}, {row['scope']} ({row['problems']} problems, {study['name']})"
