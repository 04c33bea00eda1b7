"""From trained runs to records: raw counts by part and grouping, history, digest of the weights, cost.

A training may serve several runs, each of which reads the trained network in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.groups import Groups
from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores
from evenhand.records import Phase
from evenhand.study.backends.base import Job
from evenhand.study.numbers import numbers_of
from evenhand.study.readout import read_as
from evenhand.study.records import Measured, PlannedRun, RunRecord, RunSpec
from evenhand.study.scoring import groups_of, measured_rows, scored_parts
from evenhand.study.sharing import Training, readings_of
from evenhand.study.surroundings import failed_record, now, surroundings
from evenhand.study.tasks import load_method
from evenhand.study.weights import digest_of, learnt, save_weights
from evenhand.train.evaluate import decide
from evenhand.train.trainer import Trainer


def records_of(
    trainings: Sequence[Training], trainer: Trainer, job: Job, started: str
) -> Iterator[RunRecord]:
    """A record for each run of a trained stack: done, or failed where its loss is no number.

    The runs of a training come one reading after the other. One that cannot be read fails by itself, if
    there are others.
    """
    readings = readings_of(trainings)
    for reading in readings:
        try:
            yield from _read(reading, trainings, trainer, job, started)
        except InputError as error:
            if len(readings) == 1:
                raise
            for run in reading:
                if run is not None:
                    yield failed_record(run, f"it cannot be read: {error}", "", job, started)


def _read(
    reading: Sequence[PlannedRun | None],
    trainings: Sequence[Training],
    trained: Trainer,
    job: Job,
    started: str,
) -> Iterator[RunRecord]:
    """The records of one reading. Where a training has no run of it, another's stands in and is left out."""
    some = next(run for run in reading if run is not None)
    specs = [(run or some).spec for run in reading]
    trainer = read_as(trained, [load_method(s.method, s.fields).stacked_form() for s in specs])
    spec, n = some.spec, len(trainings)
    measured, finite = list[list[list[Measured]]](), dict[str, list[bool]]()
    kept: list[dict[str, Array]] = [{} for _ in reading]
    for part, scores in scored_parts(trainer, spec.parts):
        measured.append(measured_of(specs, trainer, part, scores, job))
        finite[part] = torch.isfinite(scores).flatten(1).all(dim=1).tolist()
        if job.keep_predictions:
            for place, own in enumerate(predictions_of(trainer, part, scores)):
                kept[place][part] = own
    numbers = numbers_of(spec.numbers, trainer) if spec.numbers else [{}] * n
    common = {**surroundings(trainer.device), "stack": n, "started": started, "finished": now()}
    seconds = trained.position.seconds
    for place, run in enumerate(reading):
        if run is None:
            continue
        history = history_of(trained, place)
        reason = went_astray({part: each[place] for part, each in finite.items()}, history, trained.phases)
        if job.keep_weights:
            save_weights(Path(job.folder), run.id, learnt(trained, place))
        own_measured = () if reason else tuple(one for part in measured for one in part[place])
        yield RunRecord(
            run.id, "failed" if reason else "done", reason, "", own_measured, history,
            seconds / n / len(trainings[place]), seconds,
            weights=digest_of(learnt(trained, place)), predictions=kept[place],
            numbers={} if reason else numbers[place], **common,
        )  # fmt: skip


def went_astray(
    finite: Mapping[str, bool], history: dict[str, list[Any]], phases: Sequence[Phase]
) -> str | None:
    """Why a run cannot be counted: a loss or a score (see `finite`, by part) that is no number."""
    named = {phase.name: phase for phase in phases}
    for name, epoch, loss in zip(*(history.get(key, ()) for key in ("phase", "epoch", "train")), strict=True):
        phase = named[name]
        # a whole epoch may belong to the adversary: the model then has no loss, and nothing is wrong
        rests = phase.every == "epoch" and phase.lead not in phase.turn(0, epoch - 1)[0]
        if (loss is None or math.isnan(loss)) and not rests:
            return f"the training loss is no number (NaN) from epoch {epoch} on"
    wrong = next((part for part, sound in finite.items() if not sound), None)
    return None if wrong is None else f"scores of {wrong} rows are no numbers"


