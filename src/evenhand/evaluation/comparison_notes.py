"""What a reader of a comparison must be told beside the numbers: warnings in plain words."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from evenhand.arrays import Array
from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.differences import Measured, least_p
from evenhand.evaluation.heaviest_class import heaviest
from evenhand.evaluation.notes import words_on_foreign
from evenhand.evaluation.options import Options
from evenhand.metrics.margins import Margins

MOST_NAMES = 5
Pairs = Mapping[str, Mapping[str, Measured]]  # CEV, SDE and so on of each alternative


def notes_on_models(
    rows: Rows,
    base: str,
    whole: Mapping[str, Margins],
    pairs: Pairs,
    changed: Mapping[str, int],
    sizes: Array,
    options: Options,
) -> tuple[str, ...]:
    """The warnings of a comparison: of the rows, of CEV and SDE, of what can be shown, of several runs.

    `whole` are the margins of all rows, `changed` in how many of them each alternative differs from the base.
    """
    return (
        *rows.warnings,
        *_of_rows(rows),
        *_of_classes(rows, pairs),
        *_small_groups(rows, sizes, options),
        *_few_errors(rows, whole, base, list(changed)),
        *_few_changes(changed, options),
        *_without_partner(rows, base, list(changed)),
    )


def runs_of(rows: Rows, name: str) -> int:
    """How many runs a model has."""
    return len(np.atleast_2d(rows.predictions[name]))


def _of_rows(rows: Rows) -> list[str]:
    """Rows that are left out, rows of no known group, classes that only one column has."""
    notes = []
    if rows.missing:
        left = "row" if rows.missing == 1 else "rows"
        was = "was" if rows.missing == 1 else "were"
        notes.append(f"{rows.missing:,} {left} without a label or some prediction {was} left out")
    if unknown := int((rows.ids < 0).sum()):
        have = "row has no known group: it takes" if unknown == 1 else "rows have no known group: they take"
        notes.append(f"{unknown:,} {have} part in everything but the groups")
    labels = np.bincount(rows.y, minlength=len(rows.classes))
    for name, runs in rows.predictions.items():
        predicted = np.bincount(runs.reshape(-1), minlength=len(rows.classes))
        if foreign := words_on_foreign(rows.classes, labels, predicted):
            notes.append(f"{name}: {foreign}")
    return notes


def _of_classes(rows: Rows, pairs: Pairs) -> list[str]:
    """What CEV and SDE leave out, and where one of them adds nothing."""
    notes = [
        f"{name}: {value.skipped} of {len(rows.classes)} classes have a base error rate of 0 (or no "
        "rows) and are left out of CEV and SDE, whose relative changes they do not have"
        for name, value in pairs["cev"].items()
        if value.skipped
    ]
    if len(rows.classes) == 2:
        notes.append("with two classes CEV is SDE squared over 2: it adds nothing")
    return notes


def _small_groups(rows: Rows, sizes: Array, options: Options) -> list[str]:
    least = max(options.min_count, 1)
    small = [name for name, size in zip(rows.group_names, sizes, strict=False) if size < least]
    if not small:
        return []
    told = f"left out of gaps, and not tested, for fewer than {options.min_count} rows"
    return [f"{told}: {', '.join(small[:MOST_NAMES])}"]


def _few_errors(rows: Rows, whole: Mapping[str, Margins], base: str, others: list[str]) -> list[str]:
    """Of each alternative whose CEV is made by a class of few errors, that it is."""
    runs = runs_of(rows, base)
    found = {name: heaviest(whole[base], whole[name], rows.classes, runs) for name in others}
    return [f"{name}: {told}" for name, told in found.items() if told]


def _few_changes(changed: Mapping[str, int], options: Options) -> list[str]:
    """Of each alternative that predicts too few rows otherwise than the base for anything to be shown."""
    return [
        f"{name}: only {'1 row is' if count == 1 else f'{count} rows are'} predicted otherwise than by the "
        "base, so that no difference can be told from chance, whatever an interval seems to say"
        for name, count in changed.items()
        if count and least_p(count) > 1.0 - options.confidence
    ]


def _without_partner(rows: Rows, base: str, others: list[str]) -> list[str]:
    """Of each alternative that has more runs than the base, or fewer, which are in no pair."""
    own = runs_of(rows, base)
    told = []
    for name in others:
        fewest, most = sorted((own, runs_of(rows, name)))
        if fewest > 1 and fewest < most:
            alone = f"{most - fewest} of {most} {'is' if most - fewest == 1 else 'are'} in no pair"
            told.append(
                f"{name} has {runs_of(rows, name)} runs and {base} {own}: rates and their changes are of all "
                "of them, but runs are paired (the first of both, the second of both) for CEV and SDE "
                f"within groups and for how far the rows matter: {alone}"
            )
    return told
