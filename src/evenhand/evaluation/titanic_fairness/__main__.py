"""The program that runs the study and writes its page, results and claim.

`python -m evenhand.evaluation.titanic_fairness [--out DIR] [--page FILE] [--claims CSV]`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.evaluation.claims import update
from evenhand.evaluation.titanic_fairness.answers import answers
from evenhand.evaluation.titanic_fairness.layout import NAME
from evenhand.evaluation.titanic_fairness.page import MARKED, write_folder, write_page
from evenhand.evaluation.titanic_fairness.study import compute
from evenhand.report.marked_page import page_help, ready
from evenhand.study.results import RESULTS


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the study; write what is asked for; 2 if refused."""
    parser = argparse.ArgumentParser(
        prog="python -m evenhand.evaluation.titanic_fairness", description=__doc__
    )
    parser.add_argument("--out", type=Path, default=RESULTS / NAME, help="folder of figure and tables")
    parser.add_argument("--page", type=Path, help=page_help(MARKED))
    parser.add_argument("--claims", help="claims file whose row S2.9 is filled")
    chosen = parser.parse_args(arguments)
    try:
        ready(chosen.page, MARKED)  # before the work
        body = compute()
        if chosen.page:
            write_page(body, chosen.page, chosen.out)
        else:
            write_folder(body, chosen.out)
        if chosen.claims:
            update(chosen.claims, answers(body))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
