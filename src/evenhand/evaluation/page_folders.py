"""What programs that join several studies in one page share: reading folders, telling how far it is."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.claims import refuse_small
from evenhand.study.store import Store

Compute = Callable[[Store, Callable[[str], None]], dict[str, Any]]
Body = dict[str, Any]


def page_parser(program: str) -> argparse.ArgumentParser:
    """The arguments of a program that writes what studies say into a page, one file of HTML, or both."""
    parser = argparse.ArgumentParser(prog=f"python -m {program}")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of studies: each holds study.sqlite")
    parser.add_argument("--page", type=Path, help="Markdown page with the two markers")
    parser.add_argument("--out", type=Path, help="folder for tables, figures and pictures")
    parser.add_argument("--html", type=Path, help="file for everything as one page, pictures inside")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    return parser


def run_program(
    parser: argparse.ArgumentParser,
    arguments: Sequence[str] | None,
    work: Callable[[argparse.Namespace], list[Path]],
) -> int:
    """Do the work and tell what it wrote; 2 if something given was wrong."""
    chosen = parser.parse_args(arguments)
    if not (chosen.page or chosen.html):
        parser.error("say what to write: --page FILE, --html FILE, or both")
    try:
        written = work(chosen)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tell_written(written)
    return 0


def write_asked(
    chosen: argparse.Namespace,
    body: Body,
    write_page: Callable[[Body, Path, Path], list[Path]],
    render: Callable[[Body], str],
) -> list[Path]:
    """Write the page, with its files beside it unless `--out` says where, and the HTML, as asked for."""
    from evenhand.report.marked_page import written

    found: list[Path] = []
    if chosen.page:
        found += write_page(body, chosen.page, chosen.out or chosen.page.with_suffix(""))
    if chosen.html:
        found.append(written(chosen.html, render(body)))
    return found


def read_studies(folders: Sequence[Path], compute: Compute, *, whole: bool) -> list[dict[str, Any]]:
    """What is computed of each folder's runs; `whole` refuses studies in small, which answer no claim."""
    return [_read(folder, compute, whole) for folder in folders]


def _read(folder: Path, compute: Compute, whole: bool) -> dict[str, Any]:
    with Store.open(folder, readonly=True) as store:
        if whole:
            refuse_small(store.study())
        return compute(store, lambda words: tell(f"{folder.name}: {words}"))


def tell(words: str) -> None:
    """A line for whoever waits."""
    sys.stderr.write(f"{words}\n")


def tell_written(files: Sequence[Path]) -> None:
    """The page, and how many files it links."""
    linked = f" and {len(files) - 1} files that it links" if len(files) > 1 else ""
    tell(f"written: {files[0]}{linked}")
