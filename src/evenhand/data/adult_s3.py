"""Adult as the public code of S3 prepares it: no row with a gap, no sex among the inputs, age protected.

Settings have the names that S3's code gives them: "0.06,0.36" for P(unprivileged | y=1) = .06 and
P(unprivileged | y=0) = .36. Each is an interval of ages; the shares in the data are near its name, not equal.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.data.adult_raw import (
    CATEGORIES,
    CLASSES,
    MISSING,
    NUMBERS,
    Columns,
    attributes,
    chosen_columns,
    make_task,
)
from evenhand.data.encode import Block, as_numbers, check_choice, join, numbers, one_hot
from evenhand.data.splits import check_share
from evenhand.data.task import Task
from evenhand.groups import Attribute

EDGES = (18, 25, 30, 35, 40, 45, 50, 55, 60, 65)  # of the 11 buckets of age, each closed on the right
INTERVALS = {  # ages called unprivileged, from the first to before the second
    "0.5,0.5": (25, 44),
    "0.66,0.33": (38, 60),
    "0.33,0.33": (28, 40),
    "0.1,0.1": (32, 36),
    "0.06,0.36": (0, 30),
    "0.01,0.01": (71, 100),
}


def prepare(
    columns: Columns,
    validation: float | None,
    without: str,
    age_ratio: str,
    balanced_test: bool,
    balanced_validation: bool = False,
    privileged_first: bool = False,
) -> Task:
    """The task of 45,222 rows and 112 inputs; z-scores by the whole training file, as in S3's code.

    Nobody of the work class "Never-worked" has a complete row: it keeps its (constant) column.
    """
    ratio = check_choice("age_ratio", _spelled(age_ratio), tuple(INTERVALS))
    share = 0.2 if validation is None else check_share("validation", validation)
    levels = {name: sorted({*columns[name]} - {MISSING}) for name in CATEGORIES}
    columns, split = _split(_complete(columns), share, ratio, balanced_test, balanced_validation)
    ages = as_numbers(columns["age"])
    protected = _age_interval(ages, ratio, privileged_first)
    knobs = {"validation": share, "without": without, "age_ratio": ratio, "balanced_test": balanced_test}
    # only where they are on: a task that does without them stays the task it was
    knobs |= {"balanced_validation": True} if balanced_validation else {}
    knobs |= {"privileged_first": True} if privileged_first else {}
    return make_task(
        columns,
        _inputs(columns, levels, ages, without),
        np.concatenate([split["validation"], split["train"]]),
        {part: rows for part, rows in split.items() if len(rows)},
        (protected, *(attribute for attribute in attributes(columns) if attribute.name != "age")),
        {"preparation": "s3", **knobs},
        (
            f"Level {int(privileged_first)} of age is the group that S3 calls unprivileged; its inputs still "
            "hold the age buckets.",
            "Rows with a gap are left out: 3,620 of 48,842. The split is fixed, so a seed changes nothing.",
        ),
    )


def _complete(columns: Columns) -> dict[str, list[str]]:
    rows = zip(*columns.values(), strict=True)
    kept = [row for row in rows if MISSING not in row]
    return dict(zip(columns, (list(column) for column in zip(*kept, strict=True)), strict=True))


def _split(
    columns: dict[str, list[str]], share: float, ratio: str, balanced_test: bool, balanced_validation: bool
) -> tuple[dict[str, list[str]], dict[str, IntArray]]:
    """The rows of each part; those of the balanced validation part are copies at the end of the columns."""
    n, n_train = len(columns["age"]), columns["split"].count("train")
    outside = _age_interval(as_numbers(columns["age"]), ratio).codes
    cell = outside * 2 + (np.asarray(columns["income"]) == CLASSES[1])
    held = np.arange(int(share * n_train))
    test = np.arange(n_train, n)
    test = _balanced(test, cell) if balanced_test else test
    split = {"train": np.arange(len(held), n_train), "validation": held, "test": test}
    if balanced_validation:
        chosen = _balanced(held, cell)
        columns = {name: values + [values[row] for row in chosen] for name, values in columns.items()}
        split["validation_balanced"] = np.arange(n, n + len(chosen))
    return columns, split


def _inputs(columns: Columns, levels: Columns, ages: FloatArray, without: str) -> Block:
    bucket = np.searchsorted(EDGES, ages, side="left")
    names = (
        "up to 18",
        *(f"{low + 1} to {high}" for low, high in pairwise(EDGES)),
        "over 65",
    )
    blocks = [Block(tuple(f"age={name}" for name in names), np.eye(len(names))[bucket])]
    kept = chosen_columns(("age", *CATEGORIES, *NUMBERS[2:]), without)
    blocks = blocks if "age" in kept else []
    blocks += [
        one_hot(name, columns[name], levels[name]) for name in CATEGORIES if name in kept and name != "sex"
    ]
    return join(
        [*blocks, *(numbers(name, as_numbers(columns[name])) for name in NUMBERS[2:] if name in kept)]
    )


def _age_interval(ages: FloatArray, ratio: str, privileged_first: bool = False) -> Attribute:
    """Whether an age is outside the interval, as S3's code has it; or within, the others coming first."""
    low, high = INTERVALS[ratio]
    inside = (ages >= low) & (ages < high)
    levels = (f"{low} to {high - 1}", "other")
    if privileged_first:
        return Attribute("age", levels[::-1], inside.astype(np.int64))
    return Attribute("age", levels, (~inside).astype(np.int64))


def _balanced(rows: IntArray, cell: IntArray) -> IntArray:
    """The first m rows of each cell of age and label, m being the size of the smallest."""
    members = [rows[cell[rows] == value] for value in range(4)]
    least = min(len(member) for member in members)
    return np.sort(np.concatenate([member[:least] for member in members]))


def _spelled(ratio: str) -> str:
    """A ratio as the table spells it.

    >>> _spelled("(.5, .5)")
    '0.5,0.5'
    """
    parts = str(ratio).strip("()[] ").split(",")
    try:
        return ",".join(f"{float(part):g}" for part in parts)
    except ValueError:
        return str(ratio)
