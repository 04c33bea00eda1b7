"""The results as a table: in the terminal, and in README.md between two markers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.rows import Row

README = Path(__file__).with_name("README.md")
FRONT = Path(__file__).resolve().parent.parent / "README.md"
BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
HEADER = ("benchmark", "measured", "value", "target", "verdict")


def plain(rows: Sequence[Row]) -> str:
    """Columns of text."""
    lines = [HEADER, *(row.cells() for row in rows)]
    widths = [max(len(line[place]) for line in lines) for place in range(len(HEADER))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    )


def markdown(rows: Sequence[Row], facts: dict[str, Any]) -> str:
    """A Markdown table, and below it what it was measured with."""
    lines = [HEADER, ("---",) * len(HEADER), *(row.cells() for row in rows)]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    versions = ", ".join(f"{name} {version}" for name, version in facts["versions"].items() if version)
    short = sum(row.holds is False for row in rows)
    verdict = (
        "Every target holds."
        if short == 0
        else f"{short} of {sum(row.target is not None for row in rows)} fall short."
    )
    machine = f"{facts['cores']} cores ({facts['system']}, {facts['processor']}, load {facts['load']})"
    return f"{table}\n\n{verdict} Measured on {machine} with Python {facts['python']} and {versions}."


def front(rows: Sequence[Row], facts: dict[str, Any]) -> str:
    """The rows that have a target, for the front page."""
    aimed = [row.cells()[1:] for row in rows if row.target is not None]
    lines = [HEADER[1:], ("---",) * (len(HEADER) - 1), *aimed]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    more = "how the close ones vary from run to run is in [benchmarks](benchmarks/)."
    return f"{table}\n\n`make bench`, {facts['cores']} cores; {more}"


def write_readme(rows: Sequence[Row], facts: dict[str, Any]) -> None:
    """Put the tables between the markers of both pages; the rest stays as it is."""
    for page, table in ((README, markdown(rows, facts)), (FRONT, front(rows, facts))):
        before, rest = page.read_text().split(BEGIN, 1)
        after = rest.split(END, 1)[1]
        page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")
