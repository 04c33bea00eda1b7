"""Building blocks of losses: per-row losses, group means by masks, probabilities. All of them vmap.

Every group term is arithmetic with a mask over a fixed number of groups. A group that a batch lacks has the
mean 0 and the mark `present = False`, so that it can be left out without an undefined number ever arising: a
NaN that is masked afterwards still poisons the gradient.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from evenhand.records import Batch, Sizes


def row_losses(logits: Tensor, y: Tensor) -> Tensor:
    """The loss of each row `[B]`: cross-entropy; logistic for one output; mean over labels if multi-label.

    >>> round(row_losses(torch.tensor([[0.0, 0.0]]), torch.tensor([1])).item(), 4)
    0.6931
    >>> round(row_losses(torch.tensor([[0.0, 0.0]]), torch.tensor([[1, 0]])).item(), 4)
    0.6931
    """
    if y.ndim == 2:
        return label_losses(logits, y).mean(-1)
    if logits.shape[-1] == 1:
        return label_losses(logits[:, 0], y)
    return functional.cross_entropy(logits, y, reduction="none")


def label_losses(logits: Tensor, y: Tensor) -> Tensor:
    """The logistic loss of each entry, `log(1 + exp(-z))` for y = 1 and `log(1 + exp(z))` for y = 0.

    Written so, and not by torch's own function, because that one rounds otherwise inside vmap. Above the
    threshold softplus is its argument; torch's own threshold of 20 would be seen in float64.
    """
    return functional.softplus((1 - 2 * y.to(logits.dtype)) * logits, threshold=40.0)


def probabilities(logits: Tensor, sizes: Sizes) -> Tensor:
    """Scores from outputs: softmax over classes, or a sigmoid for each label; one output serves two classes.

    >>> probabilities(torch.tensor([[0.0]]), Sizes((), 2, 1)).tolist()
    [[0.5, 0.5]]
    """
    if sizes.multi_label:
        return torch.sigmoid(logits)
    if logits.shape[-1] == 1:
        positive = torch.sigmoid(logits)
        return torch.cat([1 - positive, positive], dim=-1)
    return torch.softmax(logits, dim=-1)


def score_losses(scores: Tensor, y: Tensor) -> Tensor:
    """The loss of each row `[B]` from scores: -log of the score of the truth; of several labels the mean.

    >>> score_losses(torch.tensor([[0.25, 0.75], [0.0, 1.0]]), torch.tensor([0, 1])).exp().tolist()
    [4.0, 1.0]
    """
    least = torch.finfo(scores.dtype).tiny  # a score of 0 has a finite loss, and no gradient
    if y.ndim == 2:
        truth = torch.where(y.to(torch.bool), scores, 1 - scores)
        return -truth.clamp(min=least).log().mean(-1)
    return -scores.gather(-1, y[:, None])[:, 0].clamp(min=least).log()


def mask_of(ids: Tensor, n: int, dtype: torch.dtype = torch.float32) -> Tensor:
    """Which row belongs to which of n groups `[B, n]`; a row of unknown group belongs to none.

    >>> mask_of(torch.tensor([1, -1]), 2).tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    return (ids[:, None] == torch.arange(n, device=ids.device)).to(dtype)


class GroupMeans(NamedTuple):
    """Mean of each group (0 where the batch lacks it), whether it is there, and how many rows it has."""

    means: Tensor
    present: Tensor
    counts: Tensor


def group_means(values: Tensor, mask: Tensor) -> GroupMeans:
    """Means of `values [B]` within groups given by `mask [B, n]`.

    >>> found = group_means(torch.tensor([1.0, 3.0, 5.0]), mask_of(torch.tensor([0, 0, -1]), 2))
    >>> found.means.tolist(), found.present.tolist()
    ([2.0, 0.0], [True, False])
    """
    counts = mask.sum(0)
    return GroupMeans(values @ mask / counts.clamp(min=1), counts > 0, counts)


def weighted_mean(values: Tensor, weights: Tensor) -> Tensor:
    """`sum(w v) / sum(w)`, and 0 where no row has weight."""
    total = weights.sum()
    return (values * weights).sum() / torch.where(total > 0, total, 1.0)


def cells_of(batch: Batch, sizes: Sizes, by: str = "group") -> tuple[Tensor, int]:
    """The cell of each row and how many cells there are: groups, or groups crossed with the label.

    Where a row has several labels there is nothing to cross with, and the cells are the groups.

    >>> batch = Batch(torch.zeros(2, 1), torch.tensor([1, 0]), torch.tensor([1, -1]))
    >>> cells_of(batch, Sizes((1,), 2, 2), "label-group")
    (tensor([ 3, -1]), 4)
    """
    if by == "group" or sizes.multi_label:
        return batch.g, sizes.n_groups
    crossed = batch.g * sizes.n_classes + batch.y
    return torch.where(batch.g < 0, batch.g, crossed), sizes.n_groups * sizes.n_classes


def without_groups(batch: Batch) -> Batch:
    """The batch as if nothing were known of groups and attributes.

    >>> batch = Batch(torch.zeros(1, 1), torch.tensor([1]), torch.tensor([3]), torch.tensor([[1, 1]]))
    >>> without_groups(batch).g.tolist(), without_groups(batch).a.tolist()
    ([-1], [[-1, -1]])
    """
    unknown = None if batch.a is None else torch.full_like(batch.a, -1)
    return batch._replace(g=torch.full_like(batch.g, -1), a=unknown)


def known_rows(known: Tensor) -> Tensor | None:
    """The rows that a method without use for the others goes through; None where that is every row.

    >>> known_rows(torch.tensor([0, -1, 1]) >= 0).tolist()
    [0, 2]
    """
    return None if bool(known.all()) else known.nonzero()[:, 0]
