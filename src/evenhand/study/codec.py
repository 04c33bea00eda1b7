"""Arrays as bytes and back: a layout in words (JSON), shared by many runs, and a payload of each run's own.

The payload is the arrays one after another, little-endian, in the smallest type that holds them, compressed
by zlib. The layout says which types and shapes they are, and what they become again. No pickle: reading a
stored number never runs code.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.errors import InputError
from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.study.records import canonical

COUNT_KINDS = ("cells", "row_cells", "square_cells")
SCORE_KINDS = ("cells", "score_cells", "score_square_cells", "row_cells", "square_cells")
SMALL = ("|u1", "<u2", "<u4", "<i8")


def pack_counts(counts: Counts) -> tuple[str, bytes]:
    """Layout and payload of counts.

    >>> layout, payload = pack_counts(Counts.from_table([[[8, 2], [1, 300]]]))
    >>> json.loads(layout)
    {'arrays': [['cells', '<u2', '<i8', [2, 2, 2]]], 'multilabel': False}
    >>> unpack_counts(layout, payload).table.tolist()
    [[[8, 2], [1, 300]]]
    """
    kinds = [(name, getattr(counts, name)) for name in COUNT_KINDS]
    return _pack(kinds, {"multilabel": counts.multilabel})


def pack_scores(scores: Scores) -> tuple[str, bytes]:
    """Layout and payload of binned scores."""
    return _pack([(name, getattr(scores, name)) for name in SCORE_KINDS], {"per_label": scores.per_label})


def unpack_counts(layout: str, payload: bytes) -> Counts:
    """The counts again."""
    return unpack_many_counts(layout, [payload])[0]


def unpack_scores(layout: str, payload: bytes) -> Scores:
    """The binned scores again."""
    facts, arrays = _unpack(layout, [payload])
    return Scores(**{name: array[0] for name, array in arrays.items()}, per_label=facts["per_label"])


def unpack_many_counts(layout: str, payloads: Sequence[bytes]) -> Counts:
    """The counts of many runs of one layout, stacked `[R, ...]`: thousands in a few milliseconds."""
    facts, arrays = _unpack(layout, payloads)
    return Counts(**arrays, multilabel=facts["multilabel"])


def unpack_many_scores(layout: str, payloads: Sequence[bytes]) -> Scores:
    """The binned scores of many runs of one layout, stacked `[R, ...]`."""
    facts, arrays = _unpack(layout, payloads)
    return Scores(**arrays, per_label=facts["per_label"])


def shape_of(layout: str) -> str:
    """What two layouts must share to be stacked: everything but the type in which the numbers are kept.

    >>> small, large = (pack_counts(Counts.from_table([[[n, 0], [0, 1]]]))[0] for n in (1, 70_000))
    >>> small == large, shape_of(small) == shape_of(large)
    (False, True)
    """
    facts = json.loads(layout)
    arrays = [[name, became, shape] for name, _, became, shape in facts.pop("arrays")]
    return canonical({**facts, "arrays": arrays})


def pack_json(value: Any) -> bytes:
    """JSON text, compressed; NaN and infinities as Python's own reader understands them.

    >>> unpack_json(pack_json({"loss": [0.5, float("nan")]}))
    {'loss': [0.5, nan]}
    """
    return zlib.compress(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


def unpack_json(payload: bytes) -> Any:
    """The value again."""
    return json.loads(_inflated(payload))


def _pack(kinds: Sequence[tuple[str, Array | None]], facts: Mapping[str, Any]) -> tuple[str, bytes]:
    arrays, parts = [], []
    for name, array in kinds:
        if array is not None:
            became = "<i8" if array.dtype.kind in "iub" else "<f8"
            kept = _smallest(array) if became == "<i8" else "<f8"
            arrays.append([name, kept, became, list(array.shape)])
            parts.append(np.ascontiguousarray(array, dtype=kept).tobytes())
    return canonical({**facts, "arrays": arrays}), zlib.compress(b"".join(parts))


def _smallest(array: Array) -> str:
    low, high = int(array.min(initial=0)), int(array.max(initial=0))
    fits = (kind for kind in SMALL if np.iinfo(kind).min <= low and high <= np.iinfo(kind).max)
    return next(fits)


def _unpack(layout: str, payloads: Sequence[bytes]) -> tuple[dict[str, Any], dict[str, Array]]:
    """The facts, and every array with one more axis in front: that of the payloads."""
    facts, widths = _read(layout)
    whole = [_inflated(payload) for payload in payloads]
    if any(len(text) != sum(widths) for text in whole):
        raise InputError("stored counts are damaged: they are not as long as their layout says")
    table = np.frombuffer(b"".join(whole), dtype=np.uint8).reshape(len(whole), sum(widths))
    arrays, start = {}, 0
    for (name, kept, became, shape), width in zip(facts["arrays"], widths, strict=True):
        part = np.ascontiguousarray(table[:, start : start + width]).view(kept)
        arrays[name] = part.reshape(len(whole), *shape).astype(np.dtype(became).newbyteorder("="))
        start += width
    return facts, arrays


@lru_cache(maxsize=1024)
def _read(layout: str) -> tuple[dict[str, Any], list[int]]:
    """A layout, which thousands of payloads share, and how many bytes each of its arrays has."""
    facts = json.loads(layout)
    return facts, [np.dtype(kept).itemsize * math.prod(shape) for _, kept, _, shape in facts["arrays"]]


def _inflated(payload: bytes) -> bytes:
    try:
        return zlib.decompress(payload)
    except zlib.error as error:
        raise InputError(f"stored numbers are damaged and cannot be read ({error})") from error
