"""What modules are asked about, batch by batch: a tensor that is cut, or a loader's batches as they come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.errors import InputError
from evenhand.evaluation.loader_rows import check_loader, rows_of_loader

if TYPE_CHECKING:
    from torch import Tensor

BATCH_SIZE = 512
OF_ARRAYS = ("__array__", "__cuda_array_interface__", "__dlpack__", "to_numpy")
PAIR = "give batches of inputs, or pairs of inputs and labels"


@dataclass(frozen=True)
class Inputs:
    """The batches, which may be read only once; `rows` is how many rows they have where that is known."""

    batches: Iterable[Any]
    rows: int | None
    cut: bool  # of a tensor, and no loader's


def inputs_of(x: Any, batch_size: Any = None, columns: Sequence[str] = ()) -> Inputs:
    """Batches of a tensor, an array, or a loader, beside columns of the same rows that are called so.

    >>> import torch
    >>> inputs_of(torch.zeros(5, 2), 2).rows, [len(x) for x in inputs_of(torch.zeros(5, 2), 2).batches]
    (5, [2, 2, 1])
    """
    import torch

    if batch_size is not None and (
        isinstance(batch_size, bool) or not isinstance(batch_size, Integral) or batch_size < 1
    ):
        raise InputError(f"'batch_size' must be at least 1 and a whole number, not {batch_size!r}")
    if not _is_loader(x):
        rows = _rows(x)
        size = BATCH_SIZE if batch_size is None else int(batch_size)
        return Inputs(torch.split(rows, size), len(rows), True)
    if batch_size is not None:
        raise InputError(
            "'batch_size' is for a tensor of inputs; the batches of a loader are taken as they are"
        )
    check_loader(x, columns)
    return Inputs(x, rows_of_loader(x), False)


def read_inputs(batch: Any) -> tuple[Tensor, Any]:
    """Inputs and labels of a batch; None where it has no labels.

    >>> import torch
    >>> [part.tolist() for part in read_inputs((torch.zeros(2, 1), torch.tensor([1, 0]), "more"))]
    [[[0.0], [0.0]], [1, 0]]
    """
    import torch

    if isinstance(batch, Mapping):
        keys = ", ".join(repr(str(key)) for key in batch)
        raise InputError(
            f'it is a {type(batch).__name__} of {keys}; {PAIR}: ((b["x"], b["y"]) for b in loader)'
        )
    parts = batch if isinstance(batch, tuple | list) else (batch,)
    if not parts or not isinstance(parts[0], torch.Tensor | np.ndarray):
        came = type(parts[0]).__name__ if parts else "nothing"
        begins = " that begins with " if parts is batch else " of "
        raise InputError(f"it is a {type(batch).__name__}{begins}{came}, and inputs are a tensor; {PAIR}")
    rows = torch.as_tensor(parts[0])
    if rows.ndim == 0:
        raise InputError(f"it is a single number, and inputs are a tensor with rows; {PAIR}")
    return rows, parts[1] if len(parts) > 1 else None


def _is_loader(x: Any) -> bool:
    """Whether to go through batches; a list of numbers or of rows is an array, as it is to torch."""
    from torch.utils.data import Dataset, IterableDataset

    if isinstance(x, Dataset) and not isinstance(x, IterableDataset):
        raise InputError(
            f"a data set ({type(x).__name__}) gives single rows, and modules are asked about batches; put it "
            "into a loader: torch.utils.data.DataLoader(dataset, batch_size=512)"
        )
    if isinstance(x, str | bytes | memoryview | Mapping) or any(hasattr(x, name) for name in OF_ARRAYS):
        return False
    if isinstance(x, Sequence):
        return len(x) > 0 and _looks_like_a_batch(x[0])
    return isinstance(x, Iterable)


def _looks_like_a_batch(first: Any) -> bool:
    import torch

    if isinstance(first, torch.Tensor):
        return first.ndim > 0
    return isinstance(first, Mapping) or (
        isinstance(first, tuple | list) and bool(first) and isinstance(first[0], torch.Tensor | np.ndarray)
    )


def _rows(x: Any) -> Tensor:
    """The inputs as a tensor that has rows."""
    import torch

    try:
        rows = torch.as_tensor(x)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(
            f"the inputs must be a tensor or an array with a row for each label, or a loader of batches, not "
            f"{type(x).__name__}"
        ) from error
    if rows.ndim == 0 or len(rows) == 0:
        raise InputError(
            f"the modules are asked about no input at all: 'x' has the shape {tuple(rows.shape)}; give a row "
            "for each label"
        )
    return rows
