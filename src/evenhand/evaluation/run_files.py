"""One file for each run of a model, put together as runs of the same rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import Array
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.tables.cells import Cells
from evenhand.tables.scores import RowScores, ScoreBins
from evenhand.tables.values import natural_order, parse_texts

CELL_COLUMNS = ("truth", "prediction", "count", "weight", "square")
BIN_COLUMNS = ("truth", "bin", "count", "weight", "square", "sum_score", "sum_square")


def merge_runs(parts: Sequence[Cells], names: Sequence[str]) -> Cells:
    """The cells of all runs, coded alike: a run that never predicts some class does not shift the others."""
    _refuse_other_levels(parts, names)
    classes = _classes(parts)
    coded = [_recoded(part, classes) for part in parts]
    first = coded[0]
    columns: dict[str, Any] = {key: _column(coded, key) for key in CELL_COLUMNS}
    return replace(
        first,
        **columns,
        classes=classes,
        positive=classes[1] if len(classes) == 2 else None,
        attributes=_joined([part.attributes for part in coded]),
        runs=tuple(names),
        run=_run([len(part.truth) for part in coded]),
        total=sum(part.total for part in coded),
        missing=sum(part.missing for part in coded),
        scores=_scores([part.scores for part in coded], names),
    )


def _refuse_other_levels(parts: Sequence[Cells], names: Sequence[str]) -> None:
    for part, name in zip(parts, names, strict=True):
        for own, expected in zip(part.attributes, parts[0].attributes, strict=True):
            if own.levels != expected.levels:
                raise InputError(
                    f"the group column '{own.name}' holds {_some(own.levels)} in run '{name}' but "
                    f"{_some(expected.levels)} in run '{names[0]}'; every run must predict the same rows"
                )


def _some(levels: Sequence[str]) -> str:
    return ", ".join(levels[:5]) + (", ..." if len(levels) > 5 else "")


def _classes(parts: Sequence[Cells]) -> tuple[str, ...]:
    """The classes of all runs: the order of a run that has them all, else their natural order."""
    known = {name for part in parts for name in part.classes}
    whole = next((part.classes for part in parts if set(part.classes) == known), None)
    if whole is not None:
        return whole
    texts = sorted(known)
    values = dict(zip(parse_texts(texts), texts, strict=True))
    return tuple(values[value] for value in natural_order(values))


def _recoded(part: Cells, classes: tuple[str, ...]) -> Cells:
    if part.classes == classes:
        return part
    place = np.array([classes.index(name) for name in part.classes])
    scores = part.scores
    if scores is not None:
        scores = replace(scores, truth=place[scores.truth])
    return replace(part, truth=place[part.truth], prediction=place[part.prediction], scores=scores)


def _joined(parts: Sequence[tuple[Attribute, ...]]) -> tuple[Attribute, ...]:
    return tuple(
        replace(same[0], codes=np.concatenate([attribute.codes for attribute in same]))
        for same in zip(*parts, strict=True)
    )


def _column(parts: Sequence[object], key: str) -> Any:
    return np.concatenate([getattr(part, key) for part in parts])


def _run(sizes: Sequence[int]) -> Array:
    return np.repeat(np.arange(len(sizes)), sizes)


def _scores(
    parts: Sequence[RowScores | ScoreBins | None], names: Sequence[str]
) -> RowScores | ScoreBins | None:
    rows = [part for part in parts if isinstance(part, RowScores)]
    bins = [part for part in parts if isinstance(part, ScoreBins)]
    if not rows and not bins:
        return None
    if rows and bins:
        raise InputError(
            f"the files of the runs {', '.join(names)} differ in length; they must hold the same rows"
        )
    found = rows or bins
    common: dict[str, Any] = {
        "attributes": _joined([part.attributes for part in found]),
        "run": _run([len(part.truth) for part in found]),
        "missing": sum(part.missing for part in found),
    }
    if bins:
        return ScoreBins(**common, **{key: _column(bins, key) for key in BIN_COLUMNS})
    weights = [part.weight for part in rows if part.weight is not None]
    return RowScores(
        score=_column(rows, "score"),
        truth=_column(rows, "truth"),
        weight=np.concatenate(weights) if weights else None,
        **common,
    )
