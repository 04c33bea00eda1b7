"""The labels of FairFace: the names of its levels, and reading them from the official CSV files."""

from __future__ import annotations

import re
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
    codes = {name: _codes(path, name, [str(value) for value in columns[name]]) for name in LEVELS}
    return [str(file) for file in columns["file"]], codes


def _codes(path: Path, name: str, values: list[str]) -> IntArray:
    place = {level: code for code, level in enumerate(LEVELS[name])}
    wrong = [row for row, value in enumerate(values) if value not in place]
    if wrong:
        raise InputError(_complaint(path, name, values[wrong[0]], wrong[0], len(wrong)))
    return np.array([place[value] for value in values], dtype=np.int64)


def _complaint(path: Path, name: str, value: str, row: int, number: int) -> str:
    where = f"{path} has the {name} {value!r} in data row {row + 1}"
    if name == "age" and DATE.fullmatch(value.strip()):
        return (
            f"{where} ({number:,} such rows): a spreadsheet turned ages into dates, 3-9 into 03-Sep and "
            "10-19 into Oct-19; use the label file as it was published"
        )
    levels = ", ".join(LEVELS[name])
    return f"{where} ({number:,} such rows), which is none of its levels: {levels}"
