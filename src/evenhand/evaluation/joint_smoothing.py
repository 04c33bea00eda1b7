"""Joint cells of two models with two rows more, so that no change is resampled as certain.

Of twenty rows that two models answer alike every redrawn sample would have them alike, and an interval of the
difference no width. One row is lent that only the first model has right, and one that only the second has, as
in D. Bonett and R. Price's interval of two shares of the same rows (Journal of Educational and Behavioral
Statistics 2012). Sizes of groups and labels stay as they are. Only the errors of what is redrawn are used,
measured from these cells: no reported value is smoothed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.joint import Joint


def lent_to_each(joint: Joint) -> Joint:
    """Every label of every group is lent two rows: a change of a group's rate is never certain.

    >>> y = np.array([0, 0, 1, 1, 1])
    >>> joint = Joint.from_rows(y, [y, y], g=np.zeros(5, dtype=int), n_groups=1, n_classes=2)
    >>> found = lent_to_each(joint)
    >>> found.rows.round(2).tolist()
    [1.0, 1.8, 0.5, 0.6, 0.5, 0.6]
    >>> found.predictions.tolist()
    [[0, 1, 0, 1, 1, 0], [0, 1, 1, 0, 0, 1]]
    """
    return _lent(joint, lambda rows, group: np.ones(len(rows)))


def lent_to_groups(joint: Joint) -> Joint:
    """Every group is lent two rows, shared out as its labels are: for rates of all labels together."""
    return _lent(joint, lambda rows, group: rows / np.bincount(group, rows)[group])


def lent_in_all(joint: Joint) -> Joint:
    """All rows together are lent two, shared out as the rows are: a change over all rows is never certain."""
    return _lent(joint, lambda rows, group: rows / rows.sum())


def _lent(joint: Joint, how_many: Callable[[FloatArray, Array], FloatArray]) -> Joint:
    """With so many rows of either kind lent to each label of each group, by its rows and its group.

    `rows` are no longer whole numbers.
    """
    stratum = joint.group * joint.n_classes + joint.truth
    strata, place = np.unique(stratum, return_inverse=True)
    own_square = joint.weight if joint.square is None else joint.square
    rows, weight, square = (
        np.bincount(place, each).astype(np.float64) for each in (joint.rows, joint.weight, own_square)
    )
    group, right = np.divmod(strata, joint.n_classes)
    wrong, lent = _mistakes(joint)[right], how_many(rows, group)
    kept = rows / (rows + 2 * lent)
    first, second = np.concatenate([right, wrong]), np.concatenate([wrong, right])
    order = np.argsort(np.concatenate([joint.group, group, group]), kind="stable")

    def joined(own: Array, added: Array) -> Array:
        return np.concatenate([own, added, added])[order]

    return replace(
        joint,
        group=joined(joint.group, group),
        truth=joined(joint.truth, right),
        predictions=np.concatenate([joint.predictions, np.stack([first, second])], axis=1)[:, order],
        rows=joined(joint.rows * kept[place], lent * kept),
        weight=joined(joint.weight * kept[place], lent * kept * weight / rows),
        square=None
        if joint.square is None
        else joined(own_square * kept[place], lent * kept * square / rows),
    )


def _mistakes(joint: Joint) -> Array:
    """Each label's commonest wrong prediction by either model; the next label where there is none."""
    n = joint.n_classes
    labels = np.arange(n)
    found = (labels + 1) % n
    code = (joint.truth * n + joint.predictions).reshape(-1)
    codes, place = np.unique(code, return_inverse=True)
    often = np.bincount(place, np.tile(joint.rows, len(joint.predictions)))
    truth, guess = np.divmod(codes, n)
    wrong = np.flatnonzero(truth != guess)
    wrong = wrong[np.argsort(often[wrong], kind="stable")]  # the commonest is written last
    found[truth[wrong]] = guess[wrong]
    return found
