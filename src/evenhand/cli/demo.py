"""`evenhand demo`: four methods trained and weighed, predictions audited and compared, reports to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import choices, messages
from evenhand.cli import train_choices as given
from evenhand.cli.audit import audit_files
from evenhand.cli.outputs import as_json
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.evaluation.audit import Audit
    from evenhand.evaluation.comparison import Comparison
    from evenhand.evaluation.tradeoff import TradeOff

MODELS = ("boosting", "small", "logistic")
SEEDS, EPOCHS = 8, 20


def demo(
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Folder for the reports; made where there is none.")
    ] = Path("evenhand-demo"),
    seeds: Annotated[
        int, typer.Option("--seeds", metavar="N", min=1, help="Trainings of each method.")
    ] = SEEDS,
    epochs: Annotated[
        int, typer.Option("--epochs", metavar="N", min=1, help="Epochs of each training.")
    ] = EPOCHS,
    device: given.Device = "auto",
    debug: choices.Debug = False,
) -> None:
    """Train four methods on Adult, audit and compare predictions for the Titanic, and write reports.

    Everything is in the package. It takes about a minute on two cores.
    """
    if out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder")
    out.mkdir(parents=True, exist_ok=True)
    from evenhand.cli.demo_training import train_adult
    from evenhand.report.verdict import audit_sentences
    from evenhand.report.verdict_comparison import comparison_sentences

    weighed = train_adult(seeds, epochs, device)
    with messages.progress() as tell:
        one, runs, models = _audit(tell), _runs(tell), _compare(tell)
        tell("writing reports")
        written = {
            "accuracy against gaps, four methods on Adult": _write(out, "tradeoff", weighed),
            "Titanic, boosting by sex and class": _write(out, "audit", one, one.to_markdown()),
            "Titanic, five trainings of the network by sex": _write(out, "runs", runs, runs.to_markdown()),
            "Titanic, boosting against two other models": _write(out, "comparison", models),
        }
    messages.console().print(weighed)
    findings = {
        "One model": audit_sentences(one.to_dict())[0],
        "Five trainings": _run_finding(runs),
        "Three models": comparison_sentences(models.to_dict())[0],
    }
    _tell(written, findings)


def _audit(tell: Callable[[str], None]) -> Audit:
    from evenhand.data import packaged
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns

    columns = Columns("survived", "prediction", ("sex", "pclass"), ("score",))
    file = packaged("titanic_boosting.csv.gz")
    return audit_files([file], columns, Options(), name="Titanic survival, boosting", tell=tell)


def _runs(tell: Callable[[str], None]) -> Audit:
    from evenhand.data import packaged
    from evenhand.evaluation.options import Options
    from evenhand.tables import Columns

    columns = Columns("survived", "prediction", ("sex",), ("score",), run="run")
    file = packaged("titanic_runs.csv.gz")
    return audit_files([file], columns, Options(), name="Titanic survival, network", tell=tell)


def _compare(tell: Callable[[str], None]) -> Comparison:
    """Three models whose predictions stand in one file, by the same function that Python users call."""
    import csv
    import gzip

    from evenhand.api import compare
    from evenhand.data import packaged

    tell("comparing models")
    with gzip.open(packaged("titanic_predictions.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    predictions = {name: [int(row[f"{name}_prediction"]) for row in rows] for name in MODELS}
    survived = [int(row["survived"]) for row in rows]
    return compare(survived, predictions, groups={"sex": [row["sex"] for row in rows]})


def _write(out: Path, name: str, found: Audit | Comparison | TradeOff, markdown: str | None = None) -> Path:
    """The report, the JSON and, of an audit, the model-card section; the path of the report."""
    (out / f"{name}.json").write_text(as_json(found.to_dict()), encoding="utf-8")
    if markdown is not None:
        (out / f"{name}.md").write_text(markdown, encoding="utf-8")
    page = out / f"{name}.html"
    page.write_text(found.to_html(), encoding="utf-8")
    return page


def _run_finding(audit: Audit) -> str:
    """The gap of the true positive rate over the runs."""
    from evenhand.report.numbers import number, percent

    runs = audit.metrics["tpr.gap"].runs
    if runs is None:
        return "There is only one run."
    return (
        f"With nothing changed but the seed, the gap of the true positive rate goes from {number(runs.min)} "
        f"to {number(runs.max)}; {percent(runs.share)} of its variance is run to run."
    )


def _tell(written: dict[str, Path], findings: dict[str, str]) -> None:
    from rich.table import Table

    from evenhand.report.terminal_parts import words

    printer = messages.console()
    said: Any = Table.grid(padding=(0, 2))
    said.add_column(no_wrap=True)
    for name, sentence in findings.items():
        said.add_row(words((name, "bold")), words(sentence))
    printer.print(said)
    printer.print()
    for name, path in written.items():
        # a path must stay in one piece, to be clicked or copied
        printer.print(words((f"{name}: ", "dim"), (str(path), "cyan")), soft_wrap=True)
    folder = next(iter(written.values())).parent
    printer.print(words(("also as JSON and Markdown in ", "dim"), (f"{folder}/", "cyan")), soft_wrap=True)
