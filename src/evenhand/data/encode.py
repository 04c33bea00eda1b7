"""Columns of a table as numbers for a network: one-hot levels, filled gaps, z-scores by the training rows."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.errors import InputError


@dataclass(frozen=True)
class Block:
    """Some columns of the inputs: their names and their values `[N, len(names)]`."""

    names: tuple[str, ...]
    values: FloatArray


def read_columns(path: Path, names: Sequence[str] | None = None) -> dict[str, list[str]]:
    """The columns of a CSV file (`.gz` too) as texts; `names` where the file has no header."""
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8")
    rows = list(csv.reader(io.StringIO(text, newline="")))
    header = list(names) if names is not None else rows.pop(0)
    return dict(zip(header, (list(column) for column in zip(*rows, strict=True)), strict=True))


def as_numbers(texts: Sequence[str], missing: Sequence[str] = ("", "?")) -> FloatArray:
    """Texts as numbers, NaN where one is missing.

    >>> as_numbers(["1.5", "?", "2"]).tolist()
    [1.5, nan, 2.0]
    """
    if set(missing).isdisjoint(texts):
        return np.array(list(map(float, texts)))
    return np.array([np.nan if text in missing else float(text) for text in texts])


def one_hot(name: str, values: Sequence[str], levels: Sequence[str] | None = None) -> Block:
    """A column of 0 and 1 for each level (sorted where none are named); a value that is no level has no 1.

    >>> block = one_hot("port", ["S", "C", "?", "S"], ["C", "S"])
    >>> block.names, block.values.tolist()
    (('port=C', 'port=S'), [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    """
    known = sorted(set(values)) if levels is None else list(levels)
    place = dict.fromkeys(values, -1) | {level: index for index, level in enumerate(known)}
    codes = np.array(list(map(place.__getitem__, values)), dtype=np.int64)
    hot = np.zeros((len(values), len(known)))
    rows = np.flatnonzero(codes >= 0)
    hot[rows, codes[rows]] = 1.0
    return Block(tuple(f"{name}={level}" for level in known), hot)


def numbers(name: str, values: Array) -> Block:
    """One column of numbers."""
    return Block((name,), np.asarray(values, dtype=np.float64)[:, None])


def join(blocks: Sequence[Block]) -> Block:
    """The blocks beside each other."""
    names = tuple(name for block in blocks for name in block.names)
    return Block(names, np.concatenate([block.values for block in blocks], axis=1))


def fill_missing(values: FloatArray, rows: IntArray, statistic: Literal["mean", "median"]) -> FloatArray:
    """NaN replaced by the mean or median that the column has in the given (training) rows.

    >>> fill_missing(np.array([1.0, np.nan, 3.0, 9.0]), np.array([0, 1, 2]), "mean").tolist()
    [1.0, 2.0, 3.0, 9.0]
    """
    known = values[rows][~np.isnan(values[rows])]
    middle = 0.0 if not len(known) else float(np.mean(known) if statistic == "mean" else np.median(known))
    return np.where(np.isnan(values), middle, values)


def standardise(values: FloatArray, rows: IntArray) -> FloatArray:
    """Z-scores by mean and deviation of the given (training) rows; what is constant there is only centred.

    Only centred, because a level that first occurs in the test rows would otherwise become a huge number.
    Constant means up to rounding: numbers of the size 1e-10 may differ as well as any.

    >>> standardise(np.array([[1.0, 5.0], [3.0, 5.0], [5.0, 6.0]]), np.array([0, 1])).tolist()
    [[-1.0, 0.0], [1.0, 0.0], [3.0, 1.0]]
    """
    shift, scale = shift_and_scale(values, rows)
    found: FloatArray = (values - shift) / scale
    return found


def shift_and_scale(values: FloatArray, rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """What `standardise` subtracts from each column, and then divides it by."""
    mean, deviation = values[rows].mean(axis=0), values[rows].std(axis=0)
    return mean, np.where(deviation <= 1e-12 * np.abs(mean), 1.0, deviation)


def as_input(values: FloatArray) -> Tensor:
    """The values as the tensor a network takes."""
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32))


def check_choice(name: str, value: str, choices: Sequence[str]) -> str:
    """The value itself if it is one of the choices."""
    if value not in choices:
        raise InputError(f"the knob {name}={value!r} must be {' or '.join(choices)}")
    return value
