"""The options of `evenhand train`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.choices import OUTPUT

DATA, METHOD, NETWORK, RECIPE = "Data", "Method", "Network", "Recipe"
NAME = "NAME=VALUE"

Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="See: evenhand list datasets.")]
Methods = Annotated[
    list[str],
    typer.Option(
        "--method", "-m", metavar="NAME", rich_help_panel=METHOD,
        help="See: evenhand list methods. Repeat it to compare several, the first (or erm) being the base.",
    ),
]  # fmt: skip
Fields = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar=NAME, rich_help_panel=METHOD,
        help="A field of the method, e.g. eta=0.1; of one of several methods, gdro.eta=0.1. Repeatable.",
    ),
]  # fmt: skip
Protect = Annotated[
    list[str] | None,
    typer.Option(
        "--protect", metavar="A[,B]", rich_help_panel=DATA,
        help="Attributes whose groups count, by their intersections; the data set's usual ones unless given.",
    ),
]  # fmt: skip
Knobs = Annotated[
    list[str] | None,
    typer.Option(
        "--data-set", metavar=NAME, help="A knob of the data set; repeatable.", rich_help_panel=DATA
    ),
]
Net = Annotated[
    str | None,
    typer.Option("--net", metavar="NAME", help="See: evenhand list nets.", rich_help_panel=NETWORK),
]
NetOptions = Annotated[
    list[str] | None,
    typer.Option(
        "--net-set", metavar=NAME, help="An option of the network, e.g. widths=64,64; repeatable.",
        rich_help_panel=NETWORK,
    ),
]  # fmt: skip
Seeds = Annotated[
    int,
    typer.Option(
        "--seeds", metavar="N", min=1, help="Trainings, seeds 0 to N-1, side by side.", rich_help_panel=RECIPE
    ),
]
Epochs = Annotated[
    int | None, typer.Option("--epochs", metavar="N", help="Passes over the rows.", rich_help_panel=RECIPE)
]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", metavar="N", help="Rows a step.", rich_help_panel=RECIPE)
]
Rate = Annotated[
    float | None, typer.Option("--rate", metavar="X", help="Learning rate.", rich_help_panel=RECIPE)
]
Optimizer = Annotated[
    str | None,
    typer.Option("--optimizer", metavar="NAME", help="sgd, adam, adamw, adadelta.", rich_help_panel=RECIPE),
]
Schedule = Annotated[
    str | None,
    typer.Option("--schedule", metavar="NAME", help="constant, step, cosine.", rich_help_panel=RECIPE),
]
Patience = Annotated[
    int | None,
    typer.Option(
        "--patience", metavar="N", help="Stop a run after N epochs without a better validation; 0: never.",
        rich_help_panel=RECIPE,
    ),
]  # fmt: skip
Recipe = Annotated[
    list[str] | None,
    typer.Option(
        "--recipe", metavar=NAME, help="Anything else of a recipe, e.g. weight_decay=1e-4; repeatable.",
        rich_help_panel=RECIPE,
    ),
]  # fmt: skip
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1.", rich_help_panel=RECIPE)
]
Watch = Annotated[
    str | None,
    typer.Option(
        "--watch", metavar="KEY", rich_help_panel=OUTPUT,
        help="Metric shown while training, of the validation rows; tpr.gap unless given, 'none' for none.",
    ),
]  # fmt: skip
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", rich_help_panel=OUTPUT,
        help="Keep checkpoints, parameters, predictions and audit here; the same command goes on there.",
    ),
]  # fmt: skip
