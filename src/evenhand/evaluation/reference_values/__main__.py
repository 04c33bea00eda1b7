"""`python -m evenhand.evaluation.reference_values DIR [--out FOLDER] [--page FILE.md]`: beside public values.

Without `--page`: paper.html, its tables and its figure, in the study's folder or where `--out` says. With it:
the text between the markers of that page (`--help` names them; a new page is made with them), and the table
and figure that it links, in `--out` (a folder beside the page, of its name, unless given).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.evaluation.reference_values.study import compute, paper
from evenhand.report.marked_page import page_help, ready
from evenhand.study.store import Store

MARKED = "public values"  # what the two comments of the page are called


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.reference_values")
    parser.add_argument("folder", type=Path, help="folder of the study: it holds study.sqlite")
    parser.add_argument("--page", type=Path, help=page_help(MARKED))
    parser.add_argument("--out", type=Path, help="folder for what is written besides")
    chosen = parser.parse_args(arguments)
    try:
        _write(chosen.folder, chosen.page, chosen.out)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _write(folder: Path, page: Path | None, out: Path | None) -> None:
    from evenhand.report.reference_values_files import write_page

    ready(page, MARKED)  # before the work

    def tell(words: str) -> None:
        sys.stderr.write(f"{words}\n")

    program = "evenhand.evaluation.reference_values"
    with Store.open(folder, readonly=True) as store, naming_the_study(store.study(), folder, program):
        body = compute(store, tell) if page else paper(store, out or folder, tell)
    if page is None:
        return
    written = write_page(body, page, out or page.with_suffix(""))
    tell("written: " + ", ".join(map(str, written)))


if __name__ == "__main__":
    raise SystemExit(main())
