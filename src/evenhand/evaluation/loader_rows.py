"""Which rows a torch loader gives, and in which order: a column beside it must be of the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evenhand.errors import InputError

if TYPE_CHECKING:
    from torch.utils.data import DataLoader


def check_loader(x: Any, columns: Sequence[str]) -> None:
    """Refuse a loader that gives rows in another order than columns have, leaves some out, or repeats them.

    What is no `DataLoader` (a generator, a loader of another library) is believed to give each row once, and
    in the order of the columns.
    """
    if (loader := _loader(x)) is None:
        return
    order = _order(loader)
    if getattr(order, "replacement", False):
        raise InputError(
            f"the loader draws rows again ({type(order).__name__} with replacement), so that some would "
            "count twice; make one that gives every row once: DataLoader(dataset, shuffle=False)"
        )
    if (processes := getattr(order, "num_replicas", 1)) > 1:  # as a DistributedSampler shares them out
        raise InputError(
            f"the loader gives this process its share of the rows, one of {processes}; make one that gives "
            "all of them: DataLoader(dataset, shuffle=False)"
        )
    if rest := _left_out(loader, order):
        raise InputError(
            f"the loader leaves out its last {rest:,} rows (drop_last=True); make it with drop_last=False"
        )
    if columns:
        _check_order(loader, order, " and ".join(columns))


def rows_of_loader(x: Any) -> int | None:
    """How many rows a loader will give; None where it cannot be told, as of a stream.

    >>> import torch
    >>> rows_of_loader(torch.utils.data.DataLoader(range(10), batch_size=4)), rows_of_loader(iter([]))
    (10, None)
    """
    from torch.utils.data import BatchSampler

    loader = _loader(x)
    # items of a loader without a batch size may be batches themselves
    if loader is None or _is_stream(loader) or type(loader.batch_sampler) is not BatchSampler:
        return None
    return _length(_order(loader))


def _loader(x: Any) -> DataLoader[Any] | None:
    """The loader itself, also where a progress bar such as tqdm's is around it."""
    from torch.utils.data import DataLoader

    inner = x if isinstance(x, DataLoader) else getattr(x, "iterable", None)
    return inner if isinstance(inner, DataLoader) else None


def _is_stream(loader: DataLoader[Any]) -> bool:
    from torch.utils.data import IterableDataset

    return isinstance(loader.dataset, IterableDataset)


def _order(loader: DataLoader[Any]) -> Any:
    """What decides on the order; `loader.sampler` does not where batches are drawn by another sampler."""
    from torch.utils.data import BatchSampler

    batches = loader.batch_sampler
    if batches is None:
        return loader.sampler
    return batches.sampler if type(batches) is BatchSampler else batches


def _length(order: Any) -> int | None:
    try:
        return len(order)
    except TypeError:  # a sampler need not have one
        return None


def _left_out(loader: DataLoader[Any], order: Any) -> int:
    """How many rows `drop_last` drops."""
    from torch.utils.data import BatchSampler

    batches = loader.batch_sampler
    if _is_stream(loader) or type(batches) is not BatchSampler or not batches.drop_last:
        return 0
    return (_length(order) or 0) % batches.batch_size


def _check_order(loader: DataLoader[Any], order: Any, columns: str) -> None:
    from torch.utils.data import RandomSampler, SequentialSampler

    if loader.num_workers and not getattr(loader, "in_order", True):
        raise InputError(
            f"the loader gives batches as its workers end (in_order=False), and {columns} would be of other "
            "rows; make it with in_order=True"
        )
    if _is_stream(loader) or type(order) is SequentialSampler:
        return
    if isinstance(order, RandomSampler):
        raise InputError(
            f"the loader shuffles its rows, and {columns} would be of other rows; make it with shuffle=False"
        )
    raise InputError(
        f"the loader takes rows in the order of a {type(order).__name__}, and {columns} would be of other "
        "rows; make it with shuffle=False and no sampler (of some rows: of torch.utils.data.Subset(dataset, "
        "rows))"
    )
