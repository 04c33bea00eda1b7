"""`evenhand compare`: the predictions of several models for the same rows, side by side."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import choices, messages
from evenhand.cli.outputs import Outputs
from evenhand.cli.showing import finish

if TYPE_CHECKING:
    from evenhand.evaluation.comparison import Comparison
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns


def compare(
    base: choices.Base,
    alternatives: choices.Alternatives,
    label: choices.Label,
    prediction: choices.Prediction = None,
    key: choices.Key = None,
    group: choices.OptionalGroup = None,
    score: choices.Score = None,
    weight: choices.Weight = None,
    positive: choices.Positive = None,
    threshold: choices.Threshold = 0.5,
    name: choices.Names = None,
    run: choices.Run = None,
    min_count: choices.MinCount = 1,
    confidence: choices.Confidence = 0.95,
    replicates: choices.Replicates = 1000,
    smoothing: choices.Smoothing = 1.0,
    seed: choices.Seed = 0,
    metric: choices.Metrics = None,
    json: choices.JsonOut = None,
    html: choices.HtmlOut = None,
    figures: choices.FiguresOut = None,
    fail_if: choices.FailIfModels = None,
    quiet: choices.Quiet = False,
    debug: choices.Debug = False,
) -> None:
    """Compare models on the same rows: what moved, for which class and group, and how surely."""
    outputs = Outputs(json, html, figures=figures)
    outputs.check([base, *alternatives])
    from evenhand.evaluation.gate_comparison import parse
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns

    columns = Columns(label, prediction, tuple(group or ()), tuple(score or ()), weight, run, key)
    names = model_names([base, *alternatives], name)
    conditions = [condition for text in fail_if or [] for condition in parse(text, names[1:])]
    metrics = tuple(dict.fromkeys([*metric, *_keys(conditions)])) if metric else None
    options = Options(
        min_count=min_count, confidence=confidence, replicates=replicates, seed=seed, smoothing=smoothing,
        metrics=metrics,
    )  # fmt: skip
    with messages.progress(quiet) as tell:
        found = compare_files(
            [base, *alternatives], columns, options, names, positive=positive, threshold=threshold, tell=tell
        )
    body = found.to_dict()
    if conditions:
        from evenhand.evaluation.gate import summary
        from evenhand.evaluation.gate_comparison import check

        body["gate"] = summary(check(conditions, body))
    finish(body, outputs, quiet)


def compare_files(
    files: Sequence[Path],
    columns: Columns,
    options: Options,
    names: Sequence[str],
    *,
    positive: str | None = None,
    threshold: float = 0.5,
    tell: Callable[[str], None] = lambda words: None,
) -> Comparison:
    """Read the files of all models, match their rows and compare every model with the first."""
    from evenhand.evaluation.compare_rows import compare_rows
    from evenhand.evaluation.from_joined import rows_of_joined
    from evenhand.tables import file_facts, read_joined

    options.check()
    tell(f"reading {len(files)} files")
    joined = read_joined(files[0], files[1:], columns, names, threshold=threshold, positive=positive)
    tell("comparing")
    rows = rows_of_joined(joined, [file_facts(file).to_dict() for file in files])
    return compare_rows(rows, names[0], options, lambda words: tell(f"comparing: {words}"))


def model_names(files: Sequence[Path], given: Sequence[str] | None) -> list[str]:
    """The names that were given, or the files' names; with their folders where these alone are alike.

    >>> model_names([Path("old/preds.csv"), Path("new/preds.csv")], None)
    ['old/preds', 'new/preds']
    """
    if given:
        return list(given)
    from evenhand.tables.sources import model_name

    stems = [model_name(file) for file in files]
    if len(set(stems)) < len(stems):
        stems = [f"{file.absolute().parent.name}/{stem}" for file, stem in zip(files, stems, strict=True)]
    return stems


def _keys(conditions: Sequence[Any]) -> list[str]:
    from evenhand.evaluation.gate_comparison import FIELDS

    return [condition.key for condition in conditions if condition.key not in FIELDS]
