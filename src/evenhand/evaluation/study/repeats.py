"""Identical runs and shared trainings: what is said of them, so that no number seems more than it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.study.fit import fit_words
from evenhand.study.frame import Frame
from evenhand.study.records import canonical
from evenhand.study.shared_words import shared_words

if TYPE_CHECKING:
    from evenhand.evaluation.study.setup import Arm, Setup


def are_equal(frame: Frame, rows: Array, values: Iterable[FloatArray]) -> bool:
    """Whether rows of a frame are identical runs that came out equal to the bit: weights and numbers."""
    columns = frame.columns
    if len(rows) < 2 or any(columns["repeat"][row] is None for row in rows) or "weights" not in columns:
        return False
    weights = {columns["weights"][row] for row in rows}
    if len(weights) != 1 or not all(weights):
        return False
    return all(np.array_equal(each, np.full_like(each, each[0]), equal_nan=True) for each in values)


def repeat_notes(setup: Setup) -> list[str]:
    """What identical runs are, and which methods' came out equal, so that there is nothing to test."""
    repeats = setup.frame.columns["repeat"]
    repeated = [arm for arm in setup.arms if any(repeats[row] is not None for row in arm.rows)]
    if not repeated:
        return []
    study, spec = setup.frame.study, setup.frame.columns["spec"][int(repeated[0].rows[0])]
    runs = int(study.get("repeats") or max(len(arm.rows) for arm in repeated))
    told = fit_words(runs, int(spec["seed"]), spec.get("vary", ()))
    found = [f"{told}. What is told here as over seeds is over these runs"]
    equal = [arm for arm in repeated if arm.equal]
    if equal:
        found.append(_equal_words(equal, len(equal) == len(repeated)))
    several = [arm for arm in repeated if not arm.equal and len(arm.rows) > 1]
    return found + _copies(setup.frame, several)


def _equal_words(arms: list[Arm], all_of_them: bool) -> str:
    n = min(len(arm.rows) for arm in arms)
    who = "of every method" if all_of_them else f"of {', '.join(dict.fromkeys(a.place[1] for a in arms))}"
    return (
        f"{n} identical runs {who} gave identical weights (by SHA-256): their deviation is exactly 0, they "
        "count as one run, and tests and intervals over them are not made"
    )


def _copies(frame: Frame, arms: list[Arm]) -> list[str]:
    """Methods of which some runs, not all, are equal."""
    weights = frame.columns.get("weights") or range(frame.n)
    counts = {arm.place[1]: len({weights[row] for row in arm.rows}) for arm in arms}
    sizes = {arm.place[1]: len(arm.rows) for arm in arms}
    few = [f"{name} ({n} of {sizes[name]})" for name, n in counts.items() if n < sizes[name]]
    return [f"different weights among identical runs: {', '.join(few)}"] if few else []


def shared_notes(frame: Frame) -> list[str]:
    """A sentence for each set of methods whose runs share their trainings; their seconds are shares."""
    trainings: dict[str, list[str]] = {}
    for row in np.flatnonzero((frame.readers > 1) & frame.trained).tolist():
        spec: dict[str, Any] = frame.columns["spec"][row]
        rest = {name: value for name, value in spec.items() if name not in ("method", "fields")}
        key = canonical([rest, frame.columns["weights"][row]])
        trainings.setdefault(key, []).append(frame.columns["method"][row])
    found: dict[tuple[str, int], int] = {}
    for names in trainings.values():
        told = ", ".join(dict.fromkeys(names)), len(names)
        found[told] = found.get(told, 0) + 1
    return [
        f"{shared_words(names, ways, n)}: the seconds of each are its share"
        for (names, ways), n in found.items()
        if ways > 1
    ]
