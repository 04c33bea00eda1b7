"""Which work waits for the GPU: torch tells, if it is asked to warn where it does."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import torch

SIGN = "synchroniz"  # of what torch says: of an operation that waits, and once of the mode itself
WAITED = f"called a {SIGN}ing CUDA operation"


@contextmanager
def noted_waits() -> Iterator[list[str]]:
    """Where work inside waited for a GPU ("file:line"), once it is done; other warnings come afterwards.

    Nothing is noted where no GPU is in use.

    >>> with noted_waits() as waits:
    ...     _ = torch.ones(2).sum().item()
    >>> waits
    []
    """
    waits: list[str] = []
    if not torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        yield waits
        return
    before = torch.cuda.get_sync_debug_mode()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.cuda.set_sync_debug_mode("warn")
        try:
            yield waits
        finally:
            torch.cuda.set_sync_debug_mode(before)
    for entry in caught:
        text = str(entry.message)
        if WAITED in text:
            waits.append(f"{entry.filename}:{entry.lineno}")
        elif SIGN not in text.lower():
            warnings.warn_explicit(entry.message, entry.category, entry.filename, entry.lineno)
