"""`python -m evenhand.evaluation.ci_mnist_marks DIR --page FILE [--results FOLDER] [--json FILE]`."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.evaluation.ci_mnist_marks.answers import compute
from evenhand.evaluation.ci_mnist_marks.layout import NAME
from evenhand.evaluation.ci_mnist_marks.page import write_page
from evenhand.evaluation.page_command import run


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page of the study."""
    return run("evenhand.evaluation.ci_mnist_marks", __doc__, NAME, compute, write_page, arguments)


if __name__ == "__main__":
    raise SystemExit(main())
