"""Tables of weights over cells: how rare each is in training, and the product of weights of a row."""

from __future__ import annotations

import torch
from torch import Tensor


def count_cells(codes: Tensor, labels: Tensor, n_values: int, n_levels: int) -> Tensor:
    """Rows of each `[attribute, label, value, level]`, given codes `[N, A]` and labels `[N, L]`, as float64.

    >>> count_cells(torch.tensor([[0], [1], [1]]), torch.tensor([[0], [0], [1]]), 2, 2).tolist()
    [[[[1.0, 1.0], [0.0, 1.0]]]]
    """
    shape = (labels.shape[1], n_values, n_levels)
    size = shape[0] * shape[1] * shape[2]
    places = (_cells(labels, code, n_values, n_levels).flatten() for code in codes.T)
    return torch.stack([torch.bincount(found, minlength=size).view(shape) for found in places]).double()


def ratio(upper: Tensor, lower: Tensor) -> Tensor:
    """`upper / lower`, and 0 for a cell that no training row is in.

    >>> ratio(torch.tensor([10.0, 10.0]), torch.tensor([5.0, 0.0])).tolist()
    [2.0, 0.0]
    """
    return torch.where(lower > 0, upper / lower.clamp(min=1), 0.0)


def look_up(table: Tensor, scale: Tensor, codes: Tensor, labels: Tensor) -> Tensor:
    """The weight of each row and label `[B, L]`: `scale[label, y] * prod_a table[a, label, y, v_a]`.

    >>> table = torch.tensor([[[[1.0, 2.0]]], [[[3.0, 4.0]]]])  # two attributes of two levels, labels unseen
    >>> codes, labels = torch.tensor([[0, 1], [1, 1]]), torch.tensor([[0], [0]])
    >>> look_up(table, torch.tensor([[10.0]]), codes, labels).tolist()
    [[40.0], [80.0]]
    """
    n_attributes, _, n_values, n_levels = table.shape
    found = _take(scale, _cells(labels, torch.zeros_like(codes[:, 0]), n_values, 1))
    for place in range(n_attributes):
        found = found * _take(table[place], _cells(labels, codes[:, place], n_values, n_levels))
    return found


def mean_by_value(weights: Tensor, labels: Tensor, n_values: int) -> Tensor:
    """The mean weight of the rows with each value of each label `[L, values]`, and 1 where there are none.

    >>> mean_by_value(torch.tensor([[1.0], [3.0]]), torch.tensor([[0], [0]]), 2).tolist()
    [[2.0, 1.0]]
    """
    shape = (labels.shape[1], n_values)
    places = (torch.arange(shape[0]) * n_values + labels).flatten()
    sums = torch.bincount(places, weights.flatten(), minlength=shape[0] * n_values).view(shape)
    rows = torch.bincount(places, minlength=shape[0] * n_values).view(shape)
    return torch.where(rows > 0, sums / rows.clamp(min=1), 1.0)


def _cells(labels: Tensor, code: Tensor, n_values: int, n_levels: int) -> Tensor:
    """Where the rows of one attribute stand in its flattened table `[labels, values, levels]`: `[B, L]`."""
    first = torch.arange(labels.shape[1], device=labels.device) * n_values
    return (first + labels) * n_levels + code[:, None]


def _take(table: Tensor, index: Tensor) -> Tensor:
    return table.flatten().gather(0, index.flatten()).view_as(index)
