"""The part of the demo that trains: four methods on Adult, several seeds each, stacked."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.evaluation.tradeoff import TradeOff

# What each does to the same network: nothing; the group that fares worst counts more; each group has outputs
# of its own, which are added up; the distance between the groups' rates is part of the loss.
METHODS: Mapping[str, Mapping[str, Any]] = {"erm": {}, "gdro": {}, "ind": {}, "gap": {"target": "odds"}}


def train_adult(seeds: int, epochs: int, device: str = "auto") -> TradeOff:
    """Adult by sex, all methods, and the trade-off between accuracy and gaps."""
    from evenhand.cli.train import load_task
    from evenhand.cli.training import Plan, fit_all
    from evenhand.evaluation.defaults import net_for, recipe_for, watched_for
    from evenhand.evaluation.tradeoff import tradeoff
    from evenhand.methods.registry import method_of

    task = load_task("adult", {})
    methods = {name: method_of(name, **fields) for name, fields in METHODS.items()}
    protect = ("sex",)
    plan = Plan(
        task, methods, net_for(task), recipe_for(task, epochs=epochs), protect, seeds, device,
        watched_for(task, protect),
    )  # fmt: skip
    plan.check()
    print(plan.describe(), file=sys.stderr)
    return tradeoff(fit_all(plan))
