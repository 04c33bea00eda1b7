"""The predictions of several models for the same rows, brought side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl

from evenhand.arrays import FloatArray, IntArray
from evenhand.errors import InputError
from evenhand.groups import Attribute
from evenhand.tables.aligned import Aligned, Model, Unmatched, by_row, read_model
from evenhand.tables.coding import Coding, Column, code_classes, code_levels, with_positive
from evenhand.tables.columns import Columns
from evenhand.tables.keyed import by_key
from evenhand.tables.run_rows import Codes, RunRows, complete_rows
from evenhand.tables.same_groups import held_groups, refuse_other_groups
from evenhand.tables.sources import model_name


@dataclass(frozen=True)
class Joined:
    """N rows that every file has: coded truth, the prediction of each model, groups, run and weight.

    Unlike `Cells` this is held in memory: 2 bytes a row for each of its columns, 8 for a weight, and several
    times that while the files are being joined.
    """

    classes: tuple[str, ...]
    positive: str | None
    names: tuple[str, ...]  # of the models, the base first
    y: Codes = field(repr=False)
    predictions: Mapping[str, Codes] = field(repr=False)
    attributes: tuple[Attribute, ...]
    runs: tuple[str, ...]
    run: Codes = field(repr=False)  # 0 everywhere when there is no run column
    row: IntArray = field(repr=False)  # a row has the same number in every run
    weight: FloatArray | None = field(repr=False)
    unmatched: Mapping[str, Unmatched]  # of each alternative; all zero when the files are read row by row
    missing: int  # rows left out, each counted once: no label, or some model has no prediction in some run
    runs_left_out: tuple[str, ...] = ()  # runs that some file does not have


def read_joined(
    base: Path,
    alternatives: Sequence[Path],
    columns: Columns,
    names: Sequence[str] | None = None,
    *,
    threshold: float = 0.5,
    positive: object = None,
) -> Joined:
    """Join the files on the key column (and the run column, if any), or row by row where no key is named.

    Labels must agree, and groups where an alternative's file has them too; groups and weights are those of
    the base file. Without a key, the first row of every run is taken to be the same row, and so on. `names`
    are those of the models, the base first; without them the files' names are taken.

    >>> import tempfile
    >>> big, small = (Path(tempfile.mkdtemp(), name) for name in ("big.csv", "small.csv"))
    >>> _ = big.write_text("id,y,p,sex\\n1,0,0,f\\n2,1,1,m\\n"), small.write_text("id,y,p\\n2,1,0\\n1,0,0\\n")
    >>> joined = read_joined(big, [small], Columns("y", "p", ("sex",), key="id"))
    >>> {name: codes.tolist() for name, codes in joined.predictions.items()}
    {'big': [0, 1], 'small': [0, 0]}
    """
    files = [Path(base), *(Path(file) for file in alternatives)]
    models = _model_names(files, names)
    columns = replace(columns, score=columns.score if columns.prediction is None else ())
    tables = [read_model(files[0], columns, threshold)]
    tables += [_alternative(file, columns, threshold) for file in files[1:]]
    aligned = by_key(tables, columns) if columns.key is not None else by_row(tables)
    return _code(aligned, columns, models, positive)


def _alternative(file: Path, columns: Columns, threshold: float) -> Model:
    """An alternative's file, with the groups that it has under the names that they have in the base's."""
    held = held_groups(file, columns)
    model = read_model(file, replace(columns, groups=held, weight=None), threshold)
    places = {f"group{own}": f"group{columns.groups.index(name)}" for own, name in enumerate(held)}
    return replace(model, table=model.table.rename(places))


def _model_names(files: Sequence[Path], names: Sequence[str] | None) -> tuple[str, ...]:
    chosen = tuple(names) if names is not None else tuple(model_name(file) for file in files)
    if len(chosen) != len(files):
        raise InputError(f"{len(chosen)} names were given for {len(files)} files; name each model once")
    twice = next((name for name in chosen if chosen.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"two models are called '{twice}'; give each model a name of its own (--name, the base first)"
        )
    return chosen


def _code(aligned: Aligned, columns: Columns, models: tuple[str, ...], positive: object) -> Joined:
    classes, chosen, y, predictions = _labels(aligned, columns, positive)
    known = (y >= 0) & np.logical_and.reduce([codes >= 0 for codes in predictions])
    rows = complete_rows(aligned, columns, known)
    joined = Joined(
        classes=classes.names,
        positive=chosen,
        names=models,
        y=y[rows.line],
        predictions={name: codes[rows.line] for name, codes in zip(models, predictions, strict=True)},
        attributes=_attributes(aligned, columns, rows.line),
        runs=rows.names,
        run=rows.run,
        row=rows.row,
        weight=_weight(aligned, columns, rows.line),
        unmatched=dict(zip(models[1:], aligned.unmatched, strict=True)),
        missing=rows.missing,
        runs_left_out=aligned.runs_left_out,
    )
    _refuse_other_rows(joined, rows, columns)
    refuse_other_groups(aligned, columns)
    return joined


def _labels(
    aligned: Aligned, columns: Columns, positive: object
) -> tuple[Coding, str | None, Codes, list[Codes]]:
    """The classes, the positive one, and the codes of the labels and of each model's predictions."""
    labels = _columns(aligned, "label", columns.label)
    asked = [] if columns.prediction is None else _columns(aligned, "prediction", columns.prediction)
    classes, chosen = with_positive(code_classes([*labels, *asked]), positive, columns.label)
    y, *others = (column.codes(classes.place).astype(np.int16) for column in labels)
    for place, codes in enumerate(others, start=1):
        aligned.refuse_difference(place, "label", columns.label, y, codes, classes.names)
    predictions = [column.codes(classes.place).astype(np.int16) for column in asked]
    return classes, chosen, y, predictions or _predicted(aligned, columns, classes)


