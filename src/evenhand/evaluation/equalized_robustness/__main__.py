"""`python -m evenhand.evaluation.equalized_robustness DIR [--out FOLDER] [--page MD] [--claims CSV]`.

Without `--page`: paper.html, tables and figures, in the study's folder or where `--out` says. With it: the
text between the markers of that page (`--help` names them; a new page is made with them), and the figures and
tables that it links, in `--out` (a folder beside the page, of its name, unless given). `--claims` fills the
rows of a claims file.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.evaluation.claims import refuse_small, update
from evenhand.evaluation.equalized_robustness.claims import answers
from evenhand.evaluation.equalized_robustness.study import compute, paper
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.report.marked_page import page_help, ready
from evenhand.study.store import Store

MARKED = "equalized robustness"  # what the two comments of the page are called


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.equalized_robustness")
    parser.add_argument("folder", type=Path, help="folder of the study: it holds study.sqlite")
    parser.add_argument("--page", type=Path, help=page_help(MARKED))
    parser.add_argument("--out", type=Path, help="folder for what is written besides")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    chosen = parser.parse_args(arguments)
    try:
        _write(chosen.folder, chosen.page, chosen.out, chosen.claims)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


def _write(folder: Path, page: Path | None, out: Path | None, claims: str | None) -> None:
    from evenhand.report.equalized_robustness_files import write_page

    ready(page, MARKED)  # before the work

    def tell(words: str) -> None:
        sys.stderr.write(f"{words}\n")

    with Store.open(folder, readonly=True) as store:
        if claims:
            refuse_small(store.study())
        with naming_the_study(store.study(), folder, "evenhand.evaluation.equalized_robustness"):
            body = compute(store, tell) if page else paper(store, out or folder, tell)
    if page:
        written = write_page(body, page, out or page.with_suffix(""))
        tell("written: " + ", ".join(map(str, written)))
    if claims:
        update(claims, answers(body))


if __name__ == "__main__":
    raise SystemExit(main())
