"""Whether two runs ended in the same bits: a digest of all counts of a run, and the hash of its weights."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.metrics.counts import Counts
from evenhand.study.records import canonical
from evenhand.study.told import is_told, told_key

if TYPE_CHECKING:
    from evenhand.study.store import Store

Numbers = Mapping[str, float]
KINDS = ("cells", "row_cells", "square_cells")  # the last two of weighted counts only


def digests_of(store: Store) -> dict[str, str]:
    """Run -> a digest of its counts on every part and by every grouping, names included.

    Counts are whole numbers in one store and may be floats in another that came through a CSV file: they are
    compared as numbers of 64 bits, in which both are exact.
    """
    told: dict[str, list[str]] = {}
    for part in store.parts():  # under shifts too
        for block in store.measured(part, scores=False):
            head = canonical([part, block.by, list(block.groups), list(block.classes)])
            for kind in KINDS:
                for run, table in zip(block.run_ids, _tables(block.counts, kind), strict=False):
                    digest = hashlib.sha256(f"{kind}{table.shape}".encode() + table.tobytes()).hexdigest()
                    told.setdefault(run, []).append(head + digest)
    return {run: hashlib.sha256("".join(sorted(parts)).encode()).hexdigest() for run, parts in told.items()}


def _tables(counts: Counts, kind: str) -> FloatArray:
    """One kind of the counts of every run, in 64 bits; none where rows were not weighted."""
    found = getattr(counts, kind)
    return np.ascontiguousarray([] if found is None else found, dtype=np.float64)


def moved_numbers(pairs: Sequence[tuple[Numbers, Numbers]]) -> list[dict[str, Any]]:
    """For each number of the runs that two folders share: how many have it, equal to the bit, farthest apart.

    What is kept in place of scores is no number of the model: where one folder has the scores, it lacks that,
    and it is compared where both have it, under the name of its metric.

    >>> moved_numbers([({"delta_er": 0.5}, {"delta_er": 0.25}), ({"delta_er": 1.0}, {"delta_er": 1.0})])
    [{'key': 'delta_er', 'compared': 2, 'equal': 1, 'farthest': 0.25}]
    """
    keys = dict.fromkeys(key for pair in pairs for side in pair for key in side if not is_told(key))
    # what one side lacks is as undefined as what it left undefined
    rows = [_compared(key, [[side.get(key, np.nan) for side in pair] for pair in pairs]) for key in keys]
    told: dict[str, list[list[float]]] = {}
    for one, two in pairs:
        for name in filter(is_told, one):
            if name in two:
                told.setdefault(told_key(name), []).append([one[name], two[name]])
    return [*rows, *(_compared(key, values) for key, values in told.items())]


def _compared(key: str, values: Sequence[Sequence[float]]) -> dict[str, Any]:
    """A row about pairs of values of one number."""
    sides = np.array(values)
    apart = np.abs(sides[:, 0] - sides[:, 1])
    equal = (sides[:, 0] == sides[:, 1]) | np.isnan(sides).all(axis=1)
    farthest = float(np.fmax.reduce(apart, initial=0.0))
    return {"key": key, "compared": len(sides), "equal": int(equal.sum()), "farthest": farthest}


def same_weights(one: str | None, two: str | None) -> bool | None:
    """Whether the weights are the same; None where one of them was not kept.

    >>> same_weights("ab", "ab"), same_weights("ab", "cd"), same_weights("", "cd")
    (True, False, None)
    """
    return one == two if one and two else None
