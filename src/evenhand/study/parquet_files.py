"""Parquet in and out by polars or, where that is missing, pyarrow; neither is needed to run a study."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from evenhand.errors import InputError

MISSING = "needs polars or pyarrow; install one of them"


def parquet_library() -> str | None:
    """The library that is there."""
    return next((name for name in ("polars", "pyarrow") if find_spec(name)), None)


def parquet_bytes(columns: Mapping[str, Any]) -> bytes:
    """The content of a file. It is made in memory, so that a full disk is told by the one who writes it."""
    library, content = parquet_library(), io.BytesIO()
    if library == "polars":
        import polars as pl

        series = [
            pl.Series(name, values, dtype=pl.String if _is_empty(values) else None, strict=False)
            for name, values in columns.items()
        ]
        pl.DataFrame(series).write_parquet(content, compression="zstd", compression_level=9)
    elif library == "pyarrow":
        import pyarrow as pa
        import pyarrow.parquet as pq

        kinds = {name: pa.string() if _is_empty(values) else None for name, values in columns.items()}
        table = pa.table({name: pa.array(values, type=kinds[name]) for name, values in columns.items()})
        pq.write_table(table, content, compression="zstd", compression_level=9)
    else:
        raise InputError(f"a .parquet file {MISSING}")
    return content.getvalue()


def _is_empty(values: Any) -> bool:
    """Whether nothing tells the type of a column: it is then one of text, as it is elsewhere."""
    return isinstance(values, list) and all(value is None for value in values)


def column_names(path: Path) -> list[str]:
    """What a file has columns for; [] where it cannot be read, which reading it will tell."""
    try:
        if parquet_library() == "polars":
            import polars as pl

            return list(pl.read_parquet_schema(path))
        import pyarrow.parquet as pq

        return list(pq.read_schema(path).names)
    except Exception:  # each library has its own for a damaged file
        return []


def read_parquet(path: Path, names: Sequence[str] | None = None, arrays: bool = False) -> dict[str, Any]:
    """The columns of a file (of those in `names`, the ones that are there), as lists or as arrays."""
    library = parquet_library()
    if library is None:
        raise InputError(f"reading {path} {MISSING}")
    try:
        return _by_polars(path, names, arrays) if library == "polars" else _by_pyarrow(path, names, arrays)
    except Exception as error:  # each library has its own for a damaged file
        raise InputError(f"{path} cannot be read as Parquet, or is damaged ({error})") from error


def _by_polars(path: Path, names: Sequence[str] | None, arrays: bool) -> dict[str, Any]:
    import polars as pl

    there = [name for name in pl.read_parquet_schema(path) if names is None or name in names]
    table = pl.read_parquet(path, columns=there)
    return {name: table[name].to_numpy() if arrays else table[name].to_list() for name in there}


def _by_pyarrow(path: Path, names: Sequence[str] | None, arrays: bool) -> dict[str, Any]:
    import pyarrow.parquet as pq

    there = [name for name in pq.read_schema(path).names if names is None or name in names]
    table = pq.read_table(path, columns=there)
    return {
        name: table[name].to_numpy(zero_copy_only=False) if arrays else table[name].to_pylist()
        for name in there
    }
