"""`evenhand study power DIR --metric M --difference D`: how many runs would tell a difference so large?"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.choices import OUTPUT
from evenhand.cli.listing_parts import print_json
from evenhand.cli.study_folder import FILE, reading


class TestName(StrEnum):
    """The tests whose power is simulated."""

    mann_whitney = "mann-whitney"
    welch = "welch"

    __test__ = False  # no test case of ours


Metric = Annotated[str, typer.Option("--metric", metavar="KEY", help="A metric, such as eotp or tpr.gap.")]
Difference = Annotated[
    float, typer.Option("--difference", metavar="D", help="The difference to be told, such as 0.01.")
]
Power = Annotated[float, typer.Option("--power", metavar="P", help="The chance to find it.")]
Alpha = Annotated[float, typer.Option("--alpha", metavar="A", help="The level of the test, two-sided.")]
Which = Annotated[TestName, typer.Option("--test", help="Ranks, or means (of pairs with --paired).")]
Paired = Annotated[bool, typer.Option("--paired", help="Runs of the same seed are pairs.")]
Base = Annotated[str, typer.Option("--base", metavar="NAME", help="Compare with this method.")]
Part = Annotated[str, typer.Option("--part", metavar="NAME", help="The part of the data; the report's.")]
Draws = Annotated[
    int,
    typer.Option(
        "--draws", metavar="N", help="Simulated studies for each number; --power 0.999 needs 10000."
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Of the simulation.")]
Figure = Annotated[
    Path | None,
    typer.Option("--figure", metavar="FILE.svg", help="Draw power over runs.", rich_help_panel=OUTPUT),
]


def power(
    folder: given.Folder,
    metric: Metric,
    difference: Difference,
    power: Power = 0.8,
    alpha: Alpha = 0.05,
    test: Which = TestName.mann_whitney,
    paired: Paired = False,
    base: Base = "",
    part: Part = "",
    draws: Draws = 2000,
    seed: Seed = 0,
    figure: Figure = None,
    json: given.AsJson = False,
) -> None:
    """How many runs tell a difference of a metric: each method against the base, from the runs of a study.

    DIR is the folder of a study, or a published one (studies/results/NAME).
    """
    from evenhand.evaluation.study.power import Asked, study_power

    asked = Asked(metric, difference, power, alpha, test.value, paired, base, part, draws, seed).check()
    with _runs(folder) as store, messages.progress() as tell:
        body = study_power(store, asked, tell, curves=json or figure is not None)
    if figure is not None:
        _draw(body, figure)
    if json:
        print_json(body)
        return
    from evenhand.report.terminal_power import power_table

    messages.console().print(power_table(body))


@contextlib.contextmanager
def _runs(folder: Path) -> Iterator[Any]:
    """The store of a folder, or its published runs."""
    from evenhand.study.results import RUNS

    if (folder / RUNS).is_file() and not (folder / FILE).is_file():
        from evenhand.study.published import PublishedRuns

        yield PublishedRuns(folder)
        return
    with reading(folder) as store:
        yield store


def _draw(body: dict[str, Any], path: Path) -> None:
    from evenhand.errors import InputError
    from evenhand.report.figures.power import power_figure

    if path.suffix != ".svg":
        raise InputError(f"--figure writes an .svg file, not {path.name}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(power_figure(body), encoding="utf-8")
    except OSError as error:
        raise InputError(f"{path} could not be written ({error.strerror or error})") from error
