"""`evenhand audit`: one table of predictions, read, measured, shown and judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from os.path import abspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import choices, messages
from evenhand.cli.outputs import Outputs, read_json
from evenhand.cli.showing import finish
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.evaluation.audit import Audit
    from evenhand.evaluation.gate import Condition
    from evenhand.evaluation.options import Options
    from evenhand.tables import Cells, Columns


def audit(
    files: choices.Files,
    label: choices.Label,
    group: choices.Group,
    prediction: choices.Prediction = None,
    score: choices.Score = None,
    weight: choices.Weight = None,
    positive: choices.Positive = None,
    threshold: choices.Threshold = 0.5,
    run: choices.Run = None,
    run_file: choices.RunFile = None,
    min_count: choices.MinCount = 1,
    confidence: choices.Confidence = 0.95,
    replicates: choices.Replicates = 1000,
    resampling: choices.ResamplingChoice = choices.Resampling.stratified,
    convention: choices.ConventionChoice = choices.Convention.strict,
    privileged: choices.Privileged = None,
    smoothing: choices.Smoothing = 1.0,
    seed: choices.Seed = 0,
    metric: choices.Metrics = None,
    json: choices.JsonOut = None,
    html: choices.HtmlOut = None,
    markdown: choices.MarkdownOut = None,
    figures: choices.FiguresOut = None,
    fail_if: choices.FailIf = None,
    against: choices.Against = None,
    tolerance: choices.Tolerance = 0.0,
    quiet: choices.Quiet = False,
    debug: choices.Debug = False,
) -> None:
    """Audit a table of predictions: every metric by group, with intervals, bounds and reasons."""
    outputs = Outputs(json, html, markdown, figures)
    inputs = [*files, *(run_file or []), *([against] if against else [])]
    outputs.check(inputs)
    _refuse_twice([*files, *(run_file or [])])
    from evenhand.evaluation.options import Options, chosen_metrics
    from evenhand.tables import Columns

    if metric:
        from evenhand.metrics.catalogue import CATALOGUE

        chosen_metrics(metric, list(CATALOGUE))  # a misspelt key is told before the work, not after it
    conditions = _conditions(fail_if or [])
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


def _refuse_twice(files: Sequence[Path]) -> None:
    """A file that is named twice (by a pattern, say) would count its rows twice and narrow every interval."""
    there = [abspath(file) for file in files]
    for place, file in enumerate(there):
        if file in there[:place]:
            raise InputError(
                f"{files[place]} is given twice, so that its rows would count twice; name it once"
            )


def _conditions(texts: Sequence[str]) -> list[Condition]:
    if not texts:
        return []
    from evenhand.evaluation.gate import parse

    return [parse(text) for text in texts]


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
    from evenhand.tables import file_facts, read_cells

    options.check()
    if run_files and columns.run is not None:
        raise InputError("--run and --run-file both name runs; use one of them")
    tables = [list(files), *([file] for file in run_files)]
    with ThreadPoolExecutor(1) as aside:  # a long file leaves time to load the rest, and to hash it
        for part in ("evenhand.evaluation.from_files", "evenhand.report.terminal"):
            aside.submit(import_module, part)
        waiting = [aside.submit(file_facts, file) for table in tables for file in table if file.is_file()]
        parts = [
            read_cells(table, columns, threshold=threshold, positive=positive, progress=tell)
            for table in tables
        ]
        facts = [entry.result().to_dict() for entry in waiting]
    from evenhand.evaluation.audit import assess
    from evenhand.evaluation.from_files import subject_of_cells

    cells = parts[0] if len(parts) == 1 else _as_runs(parts, tables)
    tell("measuring")
    subject = subject_of_cells(
        cells, files=facts, name=name, positive=positive, min_count=options.min_count, topk=options.topk
    )
    return assess(subject, options)


def _as_runs(parts: Sequence[Cells], tables: Sequence[Sequence[Path]]) -> Cells:
    from evenhand.evaluation.run_files import merge_runs
    from evenhand.tables.sources import model_name

    stems = [model_name(table[0]) for table in tables]
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
