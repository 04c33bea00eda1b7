"""Trainer: phases, epochs and steps of one run or a stack, with validation, stopping and checkpoints."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.records import EpochStart, Phase
from evenhand.train.batches import Batches
from evenhand.train.building import (
    Buildable,
    builder,
    check_recipe,
    check_stackable,
    joined_state,
    next_state,
)
from evenhand.train.checkpoint import load_tensors, save_tensors
from evenhand.train.compiling import is_worth_compiling
from evenhand.train.determinism import deterministic
from evenhand.train.epoch_notes import note_epoch
from evenhand.train.evaluate import Predictor
from evenhand.train.own_noise import own_noise
from evenhand.train.parts import Part, room
from evenhand.train.precision import matmul_precision, parameter_type
from evenhand.train.prepared import PreparedPart
from evenhand.train.progress import Position, Tell, progress_of
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import can_record
from evenhand.train.resume import put_back, tensors_of
from evenhand.train.runs import Run, common_method, protect_of_each, stacked_numbers
from evenhand.train.sampler import Sampler
from evenhand.train.schedule import rate_factor, recipe_of_phase
from evenhand.train.selection import Selection
from evenhand.train.shifted import Seen
from evenhand.train.stack import Stack
from evenhand.train.step import Step
from evenhand.train.watching import checked_metrics

TOLD_EVERY = 20  # steps


class Trainer:
    """Trains R runs of one method side by side (or one run), each as if it were alone.

    `tasks` are those that `Run.task` counts; `protect` serves all of them, or has a list for each. `watch`
    names catalogue metrics that are measured on validation after every epoch beside the loss.
    `stacked=False` asks for a single run without vmap.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        tasks: Sequence[Task],
        net: Buildable,
        recipe: Recipe,
        *,
        protect: Sequence[str | Sequence[str]] = (),
        device: torch.device | str = "cpu",
        watch: Sequence[str] = (),
        stacked: bool | None = None,
        resident: bool | None = None,
    ) -> None:
        if not runs:
            raise InputError("there is no run to train")
        self.runs, self.tasks, self.recipe = list(runs), list(tasks), recipe.check()
        self.protects, self._resident = protect_of_each(protect, len(self.tasks)), resident
        self.device, self.dtype = torch.device(device), parameter_type(recipe)
        self.method, names = common_method(self.runs)
        self.train = self.part("train")
        validated = len(self.tasks[0].split.get("validation", ())) > 0
        self.validation = self.part("validation") if validated else None
        self.sizes = self.train.problems[0].sizes
        check_recipe(recipe, self.sizes, len(self.tasks))
        problems = [self.train.problems[run.task] for run in self.runs]
        for run, problem in zip(self.runs, problems, strict=True):
            run.method.check(problem)
        self.net = net
        builds = [builder(net, run, problem) for run, problem in zip(self.runs, problems, strict=True)]
        weights = [run.seeds[0] for run in self.runs]
        self.stack = Stack(builds, weights, self.device, self.dtype, stacked)
        check_stackable(self.method, self.stack)
        self.batches = Batches(
            self.runs, self.train, recipe, self.stack.templates, stacked=self.stack.stacked, dtype=self.dtype
        )
        self.hyper = stacked_numbers(self.runs, names, self.device, self.dtype) if self.stack.stacked else {}
        states = [run.method.init(problem) for run, problem in zip(self.runs, problems, strict=True)]
        self.state = joined_state(states, self.stack)
        self.predictor = Predictor(self.method, self.hyper, self.stack, self.sizes)
        self.watch = checked_metrics(recipe.monitor, watch)
        self.position, self.history = Position(), list[dict[str, Any]]()
        self.selection = Selection(recipe, self.stack, self.validation is not None)
        self.step: Step | None = None  # of the phase that is going on
        self.sums: dict[str, Tensor] = {}  # of this epoch's losses, and of what the method logs

    def part(self, name: str) -> Part:
        """A part of the tasks on the device."""
        return Part(self.tasks, self.protects, name, self.device, self.dtype, self._resident)

    @property
    def protect(self) -> tuple[str, ...] | tuple[tuple[str, ...], ...]:
        """What all tasks protect, or a list for each where they differ."""
        return self.protects[0] if len(set(self.protects)) == 1 else tuple(self.protects)

    @property
    def phases(self) -> tuple[Phase, ...]:
        """The method's phases."""
        return self.method.phases()

    def epochs_of(self, phase: Phase) -> int:
        """How long a phase lasts."""
        return self.recipe.epochs if phase.epochs is None else phase.epochs

    def fit(
        self,
        tell: Tell | None = None,
        checkpoint: Path | None = None,
        every: float = 60.0,
        begin: Callable[[Trainer], None] | None = None,
    ) -> Trainer:
        """Train to the end, from the checkpoint if there is one; it is written every so many seconds.

        Without one, `begin` may set the trainer to where it is to begin.
        """
        self._tell, self._checkpoint, self._every = tell, checkpoint, every
        self._saved = time.monotonic()
        with ExitStack() as modes:
            modes.enter_context(deterministic(self.recipe.deterministic))
            modes.enter_context(matmul_precision(self.recipe))
            if checkpoint is not None and checkpoint.exists():
                put_back(self, *load_tensors(checkpoint), checkpoint)
            elif begin is not None:
                begin(self)
            while self.position.phase < len(self.phases):
                self._run_phase(self.phases[self.position.phase])
            self.save()
        return self

    def save(self) -> None:
        """Write the checkpoint, if one was asked for."""
        if self._checkpoint is not None:
            save_tensors(self._checkpoint, *tensors_of(self))
        self._saved = time.monotonic()

    def _run_phase(self, phase: Phase) -> None:
        sampler, step = self.batches.sampler(phase.name), self._start(phase)
        self.batches.source = self._seen(self.train, step)
        validation = None if self.validation is None else self._seen(self.validation, step)
        while self.position.epoch < self.epochs_of(phase) and not self.selection.all_stopped:
            self._run_epoch(phase, sampler, step, validation)
        self.batches.source = self.train
        if phase.select:
            self.state = self.selection.restore(self.state)
        self.finish(phase)

    def _start(self, phase: Phase) -> Step:
        """Begin a phase, or go on with the one that a checkpoint was taken in."""
        if self.step is None:
            self.set_networks(phase)
            self.selection.start()
            self.step = self.new_step(phase)
        return self.step

    def set_networks(self, phase: Phase) -> None:
        """The networks as they are when a phase begins: some are new, some take over what others have."""
        if phase.fresh:
            weights = [run.seeds[0] + 7919 * (self.position.phase + 1) for run in self.runs]
            self.stack.restart(phase.fresh, weights)
        for name, source in phase.copied:
            self.stack.copy(name, source)

    def new_step(self, phase: Phase) -> Step:
        """The step of a phase, with optimisers that remember nothing."""
        compiled, recorded = self.recipe.compile, can_record(self.stack)
        if compiled is None:
            steps = self.epochs_of(phase) * self.batches.sampler(phase.name).steps
            compiled = is_worth_compiling(self.device, steps, self.stack.n_runs, recorded=recorded)
        self.stack.move(phase.heads)
        recipe = recipe_of_phase(self.recipe, [run.method for run in self.runs], phase.name)
        return Step(
            self.method, self.hyper, self.stack, self.sizes, recipe,
            phase=phase.name, shared=self.batches.shared, prepared=self.prepares(phase), compiled=compiled,
            recorded=recorded,
        )  # fmt: skip

    def prepares(self, phase: Phase) -> bool:
        """Whether inputs are prepared once: not where they change from step to step, or have no room."""
        own = not self.batches.shared and self.recipe.augment == "none"
        rows = self.train.n + (0 if self.validation is None else self.validation.n)
        numbers = math.prod(self.method.model_inputs(self.train.problems[0])) * rows * self.stack.n_runs
        fits = 2 * numbers * self.dtype.itemsize <= room(self.device)  # pieces, and then all of them joined
        return phase.prepared and own and fits

    def _seen(self, part: Part, step: Step) -> Part | PreparedPart:
        if not step.prepared:
            return part
        return self.predictor.prepared(part, self.state, self.batches.tasks, step.phase)

    def _run_epoch(
        self, phase: Phase, sampler: Sampler, step: Step, validation: Part | PreparedPart | None
    ) -> None:
        place, began = self.position, time.monotonic()
        first = place.step
        if first == 0:
            self.sums = {}
            start = EpochStart(phase.name, place.epoch, self.epochs_of(phase), self.stack.templates)
            self.state = step.begin_epoch(start, self.state)
        while place.step < sampler.steps:
            self._one_step(phase, sampler, step)
            place.step += 1
            now = time.monotonic()
            if place.step % TOLD_EVERY == 0:
                speed = (place.step - first) * self.stack.n_runs / max(now - began, 1e-9)
                self._say(phase, sampler, speed)
            if self._checkpoint is not None and now - self._saved >= self._every:
                self.save()
        place.step, place.epoch, place.seconds = 0, place.epoch + 1, place.seconds + time.monotonic() - began
        turns = phase.turns_of(phase.lead, sampler.steps, place.epoch - 1)
        note_epoch(self, phase, turns or math.nan, validation)
        seconds = max(time.monotonic() - began, 1e-9)
        self._say(phase, sampler, (sampler.steps - first) * self.stack.n_runs / seconds)

    def _say(self, phase: Phase, sampler: Sampler, speed: float) -> None:
        """Tell where training stands; whoever listens may stop it here, and nothing is lost."""
        if self._tell is None:
            return
        planned = sum(self.epochs_of(item) for item in self.phases)
        shown = (self.position, phase.name, self.epochs_of(phase), planned, sampler.steps)
        try:
            self._tell(progress_of(*shown, speed, self.history))
        except KeyboardInterrupt:
            self.save()
            raise

    def _one_step(self, phase: Phase, sampler: Sampler, step: Step) -> None:
        place = self.position
        epoch = place.epochs_before + place.epoch
        number = epoch * sampler.steps + place.step
        batch = self.batches.batch(sampler.rows(epoch, place.step), number, phase.name)
        if place.step + 1 < sampler.steps:
            self.batches.source.prefetch(sampler.rows(epoch, place.step + 1))
        noise = self.batches.noise(number, sampler.batch_size, phase.name)
        in_phase = place.epoch * sampler.steps + place.step
        factor = rate_factor(self.recipe, in_phase, self.epochs_of(phase) * sampler.steps)
        for turn in phase.turn(in_phase, place.epoch):
            with own_noise(self.stack, self.runs[0].seeds[2], number):
                losses, self.state, logs = step.run(batch, noise, self.state, turn, factor)
            if phase.lead in turn:
                told = {
                    "train": losses[phase.lead],
                    **{f"method.{name}": value for name, value in logs.items()},
                }
                self.sums = {name: value + self.sums.get(name, 0.0) for name, value in told.items()}

    def scores(self, part: Seen, phase: str | None = None) -> Tensor:
        """Scores of a part with the parameters as they are, `[R, N, C]`; of the last phase unless named."""
        return self.predictor.scores(part, self.state, self.batches.tasks, phase)

    def finish(self, phase: Phase) -> None:
        """Hand the scores of all training rows to the method, if another phase follows."""
        if self.step is not None:
            self.step.close()
        self.step, place = None, self.position
        place.epochs_before += self.epochs_of(phase)  # planned ones: when neighbours stop must not matter
        place.phase, place.epoch, place.step = place.phase + 1, 0, 0
        if place.phase == len(self.phases) or type(self.method).after is Method.after:
            return
        scores = self.scores(self.train, phase.name).cpu()
        self.state = next_state(self.runs, self.train.problems, phase.name, scores, self.state, self.stack)
