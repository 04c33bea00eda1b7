"""What programs that join several studies in one page share: reading folders, telling how far it is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.evaluation.claims import refuse_small
from evenhand.study.store import Store

Compute = Callable[[Store, Callable[[str], None]], dict[str, Any]]


def read_studies(folders: Sequence[Path], compute: Compute, *, whole: bool) -> list[dict[str, Any]]:
    """What is computed of each folder's runs; `whole` refuses studies in small, which answer no claim."""
    return [_read(folder, compute, whole) for folder in folders]


def _read(folder: Path, compute: Compute, whole: bool) -> dict[str, Any]:
    with Store.open(folder, readonly=True) as store:
        if whole:
            refuse_small(store.study())
        return compute(store, lambda words: tell(f"{folder.name}: {words}"))


def tell(words: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(f"{words}\n")


def tell_written(files: Sequence[Path]) -> None:
    """The page, and how many files it links."""
    linked = f" and {len(files) - 1} files that it links" if len(files) > 1 else ""
    tell(f"written: {files[0]}{linked}")
