"""Small tables of predictions on disk, and a way to run the command line within this process."""

import gzip
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from evenhand.cli.app import app

FEW = ("--replicates", "50")


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run():
    """Run `evenhand ...`; errors are exit codes here, never exceptions."""

    def invoke(*arguments):
        found = CliRunner().invoke(app, [str(argument) for argument in arguments])
        return Ran(found.exit_code, found.stdout, found.stderr)

    return invoke


@dataclass(frozen=True)
class Rows:
    """Columns of a table, and ways to write it."""

    columns: dict

    def csv(self, path: Path) -> Path:
        lines = [
            ",".join(self.columns),
            *(",".join(map(str, row)) for row in zip(*self.columns.values(), strict=True)),
        ]
        text = "\n".join(lines) + "\n"
        if path.suffix == ".gz":
            path.write_bytes(gzip.compress(text.encode()))
        else:
            path.write_text(text)
        return path

    def part(self, rows) -> "Rows":
        return Rows({name: values[rows] for name, values in self.columns.items()})

    def having(self, **columns) -> "Rows":
        return Rows({**self.columns, **columns})


@pytest.fixture
def rows() -> Rows:
    """400 rows: label, prediction, score, weight, two groups (one with gaps)."""
    rng = np.random.default_rng(7)
    n = 400
    y = rng.integers(0, 2, n)
    score = np.round(np.clip(0.5 * y + rng.random(n) * 0.6, 0, 1), 3)
    sex = rng.choice(["f", "m"], n)
    age = rng.choice(["old", "young", ""], n, p=[0.3, 0.6, 0.1])
    return Rows(
        {
            "id": np.arange(n),
            "y": y,
            "p": (score >= 0.55).astype(int),
            "s": score,
            "w": rng.integers(1, 4, n),
            "sex": sex,
            "age": age,
        }
    )


@pytest.fixture
def table(rows, tmp_path) -> Path:
    """The rows as a CSV file."""
    return rows.csv(tmp_path / "preds.csv")


@pytest.fixture
def audit(run, table):
    """`evenhand audit` of the table by sex, with further arguments."""
    return lambda *more: run(
        "audit", table, "--label", "y", "--prediction", "p", "--group", "sex", *FEW, *more
    )
