"""`evenhand study export DIR FILE`: the runs of a study for others, as a table or in MLflow."""

from __future__ import annotations

from pathlib import Path

import typer

from evenhand.cli import messages
from evenhand.cli import study_choices as given
from evenhand.cli.study_folder import reading
from evenhand.errors import InputError

KINDS = (".parquet", ".csv")


def export(
    folder: given.Folder,
    path: given.ExportPath = None,
    mlflow: given.Tracking = None,
    experiment: given.Experiment = None,
) -> None:
    """Write the runs with their counts and metrics to a file, or send them to MLflow.

    Such a file is what 'study run --reuse FILE' takes finished runs from.
    """
    _check(path, mlflow, experiment)
    with reading(folder) as store, messages.progress() as tell:
        if mlflow is not None:
            from evenhand.study.export_mlflow import export_mlflow

            tell(f"sending to {mlflow}")
            name = experiment or str(store.study()["name"])
            added = export_mlflow(store, name, mlflow)
            told = f"{added:,} runs sent to the experiment '{name}' at {mlflow}"
        elif path is not None:
            from evenhand.study.export import export_runs

            tell(f"writing {path}")
            rows = export_runs(store, path)
            told = f"{rows:,} rows written to {path}, one for each run, part and grouping"
    typer.echo(told)


def _check(path: Path | None, mlflow: str | None, experiment: str | None) -> None:
    """Refuse what cannot be meant before anything is read."""
    if (path is None) == (mlflow is None):
        raise InputError("name a .parquet or .csv file to write, or --mlflow URI; one of the two")
    if experiment is not None and mlflow is None:
        raise InputError("--experiment is of MLflow; say --mlflow URI with it")
    if path is None:
        return
    if path.suffix not in KINDS:
        raise InputError(f"{path} is neither .parquet nor .csv; name it so")
    if not path.parent.is_dir():
        raise InputError(f"{path} cannot be written: there is no folder {path.parent}")
