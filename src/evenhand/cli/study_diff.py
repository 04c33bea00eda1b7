"""`evenhand study diff DIR DIR`: did running it again, elsewhere or later, give the same?"""

from __future__ import annotations

import typer

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.listing_parts import print_json
from evenhand.cli.study_folder import check_folder, reading


def diff(one: given.Folder, two: given.Other, json: given.AsJson = False) -> None:
    """What differs between two folders: declarations, runs, bits of counts and weights, metrics of methods.

    Exit codes: 0 they are equal, 1 something differs.
    """
    for folder in (one, two):
        check_folder(folder)
    from evenhand.evaluation.study_diff import diff_studies

    with messages.progress() as tell, reading(one) as first, reading(two) as second:
        tell("comparing")
        body = diff_studies(first, second)
    if json:
        print_json(body)
    else:
        from evenhand.report.terminal_study_diff import diff_table

        messages.console().print(diff_table(body))
    if not body["equal"]:
        raise typer.Exit(1)
