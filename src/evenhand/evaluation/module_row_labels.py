"""The label of every row that modules are asked about: the loader's, the user's, or both where they agree."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import IntArray
from evenhand.errors import InputError
from evenhand.evaluation.module_labels import Names, label_codes


class RowLabels:
    """Labels that come batch by batch; `given` are those of the user's column, if there is one.

    >>> labels = RowLabels(None)
    >>> labels.take([2, 0], 2), labels.take([1], 1)
    (None, None)
    >>> labels.codes.tolist()
    [2, 0, 1]
    """

    def __init__(self, given: IntArray | None, names: Names | None = None) -> None:
        self.given, self.names, self.rows = given, names, 0
        self._own: list[IntArray] = []

    def take(self, labels: object | None, n: int) -> None:
        """The labels of the next n rows, as a loader gives them, or None where it gives none."""
        start, self.rows = self.rows, self.rows + n
        if self.given is not None and self.rows > len(self.given):
            raise InputError(
                f"there are {len(self.given):,} labels for {self.rows:,} inputs or more; give one for each"
            )
        if labels is not None:
            self._compare_or_keep(_codes_of_batch(labels, n, self.names), start)
        elif self.given is None:
            raise InputError(
                "there are no labels: give y_true, or a loader whose batches are (inputs, labels)"
            )

    @property
    def codes(self) -> IntArray:
        """One for each row, once all batches are there."""
        if self.given is None:
            return np.concatenate(self._own)
        if len(self.given) != self.rows:
            raise InputError(
                f"there are {len(self.given):,} labels for {self.rows:,} inputs; give one for each"
            )
        return self.given

    def _compare_or_keep(self, codes: IntArray, start: int) -> None:
        if self.given is None:
            self._own.append(codes)
            return
        mine = self.given[start : start + len(codes)]
        if (differs := mine != codes).any():
            row = int(np.argmax(differs))
            raise InputError(
                f"row {start + row} has the label {self._called(mine[row])} in y_true and "
                f"{self._called(codes[row])} in the loader's batch: other rows, or another order; leave out "
                "y_true, or give batches of inputs alone where their second part is no label"
            )

    def _called(self, code: np.int64) -> str:
        return "NaN" if code < 0 else str(code) if self.names is None else repr(self.names[code])


def _codes_of_batch(labels: object, n: int, names: Names | None) -> IntArray:
    if getattr(labels, "ndim", None) == 0 or isinstance(labels, int | float | str):
        raise InputError(
            f"there is one label ({labels!r}) where there must be one for each of {n:,} inputs; if the "
            "loader gives rows and not batches, make it with a batch_size"
        )
    codes = label_codes(labels, names)
    if len(codes) != n:
        raise InputError(f"there are {len(codes):,} labels for {n:,} inputs; give one for each")
    return codes
