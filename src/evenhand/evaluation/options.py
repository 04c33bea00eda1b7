"""How an audit is to be made: every choice in one frozen record, which the report prints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.resample import Resampling
from evenhand.metrics.view import Convention

RESAMPLINGS = ("stratified", "whole")
CONVENTIONS = ("strict", "paper", "artifact")
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
        for name in ("min_count", "replicates", "seed", "topk"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 0:
                raise ValueError(f"{name} must be a whole number and not negative, not {value!r}")
        for name, low, high in (("confidence", 0.0, 1.0), ("smoothing", -1e-300, np.inf)):
            value = getattr(self, name)
            if not isinstance(value, (int, float, np.number)) or not low < value < high:
                wanted = (
                    "lie between 0 and 1, e.g. 0.95" if name == "confidence" else "be a number, 0 or more"
                )
                raise ValueError(f"{name} must {wanted}, not {value!r}")
        for name, known in (("resampling", RESAMPLINGS), ("convention", CONVENTIONS)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, not {getattr(self, name)!r}")


def chosen_metrics(wanted: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The keys to compute: all, or those named (a family prefix such as `tpr` takes all of its rows)."""
    if wanted is None:
        return list(known)
    picked: list[str] = []
    for name in wanted:
        if name in CATALOGUE and CATALOGUE[name].needs == "model":
            raise InputError(
                f"'{name}' is taken of a trained model, which predictions do not tell; call "
                f'evenhand.equalized_robustness(fitted), or set numbers = ["{name}"] in a study'
            )
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
