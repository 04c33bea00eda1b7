"""Which training rows each run sees at each step: its own order, from its own stream."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from evenhand.errors import InputError
from evenhand.methods.base import Sampling
from evenhand.train.streams import HALF, Streams


class Sampler(Protocol):
    """Row numbers of the training split, `[R, B]`."""

    steps: int  # of one epoch
    batch_size: int

    def rows(self, epoch: int, step: int) -> Tensor:
        """The rows of every run at this step of this epoch."""
        ...


def sampler_of(samplings: Sequence[Sampling], n: int, batch_size: int, streams: Streams) -> Sampler:
    """The sampler of a stack: all its runs sample in the same manner, each in its own order."""
    kinds = {_kind(sampling) for sampling in samplings}
    if len(kinds) > 1:
        raise InputError(
            "runs of one stack must choose their rows in one manner; train them one at a time (stack_size=1)"
        )
    return kinds.pop()(samplings, n, batch_size, streams)


def _kind(sampling: Sampling) -> type[Drawn] | type[Stratified] | type[Shuffled]:
    if sampling.weights is not None:
        return Drawn
    return Shuffled if sampling.strata is None else Stratified


class Shuffled:
    """Every row once an epoch, or the rows that the method lists, in a new order each epoch.

    Rows that do not fill a batch are left out of this epoch; the next one has another order.

    >>> sampler = Shuffled([Sampling()], 10, 4, Streams([0]))
    >>> rows = torch.cat([sampler.rows(0, 0), sampler.rows(0, 1)], dim=1)
    >>> sampler.steps, len(rows.unique())
    (2, 8)
    """

    def __init__(self, samplings: Sequence[Sampling], n: int, batch_size: int, streams: Streams) -> None:
        lists = [torch.arange(n) if sampling.rows is None else sampling.rows for sampling in samplings]
        lengths = sorted({len(rows) for rows in lists})
        if len(lengths) > 1:
            raise InputError(
                f"runs of one stack must have epochs of one length, not {lengths}; "
                "train them one at a time (stack_size=1)"
            )
        if lengths[0] == 0:
            raise InputError("the method chose no training rows at all")
        self._streams = streams
        listed = any(sampling.rows is not None for sampling in samplings)
        self._lists = torch.stack(lists).to(streams.device) if listed else None
        self._n = lengths[0]
        self.batch_size = min(batch_size, self._n)
        self.steps = self._n // self.batch_size
        self._epoch = -1
        self._order = torch.empty(0)

    def rows(self, epoch: int, step: int) -> Tensor:
        """The next rows of this epoch's order."""
        if epoch != self._epoch:
            order = self._streams.order("order", epoch, self._n)
            if self._lists is not None:
                order = torch.gather(self._lists, 1, order)
            self._epoch, self._order = epoch, order
        return self._order[:, step * self.batch_size : (step + 1) * self.batch_size]


class Drawn:
    """Rows drawn with replacement in proportion to weights; an epoch is as long as if each came once."""

    def __init__(self, samplings: Sequence[Sampling], n: int, batch_size: int, streams: Streams) -> None:
        weights = [sampling.weights for sampling in samplings if sampling.weights is not None]
        alike = all(torch.equal(weights[0], other) for other in weights[1:])
        totals = [_cumulative(one) for one in (weights[:1] if alike else weights)]
        self._streams = streams
        self._ends = (totals[0] if alike else torch.stack(totals)).to(streams.device)  # [N], or [R, N]
        self.batch_size = min(batch_size, n)
        self.steps = n // self.batch_size

    def rows(self, epoch: int, step: int) -> Tensor:
        """Rows drawn for this step alone."""
        place = self._streams.fine("order", epoch * self.steps + step, self.batch_size)
        return torch.searchsorted(self._ends, place, right=True)


def _cumulative(weights: Tensor) -> Tensor:
    """Where each row's stretch of [0, 1) ends; the last end is 1 exactly, so that no draw lies beyond it."""
    if bool((weights < 0).any()) or not bool(torch.isfinite(total := weights.sum())) or not bool(total > 0):
        raise InputError("the method's weights of rows must be numbers of at least 0, and some above 0")
    sums = weights.to(torch.float64).cumsum(0)
    return sums / sums[-1]


class Stratified:
    """The same number of rows of every stratum in each batch, drawn with replacement within it.

    Runs may have different numbers of strata: groupings that leave other cells empty share a stack.
    """

    def __init__(self, samplings: Sequence[Sampling], n: int, batch_size: int, streams: Streams) -> None:
        sorted_rows, starts, counts = zip(*(_strata(sampling) for sampling in samplings), strict=True)
        if not all(len(part) for part in counts):
            raise InputError("the method's strata have no rows at all")
        self._rows, self._starts, self._counts = (
            pad_sequence(list(part), batch_first=True).to(streams.device)
            for part in (sorted_rows, starts, counts)
        )
        widths = [_width(sampling, len(part)) for sampling, part in zip(samplings, counts, strict=True)]
        self._width = torch.tensor(widths, device=streams.device)[:, None]  # [R, 1]
        self._streams = streams
        self.batch_size = min(batch_size, n)
        self.steps = n // self.batch_size

    def rows(self, epoch: int, step: int) -> Tensor:
        """Slots are dealt to the strata in turn, in random order; each draws a row of its stratum."""
        place = epoch * self.steps + step
        slots = torch.arange(self.batch_size, device=self._width.device) % self._width
        strata = self._order(place).gather(1, slots)
        counts, starts = self._counts.gather(1, strata), self._starts.gather(1, strata)
        within = self._streams.fine("order", place, self.batch_size) * counts
        return self._rows.gather(1, starts + within.to(torch.int64))

    def _order(self, place: int) -> Tensor:
        """The strata of each run in random order, as if it were alone; those that it lacks come last."""
        bits = self._streams.bits("strata", place, self._counts.shape[1]).to(torch.int64)
        return torch.argsort(bits.masked_fill(self._counts == 0, HALF), dim=1, stable=True)


def _width(sampling: Sampling, n: int) -> int:
    """How many strata a batch has rows of."""
    return min(sampling.strata_per_batch, n) if sampling.strata_per_batch else n


def _strata(sampling: Sampling) -> tuple[Tensor, Tensor, Tensor]:
    """Rows sorted by stratum, where each stratum that has rows begins, and how many rows it has."""
    ids = torch.as_tensor(sampling.strata)
    order = torch.argsort(ids, stable=True)
    rows = order[ids[order] >= 0]
    _, counts = torch.unique_consecutive(ids[rows], return_counts=True)
    return rows, counts.cumsum(0) - counts, counts
