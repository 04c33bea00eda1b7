"""`evenhand study publish DIR`: what is kept of a study for others, small enough to be committed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.study_folder import reading

To = Annotated[
    Path | None,
    typer.Option("--to", metavar="DIR", help="Where it goes: studies/results/NAME unless given."),
]


def publish(folder: given.Folder, to: To = None) -> None:
    """Write runs.parquet, summary.md and a few figures of a study: what one commits.

    'study run NAME --add FILE.py:CLASS' takes the runs of all other methods from there.
    """
    from evenhand.evaluation.study.publish import publish as written_of
    from evenhand.study.results import RESULTS

    with reading(folder) as store, messages.progress() as tell:
        target = to or RESULTS / str(store.study()["name"])
        written, body = written_of(store, target, tell)
    size = sum(path.stat().st_size for path in written) / 1e6
    state = body["state"]
    done = f"{state['done']:,} of {state['planned']:,} runs"
    messages.console().print(f"{done} published in {target}, {size:.1f} MB", markup=False, soft_wrap=True)
