"""A table as Markdown, CSV or LaTeX: numbers rounded for readers, raw in the CSV, names always escaped."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from evenhand.report.model_card import escaped
from evenhand.report.numbers import UNDEFINED, defined, number
from evenhand.report.study_tables import Cell, Table

# characters that mean something to LaTeX, and signs that its text fonts lack
LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{",
    "}": r"\}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "−": "$-$", "–": "--", "×": r"$\times$", "▼": r"$\downarrow$", "▲": r"$\uparrow$",
    "±": r"$\pm$", "∞": r"$\infty$", "≤": r"$\leq$", "≥": r"$\geq$",
    "[": "{[}", "*": "{*}",  # at the start of a row they would be taken as arguments of the line break
}  # fmt: skip


def shown(cell: Cell) -> str:
    """A cell as a reader sees it.

    >>> shown(0.12345), shown(8), shown(None), shown("erm"), shown(True)
    ('0.123', '8', '–', 'erm', 'yes')
    """
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, str):
        return cell
    return f"{cell:,}" if isinstance(cell, int) else number(cell)


def is_number(cell: Any) -> bool:
    """Whether a column of such cells is set to the right.

    >>> is_number(0.5), is_number("0.850 [0.8, 0.9] ▼"), is_number("erm"), is_number(">−0.001")
    (True, True, False, True)
    """
    if cell is None or cell == UNDEFINED or defined(cell):
        return True
    return isinstance(cell, str) and re.match(r"[<>]?[−+]?\d*\.?\d+($|[ \[(])", cell) is not None


def numeric_columns(table: Table) -> list[bool]:
    """Which columns are set to the right: those of numbers; dashes may stand among them.

    >>> numeric_columns(Table("t", ("a", "b", "c"), (("x", 0.5, "–"), ("y", "–", "–"))))
    [False, True, False]
    """
    columns = list(zip(*table.rows, strict=True))
    return [all(map(is_number, column)) and any(cell != UNDEFINED for cell in column) for column in columns]


def to_markdown(table: Table) -> str:
    """A pipe table with its note below.

    >>> print(to_markdown(Table("t", ("a", "b"), (("x|y", 0.5),))), end="")
    | a | b |
    | --- | ---: |
    | x\\|y | 0.500 |
    """
    align = ["---:" if right else "---" for right in numeric_columns(table)] or ["---"] * len(table.heads)
    lines = [[escaped(name) for name in table.heads], align]
    lines += [[escaped(shown(cell)) for cell in row] for row in table.rows]
    text = "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"
    return text + (f"\n{escaped(table.note)}\n" if table.note else "")


def to_csv(table: Table) -> str:
    """Comma-separated, numbers with all their digits, nothing where undefined.

    >>> to_csv(Table("t", ("a", "b"), (("x, y", None), ("z", 0.125))))
    'a,b\\n"x, y",\\nz,0.125\\n'
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(table.heads)
    writer.writerows(["" if cell is None else cell for cell in row] for row in table.rows)
    return out.getvalue()


def to_latex(table: Table) -> str:
    """A `tabular` for the package booktabs, with its title as a comment.

    >>> print(to_latex(Table("t", ("a_1", "b"), (("50%", 0.5),))), end="")
    % t
    \\begin{tabular}{lr}
    \\toprule
    a\\_1 & b \\\\
    \\midrule
    50\\% & 0.500 \\\\
    \\bottomrule
    \\end{tabular}
    """
    right = numeric_columns(table) or [False] * len(table.heads)
    spec = "".join("r" if one else "l" for one in right)
    lines = [f"% {' '.join(table.title.split())}", f"\\begin{{tabular}}{{{spec}}}", "\\toprule"]
    lines += [_latex_row(table.heads), "\\midrule", *(_latex_row(row) for row in table.rows)]
    lines += ["\\bottomrule", "\\end{tabular}"]
    lines += [f"% {latex_escaped(table.note)}"] if table.note else []
    return "\n".join(lines) + "\n"


def _latex_row(cells: tuple[Cell, ...]) -> str:
    return " & ".join(latex_escaped(shown(cell)) for cell in cells) + " \\\\"


def latex_escaped(text: str) -> str:
    """Text that LaTeX takes as text, on one line.

    >>> latex_escaped("a_b & 10% of {x}")
    'a\\\\_b \\\\& 10\\\\% of \\\\{x\\\\}'
    """
    plain = "".join(letter for letter in " ".join(text.split()) if letter not in "\u2068\u2069")
    return "".join(LATEX.get(letter, letter) for letter in plain)
