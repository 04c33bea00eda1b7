"""The options of `evenhand study ...`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli.choices import OUTPUT

WHAT, WHERE = "What is run", "Where it runs"


class BackendName(StrEnum):
    """Who works on the buckets."""

    local = "local"
    ray = "ray"


class ReportFormat(StrEnum):
    """How a report is written."""

    html = "html"
    md = "md"
    json = "json"


Name = Annotated[
    str,
    typer.Argument(metavar="NAME|FILE", help="A study of 'evenhand study list', or a TOML file of yours."),
]
Folder = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of a study, such as runs/NAME.")]
Other = Annotated[Path, typer.Argument(metavar="DIR", help="The folder of another run of it.")]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", metavar="DIR", rich_help_panel=OUTPUT,
        help="Where everything is kept: runs/NAME unless given, runs/NAME-smoke with --smoke.",
    ),
]  # fmt: skip
Backend = Annotated[
    BackendName,
    typer.Option("--backend", help="Processes of this machine, or a Ray cluster.", rich_help_panel=WHERE),
]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="A", help="Of the Ray cluster; one is started here unless given.",
        rich_help_panel=WHERE,
    ),
]  # fmt: skip
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1.", rich_help_panel=WHERE)
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", metavar="N", min=1, rich_help_panel=WHERE,
        help="Processes that train at the same time; one for each GPU or core unless given.",
    ),
]  # fmt: skip
Limit = Annotated[
    int | None,
    typer.Option(
        "--limit", metavar="N", min=1, rich_help_panel=WHAT,
        help="Make at most N runs now; the same command makes the next ones.",
    ),
]  # fmt: skip
Only = Annotated[
    list[str] | None,
    typer.Option(
        "--only", metavar="KEY=VALUE", rich_help_panel=WHAT,
        help="Make only these runs now: method=erm, net=small, seed=3, eta=0.1; repeatable.",
    ),
]  # fmt: skip
Smoke = Annotated[
    bool,
    typer.Option("--smoke", help="The same study in small, about a minute on 2 cores.", rich_help_panel=WHAT),
]
Add = Annotated[
    list[str] | None,
    typer.Option(
        "--add", metavar="FILE.py:CLASS", rich_help_panel=WHAT,
        help="A method of yours, run through the study beside the others; repeatable.",
    ),
]  # fmt: skip
Reuse = Annotated[
    Path | None,
    typer.Option(
        "--reuse", metavar="FILE", rich_help_panel=WHAT,
        help="Take finished runs over from this .parquet of 'study export' instead of making them; with "
        "--add, those that are published with the study unless given.",
    ),
]  # fmt: skip
Retry = Annotated[
    bool,
    typer.Option("--retry-failed", help="Try runs again that failed before.", rich_help_panel=WHAT),
]
CheckpointEvery = Annotated[
    float,
    typer.Option(
        "--checkpoint-every", metavar="SECONDS", min=0.0, rich_help_panel=WHERE,
        help="How often a stack of runs is saved while it trains: what a kill can cost.",
    ),
]  # fmt: skip
Stack = Annotated[
    int | None,
    typer.Option(
        "--stack", metavar="N", min=1, rich_help_panel=WHERE,
        help="Train at most N runs side by side; what fits the device unless given.",
    ),
]  # fmt: skip
KeepWeights = Annotated[
    bool, typer.Option("--keep-weights", help="Keep the trained parameters.", rich_help_panel=OUTPUT)
]
KeepPredictions = Annotated[
    bool, typer.Option("--keep-predictions", help="Keep the scores of every row.", rich_help_panel=OUTPUT)
]
NoReport = Annotated[
    bool, typer.Option("--no-report", help="Train only; 'study report' can follow.", rich_help_panel=OUTPUT)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.", rich_help_panel=OUTPUT)]
Watch = Annotated[
    bool, typer.Option("--watch", "-w", help="Look again every second, until the study ends or Ctrl-C.")
]
ReportOut = Annotated[
    Path | None, typer.Option("--out", metavar="FOLDER", help="Where it is written: DIR unless given.")
]
Png = Annotated[bool, typer.Option("--png", help=r"Figures as PNG too; needs evenhand\[png].")]
Format = Annotated[
    ReportFormat,
    typer.Option("--format", help="The page with its tables and figures; or Markdown, or JSON, on stdout."),
]
ExportPath = Annotated[
    Path | None,
    typer.Argument(metavar="[FILE]", help="A .parquet or .csv file to write: a row for each run."),
]
Tracking = Annotated[
    str | None, typer.Option("--mlflow", metavar="URI", help="Send the runs to this MLflow instead.")
]
Experiment = Annotated[
    str | None,
    typer.Option("--experiment", metavar="NAME", help="Of MLflow; the study's name unless given."),
]
NewFile = Annotated[
    Path, typer.Argument(metavar="FILE.toml", help="The file to write; it must not be there.")
]
Like = Annotated[
    str | None,
    typer.Option(
        "--like", metavar="NAME",
        help="Write the file of this study of 'evenhand study list', to be changed; an example unless given.",
    ),
]  # fmt: skip
