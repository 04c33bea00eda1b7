"""The same work for several models, some at a time: numpy lets other threads go on while it counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from evenhand.metrics.tally import cores

T = TypeVar("T")
Tell = Callable[[str], None]
MOST_AT_ONCE = 4
LARGE = (
    1 << 14
)  # numbers in a table of one model: draws of it fill the memory, so that there is one at a time


def each_model(
    names: Sequence[str], work: Callable[[str], T], size: int = 1, tell: Tell | None = None
) -> dict[str, T]:
    """What the work comes to for each name, in their order, however many threads share it.

    `size` is how many numbers a table of one model has; `tell` hears how many are done.

    >>> each_model(["a", "bc"], len, tell=print)
    1 of 2 models compared
    2 of 2 models compared
    {'a': 1, 'bc': 2}
    """
    at_once = 1 if size > LARGE else min(len(names), cores(), MOST_AT_ONCE)
    if at_once < 2:
        return _told(names, map(work, names), tell)
    with ThreadPoolExecutor(at_once) as pool:
        try:
            return _told(names, pool.map(work, names), tell)
        except BaseException:  # such as Ctrl-C: what has not begun is not begun
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _told(names: Sequence[str], results: Iterable[T], tell: Tell | None) -> dict[str, T]:
    found = {}
    for name, result in zip(names, results, strict=True):
        found[name] = result
        if tell is not None:
            tell(f"{len(found)} of {len(names)} models compared")
    return found
