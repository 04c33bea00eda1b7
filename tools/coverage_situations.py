"""Situations beside the plain one: weights, several classes, several labels, scores, groups that vary in size."""
from __future__ import annotations
from dataclasses import dataclass
from collections.abc import Callable
@dataclass(frozen=True)
class Situation:
    """x"""
    name: str
    key: str
    truth: float
    interval_of: Callable[[int], tuple[float, float]]
OTHERS: tuple[Situation, ...] = ()
