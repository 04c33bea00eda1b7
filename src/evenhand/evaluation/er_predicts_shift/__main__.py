"""`python -m evenhand.evaluation.er_predicts_shift DIR --page FILE [--results FOLDER] [--json FILE]`."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.evaluation.er_predicts_shift.answers import compute
from evenhand.evaluation.er_predicts_shift.layout import NAME
from evenhand.evaluation.er_predicts_shift.page import write_page
from evenhand.study.results import RESULTS
from evenhand.study.store import Store


def main(arguments: Sequence[str] | None = None) -> int:
    """Write what a store says into the page, figure and long tables beside its published runs."""
    parser = argparse.ArgumentParser(
        prog="python -m evenhand.evaluation.er_predicts_shift", description=__doc__
    )
    parser.add_argument("folder", type=Path, help="folder of the study: it holds study.sqlite")
    parser.add_argument("--page", type=Path, required=True, help="Markdown file that holds the two comments")
    parser.add_argument("--results", type=Path, default=RESULTS / NAME, help="folder of figure and tables")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    chosen = parser.parse_args(arguments)
    try:
        with Store.open(chosen.folder, readonly=True) as store:
            body = compute(store)
        write_page(body, chosen.page, chosen.results)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if chosen.json:
        chosen.json.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
