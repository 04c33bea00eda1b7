"""How an audit is to be made: every choice in one frozen record, which the report prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.metrics.resample import Resampling
from evenhand.metrics.view import Convention

SMALL_GROUP = 30  # rows below which a group is flagged, whatever the minimum for taking part


@dataclass(frozen=True)
class Options:
    """The choices of an audit.

    `min_count`: groups with fewer rows are shown and flagged, but left out of comparisons.
    `privileged`: the group that S3's metrics compare the others with (default: the first one);
    `privileged_index`: its place among the groups that take part, which a comparison works out itself.
    """

    min_count: int = 1
    confidence: float = 0.95
    replicates: int = 1000
    resampling: Resampling = "stratified"
    seed: int = 0
    convention: Convention = "strict"
    privileged: str | None = None
    smoothing: float = 1.0
    legacy: bool = False
    metrics: tuple[str, ...] | None = None
    topk: int = 5
    privileged_index: int = 0

    def check(self) -> None:
        """Refuse impossible choices, naming them."""
        if not 0 < self.confidence < 1:
            raise ValueError(f"confidence must lie between 0 and 1, e.g. 0.95, not {self.confidence}")
        if self.replicates < 0 or self.min_count < 0:
            raise ValueError("replicates and min_count must not be negative")
        if self.resampling not in ("stratified", "whole"):
            raise ValueError(f"resampling must be 'stratified' or 'whole', not {self.resampling!r}")
        if self.convention not in ("strict", "paper", "artifact"):
            raise ValueError(f"convention must be 'strict', 'paper' or 'artifact', not {self.convention!r}")
        if self.smoothing < 0:
            raise ValueError("smoothing must not be negative")


def chosen_metrics(wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The keys to compute: all, or those named (a family prefix such as `tpr` takes all of its rows)."""
    if wanted is None:
        return list(known)
    picked: list[str] = []
    for name in wanted:
        matching = [key for key in known if key == name or key.startswith(f"{name}.")]
        if not matching:
            raise ValueError(unknown_metric(name, known))
        picked += [key for key in matching if key not in picked]
    return picked


def unknown_metric(name: str, known: Sequence[str]) -> str:
    """The message for a key that does not exist, with the nearest ones that do."""
    import difflib

    near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    return f"there is no metric '{name}'{hint} ('evenhand list metrics' shows all)"
