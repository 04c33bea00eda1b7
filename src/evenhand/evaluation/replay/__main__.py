"""`python -m evenhand.evaluation.replay [--out DIR] [--claims CSV]`: replay, and fill S0's claims from it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from evenhand.errors import InputError
from evenhand.evaluation.claims import update
from evenhand.evaluation.replay.answers import answers
from evenhand.evaluation.replay.published import read_published
from evenhand.evaluation.replay.study import compute, replay


def main(arguments: Sequence[str] | None = None) -> int:
    """Compute the replay, write it where `--out` says and its answers where `--claims` says."""
    parser = argparse.ArgumentParser(prog="python -m evenhand.evaluation.replay", description=__doc__)
    parser.add_argument("--out", help="folder for tables, figure and page")
    parser.add_argument("--claims", help="claims file whose rows are filled from the published runs")
    chosen = parser.parse_args(arguments)
    try:
        body = replay(chosen.out) if chosen.out else compute(read_published())
        if chosen.claims:
            update(chosen.claims, answers(body))
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
