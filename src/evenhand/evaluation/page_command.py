"""The command that reads a store and writes the page of its study, for studies that have one of their own."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.claims import read_claims, refuse_small, update
from evenhand.evaluation.page_refused import naming_the_study
from evenhand.report.marked_page import page_help, ready
from evenhand.study.results import RESULTS
from evenhand.study.store import Store

MARKED = "numbers"  # what the comments of all these pages are called
Compute = Callable[[Store], Mapping[str, Any]]
Write = Callable[[Mapping[str, Any], Path, Path], None]
Answers = Callable[[Mapping[str, Any]], Mapping[str, Mapping[str, str]]]


def run(
    program: str,
    about: str,
    name: str,
    compute: Compute,
    write: Write,
    arguments: Sequence[str] | None,
    answers: Answers | None = None,
) -> int:
    """Write what a store says into the page, figures and tables beside its published runs; 2 if refused.

    `answers` makes columns of a claims file of what was computed, for studies that answer claims. Filled are
    the claims for which the file names this study; another study's answers stay.
    """
    parser = argparse.ArgumentParser(prog=f"python -m {program}", description=about)
    parser.add_argument("folder", type=Path, help="folder of the study: it holds study.sqlite")
    parser.add_argument("--page", type=Path, required=True, help=page_help(MARKED))
    parser.add_argument("--results", type=Path, default=RESULTS / name, help="folder of figures and tables")
    parser.add_argument("--json", type=Path, help="file for all numbers")
    if answers:
        parser.add_argument("--claims", help="claims file whose rows are filled from the runs")
    chosen = parser.parse_args(arguments)
    try:
        ready(chosen.page, MARKED)  # before the work
        with Store.open(chosen.folder, readonly=True) as store:
            if answers and chosen.claims:
                refuse_small(store.study())
            with naming_the_study(store.study(), chosen.folder, program):
                body = compute(store)
        found = None
        if answers and chosen.claims:  # before anything is written
            found = _meant(answers(body), chosen.claims, str(body["name"]))
        write(body, chosen.page, chosen.results)
        if found is not None:
            update(chosen.claims, found)
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    if chosen.json:
        chosen.json.write_text(json.dumps(body, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return 0


def _meant(found: Mapping[str, Mapping[str, str]], claims: str, study: str) -> dict[str, Mapping[str, str]]:
    """The answers to claims for which the file names the study; `InputError` where it names it for none."""
    named = {row["id"] for row in read_claims(claims) if row["study"] == study}
    if not named & found.keys():
        asked = ", ".join(found)
        raise InputError(f"{claims} names another study than {study!r} for {asked}: nothing is filled")
    return {name: answer for name, answer in found.items() if name in named}
