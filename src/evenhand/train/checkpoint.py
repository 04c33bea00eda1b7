"""Checkpoints: everything a run needs to go on as if it had never stopped, in one file that is no pickle.

A checkpoint is an npz archive: tensors by name and one JSON text. It is written beside the old one and then
takes its place, so that a kill in the middle leaves the old one whole.
"""

from __future__ import annotations

import json
import os
import time
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evenhand.errors import InputError

FACTS = "facts.json"
HOUR = 3600.0  # seconds; nobody takes that long to write a file
# What reading a damaged archive raises: TypeError where a header says that it is another kind of file,
# NotImplementedError where it names another compression.
DAMAGE = (OSError, ValueError, KeyError, EOFError, TypeError, NotImplementedError, zipfile.BadZipFile)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], facts: Mapping[str, Any]) -> None:
    """Write tensors and facts; the file appears whole or not at all.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "checkpoint.npz"
    >>> save_tensors(file, {"w": torch.ones(2)}, {"epoch": 3})
    >>> load_tensors(file)[1]
    {'epoch': 3}
    """
    arrays: dict[str, Any] = {name: value.detach().cpu().numpy() for name, value in tensors.items()}
    arrays[FACTS] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    with written_whole(path) as partial, partial.open("wb") as file:
        np.savez(file, **arrays)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Gives a file beside the path to write into, which then takes its place; an error leaves the old one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for left in path.parent.glob(f".{path.name}.*.part"):  # by a process that was killed while it wrote
        with suppress(FileNotFoundError):  # or by one that has just finished
            if time.time() - left.stat().st_mtime > HOUR:
                left.unlink()
    partial = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield partial
        os.replace(partial, path)
    except OSError as error:
        if error.errno is not None:  # a full disk does not say which file it was for
            error.filename = str(path)
        raise
    finally:
        partial.unlink(missing_ok=True)


def usable_folder(folder: str | Path) -> Path:
    """The folder, made if it is not there; one that cannot be written into is told now, not after hours."""
    try:
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            return path
    except (OSError, TypeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(
            f"nothing can be written into the folder {folder!s} ({reason}); name another"
        ) from error


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors and facts of a file; one that is damaged or of another kind is refused."""
    try:
        # numpy leaves a file that it opened itself open if its content is damaged
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            facts = json.loads(archive[FACTS].tobytes())
            return {name: torch.from_numpy(archive[name]) for name in archive.files if name != FACTS}, facts
    except DAMAGE as error:
        raise InputError(
            f"{path} is not a checkpoint of evenhand, or is damaged; delete it to begin anew"
        ) from error
