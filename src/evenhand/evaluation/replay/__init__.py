"""The published runs of the fixed-seed paper (S0), computed again: tables, costs, what does not hold."""

from evenhand.evaluation.replay.study import NAME, compute, is_replay, replay, report

__all__ = ["NAME", "compute", "is_replay", "replay", "report"]
