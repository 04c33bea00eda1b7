"""The program that writes the page of er-predicts-shift, and its answers into a claims file.

`python -m evenhand.evaluation.er_predicts_shift DIR --page FILE [--results DIR] [--claims CSV] [--json FILE]`
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.er_predicts_shift.answers import compute
from evenhand.evaluation.er_predicts_shift.claims import answers
from evenhand.evaluation.er_predicts_shift.layout import NAME
from evenhand.evaluation.er_predicts_shift.page import write_page
from evenhand.evaluation.page_command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page of the study."""
    program = "evenhand.evaluation.er_predicts_shift"
    return run(program, __doc__, NAME, compute, write_page, arguments, answers)


if __name__ == "__main__":
    raise SystemExit(main())
