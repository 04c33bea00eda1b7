"""The tasks and methods that a specification names, loaded once in a process; and the checksum of a task."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evenhand.data.registry import DATASETS, load, load_sketch
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.registry import method_of
from evenhand.study.own import load_own, own_method
from evenhand.study.records import canonical, plain_numbers

TABLE = "table:"  # before the path of a user's own table
MOST_KEPT = 4 << 30  # bytes of inputs that stay in memory for the next bucket

_kept: OrderedDict[str, Task] = OrderedDict()


def load_task(data: str, knobs: Mapping[str, Any]) -> Task:
    """The task of a data set, of a user's function ("file.py:name") or of a table ("table:file.csv").

    >>> load_task("titanic", {"seed": 1}) is load_task("titanic", {"seed": 1})
    True
    """
    key = canonical([data, dict(knobs)])
    if key in _kept:
        _kept.move_to_end(key)
        return _kept[key]
    task = _loaded(data, dict(knobs)).check()
    _kept[key] = task
    while len(_kept) > 1 and sum(map(_size, _kept.values())) > MOST_KEPT:
        _kept.popitem(last=False)
    return task


def look_at_task(data: str, knobs: Mapping[str, Any]) -> Task:
    """The task for those who look at everything but its inputs: what takes long to be made is left for later.

    >>> data_checksum(look_at_task("titanic", {})) == data_checksum(load_task("titanic", {}))
    True
    """
    known = canonical([data, dict(knobs)]) in _kept
    sketched = data in DATASETS and hasattr(DATASETS[data].loader(), "sketch")
    return load_sketch(data, **knobs) if sketched and not known else load_task(data, knobs)


def _loaded(data: str, knobs: dict[str, Any]) -> Task:
    if data.startswith(TABLE):
        return _from_table(Path(data.removeprefix(TABLE)), knobs)
    if ":" in data:
        try:
            made = load_own(data)(**knobs)
        except InputError:
            raise
        except Exception as error:
            raise InputError(f"{data} cannot make its task ({type(error).__name__}: {error})") from error
        if not isinstance(made, Task):
            raise InputError(f"{data} gave a {type(made).__name__}, and must give an evenhand.Task")
        return made
    return load(data, **knobs)


def _from_table(path: Path, knobs: dict[str, Any]) -> Task:
    if not path.exists():
        raise InputError(f"there is no file {path} to make a task of")
    import polars

    readers: dict[str, Callable[[Path], Any]] = {".csv": polars.read_csv, ".parquet": polars.read_parquet}
    if path.suffix not in readers:
        raise InputError(f"a task's table must be a .csv or .parquet file, not {path.name}")
    table = readers[path.suffix](path)
    label, attributes = knobs.pop("label"), knobs.pop("attributes")
    return Task.from_table(table, label, attributes, **{"name": path.stem, **knobs})


def _size(task: Task) -> int:
    return task.x.numel() * task.x.element_size() if isinstance(task.x, Tensor) else 0


def data_checksum(task: Task) -> str:
    """SHA-256 over labels, attributes and parts, and over the inputs or the files that they come from.

    Files that were checked by their own checksums stand for the inputs: those are then computed in floats,
    whose last bits may differ between machines.

    >>> data_checksum(load_task("titanic", {})) == data_checksum(load_task("titanic", {"seed": 1}))
    False
    """
    knobs = {name: str(value) for name, value in plain_numbers(dict(task.card.knobs)).items()}
    facts = (task.card.files, knobs, task.input_shape, task.classes)
    found = hashlib.sha256(canonical(list(facts)).encode())
    for attribute in task.attributes:
        found.update(repr((attribute.name, attribute.levels)).encode())
        found.update(np.ascontiguousarray(attribute.codes, dtype=np.int64).tobytes())
    for part in sorted(task.split):
        found.update(part.encode() + task.split[part].to(torch.int64).numpy().tobytes())
    found.update(task.y.to(torch.int64).numpy().tobytes())
    if not task.card.files and isinstance(task.x, Tensor):
        found.update(np.ascontiguousarray(task.x.numpy()).tobytes())
    return found.hexdigest()


def load_method(key: str, fields: Mapping[str, Any]) -> Method:
    """The method of that key, or of a user's class ("file.py:Class"), with these fields."""
    return own_method(key, fields) if ":" in key else method_of(key, **fields)
