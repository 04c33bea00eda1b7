"""`python -m evenhand.evaluation.fixed_seed DIR [DIR ...] --html FILE`, or `--page MD [--out FOLDER]`.

`--html` writes everything as one self-contained page. `--page` writes what the studies say between the
two lines `<!-- fixed seed: begin -->` and `<!-- fixed seed: end -->` of a page, which is made with them where
it is not there, and its tables and figures into `--out` (a folder beside the page, of its name, unless
given), with a study.json of each study; a folder that holds one can be given in place of a store.
`--benchmark` names the file of `benchmarks/deterministic_mode.py`, which is told beside. `--claims` fills
S0.12 to S0.15 of a claims file; studies in small answer none.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from evenhand.evaluation.claims import update
from evenhand.evaluation.fixed_seed.benchmark import read_benchmark
from evenhand.evaluation.fixed_seed.claims import answers
from evenhand.evaluation.fixed_seed.paper import with_answers
from evenhand.evaluation.fixed_seed.study import KIND, compute, together
from evenhand.evaluation.page_folders import page_parser, read_studies, run_program, write_asked

MARKED = "fixed seed"  # what the two comments of the page are called


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what is asked for; 2 if something given was wrong."""
    parser = page_parser("evenhand.evaluation.fixed_seed", MARKED)
    parser.add_argument("--benchmark", type=Path, help="results of benchmarks/deterministic_mode.py")
    return run_program(parser, arguments, _write)


def _write(chosen: argparse.Namespace) -> list[Path]:
    from evenhand.report.fixed_seed_files import study_folder, write_page
    from evenhand.report.fixed_seed_page import render
    from evenhand.report.marked_page import ready

    ready(chosen.page, MARKED)  # before the work
    bench = read_benchmark(chosen.benchmark) if chosen.benchmark else None
    body = together(read_studies(chosen.folders, compute, KIND, whole=bool(chosen.claims)), bench)
    found = answers(body) if chosen.claims else None  # before anything is written
    written = write_asked(chosen, body, write_page, lambda found: render(with_answers(found)), study_folder)
    if found is not None:
        update(chosen.claims, found)
    return written


if __name__ == "__main__":
    raise SystemExit(main())
