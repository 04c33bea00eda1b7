"""The reference page is the catalogue: complete, well-formed, and the copy in docs/ is up to date."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.metrics import reference
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.rates import RATES
from evenhand.metrics.score_rates import SCORE_RATES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def text() -> str:
    return reference.page()


def test_the_page_in_docs_is_up_to_date(text):
    kept = (ROOT / "docs" / "metrics.md").read_text(encoding="utf-8")
    assert kept == text, "run `make docs`"


def test_the_command_prints_the_page(text):
    command = [sys.executable, "-W", "error", "-m", "evenhand.metrics.reference"]
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        env={"PYTHONPATH": str(ROOT / "src"), "PYTHONIOENCODING": "utf-8"},
    )
    assert done.stdout.decode("utf-8") == text


def test_every_metric_and_every_rate_has_exactly_one_row(text):
    first_cells = re.findall(r"^\| `([^`]+)` \|", text, flags=re.MULTILINE)
    described = [key for key in first_cells if not key.startswith(".")]
    assert sorted(described) == sorted([*CATALOGUE, *RATES, *SCORE_RATES])


def test_every_table_row_has_as_many_cells_as_its_head(text):
    tables = re.findall(r"(?:^\|.*\|\n)+", text, flags=re.MULTILINE)
    assert len(tables) >= 10
    for table in tables:
        cells = [len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines()]
        assert len(set(cells)) == 1, table.splitlines()[0]


def test_every_row_states_its_source(text):
    for metric in CATALOGUE.values():
        assert metric.citation in text, metric.key


def test_a_family_that_nobody_has_named_is_still_described(monkeypatch):
    monkeypatch.delitem(reference.FAMILIES, "S4")
    assert "## S4\n" in reference.page()


def test_the_conventions_differ_where_the_page_says_so(text):
    section = text[text.index("## The three conventions") :]
    assert "undefined | 0.125, 0.091, 0.000 | 0.125, 0.091, 1.000 |" in section  # DI-bar of 0/0
    assert "| 0.125, 0.500 | 0.125, 0.500 | 0.125, 0.000 |" in section  # the guard left in a difference
    assert (
        "| 0.104, undefined, 0.021 | 0.104, 0.000, 0.021 | 0.104, 0.021, 0.000 |" in section
    )  # BA moves down
