"""What explains a method's result: ERM's result on the same structure, or how many attributes are crossed?

R^2 is the squared correlation over structures, of a straight line on one number: so both have one slope.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.many_attributes.evidence import Evidence, name_of
from evenhand.evaluation.many_attributes.judging import Asked, judged, resampled
from evenhand.evaluation.many_attributes.layout import AMPLIFICATION, PERFORMANCE, SLOTS
from evenhand.evaluation.many_attributes.rules import above
from evenhand.evaluation.many_attributes.runs import Structure

TINY = 1e-12


def erm_explains_more(e: Evidence) -> list[Asked]:
    """11: R^2 of performance and of bias amplification on ERM's own less R^2 on the number of attributes,
    the mean over methods, is above 0.
    """
    return [
        _asked(e, track, slot) for track in e.runs.tracks for slot in (PERFORMANCE, AMPLIFICATION)
    ]  # fmt: skip


def _asked(e: Evidence, track: tuple[str, str], slot: str) -> Asked:
    where = [structure for structure in e.runs.of(track) if not structure.swapped]
    own, size, rest, kept = tables(e, where, slot)
    words = f"R² of {name_of(slot, where)} by ERM's own less by attributes ({e.runs.track_name(track)})"

    def more(places: IntArray) -> FloatArray:
        one, two = (mean_r2(x, rest, places) for x in (own, size))
        return one - two

    places = {(structure, method) for structure in where for method in e.runs.claimed}
    return resampled(words, above(), kept, more, e.runs.trainings(places))


def tables(
    e: Evidence, where: Sequence[Structure], slot: str
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """ERM's numbers `[S]`, numbers of attributes `[S]`, those of the other methods `[M, S]`, and S."""
    base, methods = e.runs.find("erm"), [name for name in e.runs.claimed if name != e.runs.find("erm")]
    e.asked |= {(structure, method) for structure in where for method in (base, *methods)}
    known = [structure for structure in where if np.isfinite(e.runs.mean(structure, base, slot))]
    own = np.array([e.runs.mean(structure, base, slot) for structure in known])
    size = np.array([float(structure.attributes) for structure in known])
    rest = np.array([[e.runs.mean(structure, method, slot) for structure in known] for method in methods])
    return own, size, rest.reshape(len(methods), len(known)), len(known) if methods else 0


def mean_r2(x: FloatArray, y: FloatArray, places: IntArray) -> FloatArray:
    """The mean over methods of R^2 of y `[M, S]` on x `[S]`, for drawn places `[B, n]`.

    >>> x = np.array([0.0, 1.0, 2.0, 3.0])
    >>> mean_r2(x, np.array([2 * x, [1.0, -1.0, -1.0, 1.0]]), np.arange(4)[None]).round(6).tolist()
    [0.5]
    """
    found = np.stack([r2(x[places], one[places]) for one in y]) if len(y) else np.empty((0, len(places)))
    known = np.isfinite(found)
    total, count = np.where(known, found, 0.0).sum(axis=0), known.sum(axis=0)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def r2(x: FloatArray, y: FloatArray) -> FloatArray:
    """Squared correlation of rows `[B, n]` where both are known; NaN for fewer than 3, or without spread."""
    known = np.isfinite(x) & np.isfinite(y)
    n = np.maximum(known.sum(axis=-1), 1)

    def centred(values: FloatArray) -> FloatArray:
        kept = np.where(known, values, 0.0)
        return np.where(known, kept - (kept.sum(axis=-1) / n)[..., None], 0.0)

    a, b = centred(x), centred(y)
    xx, yy, xy = (a * a).sum(axis=-1), (b * b).sum(axis=-1), (a * b).sum(axis=-1)
    sound = (xx > TINY) & (yy > TINY) & (known.sum(axis=-1) > 2)
    return np.where(sound, xy**2 / np.where(sound, xx * yy, 1.0), np.nan)


def explained_rows(e: Evidence) -> list[dict[str, Any]]:
    """For each task, metric: mean R^2 by ERM's own and by the number of attributes, and their difference.

    Nothing where that number is the same on all structures: it explains nothing there.
    """
    found = []
    for track in e.runs.tracks:
        for slot in SLOTS:
            where = [structure for structure in e.runs.of(track) if not structure.swapped]
            own, size, rest, kept = tables(e, where, slot)
            if kept < 3 or np.ptp(size) == 0:
                continue
            every = np.arange(kept)[None]
            part = judged([_asked(e, track, slot)])[0]
            found.append({
                "track": e.runs.track_name(track), "metric": name_of(slot, where), "structures": kept,
                "erm": float(mean_r2(own, rest, every)[0]),
                "attributes": float(mean_r2(size, rest, every)[0]),
                "difference": part.effect, "low": part.low, "high": part.high,
            })  # fmt: skip
    return found
