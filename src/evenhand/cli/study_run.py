"""`evenhand study run NAME|FILE`: every run of a study, from where it stopped; then its report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from evenhand.cli import messages, study_file, study_program, study_replay
from evenhand.cli import study_choices as given
from evenhand.cli.choices import Debug, Quiet
from evenhand.cli.live_study import following
from evenhand.cli.study_end import finish, stopped
from evenhand.cli.study_folder import FILE, reading
from evenhand.cli.study_state import State, state_of
from evenhand.cli.study_stopping import Stop, once_or_twice
from evenhand.errors import InputError
from evenhand.study.smoke import is_small

if TYPE_CHECKING:
    from evenhand.study.driver import Options
    from evenhand.study.spec import Study

RUNS = Path("runs")


def run(
    name: given.Name,
    out: given.Out = None,
    backend: given.Backend = given.BackendName.local,
    address: given.Address = None,
    device: given.Device = "auto",
    workers: given.Workers = None,
    stack: given.Stack = None,
    checkpoint_every: given.CheckpointEvery = 60.0,
    limit: given.Limit = None,
    only: given.Only = None,
    smoke: given.Smoke = False,
    add: given.Add = None,
    reuse: given.Reuse = None,
    retry_failed: given.Retry = False,
    keep_weights: given.KeepWeights = False,
    keep_predictions: given.KeepPredictions = False,
    no_report: given.NoReport = False,
    quiet: Quiet = False,
    json: given.AsJson = False,
    debug: Debug = False,
) -> None:
    """Run a study and write its report; the same command goes on where it stopped.

    Exit codes: 0 done, 1 some runs failed, 2 something given was wrong, 130 after Ctrl-C.
    """
    _check_backend(backend, address)
    study = study_file.read(name)
    if smoke and study.kind != study_program.PROGRAM:
        study_file.smoke_of(study)  # that there is one is seen to before a folder is made
    folder = out if out is not None else RUNS / f"{study.name}{'-smoke' if smoke else ''}"
    _check_out(folder, study.name, smoke)
    if study.kind == study_replay.REPLAY:
        _check_replay(study.name, add, reuse)
        study_replay.run_replay(study, folder, quiet=quiet, json=json)
        return
    if study.kind == study_program.PROGRAM:
        study_program.refuse(study.name, add=add, reuse=reuse, only=only, limit=limit)
        study_program.run_program(study, folder, quiet=quiet, json=json, small=smoke)
        return
    from evenhand.study.driver import Options

    options = Options(
        out=folder, backend=backend.value, address=address, device=device, limit=limit, workers=workers,
        smoke=smoke, retry_failed=retry_failed, add=tuple(add or ()), reuse=str(reuse) if reuse else None,
        keep_weights=keep_weights, keep_predictions=keep_predictions, stack=stack,
        checkpoint_every=checkpoint_every, only=tuple(only or ()),
    )  # fmt: skip
    state, stop = carried_out(study, options, quiet)
    if stop.signal:
        stopped(state, folder, quiet)
        raise typer.Exit(128 + stop.signal)
    finish(state, folder, no_report=no_report, quiet=quiet, json=json)


def carried_out(study: Study, options: Options, quiet: bool) -> tuple[State, Stop]:
    """The study run to its end, or until somebody stopped it."""
    from evenhand.study.driver import run_study

    latest = State(study.name)
    with study_file.mistakes_told(), once_or_twice(quiet) as stop:
        try:
            with following(study.name, quiet, stop.note) as show:
                ended = run_study(study, options, lambda status: show(state_of(study.name, status)), stop)
                latest = state_of(study.name, ended)
                show(latest)
        except KeyboardInterrupt:  # pressed twice
            print(f"stopped at once; what was finished is in {options.out}", file=sys.stderr)
            raise typer.Exit(messages.INTERRUPTED) from None
    return latest, stop


def _check_backend(backend: given.BackendName, address: str | None) -> None:
    if address is not None and backend != given.BackendName.ray:
        raise InputError("--address is of a Ray cluster; say --backend ray with it")


def _check_replay(name: str, add: list[str] | None, reuse: Path | None) -> None:
    """Refuse what only a study that trains can do, instead of leaving it out without a word."""
    for option, value in (("--add", add), ("--reuse", reuse)):
        if value:
            raise InputError(f"{option} is of no use here: '{name}' reads published runs and trains nothing")


def _check_out(folder: Path, name: str, smoke: bool) -> None:
    """Refuse a file, the folder of another study (runs would be mixed), and of the whole one if in small."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"--out {folder} is a file; name a folder")
    if not (folder / FILE).is_file():
        return
    with reading(folder) as store:
        held = store.study() if store.counts_of_states()["planned"] else {"name": name}
    if held.get("name", name) != name:
        raise InputError(
            f"{folder} holds the study '{held['name']}'; give '{name}' a folder of its own with --out"
        )
    if smoke and "smoke" in held and not is_small(held):
        raise InputError(
            f"{folder} holds the whole study '{name}', and --smoke would put its report in that one's place; "
            "leave --out away, or name another folder"
        )
