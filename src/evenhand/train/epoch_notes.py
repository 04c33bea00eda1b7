"""What is noted of an epoch: mean losses, validation, and whether it is the one that a run keeps."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from evenhand.records import Phase
from evenhand.train.parts import Part
from evenhand.train.prepared import PreparedPart
from evenhand.train.runs import Run
from evenhand.train.watching import monitored, watched

if TYPE_CHECKING:
    from evenhand.train.trainer import Trainer


def note_epoch(trainer: Trainer, phase: Phase, turns: float, part: Part | PreparedPart | None) -> None:
    """Add the epoch that has just ended to the history; `turns`: how often the lead moved in it."""
    place = trainer.position
    entry: dict[str, Any] = {"phase": phase.name, "epoch": place.epoch, "seconds": place.seconds}
    sums = {"train": torch.full((trainer.stack.n_runs,), math.nan)} | trainer.sums
    means = {name: value.to("cpu", torch.float64).view(-1) / turns for name, value in sums.items()}
    if trainer.validation is not None and part is not None and phase.select:
        scores = trainer.scores(part, phase.name)
        found = watched(scores, trainer.validation, trainer.sizes, trainer.watch, trainer.batches.tasks)
        means |= found
        ripe = torch.tensor([_may_choose(trainer, run, phase) for run in trainer.runs])
        seen = monitored(trainer.recipe.monitor, found)
        trainer.selection.see(seen, place.epoch, trainer.state, ripe)
    trainer.history.append(entry | {name: value.tolist() for name, value in means.items()})


def _may_choose(trainer: Trainer, run: Run, phase: Phase) -> bool:
    """Whether validation may choose this epoch for a run: by its own numbers, whoever is beside it."""
    own = next(item for item in run.method.phases() if item.name == phase.name)
    return own.may_choose(trainer.position.epoch, trainer.epochs_of(phase))
