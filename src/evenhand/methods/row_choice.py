"""Which rows to repeat and which to leave out: the arithmetic behind `resample`. Never inside a loss."""

from __future__ import annotations

import torch
from torch import Tensor

FAR = torch.iinfo(torch.int64).max  # larger than any count
PART = 8  # the share of an excess that is removed before rows are ranked anew


def copies_of(cells: Tensor, counts: Tensor, wanted: Tensor, generator: torch.Generator) -> Tensor:
    """How often each row comes so that cells have as many rows as wanted: whole copies, the rest at random.

    >>> cells = torch.tensor([0, 0, 0, 1, 1, -1])
    >>> wanted = torch.tensor([3, 5])
    >>> copies_of(cells, torch.tensor([3, 2]), wanted, torch.Generator().manual_seed(0)).tolist()
    [1, 1, 1, 3, 2, 0]
    """
    whole, rest = wanted // counts.clamp(min=1), wanted % counts.clamp(min=1)
    place = cells.clamp(min=0)
    copies = whole[place] + (_random_ranks(cells, generator) < rest[place])
    return torch.where(cells < 0, 0, copies)


def _random_ranks(cells: Tensor, generator: torch.Generator) -> Tensor:
    """A random order of the rows within each cell: 0, 1, 2, ..."""
    shuffled = torch.randperm(len(cells), generator=generator)
    found, order = cells[shuffled].sort(stable=True)
    first = torch.searchsorted(found, found)  # where the row's cell begins
    ranks = torch.empty_like(cells)
    ranks[shuffled[order]] = torch.arange(len(cells)) - first
    return ranks


def without_gaps(cells: Tensor) -> Tensor:
    """The cells that occur, numbered from 0 in the same order; unknown stays -1.

    >>> without_gaps(torch.tensor([5, 2, -1, 5])).tolist()
    [1, 0, -1, 1]
    """
    occurring = torch.unique(cells[cells >= 0])
    return torch.where(cells < 0, -1, torch.searchsorted(occurring, cells))


def even_labels(y: Tensor, g: Tensor, ratio: int, absent_counts: bool, generator: torch.Generator) -> Tensor:
    """How often each row comes, 0 or 1: no group has over `ratio` times the smallest's rows of any label.

    The group and label with the largest excess give up rows first. Of their rows those go first that have
    most labels in which the group is in excess, and fewest in which it is the smallest; ties are broken at
    random. Every round removes rows, so it ends.

    >>> y, g = torch.tensor([[1, 0], [1, 1], [1, 0], [0, 1]]), torch.tensor([0, 0, 1, 1])
    >>> even_labels(y, g, 1, False, torch.Generator().manual_seed(0)).tolist()
    [0, 1, 1, 1]
    """
    positives = y.to(torch.int64)
    kept, lots = g >= 0, torch.rand(len(g), generator=generator)
    n_groups = int(g.max()) + 1
    counts = torch.zeros(n_groups, y.shape[1], dtype=torch.int64).index_add_(0, g[kept], positives[kept])
    compared = torch.bincount(g[kept], minlength=n_groups)[:, None] > 0 if absent_counts else counts > 0
    while True:
        least = torch.where(compared, counts, FAR).amin(0)
        excess = torch.where(compared, counts - ratio * torch.where(least == FAR, 0, least), 0)
        group, label = divmod(int(excess.argmax()), y.shape[1])
        most = int(excess[group, label])
        if most <= 0:
            return kept.to(torch.int64)
        rows = (kept & (g == group) & (positives[:, label] > 0)).nonzero()[:, 0]
        relief = (excess[group] > 0).long() - (counts[group] <= least).long()
        ranked = (positives[rows] @ relief + lots[rows]).argsort(descending=True)
        removed = rows[ranked[: -(-most // PART)]]
        kept[removed] = False
        counts[group] -= positives[removed].sum(0)
