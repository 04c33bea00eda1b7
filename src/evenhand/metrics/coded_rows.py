"""Checking what is handed in to be counted: codes, shapes, weights, and where they live.

Arrays of any kind become numpy; as soon as one of them is a torch tensor, all go to its device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array, as_codes, is_torch


def coded_rows(y_true: object, y_pred: object, groups: object) -> tuple[Any, Any, Any]:
    """Labels, predictions and groups as whole-number codes of fitting shapes, all on one device.

    >>> [part.tolist() for part in coded_rows([True, False], [1.0, 0.0], [0, -1])]
    [[1, 0], [1, 0], [0, -1]]
    """
    named = (("labels", y_true), ("predictions", y_pred), ("groups", groups))
    tensor = next((values for _, values in named if is_torch(values)), None)
    if tensor is None:
        y, p, g = (as_codes(values, what) for what, values in named)
    else:
        y, p, g = (_on_device(values, what, tensor) for what, values in named)
    _check_shapes(y, p, g)
    return y, p, g


def _on_device(values: object, what: str, like: Any) -> Any:
    import torch

    if not is_torch(values):
        return torch.as_tensor(as_codes(values, what).copy(), device=like.device)
    if values.is_floating_point() and bool((values != values.round()).any()):
        raise ValueError(f"{what} must be whole-number codes 0, 1, 2, ..., not scores ({values.dtype})")
    return values.to(like.device)


def _check_shapes(y: Array, p: Array, g: Array) -> None:
    if y.ndim not in (1, 2) or g.ndim != 1 or p.ndim not in (y.ndim, y.ndim + 1):
        raise ValueError(
            f"labels {tuple(y.shape)}, predictions {tuple(p.shape)} and groups {tuple(g.shape)} do not fit: "
            "labels and groups have one entry a row, predictions one (or one row of them for each run)"
        )
    if y.ndim == 2 and p.shape[-1] != y.shape[1]:
        raise ValueError(
            f"{y.shape[1]} labels a row but {p.shape[-1]} predictions: every label needs its own"
        )
    lengths = (y.shape[0], p.shape[-y.ndim], g.shape[0])
    if len(set(lengths)) > 1:
        raise ValueError(
            "labels, predictions and groups have different lengths: {}, {} and {}".format(*lengths)
        )


def number_of(given: int | None, codes: list[Any], least: int) -> int:
    """The given number of classes or groups, or one more than the largest code that occurs.

    >>> number_of(None, [np.array([0, 3])], least=2)
    4
    """
    if given is not None:
        return given
    return max([least, *(int(part.max()) + 1 for part in codes if len(part.reshape(-1)))])


def weight_sums(weights: object | None, g: Any) -> list[Any]:
    """What a weighted table sums up: weights, rows, squared weights; nothing when unweighted."""
    if weights is None:
        return []
    checked = as_array(weights).astype(np.float64)
    if checked.shape != (len(g),):
        raise ValueError(f"{checked.size} weights for {len(g)} rows")
    good = np.isfinite(checked) & (checked >= 0)
    if not good.all():
        row = int(np.argmin(good))
        raise ValueError(f"weight {checked[row]} in row {row}: weights must be finite and not negative")
    w: Any = checked
    if is_torch(g):
        import torch

        w = torch.as_tensor(checked, device=g.device)
    return [w, w * 0 + 1, w * w]
