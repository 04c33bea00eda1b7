"""The table on the page of ci-mnist-smallest says what the published numbers say."""

import csv
from pathlib import Path

import pytest

from evenhand.report.numbers import number
from evenhand.statistics.corrections import holm

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "studies" / "ci-mnist-smallest.md"
NUMBERS = ROOT / "studies" / "results" / "ci-mnist-smallest" / "numbers.csv"
METHODS = ("resample", "gdro", "w-erm", "w-sqrt-erm")


def rows():
    with NUMBERS.open(newline="", encoding="utf-8") as file:
        return {row["method"]: row for row in csv.DictReader(file) if row["metric"] == "acc_up"}


def told(row, *columns, signed=False):
    value, low, high = (float(row[column]) for column in columns)
    return f"{number(value, 3, signed=signed)} ({number(low, 3)} to {number(high, 3)})"


@pytest.mark.parametrize("method", METHODS)
def test_a_line_of_the_table_is_that_of_the_file(method):
    found = rows()
    row = found[method]
    four = dict(zip(METHODS, holm([float(found[name]["p"]) for name in METHODS]), strict=True))
    cells = [
        method,
        told(row, "mean", "low", "high"),
        told(row, "difference", "difference low", "difference high", signed=True),
        *(f"{value:.3f}" for value in (float(row["p"]), four[method], float(row["p adjusted"]))),
    ]
    assert f"| {' | '.join(cells)} |" in PAGE.read_text(encoding="utf-8")


def test_the_base_is_told_too():
    assert f"| MLP | {told(rows()['mlp'], 'mean', 'low', 'high')} |" in PAGE.read_text(encoding="utf-8")
