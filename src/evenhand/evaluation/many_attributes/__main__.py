"""`python -m evenhand.evaluation.many_attributes DIR [DIR ...] [--page MD] [--out FOLDER] [--claims CSV]`.

Without `--page`: paper.html, tables and figures of all studies given, in the first folder or where `--out`
says. With it: the text between the markers of that page (`--help` names them; a new one is made with them),
and the figures and tables that it links, in `--out` (a folder beside the page, of its name, unless given),
with a study.json of each study; a folder that holds one can be given in place of a store. `--claims` fills
the rows of a claims file, each from the study that the file names for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.evaluation.claims import update
from evenhand.evaluation.many_attributes.claims import answers
from evenhand.evaluation.many_attributes.study import KIND, compute, together
from evenhand.evaluation.page_folders import FOLDERS, publish_studies, read_studies, told_or_written
from evenhand.report.marked_page import page_help, ready

MARKED = "many attributes"  # what the two comments of the page are called


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.many_attributes")
    parser.add_argument("folders", type=Path, nargs="+", help=FOLDERS)
    parser.add_argument("--page", type=Path, help=page_help(MARKED))
    parser.add_argument("--out", type=Path, help="folder for what is written besides")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    chosen = parser.parse_args(arguments)
    return told_or_written(chosen.folders, lambda: _work(chosen), chosen.claims)


def _work(chosen: argparse.Namespace) -> list[Path]:
    ready(chosen.page, MARKED)  # before the work
    body = together(read_studies(chosen.folders, compute, KIND, whole=bool(chosen.claims)))
    found = answers(body, chosen.claims) if chosen.claims else None  # before anything is written
    written = _write(body, chosen.page, chosen.out or _beside(chosen))
    if found is not None:
        update(chosen.claims, found)
    return written


def _beside(chosen: argparse.Namespace) -> Path:
    found: Path = chosen.page.with_suffix("") if chosen.page else chosen.folders[0]
    return found


def _write(body: dict[str, Any], page: Path | None, out: Path) -> list[Path]:
    from evenhand.report.many_attributes_files import write_page, write_paper
    from evenhand.report.many_attributes_names import inside

    if page is None:
        return write_paper(body, out)
    several = len(body["studies"]) > 1
    return write_page(body, page, out) + publish_studies(body, out, lambda _, study: inside(study, several))


if __name__ == "__main__":
    raise SystemExit(main())
