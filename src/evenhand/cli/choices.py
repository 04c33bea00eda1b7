"""The options that commands share, each said once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

COLUMNS, METHOD, OUTPUT, GATE, RUNS = "Columns", "Method", "Output", "Gates", "Several runs"

FAIL_IF = (
    'Exit with 1 if this holds, e.g. "tpr.gap.high>0.1"; repeatable. A metric, then .value (default), '
    ".low, .high, .lower_bound, .upper_bound, .worst_bound, .with_small, .chance or .chance_p."
)
FAIL_IF_MODELS = (
    'Exit with 1 if this holds for any alternative, e.g. "tpr.gap.difference.high>0.02"; repeatable. '
    "A metric, then .value (default), .base, .difference, .difference.low, .difference.high or .p; "
    "or accuracy, accuracy.difference, disagreement, cev, sde (also .low, .high), cie.share; "
    "or who paid: paid.classes, paid.groups, paid.cells (how many), paid.worst (the largest loss). "
    '"NAME:KEY>X" asks about one alternative.'
)


class Convention(StrEnum):
    """How S0's metrics treat undefined cases."""

    strict = "strict"
    paper = "paper"
    artifact = "artifact"


class Resampling(StrEnum):
    """How rows are drawn again."""

    stratified = "stratified"
    whole = "whole"


Label = Annotated[
    str, typer.Option("--label", metavar="COL", help="Column of the true class.", rich_help_panel=COLUMNS)
]
Prediction = Annotated[
    str | None,
    typer.Option(
        "--prediction",
        metavar="COL",
        help="Column of the predicted class. Without it, --score and --threshold predict.",
        rich_help_panel=COLUMNS,
    ),
]
Score = Annotated[
    list[str] | None,
    typer.Option(
        "--score",
        metavar="COL",
        help="Column of the positive class's probability; repeat it for one column a class, in class order.",
        rich_help_panel=COLUMNS,
    ),
]
Weight = Annotated[
    str | None,
    typer.Option("--weight", metavar="COL", help="Column of row weights.", rich_help_panel=COLUMNS),
]
GROUP_HELP = "Column of groups; repeat it to audit intersections (and each column alone)."
Group = Annotated[list[str], typer.Option("--group", metavar="COL", help=GROUP_HELP, rich_help_panel=COLUMNS)]
OptionalGroup = Annotated[
    list[str] | None,
    typer.Option(
        "--group",
        metavar="COL",
        help="Column of groups, in BASE; an ALT that has it too must hold the same.",
        rich_help_panel=COLUMNS,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive",
        metavar="VALUE",
        help="The positive one of two classes; the last in order unless named.",
        rich_help_panel=COLUMNS,
    ),
]
Threshold = Annotated[
    float,
    typer.Option(
        "--threshold",
        metavar="X",
        help="Without --prediction: positive from this score on.",
        rich_help_panel=COLUMNS,
    ),
]
Run = Annotated[
    str | None,
    typer.Option(
        "--run",
        metavar="COL",
        help="Column that tells runs of one model apart; each run predicts all rows.",
        rich_help_panel=RUNS,
    ),
]
MinCount = Annotated[
    int,
    typer.Option(
        "--min-count",
        metavar="N",
        min=0,
        help="Show groups under N rows, but leave them out of comparisons.",
        rich_help_panel=METHOD,
    ),
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="X", help="Level of the intervals.", rich_help_panel=METHOD)
]
Replicates = Annotated[
    int,
    typer.Option(
        "--replicates", metavar="N", help="Bootstrap replicates; 0 for no intervals.", rich_help_panel=METHOD
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", metavar="N", help="Seed of all drawing.", rich_help_panel=METHOD)
]
Smoothing = Annotated[
    float,
    typer.Option("--smoothing", metavar="X", help="Concentration of the metric eps.", rich_help_panel=METHOD),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        metavar="KEY",
        help="Only this metric or family (tpr, tpr.gap); repeatable. See: evenhand list metrics.",
        rich_help_panel=METHOD,
    ),
]
JsonOut = Annotated[
    Path | None,
    typer.Option("--json", metavar="OUT", help="Write JSON; '-' is stdout.", rich_help_panel=OUTPUT),
]
HtmlOut = Annotated[
    Path | None,
    typer.Option("--html", metavar="OUT", help="Write a self-contained report.", rich_help_panel=OUTPUT),
]
MarkdownOut = Annotated[
    Path | None,
    typer.Option("--markdown", metavar="OUT", help="Write a model-card section.", rich_help_panel=OUTPUT),
]
FiguresOut = Annotated[
    Path | None,
    typer.Option(
        "--figures",
        metavar="DIR",
        help=r"Write the figures into a folder: SVG, and PNG with evenhand\[png].",  # no markup of rich
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary.", rich_help_panel=OUTPUT)]
Debug = Annotated[
    bool, typer.Option("--debug", help="Show where an error came from.", rich_help_panel=OUTPUT)
]
Files = Annotated[
    list[Path],
    typer.Argument(metavar="FILE", help="CSV (.gz too) or Parquet; several are parts of one table."),
]
RunFile = Annotated[
    list[Path] | None,
    typer.Option(
        "--run-file",
        metavar="FILE",
        help="Another run's predictions of the same rows; FILE is the first run. Repeatable.",
        rich_help_panel=RUNS,
    ),
]
ResamplingChoice = Annotated[
    Resampling,
    typer.Option("--resampling", help="Draw rows within groups, or overall.", rich_help_panel=METHOD),
]
ConventionChoice = Annotated[
    Convention,
    typer.Option("--convention", help="How dp, di, ba and their kin treat 0/0.", rich_help_panel=METHOD),
]
Privileged = Annotated[
    str | None,
    typer.Option(
        "--privileged",
        metavar="GROUP",
        help="The group that acc_p, acc_up and s3.* compare with; the first unless named.",
        rich_help_panel=METHOD,
    ),
]
FailIf = Annotated[
    list[str] | None,
    typer.Option("--fail-if", metavar="EXPR", help=FAIL_IF, rich_help_panel=GATE),
]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="OLD.json",
        help="Exit with 1 if a headline metric is worse than in this earlier audit, beyond its interval.",
        rich_help_panel=GATE,
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        "--tolerance",
        metavar="X",
        help="With --against: how much worse is let pass.",
        rich_help_panel=GATE,
    ),
]
Base = Annotated[Path, typer.Argument(metavar="BASE", help="The base model's predictions, CSV or Parquet.")]
Alternatives = Annotated[
    list[Path], typer.Argument(metavar="ALT", help="Other models' predictions of the same rows.")
]
Key = Annotated[
    str | None,
    typer.Option(
        "--key",
        metavar="COL",
        help="Column that matches rows between files and runs; without it they are matched by place.",
        rich_help_panel=COLUMNS,
    ),
]
Names = Annotated[
    list[str] | None,
    typer.Option(
        "--name",
        metavar="NAME",
        help="A name for each model, base first; repeat it. The files' names unless given.",
        rich_help_panel=COLUMNS,
    ),
]
FailIfModels = Annotated[
    list[str] | None,
    typer.Option("--fail-if", metavar="EXPR", help=FAIL_IF_MODELS, rich_help_panel=GATE),
]
