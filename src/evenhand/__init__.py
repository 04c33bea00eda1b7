"""evenhand: fairness in deep learning, measured, mitigated, studied, judged and reported."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.api import audit, audit_counts, compare, compare_modules, compress, fit
    from evenhand.data.registry import load
    from evenhand.data.task import Task
    from evenhand.evaluation.audit import Audit
    from evenhand.evaluation.comparison import Comparison
    from evenhand.evaluation.fitted import Fitted
    from evenhand.evaluation.robustness import EqualizedRobustness, equalized_robustness
    from evenhand.evaluation.shift import ShiftAudit, audit_under_shift
    from evenhand.evaluation.tradeoff import TradeOff, tradeoff
    from evenhand.groups import Attribute, Groups
    from evenhand.metrics.catalogue import CATALOGUE
    from evenhand.metrics.counts import Counts
    from evenhand.nets.registry import NetSpec
    from evenhand.train.recipe import Recipe

__version__ = "0.1.0"

# a name is loaded when it is first used, so that `import evenhand` takes no time
_HOMES = {
    "Attribute": "evenhand.groups",
    "Audit": "evenhand.evaluation.audit",
    "CATALOGUE": "evenhand.metrics.catalogue",
    "Comparison": "evenhand.evaluation.comparison",
    "Counts": "evenhand.metrics.counts",
    "EqualizedRobustness": "evenhand.evaluation.robustness",
    "Fitted": "evenhand.evaluation.fitted",
    "Groups": "evenhand.groups",
    "NetSpec": "evenhand.nets.registry",
    "Recipe": "evenhand.train.recipe",
    "ShiftAudit": "evenhand.evaluation.shift",
    "Task": "evenhand.data.task",
    "TradeOff": "evenhand.evaluation.tradeoff",
    "audit": "evenhand.api",
    "audit_counts": "evenhand.api",
    "audit_under_shift": "evenhand.evaluation.shift",
    "compare": "evenhand.api",
    "compare_modules": "evenhand.api",
    "compress": "evenhand.api",
    "equalized_robustness": "evenhand.evaluation.robustness",
    "fit": "evenhand.api",
    "load": "evenhand.data.registry",
    "tradeoff": "evenhand.evaluation.tradeoff",
}

__all__ = [
    "CATALOGUE",
    "Attribute",
    "Audit",
    "Comparison",
    "Counts",
    "EqualizedRobustness",
    "Fitted",
    "Groups",
    "NetSpec",
    "Recipe",
    "ShiftAudit",
    "Task",
    "TradeOff",
    "audit",
    "audit_counts",
    "audit_under_shift",
    "compare",
    "compare_modules",
    "compress",
    "equalized_robustness",
    "fit",
    "load",
    "tradeoff",
]


# so that evenhand.methods.ERM needs no import of its own
_PARTS = ("data", "methods", "nets", "statistics", "train")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"evenhand.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
