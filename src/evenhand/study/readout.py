"""A trained stack as other methods read it: same networks, another inference rule."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace

from evenhand.methods.base import Method
from evenhand.train.building import joined_state
from evenhand.train.evaluate import Predictor
from evenhand.train.runs import common_method, stacked_numbers
from evenhand.train.trainer import Trainer


def read_as(trainer: Trainer, methods: Sequence[Method]) -> Trainer:
    """The trainer with scores by these methods, one for each of its runs; nothing is trained or copied.

    What a method remembers is what training has left, and for the rest what `init` says of the task.
    """
    if all(run.method == method for run, method in zip(trainer.runs, methods, strict=True)):
        return trainer
    seen = copy(trainer)
    seen.runs = [replace(run, method=own) for run, own in zip(trainer.runs, methods, strict=True)]
    problems = [trainer.train.problems[run.task] for run in seen.runs]
    for run, problem in zip(seen.runs, problems, strict=True):
        run.method.check(problem)
    seen.method, names = common_method(seen.runs)
    stacked = trainer.stack.stacked
    seen.hyper = stacked_numbers(seen.runs, names, trainer.device, trainer.dtype) if stacked else {}
    states = [run.method.init(problem) for run, problem in zip(seen.runs, problems, strict=True)]
    seen.state = {**joined_state(states, trainer.stack), **trainer.state}
    seen.predictor = Predictor(seen.method, seen.hyper, trainer.stack, trainer.sizes)
    return seen
