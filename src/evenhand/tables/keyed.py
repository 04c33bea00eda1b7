"""The rows of several files joined by a key; where the files hold several runs, run by run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from evenhand.errors import InputError
from evenhand.tables.aligned import Aligned, Model, Unmatched, group_names, numbered, put_together
from evenhand.tables.columns import Columns
from evenhand.tables.values import RUNS_SHOWN, natural_order, shown


def by_key(models: Sequence[Model], columns: Columns) -> Aligned:
    """By key, in the order of the base file; a key may occur once in a file (once in each run)."""
    on = ["key"] + (["run0"] if columns.run is not None else [])
    frames = _comparable([model.table.rename(numbered(model, 0)) for model in models], on)
    for model, frame in zip(models, frames, strict=True):
        _refuse_empty(model, frame, columns)
        _refuse_repeated(model, frame, on, columns)
    left_out: tuple[str, ...] = ()
    if columns.run is not None:
        frames, left_out = _of_shared_runs(models, frames, columns.run)
        for model, frame in zip(models, frames, strict=True):
            _refuse_other_keys(model, frame)
    joined, unmatched = _joined(models, frames, on, columns)
    return replace(put_together(joined, models, unmatched, True), runs_left_out=left_out)


def _joined(
    models: Sequence[Model], frames: Sequence[pl.DataFrame], on: Sequence[str], columns: Columns
) -> tuple[pl.DataFrame, list[Unmatched]]:
    runs = frames[0]["run0"].n_unique() if columns.run is not None else 1
    joined, unmatched = frames[0], []
    for place, frame in enumerate(frames[1:], start=1):
        matched = frames[0].join(frame, on=on, how="semi").height
        unmatched.append(Unmatched(*((one.height - matched) // runs for one in (frames[0], frame))))
        names = {f"{part}0": f"{part}{place}" for part in ("label", "prediction")}
        parts = (pl.col(old).alias(new) for old, new in (names | group_names(frame.columns, place)).items())
        joined = joined.join(frame.select(*on, *parts), on=on, how="inner", maintain_order="left")
        if joined.height == 0:
            one, first = (each["key"][0] for each in (frame, frames[0]))
            raise InputError(
                f"no value of the key column '{columns.key}' of {models[place].source.name} (like {one!r}) "
                f"is in the files before it (like {first!r}); check that it names the same rows in each"
            )
    return joined, unmatched


def _comparable(frames: Sequence[pl.DataFrame], on: Sequence[str]) -> list[pl.DataFrame]:
    """Keys and runs of one type: text where the files differ, as a CSV and a Parquet file do."""
    made = list(frames)
    for name in on:
        if any(frame[name].dtype != frames[0][name].dtype for frame in frames):
            made = [frame.with_columns(pl.col(name).cast(pl.String)) for frame in made]
        if made[0][name].dtype == pl.String:
            made = [frame.with_columns(pl.col(name).str.strip_chars()) for frame in made]
    return made


def _refuse_empty(model: Model, frame: pl.DataFrame, columns: Columns) -> None:
    for fixed, part, name in (("key", "key", columns.key), ("run0", "run", columns.run)):
        if name is not None and len(empty := frame[fixed].is_null().arg_true()):
            raise InputError(
                f"the {part} column '{name}' of {model.source.name} is empty in row {empty[0] + 1}"
            )


def _refuse_repeated(model: Model, frame: pl.DataFrame, on: Sequence[str], columns: Columns) -> None:
    again = frame.select(pl.struct(on).is_duplicated()).to_series().arg_true()
    if len(again):
        key, *run = (frame[name][again[0]] for name in on)
        within = f" of run {run[0]}" if run else ""
        runs = "" if run else ", or with several runs in a file the column that names them"
        raise InputError(
            f"the key {key!r}{within} occurs more than once in the column '{columns.key}' of "
            f"{model.source.name}; each row needs a key of its own{runs}"
        )


def _of_shared_runs(
    models: Sequence[Model], frames: Sequence[pl.DataFrame], column: str
) -> tuple[list[pl.DataFrame], tuple[str, ...]]:
    """The rows of the runs that all files have, and the names of the other runs.

    Runs are matched by name, not in order: the run of a seed is set against the run of the same seed.
    """
    names = [set(frame["run0"].unique()) for frame in frames]
    shared = names[0]
    for model, own in zip(models, names, strict=True):
        if not shared & own:
            raise InputError(
                f"the run column '{column}' of {model.source.name} holds {shown(own, RUNS_SHOWN)}, but that "
                f"of the files before it {shown(shared, RUNS_SHOWN)}; runs are matched by their names: call "
                "those that belong together alike in all files"
            )
        shared = shared & own
    others = natural_order(set().union(*names) - shared)
    kept = [frame.filter(pl.col("run0").is_in(list(shared))) for frame in frames]
    return kept, tuple(str(name) for name in others)


def _refuse_other_keys(model: Model, frame: pl.DataFrame) -> None:
    """Every run of a file must hold the same keys (each of them once, which is known by now)."""
    runs = frame["run0"].unique(maintain_order=True).to_list()
    if frame.height == frame["key"].n_unique() * len(runs):
        return
    held = frame.group_by("key", maintain_order=True).agg("run0")
    key, own = held.filter(pl.col("run0").list.len() < len(runs)).row(0)
    lacking = next(run for run in runs if run not in own)
    raise InputError(
        f"the key {key!r} of {model.source.name} is in run '{own[0]}' but not in run '{lacking}'; every run "
        "must hold the same rows, those without a prediction too"
    )
