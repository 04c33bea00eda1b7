"""`evenhand audit`: one table of predictions, read, measured, shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import choices, messages
from evenhand.cli.outputs import Outputs, as_json, read_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.evaluation.audit import Audit
    from evenhand.evaluation.options import Options
    from evenhand.tables import Cells, Columns

FAIL_IF = (
    'Exit with 1 if this holds, e.g. "tpr.gap.high>0.1"; repeatable. A metric, then .value (default), '
    ".low, .high, .lower_bound, .upper_bound, .worst_bound, .with_small, .chance or .chance_p."
)


def audit(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE", help="CSV (.gz too) or Parquet; several are parts of one table."),
    ],
    label: choices.Label,
    group: choices.Group,
    prediction: choices.Prediction = None,
    score: choices.Score = None,
    weight: choices.Weight = None,
    positive: choices.Positive = None,
    threshold: choices.Threshold = 0.5,
    run: choices.Run = None,
    run_file: Annotated[
        list[Path] | None,
        typer.Option(
            "--run-file",
            metavar="FILE",
            help="Another run's predictions of the same rows; FILE is the first run. Repeatable.",
            rich_help_panel=choices.RUNS,
        ),
    ] = None,
    min_count: choices.MinCount = 1,
    confidence: choices.Confidence = 0.95,
    replicates: choices.Replicates = 1000,
    resampling: Annotated[
        choices.Resampling,
        typer.Option(
            "--resampling", help="Draw rows within groups, or overall.", rich_help_panel=choices.METHOD
        ),
    ] = choices.Resampling.stratified,
    convention: Annotated[
        choices.Convention,
        typer.Option(
            "--convention", help="How dp, di, ba and their kin treat 0/0.", rich_help_panel=choices.METHOD
        ),
    ] = choices.Convention.strict,
    privileged: Annotated[
        str | None,
        typer.Option(
            "--privileged",
            metavar="GROUP",
            help="The group that acc_p, acc_up and s3.* compare with; the first unless named.",
            rich_help_panel=choices.METHOD,
        ),
    ] = None,
    smoothing: choices.Smoothing = 1.0,
    seed: choices.Seed = 0,
    metric: choices.Metrics = None,
    json: choices.JsonOut = None,
    html: choices.HtmlOut = None,
    markdown: choices.MarkdownOut = None,
    fail_if: Annotated[
        list[str] | None,
        typer.Option("--fail-if", metavar="EXPR", help=FAIL_IF, rich_help_panel=choices.GATE),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option(
            "--against",
            metavar="OLD.json",
            help="Exit with 1 if a headline metric is worse than in this earlier audit, beyond its interval.",
            rich_help_panel=choices.GATE,
        ),
    ] = None,
    tolerance: Annotated[
        float,
        typer.Option(
            "--tolerance",
            metavar="X",
            help="With --against: how much worse is let pass.",
            rich_help_panel=choices.GATE,
        ),
    ] = 0.0,
    quiet: choices.Quiet = False,
    debug: choices.Debug = False,
) -> None:
    """Audit a table of predictions: every metric by group, with intervals, bounds and reasons."""
    outputs = Outputs(json, html, markdown)
    inputs = [*files, *(run_file or []), *([against] if against else [])]
    outputs.check(inputs)
    from evenhand.evaluation.gate import parse
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns

    conditions = [parse(text) for text in fail_if or []]
    earlier = read_json(against) if against else None
    columns = Columns(label, prediction, tuple(group), tuple(score or ()), weight, run)
    options = Options(
        min_count, confidence, replicates, resampling.value, seed, convention.value, privileged, smoothing,
        metrics=_measured(metric, conditions),
    )  # fmt: skip
    with messages.progress(quiet) as tell:
        found = audit_files(
            files, columns, options, run_file or (), positive=positive, threshold=threshold, tell=tell
        )
    body = found.to_dict()
    if conditions or earlier is not None:
        body["gate"] = _judged(body, conditions, earlier, against, tolerance, metric or ())
    finish(body, outputs, quiet)


def audit_files(
    files: Sequence[Path],
    columns: Columns,
    options: Options,
    run_files: Sequence[Path] = (),
    *,
    positive: str | None = None,
    threshold: float = 0.5,
    name: str | None = None,
    tell: Callable[[str], None] = lambda words: None,
) -> Audit:
    """Read the files and measure everything; `run_files` are further runs of the same rows."""
    from evenhand.evaluation.audit import assess
    from evenhand.evaluation.from_files import subject_of_cells
    from evenhand.tables import file_facts, read_cells

    options.check()
    if run_files and columns.run is not None:
        raise InputError("--run and --run-file both name runs; use one of them")
    tables = [list(files), *([file] for file in run_files)]
    parts = [
        read_cells(table, columns, threshold=threshold, positive=positive, progress=tell) for table in tables
    ]
    cells = parts[0] if len(parts) == 1 else _as_runs(parts, tables)
    tell("measuring")
    facts = [file_facts(file).to_dict() for table in tables for file in table]
    subject = subject_of_cells(
        cells, files=facts, name=name, positive=positive, min_count=options.min_count, topk=options.topk
    )
    return assess(subject, options)


def _as_runs(parts: Sequence[Cells], tables: Sequence[Sequence[Path]]) -> Cells:
    from evenhand.evaluation.run_files import merge_runs

    stems = [table[0].name.split(".")[0] for table in tables]
    alike = len(set(stems)) < len(stems)
    names = [f"{place} ({stem})" for place, stem in enumerate(stems, start=1)] if alike else stems
    return merge_runs(parts, names)


def _measured(metric: Sequence[str] | None, conditions: Sequence[Any]) -> tuple[str, ...] | None:
    """The metrics to measure: those named, and those that a gate asks about."""
    return tuple(dict.fromkeys([*metric, *(condition.key for condition in conditions)])) if metric else None


def _judged(
    body: dict[str, Any],
    conditions: Sequence[Any],
    earlier: dict[str, Any] | None,
    file: Path | None,
    tolerance: float,
    metric: Sequence[str],
) -> dict[str, Any]:
    from evenhand.evaluation.gate import against, check, summary
    from evenhand.evaluation.options import chosen_metrics

    checks = check(conditions, body)
    if earlier is None or file is None:
        return summary(checks)
    keys = chosen_metrics(metric, list(body["metrics"])) if metric else ()
    changes = against(earlier, body, tolerance, keys)
    made = {"created": (earlier.get("method") or {}).get("created"), "evenhand": earlier.get("evenhand")}
    return summary(checks, changes, name=file.name, tolerance=tolerance, **made)


def finish(body: dict[str, Any], outputs: Outputs, quiet: bool) -> None:
    """Write the outputs, print the summary, tell what became of the gates; exit with 1 if one failed."""
    told = outputs.write(_texts(body, outputs))
    if not quiet and not outputs.to_stdout:
        from evenhand.report import terminal

        show = terminal.comparison_table if body["kind"] == "comparison" else terminal.audit_table
        printer = messages.console()
        printer.print(show(body))
        for line in told:
            printer.print(line, markup=False)
    gate = body.get("gate")
    if gate is None:
        return
    from evenhand.report.terminal_gate import gate_table

    messages.console(stderr=True).print(gate_table(gate))
    if gate["failed"]:
        raise typer.Exit(1)


def _texts(body: dict[str, Any], outputs: Outputs) -> dict[str, str]:
    """Only what was asked for is made."""
    texts = {"json": as_json(body)} if outputs.json else {}
    if outputs.html:
        from evenhand.report import audit as audit_page
        from evenhand.report import comparison as comparison_page

        texts["html"] = (comparison_page if body["kind"] == "comparison" else audit_page).render(body)
    if outputs.markdown:
        from evenhand.report.model_card import render

        texts["markdown"] = render(body)
    return texts
