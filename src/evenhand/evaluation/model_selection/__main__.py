"""The program that writes the page of a zoo, and its answers into a claims file.

`python -m evenhand.evaluation.model_selection DIR --page FILE [--results DIR] [--claims CSV] [--json FILE]`
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.model_selection.answers import answers
from evenhand.evaluation.model_selection.layout import NAME
from evenhand.evaluation.model_selection.page import write_page
from evenhand.evaluation.model_selection.study import compute
from evenhand.evaluation.page_command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page of the study."""
    return run("evenhand.evaluation.model_selection", __doc__, NAME, compute, write_page, arguments, answers)


if __name__ == "__main__":
    raise SystemExit(main())
