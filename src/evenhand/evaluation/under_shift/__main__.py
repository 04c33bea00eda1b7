"""The program that writes how a study's gaps stand up to its shifts into a page.

`python -m evenhand.evaluation.under_shift DIR --page FILE [--results DIR] [--json FILE]`
"""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.page_command import run
from evenhand.evaluation.under_shift.numbers import compute
from evenhand.evaluation.under_shift.page import write_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into a page."""
    return run("evenhand.evaluation.under_shift", __doc__, "under-shift", compute, write_page, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
