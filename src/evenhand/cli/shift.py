"""`evenhand shift RUN_DIR`: a saved fit audited again on shifted rows, severity by severity."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import choices, messages
from evenhand.cli.outputs import Outputs
from evenhand.cli.settings import settings
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.data.task import Task
    from evenhand.evaluation.fitted import Fitted

SHIFT = "Shift"
Folder = Annotated[Path, typer.Argument(metavar="RUN_DIR", help="What 'evenhand train --out' wrote.")]
Kind = Annotated[
    str,
    typer.Option(
        "--shift", metavar="NAME", rich_help_panel=SHIFT,
        help="See: evenhand list shifts. Some choose after a colon, as group-share:Female.",
    ),
]  # fmt: skip
Severities = Annotated[
    str | None,
    typer.Option(
        "--severities", metavar="X,Y,...", rich_help_panel=SHIFT,
        help="How strong, in any order; 0 is always among them. The five standard ones unless given.",
    ),
]  # fmt: skip
Draws = Annotated[
    int, typer.Option("--draws", metavar="N", min=1, help="Draws a severity.", rich_help_panel=SHIFT)
]
Part = Annotated[
    str, typer.Option("--part", metavar="NAME", help="Which rows: test or validation.", rich_help_panel=SHIFT)
]
Dataset = Annotated[
    str | None,
    typer.Option(
        "--data", metavar="DATASET", rich_help_panel=SHIFT,
        help="The data set of the fit, where its record does not name one of ours.",
    ),
]  # fmt: skip
Knobs = Annotated[
    list[str] | None,
    typer.Option(
        "--data-set", metavar="NAME=VALUE", rich_help_panel=SHIFT,
        help="A knob of the data set; those of the training unless given. Repeatable.",
    ),
]  # fmt: skip
Device = Annotated[
    str, typer.Option("--device", metavar="NAME", help="auto, cpu or cuda.", rich_help_panel=SHIFT)
]
Html = Annotated[
    Path | None,
    typer.Option(
        "--out",
        "--html",
        metavar="OUT",
        help="Write a self-contained report.",
        rich_help_panel=choices.OUTPUT,
    ),
]


def shift(
    folder: Folder,
    kind: Kind = "gaussian",
    severities: Severities = None,
    metric: choices.Metrics = None,
    draws: Draws = 5,
    part: Part = "test",
    data: Dataset = None,
    knob: Knobs = None,
    device: Device = "auto",
    confidence: choices.Confidence = 0.95,
    replicates: choices.Replicates = 1000,
    min_count: choices.MinCount = 1,
    seed: choices.Seed = 0,
    html: Html = None,
    json: choices.JsonOut = None,
    markdown: choices.MarkdownOut = None,
    figures: choices.FiguresOut = None,
    quiet: choices.Quiet = False,
    debug: choices.Debug = False,
) -> None:
    """Audit a saved fit under a shift: each metric as a curve over severity, and what moved."""
    outputs = Outputs(json, html, markdown, figures)
    outputs.check([])
    levels = None if severities is None else numbers(severities)
    from evenhand.cli.showing import finish
    from evenhand.evaluation.fitted import Fitted
    from evenhand.evaluation.shift import audit_under_shift
    from evenhand.evaluation.shift_choices import METRICS

    fitted = Fitted.load(folder, device=device)
    task = task_of(fitted, data, knob, quiet)
    with progress(quiet) as tell:
        found = audit_under_shift(
            fitted, task, kind, levels, tuple(metric or METRICS), part, draws, confidence, tell=tell,
            replicates=replicates, min_count=min_count, seed=seed,
        )  # fmt: skip
    finish(found.to_dict(), outputs, quiet)


def numbers(text: str) -> list[float]:
    """`0,0.03,0.06` as numbers.

    >>> numbers("0, 0.03")
    [0.0, 0.03]
    """
    try:
        return [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise InputError(f"--severities {text} are not numbers; write them as 0,0.03,0.06") from None


def task_of(fitted: Fitted, name: str | None, given: Sequence[str] | None, quiet: bool) -> Task:
    """The data set that was trained on, by the record of the fit: with its knobs, and as many rows."""
    from evenhand.cli.settings import typed
    from evenhand.data.registry import DATASETS, find_dataset, load

    record = fitted.facts["task"]
    if name is None and record["name"] not in DATASETS:
        raise InputError(
            f"the fit was made on '{record['name']}', which is no data set of ours; name one with --data, or "
            "call evenhand.audit_under_shift(fitted, task) from Python"
        )
    chosen = name or record["name"]
    defaults = find_dataset(chosen).knobs()
    kept = (record.get("card") or {}).get("knobs") or {} if name in (None, record["name"]) else {}
    knobs = {key: _like(value, defaults[key]) for key, value in kept.items() if key in defaults}
    knobs |= typed(settings(given, "--data-set"), defaults, "--data-set")
    with messages.progress(quiet) as tell:
        tell(f"loading {chosen}")
        task = load(chosen, **knobs)
    rows = {part: len(places) for part, places in task.split.items()}
    if rows != record["rows"] and not given and name is None:
        raise InputError(
            f"'{chosen}' has {rows} rows now, and {record['rows']} when it was trained on; fit again"
        )
    return task


def _like(value: Any, default: Any) -> Any:
    """A knob as it was: JSON has lists where there were tuples."""
    return tuple(value) if isinstance(value, list) and not isinstance(default, list) else value


@contextlib.contextmanager
def progress(quiet: bool = False) -> Iterator[Callable[[float, str], None]]:
    """A bar on stderr; silent where nobody looks."""
    if quiet or not sys.stderr.isatty():
        yield lambda done, words: None
        return
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        BarColumn(20), TextColumn("{task.percentage:.0f}%"), TimeRemainingColumn(),
        TextColumn("{task.description}"), console=messages.console(stderr=True), transient=True,
    )  # fmt: skip
    with bar:
        work = bar.add_task("scoring", total=1.0)
        yield lambda done, words: bar.update(work, completed=done, description=words.replace("[", r"\["))
