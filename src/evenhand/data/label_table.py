"""A CSV file of labels, as columns: for a folder of images."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

from evenhand.arrays import Array
from evenhand.errors import InputError

SEPARATORS = (",", ";", "\t")


def read_label_table(path: Path) -> dict[str, Array]:
    """The columns of a CSV file: texts, or whole numbers where all are such; an empty field is None.

    Fields are parted by commas, or by semicolons or tabs where the header has more of those.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            separator = max(SEPARATORS, key=file.readline().count)
            file.seek(0)
            rows = [row for row in csv.reader(file, delimiter=separator) if row]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"the labels {path} cannot be read ({error})") from error
    if len(rows) < 2:
        raise InputError(f"the labels {path} hold no rows: a header and one line for each image are needed")
    header = rows[0]
    if len(set(header)) < len(header):
        raise InputError(f"the header of {path} names a column twice: {', '.join(header)}")
    for number, row in enumerate(rows[1:], start=1):
        if len(row) != len(header):
            raise InputError(f"row {number} of {path} has {len(row)} fields, its header {len(header)}")
    return {name: _typed([row[place] for row in rows[1:]]) for place, name in enumerate(header)}


def _typed(texts: list[str]) -> Array:
    """Whole numbers sort as numbers, class 10 after class 9; "007" only looks like one and stays a text."""
    whole = all(
        text == "" or (text.removeprefix("-").isdecimal() and str(int(text)) == text) for text in texts
    )
    values = [None if text == "" else int(text) if whole else text for text in texts]
    return np.array(values, dtype=object)
