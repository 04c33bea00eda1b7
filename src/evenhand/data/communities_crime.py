"""Communities and Crime: is a US community among the 30 % with the most violent crime, as in S4?"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch

from evenhand.arrays import FloatArray, IntArray
from evenhand.data.cache import Progress, Source, checksums, find_any
from evenhand.data.card import DataCard
from evenhand.data.communities_columns import COLUMNS
from evenhand.data.encode import as_input, as_numbers, check_choice, fill_missing, read_columns, standardise
from evenhand.data.splits import as_split, check_share, cut
from evenhand.data.task import Task
from evenhand.groups import Attribute

PREPARED = Source(
    "communities_crime.csv.gz", sha256="cec5e99c832afb7aeb85f80419d61d817a525975a862f8f9eb6ffc5dbc1bbd31"
)
OFFICIAL = Source(
    "communities.data",
    ("https://archive.ics.uci.edu/ml/machine-learning-databases/communities/communities.data",),
    sha256="d90d85bd66bad9a00fa0ed6c15ac017b5966d528e55ba2940ad028d071353f95",
    size=1_100_821,
)
N_TRAIN = 1_500  # of the 1,994 rows
TARGET = "ViolentCrimesPerPop"
PROTECTED = ("racepctblack", "FemalePctDiv")
LEAST_VARIANCE = 1e-6  # of a direction that ZCA scales up; below it there is only rounding


def communities_crime(
    seed: int = 0,
    validation: float = 0.0,
    quantile: float = 0.7,
    strict: bool = True,
    drop_missing: bool = True,
    whiten: str = "z",
    sensitive_in_x: bool = True,
    progress: Progress | None = None,
) -> Task:
    """Communities and Crime as S4 prepares it; every choice that the paper leaves open is a knob.

    The target and both attributes are cut at their `quantile` over all rows: 0 is the part above it, 1 the
    rest (`strict=False`: 0 from the cut on). `drop_missing` leaves out the 22 police columns that 1,675 rows
    lack (else they are filled with training means). `whiten` is "z" (each column by itself) or "zca" (columns
    uncorrelated too), by the 1,500 training rows, which are drawn by `seed`.
    """
    check_choice("whiten", whiten, ("z", "zca"))
    check_share("quantile", quantile)
    paths = find_any([PREPARED], [OFFICIAL], progress=progress)
    columns = _read(paths)
    split = cut(np.random.default_rng(seed).permutation(len(columns[TARGET])), N_TRAIN, validation)
    names = _inputs(columns, drop_missing, sensitive_in_x)
    filled = np.stack([fill_missing(columns[name], split["train"], "mean") for name in names], axis=1)
    scaled = standardise(filled, split["train"])
    crime = _cut_at(TARGET, columns[TARGET], quantile, strict)
    knobs = {
        "seed": seed,
        "validation": validation,
        "quantile": quantile,
        "strict": strict,
        "drop_missing": drop_missing,
        "whiten": whiten,
        "sensitive_in_x": sensitive_in_x,
    }
    return Task(
        "communities-crime",
        as_input(scaled if whiten == "z" else _decorrelate(scaled, split["train"])),
        torch.from_numpy(crime.codes),
        tuple(_cut_at(name, columns[name], quantile, strict) for name in PROTECTED),
        as_split(split),
        _card(paths, knobs),
        classes=crime.levels,
        columns=tuple(names),
    )


def _read(paths: Mapping[str, Path]) -> dict[str, FloatArray]:
    """The predictors and the target as numbers; the official file has no header."""
    (path,) = paths.values()
    texts = read_columns(path, COLUMNS if path.name == OFFICIAL.name else None)
    return {
        name: as_numbers(texts[name]) for name in COLUMNS[5:]
    }  # the first five do not describe a community


def _inputs(columns: Mapping[str, FloatArray], drop_missing: bool, sensitive_in_x: bool) -> list[str]:
    left_out = {TARGET, *(() if sensitive_in_x else PROTECTED)}
    if drop_missing:  # one row lacks OtherPerCap: that column is filled
        left_out |= {name for name, values in columns.items() if np.isnan(values).sum() > 1}
    return [name for name in columns if name not in left_out]


def _cut_at(name: str, values: FloatArray, quantile: float, strict: bool) -> Attribute:
    """0 above the quantile, 1 below; values have two digits, so many lie on the cut itself."""
    at = float(np.quantile(values, quantile, method="lower"))
    top = values > at if strict else values >= at
    levels = (f"over {at:g}", f"up to {at:g}") if strict else (f"from {at:g}", f"under {at:g}")
    return Attribute(name, levels, (~top).astype(np.int64))


def _decorrelate(values: FloatArray, rows: IntArray) -> FloatArray:
    """ZCA: training columns with variance 1 and no correlation, turned as little as possible."""
    variances, directions = np.linalg.eigh(np.cov(values[rows], rowvar=False, bias=True))
    scale = 1.0 / np.sqrt(np.maximum(variances, LEAST_VARIANCE))
    found: FloatArray = (values - values[rows].mean(axis=0)) @ (directions * scale) @ directions.T
    return found


def _card(paths: Mapping[str, Path], knobs: Mapping[str, object]) -> DataCard:
    return DataCard(
        title="Communities and Crime",
        about="Communities of the USA: census of 1990, police survey of 1990, crime reports of 1995.",
        origin="UCI Machine Learning Repository, data set 183",
        licence="CC BY 4.0",
        citation="Redmond 2002, Communities and Crime, UCI Machine Learning Repository, doi:10.24432/C53W3X",
        target=f"{TARGET} among the highest 30 % (class 0) or not (class 1), as S4 codes it",
        notes=(
            "Level 0 of an attribute is the part above the cut, as in S4.",
            "Rows are communities, not persons.",
            "The test part has 494 rows: one of them moves a rate of a small cell by 1 to 2 points.",
        ),
        files=checksums(paths),
        knobs=knobs,
    )
