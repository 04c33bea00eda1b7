"""The program that writes the page of hair-colour, and its answer into a claims file.

`python -m evenhand.evaluation.hair_colour DIR --page FILE [--results DIR] [--claims CSV] [--json FILE]`
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.hair_colour.answers import answers
from evenhand.evaluation.hair_colour.layout import NAME
from evenhand.evaluation.hair_colour.page import write_page
from evenhand.evaluation.hair_colour.study import compute
from evenhand.evaluation.page_command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page of the study."""
    return run("evenhand.evaluation.hair_colour", __doc__, NAME, compute, write_page, arguments, answers)


if __name__ == "__main__":
    raise SystemExit(main())
