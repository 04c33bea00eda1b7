"""Predictions of a run, where they are kept: one file a run in `predictions/`, written whole or not at all.

Parquet with the columns part, row and one for each class; an npz archive where neither polars nor pyarrow is
installed, as on a bare GPU machine.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.arrays import Array, as_array
from evenhand.errors import DamagedFileError, InputError
from evenhand.study.parquet_files import parquet_bytes, parquet_library, read_parquet

FOLDER = "predictions"
AGAIN = "restore it from a copy, or run the study again in another folder"


def write_predictions(folder: Path, id: str, predictions: Mapping[str, Any]) -> Path:
    """Keep the scores `[N, C]` of each part; the file that holds them."""
    from evenhand.train.checkpoint import written_whole  # torch, which a look at a store can do without

    parts = {part: as_array(scores) for part, scores in predictions.items()}
    there = parquet_library() is not None
    path = folder / FOLDER / f"{id}.{'parquet' if there else 'npz'}"
    try:
        with written_whole(path) as partial:
            partial.write_bytes(parquet_bytes(_columns(parts)) if there else _npz(parts))
    except OSError as error:
        raise InputError(
            f"the predictions of run {id} could not be written to {path} ({error.strerror or error}); make "
            "room, then run the same again"
        ) from error
    return path


def read_predictions(folder: Path, id: str) -> dict[str, Array]:
    """The scores of each part again; {} where none were kept."""
    for path in (folder / FOLDER / f"{id}.parquet", folder / FOLDER / f"{id}.npz"):
        if path.exists():
            return _read_npz(path) if path.suffix == ".npz" else _read_parquet(path)
    return {}


def file_that_is_missing(folder: Path, id: str) -> Path | None:
    """The file of a run's predictions, where the folder keeps those of other runs; None where it keeps none.

    >>> file_that_is_missing(Path("nowhere"), "0007") is None
    True
    """
    endings = sorted({path.suffix for path in (folder / FOLDER).glob("*")} & {".npz", ".parquet"})
    return folder / FOLDER / f"{id}{endings[-1]}" if endings else None


def _columns(parts: Mapping[str, Array]) -> dict[str, Any]:
    tables = {part: scores.reshape(len(scores), -1) for part, scores in parts.items()}
    names = [part for part, scores in tables.items() for _ in range(len(scores))]
    rows = np.concatenate([np.arange(len(scores)) for scores in tables.values()])
    whole = np.concatenate(list(tables.values()))
    return {"part": names, "row": rows, **{f"score_{k}": whole[:, k] for k in range(whole.shape[1])}}


def _read_parquet(path: Path) -> dict[str, Array]:
    try:
        columns = read_parquet(path, arrays=True)
    except InputError as error:
        raise DamagedFileError(f"{error}; {AGAIN}") from error
    names = [name for name in columns if name.startswith("score_")]
    if not names or "part" not in columns:
        raise DamagedFileError(f"{path} holds no predictions of evenhand; {AGAIN}")
    part, scores = columns["part"], np.stack([columns[name] for name in names], axis=1)
    return {str(name): scores[part == name] for name in dict.fromkeys(part.tolist())}


def _npz(parts: Mapping[str, Array]) -> bytes:
    content = io.BytesIO()
    np.savez_compressed(content, allow_pickle=False, **parts)
    return content.getvalue()


def _read_npz(path: Path) -> dict[str, Array]:
    from evenhand.train.checkpoint import DAMAGE

    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except DAMAGE as error:
        raise DamagedFileError(f"{path} is damaged, or holds no predictions; {AGAIN}") from error
