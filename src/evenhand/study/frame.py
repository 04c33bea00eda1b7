"""Frame: all runs of a study as columns, and every metric of all of them from the stored counts at once."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.metric import Metric
from evenhand.metrics.undefined import divide, mean_defined
from evenhand.study.frame_blocks import Block, Look, StoreLike, looks_of
from evenhand.study.frame_layout import Layout, lay_out
from evenhand.study.frame_rows import rows_of
from evenhand.study.number_names import is_number
from evenhand.study.shared_words import readers
from evenhand.study.shifted import grouped, number_words

DONE, FAILED = "done", "failed"
SHORT = {"acc": "accuracy"}  # what tables call a rate


class Frame:
    """The runs of a store, one row each in the study's order; what is worked out once is kept.

    A run that stands for several groupings (see `evenhand.study.standing`) has a row for each, measured by
    that grouping; `trained` marks one row of every run, for what is counted or summed over trainings. A run
    without a record, a failed one, and a part that was not measured have NaN for every metric. Of identical
    runs (one seed) the column `seed` has their number, which is what they are told apart by.
    """

    def __init__(self, store: StoreLike) -> None:
        self.study: dict[str, Any] = store.study()
        self._rows = rows_of(store.table(), self.study)
        self.columns: dict[str, list[Any]] = self._rows.columns
        self.n, self.trained = len(self._rows.places), self._rows.trained
        self.done: Array = np.array([status == DONE for status in self.columns["status"]], dtype=bool)
        self.failed: Array = np.array([status == FAILED for status in self.columns["status"]], dtype=bool)
        self.layout: Layout = lay_out(self.columns, self.n)
        self._store = store
        self._parts: dict[str, list[Block]] = {}
        self._looks: dict[tuple[str, str | None], list[Look]] = {}
        self._where: dict[tuple[str, str | None], tuple[Array, Array]] = {}
        self._means: dict[tuple[str, str], FloatArray] = {}
        self._values: dict[tuple[str, str, str | None], FloatArray] = {}

    @cached_property
    def readers(self) -> Array:
        """How many runs the training of each row served, `[R]`: 1 unless it was read in several ways."""
        nothing: list[Any] = [None] * self.n
        columns = (self.columns.get(name, nothing) for name in ("seconds", "stack_seconds", "stack"))
        return np.array([readers(*row) for row in zip(*columns, strict=True)], dtype=np.int64)

    @classmethod
    def open(cls, store: StoreLike | Frame) -> Frame:
        """The frame of a store; a frame as it is."""
        return store if isinstance(store, Frame) else cls(store)

    @property
    def failures(self) -> list[dict[str, Any]]:
        """The reasons for which runs failed, with how many each and a few examples."""
        return self._store.failures()

    # -- numbers of runs ---------------------------------------------------------------------------------
    def values(self, part: str, key: str, by: str | None = None) -> FloatArray:
        """A metric of every run, `[R]`, on a part, by a measured grouping (default: the one it protects).

        A number of the trained model (`delta_er`) is the run's own, whatever the part and the grouping. Of a
        run without scores, metrics of these are what it came with in their place (`evenhand.study.told`).
        """
        if (part, key, by) not in self._values:
            metric, out = metric_of(key), np.full(self.n, np.nan)
            if is_number(key):
                out[:] = self.number(key)
            for look in [] if is_number(key) else self.looks(part, by):
                out[look.rows] = look.values(metric)
            out.setflags(write=False)
            self._values[part, key, by] = out
        return self._values[part, key, by]

    def number(self, key: str) -> FloatArray:
        """A number that was taken of every trained model, `[R]`; NaN for runs that have none."""
        taken = self.columns.get("numbers") or [None] * self.n
        return np.where(self.done, [(found or {}).get(key, np.nan) for found in taken], np.nan)

    def shifted(self, part: str = "test") -> list[tuple[str, float, tuple[str, ...]]]:
        """What a part was measured under beside the part as it is: (shift, severity, names of the draws)."""
        return grouped((name for spec in self.columns["spec"] for name in spec.get("parts", ())), part)

    def mean_over_draws(self, kind: str, severity: float, metric: str, part: str = "test") -> FloatArray:
        """A metric of every run under a shift, `[R]`: its mean over the draws in which it is defined."""
        draws = next((found for *shift, found in self.shifted(part) if shift == [kind, severity]), None)
        if draws is None:
            known = ", ".join(f"{name} {number_words(size)}" for name, size, _ in self.shifted(part))
            raise InputError(f"no run was measured under {kind} {severity:g} on {part}; there are: {known}")
        return mean_defined(np.stack([self.values(name, metric) for name in draws]), axis=0)

    def rates(
        self, part: str, rate: str, rows: Sequence[int] | Array | None = None, by: str | None = None
    ) -> tuple[tuple[str, ...], FloatArray]:
        """Names of the groups, and a rate of each run and group `[rows, G]`; NaN for groups a run lacks."""
        wanted = np.arange(self.n) if rows is None else np.asarray(rows)
        found = list(self.met(part, wanted, by))
        names = list(dict.fromkeys(name for look, _, _ in found for name in look.groups))
        out = np.full((len(wanted), len(names)), np.nan)
        for look, here, inside in found:
            columns = np.array([names.index(name) for name in look.groups])
            out[np.ix_(here, columns)] = look.rate(SHORT.get(rate, rate))[inside]
        return tuple(names), out

    def per_class(self, part: str, key: str, rows: Sequence[int] | Array) -> FloatArray | None:
        """A metric of these runs for each class, `[rows, K]`; None where single classes have no value."""
        wanted, metric = np.asarray(rows), metric_of(key)
        found = [(here, look.per_class(metric)[inside]) for look, here, inside in self.met(part, wanted)]
        widths = {values.shape[-1] for _, values in found}
        if len(widths) != 1 or widths == {1}:
            return None
        out = np.full((len(wanted), widths.pop()), np.nan)
        for here, values in found:
            out[here] = values
        return out

    def means(self, part: str, key: str) -> FloatArray:
        """The mean of a metric over the finished seeds of every candidate where it is defined, `[S]`."""
        if (part, key) not in self._means:
            values = self.values(part, key)
            known, size = ~np.isnan(values), len(self.layout.candidates)
            where = self.layout.candidate_of[known]
            total = np.bincount(where, weights=values[known], minlength=size)
            self._means[part, key] = divide(total, np.bincount(where, minlength=size))
        return self._means[part, key]

    def tally(self, chosen: Array) -> Array:
        """How many runs of every candidate are among the chosen ones (a mask), `[S]`."""
        return np.bincount(self.layout.candidate_of[chosen], minlength=len(self.layout.candidates))

    # -- what the numbers are made of ----------------------------------------------------------------------
    def looks(self, part: str, by: str | None = None) -> list[Look]:
        """The stacked counts of a part."""
        if part not in self._parts:
            self._parts[part] = list(self._store.measured(part))
        if (part, by) not in self._looks:
            convention = (self.study.get("report") or {}).get("convention", "strict")
            self._looks[part, by] = looks_of(part, self._parts[part], by, self._rows, self.done, convention)
        return self._looks[part, by]

    def met(
        self, part: str, rows: Sequence[int] | Array, by: str | None = None
    ) -> list[tuple[Look, Array, Array]]:
        """The stacks that these rows lie in: (stack, places among the rows, places inside the stack)."""
        looks, wanted = self.looks(part, by), np.asarray(rows)
        if (part, by) not in self._where:
            self._where[part, by] = _places(looks, self.n)
        stack, inside = self._where[part, by]
        return [
            (looks[number], here, inside[wanted[here]])
            for number in np.unique(stack[wanted]).tolist()
            if number >= 0
            for here in (np.flatnonzero(stack[wanted] == number),)
        ]


def _places(looks: Sequence[Look], n_rows: int) -> tuple[Array, Array]:
    """For each row, the number of the stack that it lies in (-1: in none) and its place in there."""
    stack, inside = np.full(n_rows, -1), np.full(n_rows, -1)
    for number, look in enumerate(looks):
        stack[look.rows], inside[look.rows] = number, np.arange(len(look.rows))
    return stack, inside


def metric_of(key: str) -> Metric:
    """A metric of the catalogue that one run has; others are refused with the nearest names.

    >>> metric_of("tpr.gop")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no metric 'tpr.gop'; did you mean 'tpr.gap' or 'tnr.gap'?
    """
    if key not in CATALOGUE:
        near = get_close_matches(key, CATALOGUE, n=2)
        hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else ""
        raise InputError(f"there is no metric {key!r}{hint}")
    metric = CATALOGUE[key]
    if metric.needs not in ("counts", "scores") and not is_number(key):
        raise InputError(f"metric {key!r} needs {metric.needs}, and a study has one number for each run")
    return metric
