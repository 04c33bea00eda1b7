"""Data sets: usable without the trainer, fetched or packaged once, verified every time.

`load("adult")` gives a `Task`; `DATASETS` lists what there is. Names are loaded when they are first used: the
audit reads packaged files through `packaged` and needs no torch.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from evenhand.data.cache import packaged

if TYPE_CHECKING:
    from evenhand.data.card import DataCard
    from evenhand.data.registry import DATASETS, load
    from evenhand.data.task import Scaling, Task

_HOMES = {
    "DATASETS": "evenhand.data.registry",
    "DataCard": "evenhand.data.card",
    "Scaling": "evenhand.data.task",
    "Task": "evenhand.data.task",
    "load": "evenhand.data.registry",
}

__all__ = ["DATASETS", "DataCard", "Scaling", "Task", "load", "packaged"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evenhand.data' has no attribute '{name}'")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
