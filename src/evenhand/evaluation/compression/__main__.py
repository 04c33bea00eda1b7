"""`python -m evenhand.evaluation.compression DIR [DIR ...] --html FILE`, or `--page MD [--out FOLDER]`.

`--html` writes everything as one self-contained page, the pictures of exemplars inside. `--page` writes what
the studies say between the markers of a page, and its tables, figures and pictures into `--out` (a folder for
each study in it; beside the page, of its name, unless given).
`--claims` fills the rows of a claims file, each from the study that the file names for it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.claims import update
from evenhand.evaluation.compression.study import compute, together
from evenhand.evaluation.many_attributes.claims import answers
from evenhand.evaluation.page_folders import read_studies, tell_written


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.compression")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of studies: each holds study.sqlite")
    parser.add_argument("--page", type=Path, help="Markdown page with the two markers")
    parser.add_argument("--out", type=Path, help="folder for tables, figures and pictures")
    parser.add_argument("--html", type=Path, help="file for everything as one page, pictures inside")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    chosen = parser.parse_args(arguments)
    if not (chosen.page or chosen.html):
        parser.error("say what to write: --page FILE, --html FILE, or both")
    try:
        studies = read_studies(chosen.folders, compute, whole=bool(chosen.claims))
        body = together(studies)
        written = []
        if chosen.page:
            written += _write(body, chosen.page, chosen.out or chosen.page.with_suffix(""))
        if chosen.html:
            written += _write_html(body, chosen.html)
        if chosen.claims:
            update(chosen.claims, answers(body, chosen.claims))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tell_written(written)
    return 0


def _write(body: dict[str, Any], page: Path, out: Path) -> list[Path]:
    from evenhand.report.compression_files import write_page

    return write_page(body, page, out)


def _write_html(body: dict[str, Any], file: Path) -> list[Path]:
    from evenhand.report.compression import render
    from evenhand.report.marked_page import written

    return [written(file, render(body))]


if __name__ == "__main__":
    raise SystemExit(main())