def measured_of(
    specs: Sequence[RunSpec], trainer: Trainer, part: str, scores: Tensor, job: Job
) -> list[list[Measured]]:
    """The counts of all runs of a stack on a part, each by its groupings; those of a task at once."""
    found: list[list[Measured]] = [[] for _ in trainer.runs]
    for task, places, rows, own in by_task(trainer, part, scores):
        y, guesses = np.asarray(task.y[rows]), decide(own, task.multi_label).cpu().numpy()
        for groupings, mine in _measured_alike(specs, places).items():
            for by in groupings:
                groups = groups_of(task, by, np.asarray(rows))
                n_classes = None if task.multi_label else task.n_classes
                counts = Counts.from_predictions(y, guesses[mine], groups.ids, n_classes, groups.n_groups)
                name = " × ".join(by) if by else "all"
                for number, run in enumerate(mine):
                    binned = binned_scores(y, own[run], groups, task, job.score_bins)
                    one = Measured(part, name, groups.names, task.classes, counts[number], binned)
                    found[places[run]].append(one)
    return found


def _measured_alike(
    specs: Sequence[RunSpec], places: Sequence[int]
) -> dict[tuple[tuple[str, ...], ...], list[int]]:
    """Which of a task's runs (by their number among its `places`) are measured by the same groupings."""
    found: dict[tuple[tuple[str, ...], ...], list[int]] = {}
    for number, place in enumerate(places):
        found.setdefault(specs[place].groupings or (specs[place].protect,), []).append(number)
    return found


def by_task(trainer: Trainer, part: str, scores: Tensor) -> Iterator[tuple[Task, list[int], Tensor, Tensor]]:
    """Each task with its runs, the rows that it is measured on, and the scores of these `[runs, N, C]`."""
    for number, (task, protect) in enumerate(zip(trainer.tasks, trainer.protects, strict=True)):
        places = [place for place, run in enumerate(trainer.runs) if run.task == number]
        rows, chosen = measured_rows(task, part, protect)
        own = scores[places]
        yield task, places, rows, own if chosen is None else own[:, chosen.to(own.device)]


def predictions_of(trainer: Trainer, part: str, scores: Tensor) -> list[Array]:
    """The scores `[N, C]` of every run on a part, as they are kept."""
    found = {
        place: own[run].cpu().numpy()
        for _, places, _, own in by_task(trainer, part, scores)
        for run, place in enumerate(places)
    }
    return [found[place] for place in range(len(trainer.runs))]


def binned_scores(y: Array, scores: Tensor, groups: Groups, task: Task, bins: int) -> Scores | None:
    """Histograms of the scores, where the study wants them."""
    if not bins:
        return None
    values = scores.to("cpu", torch.float64).numpy()
    if task.n_classes == 2 and not task.multi_label:
        values = values[:, 1]
    return Scores.from_scores(y, values, groups.ids, groups.n_groups, bins=bins)


def history_of(trainer: Trainer, place: int) -> dict[str, list[Any]]:
    """The numbers of one run over its epochs, up to where it stopped; NaN is None."""
    last = trainer.phases[-1].name
    stopped = bool(trainer.selection.stopped[place])
    end = int(trainer.selection.best_epoch[place]) + trainer.recipe.patience if stopped else math.inf
    entries = [e for e in trainer.history if e["phase"] != last or e["epoch"] <= end]
    names = dict.fromkeys(name for entry in entries for name in entry if name != "seconds")
    return {name: [_one(entry.get(name), place) for entry in entries] for name in names}


def _one(value: Any, place: int) -> Any:
    own = value[place] if isinstance(value, list) else value
    return None if isinstance(own, float) and math.isnan(own) else own