def _refuse_other_rows(joined: Joined, rows: RunRows, columns: Columns) -> None:
    """What a row is must not depend on the run: only one label, group and weight of it are used."""
    rows.refuse_difference("label", columns.label, joined.y)
    for attribute in joined.attributes:
        rows.refuse_difference("group", attribute.name, attribute.codes)
    if joined.weight is not None and columns.weight is not None:
        rows.refuse_difference("weight", columns.weight, joined.weight)


def _columns(aligned: Aligned, part: str, name: str) -> list[Column]:
    return [
        Column.of(part, name, file, aligned.frame[f"{part}{place}"], parse=parse)
        for place, (file, parse) in enumerate(zip(aligned.files, aligned.parse, strict=True))
    ]


def _predicted(aligned: Aligned, columns: Columns, classes: Coding) -> list[Codes]:
    """Predictions that were made from scores are codes already: 0 or 1 by the threshold."""
    if len(classes.names) != 2:
        raise InputError(
            f"a threshold on a score needs two classes, but the label column '{columns.label}' has "
            f"{len(classes.names)}; name a prediction column"
        )
    made = [aligned.frame[f"prediction{place}"] for place in range(len(aligned.files))]
    return [column.cast(pl.Int16).fill_null(-1).to_numpy() for column in made]


def _attributes(aligned: Aligned, columns: Columns, kept: IntArray) -> tuple[Attribute, ...]:
    found = []
    for place, name in enumerate(columns.groups):
        series = aligned.frame[f"group{place}"]
        column = Column.of("group", name, aligned.files[0], series, parse=aligned.parse[0])
        coding = code_levels(column)
        found.append(Attribute(name, coding.names, column.codes(coding.place).astype(np.int16)[kept]))
    return tuple(found)


def _weight(aligned: Aligned, columns: Columns, kept: IntArray) -> FloatArray | None:
    if columns.weight is None:
        return None
    weight: FloatArray = aligned.frame["weight"].to_numpy()[kept]
    return weight
