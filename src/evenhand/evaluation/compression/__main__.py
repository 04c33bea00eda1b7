"""`python -m evenhand.evaluation.compression DIR [DIR ...] --html FILE`, or `--page MD [--out FOLDER]`.

`--html` writes everything as one self-contained page, the pictures of exemplars inside. `--page` writes what
the studies say between the two lines `<!-- compression: begin -->` and `<!-- compression: end -->` of a page,
which is made with them where it is not there, and its tables, figures and pictures into `--out` (a folder for
each study in it; beside the page, of its name, unless given), with a study.json of each; a folder that holds
one can be given in place of a store. Pictures of data that is neither in the package nor made by it are on
the page of `--html` alone, which is for whoever has the data: they are not ours to pass on.
`--claims` fills the rows of a claims file, each from the study that the file names for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evenhand.evaluation.claims import update
from evenhand.evaluation.compression.exemplars import to_publish
from evenhand.evaluation.compression.study import KIND, compute, together
from evenhand.evaluation.many_attributes.claims import answers
from evenhand.evaluation.page_folders import page_parser, read_studies, run_program, write_asked

MARKED = "compression"  # what the two comments of the page are called


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    return run_program(page_parser("evenhand.evaluation.compression", MARKED), arguments, _write)


def _write(chosen: argparse.Namespace) -> list[Path]:
    from evenhand.report.compression import render
    from evenhand.report.compression_files import write_page
    from evenhand.report.marked_page import ready

    ready(chosen.page, MARKED)  # before the work
    body = together(read_studies(chosen.folders, compute, KIND, whole=bool(chosen.claims)))
    found = answers(body, chosen.claims) if chosen.claims else None  # before anything is written
    written = write_asked(
        chosen, body, write_page, render, lambda _, study: str(study["name"]), public=to_publish
    )
    if found is not None:
        update(chosen.claims, found)
    return written


if __name__ == "__main__":
    raise SystemExit(main())
