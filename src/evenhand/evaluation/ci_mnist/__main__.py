"""`python -m evenhand.evaluation.ci_mnist DIR [--out FOLDER] [--claims CSV]`: a store in S3's shape."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist.answers import answers
from evenhand.evaluation.ci_mnist.study import paper
from evenhand.evaluation.claims import refuse_small, update
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.study.store import Store


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page of a store where `--out` says (else beside it), its answers where `--claims` says."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.ci_mnist", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of the study: it holds study.sqlite")
    parser.add_argument("--out", type=Path, help="folder for page, tables and figures")
    parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    chosen = parser.parse_args(arguments)
    try:
        with Store.open(chosen.folder, readonly=True) as store:
            if chosen.claims:
                refuse_small(store.study())
            with naming_the_study(store.study(), chosen.folder, "evenhand.evaluation.ci_mnist"):
                body = paper(store, chosen.out or chosen.folder, lambda words: print(words, file=sys.stderr))
        if chosen.claims:
            update(chosen.claims, answers(body))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
