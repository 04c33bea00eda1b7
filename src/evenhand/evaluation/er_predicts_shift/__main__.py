"""`python -m evenhand.evaluation.er_predicts_shift DIR --page FILE [--results FOLDER] [--json FILE]`."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.er_predicts_shift.answers import compute
from evenhand.evaluation.er_predicts_shift.layout import NAME
from evenhand.evaluation.er_predicts_shift.page import write_page
from evenhand.evaluation.page_command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page of the study."""
    return run("evenhand.evaluation.er_predicts_shift", __doc__, NAME, compute, write_page, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
