"""Compression-identified exemplars: rows on which two populations of models disagree about the usual label.

CIE_i = 1 where the most frequent prediction of the base runs differs from that of the alternative runs
(Hooker et al. 2019, with 30 models in each population; at least 5 are advisable).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.arrays import IntArray, as_codes

BLOCK_CELLS = 1 << 22  # votes counted at once, so that many classes and rows need little memory


@dataclass(frozen=True)
class Exemplars:
    """How many rows changed their usual label, their share of all rows, and which they are."""

    count: int
    share: float
    indices: IntArray


def modal_labels(predictions: object, n_classes: int | None = None) -> IntArray:
    """The most frequent prediction of each row over runs `[R, N]`; a tie goes to the lowest class id.

    >>> modal_labels([[0, 1, 2], [0, 2, 1], [1, 2, 0]]).tolist()
    [0, 2, 0]
    """
    runs = np.atleast_2d(as_codes(predictions, "predictions"))
    classes = int(runs.max(initial=0)) + 1 if n_classes is None else n_classes
    _check(runs, classes)
    step = max(1, BLOCK_CELLS // classes)
    parts = [_vote(runs[:, first : first + step], classes) for first in range(0, runs.shape[1], step)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def cie(base_runs: object, alternative_runs: object, n_classes: int | None = None) -> Exemplars:
    """The rows whose modal label differs between the base runs `[R, N]` and the alternative runs `[S, N]`.

    >>> cie([[0, 1, 1], [0, 1, 0]], [[0, 0, 0], [1, 0, 0]])
    Exemplars(count=1, share=0.3333333333333333, indices=array([1]))
    """
    base, other = modal_labels(base_runs, n_classes), modal_labels(alternative_runs, n_classes)
    if base.shape != other.shape:
        raise ValueError(f"the base runs have {len(base)} rows and the alternative runs {len(other)}")
    indices = np.flatnonzero(base != other).astype(np.int64)
    share = len(indices) / len(base) if len(base) else float("nan")
    return Exemplars(len(indices), share, indices)


def _check(runs: IntArray, classes: int) -> None:
    wrong = np.argwhere((runs < 0) | (runs >= classes))
    if len(wrong):
        run, row = (int(place) for place in wrong[0])
        raise ValueError(f"prediction {runs[run, row]} of run {run}, row {row} is outside 0..{classes - 1}")


def _vote(runs: IntArray, classes: int) -> IntArray:
    rows = runs.shape[1]
    place = np.arange(rows) * classes + runs
    votes = np.bincount(place.ravel(), minlength=rows * classes).reshape(rows, classes)
    return np.asarray(votes.argmax(axis=1), dtype=np.int64)  # the first of several, so the lowest class id
