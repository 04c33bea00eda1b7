"""`python -m evenhand.evaluation.fixed_seed DIR [DIR ...] --html FILE`, or `--page MD [--out FOLDER]`.

`--html` writes everything as one self-contained page. `--page` writes what the studies say between the
markers of a page, and its tables and figures into `--out` (a folder beside the page, of its name, unless
given). `--benchmark` names the file of `benchmarks/deterministic_mode.py`, which is told beside. `--claims`
fills S0.12 to S0.15 of a claims file; studies in small answer none.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.claims import update
from evenhand.evaluation.fixed_seed.benchmark import read_benchmark
from evenhand.evaluation.fixed_seed.claims import answers
from evenhand.evaluation.fixed_seed.paper import with_answers
from evenhand.evaluation.fixed_seed.study import compute, together
from evenhand.evaluation.page_folders import read_studies, tell_written


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.fixed_seed")
    parser.add_argument("folders", type=Path, nargs="+", help="folders of studies: each holds study.sqlite")
    parser.add_argument("--page", type=Path, help="Markdown page with the two markers")
    parser.add_argument("--out", type=Path, help="folder for tables and figures")
    parser.add_argument("--html", type=Path, help="file for everything as one page, figures inside")
    parser.add_argument("--claims", help="claims file whose rows are filled")
    parser.add_argument("--benchmark", type=Path, help="results of benchmarks/deterministic_mode.py")
    chosen = parser.parse_args(arguments)
    if not (chosen.page or chosen.html):
        parser.error("say what to write: --page FILE, --html FILE, or both")
    try:
        bench = read_benchmark(chosen.benchmark) if chosen.benchmark else None
        studies = read_studies(chosen.folders, compute, whole=bool(chosen.claims))
        body = together(studies, bench)
        written = []
        if chosen.page:
            written += _write(body, chosen.page, chosen.out or chosen.page.with_suffix(""))
        if chosen.html:
            written += _write_html(body, chosen.html)
        if chosen.claims:
            update(chosen.claims, answers(body))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    tell_written(written)
    return 0


def _write(body: dict[str, Any], page: Path, out: Path) -> list[Path]:
    from evenhand.report.fixed_seed_files import write_page

    return write_page(body, page, out)


def _write_html(body: dict[str, Any], file: Path) -> list[Path]:
    from evenhand.report.fixed_seed_page import render
    from evenhand.report.marked_page import written

    return [written(file, render(with_answers(body)))]


if __name__ == "__main__":
    raise SystemExit(main())
