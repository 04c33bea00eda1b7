"""What makes an audit under shift weaker than it looks, in sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from evenhand.arrays import Array
from evenhand.data.shift_registry import Shift
from evenhand.evaluation.options import SMALL_GROUP
from evenhand.evaluation.shift_values import Curve


def notes_on_shift(
    curves: Mapping[str, Curve], shift: Shift, runs: int, draws: int, wanted: int
) -> tuple[str, ...]:
    """Sentences on runs, draws, and metrics that a severity leaves undefined."""
    notes = []
    if runs == 1:
        notes.append("there is one run: nothing here tells what training again would change")
    if runs == 2:
        notes.append(
            "there are two runs: what training again changes is hardly known from so few, and the intervals "
            "of the differences are wide for it; five runs or more tell it better"
        )
    if wanted == 1:
        notes.append("there is one draw of the shift: nothing here tells what another draw would change")
    elif draws == 1:
        notes.append(f"the shift '{shift.key}' draws nothing: it is the same every time, and was made once")
    if shift.acts_on == "rows":
        notes.append(
            f"the shift '{shift.key}' draws rows anew: a row may count several times or not at all, and no "
            "prediction changes; a difference is between two samples of the same rows, not row by row"
        )
    for key, curve in curves.items():
        for point in curve.points:
            lost = int((~np.isfinite(np.array(point.values))).sum())
            total = sum(len(run) for run in point.values)
            if 0 < lost < total:
                notes.append(
                    f"{key} is undefined in {lost} of {total} runs and draws at severity {point.severity:g}; "
                    "its mean is over the others"
                )
    return tuple(notes)


def note_on_small(names: Sequence[str], before: Array, after: Array, severity: float) -> tuple[str, ...]:
    """A sentence on groups of which a shift of rows leaves few: their gaps are wider by chance alone.

    >>> note_on_small(["a", "b"], np.array([80, 20]), np.array([92, 8]), 0.6)[0][:47]
    'at severity 0.6 few rows are left of b (8): a g'
    """
    few = [
        f"{name} ({int(now):,})"
        for name, was, now in zip(names, before, after, strict=True)
        if now < SMALL_GROUP and now < was
    ]
    if not few:
        return ()
    told = f"at severity {severity:g} few rows are left of {', '.join(few)}: a gap between rates of few rows"
    return (f"{told} is wider by chance alone, so that one that moved up need not be wider among more rows",)
