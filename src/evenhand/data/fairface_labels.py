"""The labels of FairFace: the names of its levels, and reading them from the official CSV files."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.arrays import IntArray
from evenhand.data.label_table import read_label_table
from evenhand.data.table_columns import check_columns
from evenhand.errors import InputError

LEVELS = {
    "age": ("0-2", "3-9", "10-19", "20-29", "30-39", "40-49", "50-59", "60-69", "more than 70"),
    "gender": ("Female", "Male"),
    "race": (
        *("Black", "East Asian", "Indian", "Latino_Hispanic"),
        *("Middle Eastern", "Southeast Asian", "White"),
    ),
}
# what a spreadsheet makes of "3-9" and "10-19": a day and a month, in either order
DATE = re.compile(r"\d{1,4}[-/. ][A-Za-z]{3,}|[A-Za-z]{3,}[-/. ]\d{1,4}|\d+[-/.]\d+[-/.]\d+.*")


def read_labels(path: Path) -> tuple[list[str], dict[str, IntArray]]:
    """The file names of an official label file (`train/1.jpg`) and the codes of age, gender and race."""
    columns = read_label_table(path)
    check_columns(columns, ["file", *LEVELS], f"labels in {path.name}")
    texts = {
        name: ["" if value is None else str(value) for value in columns[name]] for name in ("file", *LEVELS)
    }
    return texts["file"], {name: _codes(path, name, texts[name]) for name in LEVELS}


def _codes(path: Path, name: str, values: list[str]) -> IntArray:
    place = {level: code for code, level in enumerate(LEVELS[name])}
    wrong = [row for row, value in enumerate(values) if value not in place]
    if wrong:
        raise InputError(_complaint(path, name, values[wrong[0]], wrong[0], len(wrong)))
    return np.array([place[value] for value in values], dtype=np.int64)


def check_once(files: Sequence[str], root: Path) -> None:
    """Raise `InputError` for an image that is listed twice: it would be trained on and tested on."""
    counts = Counter(files)
    twice = [file for file, count in counts.items() if count > 1]
    if twice:
        raise InputError(
            f"the label files in {root} list {len(twice):,} images more than once, the first {twice[0]!r}; "
            "use them as they were published"
        )


def _complaint(path: Path, name: str, value: str, row: int, number: int) -> str:
    where = f"{path} has the {name} {value!r} in data row {row + 1}"
    if not value:
        rows = f"data row {row + 1} ({number:,} such row{'s' * (number > 1)})"
        return f"{path} has no {name} in {rows}; fill it in, or leave the image out"
    if name == "age" and DATE.fullmatch(value.strip()):
        return (
            f"{where} ({number:,} such rows): a spreadsheet turned ages into dates, 3-9 into 03-Sep and "
            "10-19 into Oct-19; use the label file as it was published"
        )
    levels = ", ".join(LEVELS[name])
    return f"{where} ({number:,} such row{'s' * (number > 1)}), which is none of its levels: {levels}"
