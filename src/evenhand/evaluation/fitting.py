"""fit: names or objects in, trained models out."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.evaluation.fit_arguments import (
    check_alike,
    check_distinct,
    protected,
    seeds_of,
    tasks_of,
    watched_keys,
)
from evenhand.evaluation.fitted import Fitted
from evenhand.methods.base import Method
from evenhand.methods.registry import method_of
from evenhand.nets import NetSpec
from evenhand.train.checkpoint import usable_folder
from evenhand.train.fit import device_of, train_runs
from evenhand.train.own_net import buildable
from evenhand.train.progress import Tell
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trained import Trained
from evenhand.train.trainer import Trainer


def fit_models(
    net: Any,
    method: Method | str,
    task: Task | str | Sequence[Task | str],
    *,
    seeds: int | Sequence[int] = 1,
    protect: Sequence[str] | str | None = None,
    device: str = "auto",
    recipe: Recipe | None = None,
    stack_size: int | None = None,
    folder: str | Path | None = None,
    watch: Sequence[str] = (),
    tell: Tell | None = None,
    **values: Any,
) -> Fitted:
    """See `evenhand.fit`."""
    tasks = tasks_of(task)
    chosen = method_of(method) if isinstance(method, str) else method
    if not isinstance(chosen, Method):
        raise InputError(f"a method is a key ('erm') or an object of evenhand.methods, not {method!r}")
    numbers = seeds_of(seeds)
    if len(tasks) > 1 and len(tasks) != len(numbers):
        raise InputError(f"{len(tasks)} tasks for {len(numbers)} seeds: give one task, or one for each seed")
    names = protected(tasks[0], protect)
    check_alike(tasks, names)
    source = buildable(net)
    base = recipe or Recipe()
    cooked = Recipe.of(**{**{item.name: getattr(base, item.name) for item in fields(base)}, **values})
    check_distinct(numbers, cooked, len(tasks))
    keys = watched_keys(watch, tasks[0])
    if stack_size is not None and (not isinstance(stack_size, int) or stack_size < 1):
        raise InputError(f"stack_size={stack_size!r} must be a whole number of at least 1")
    runs = [Run(chosen, seed, place if len(tasks) > 1 else 0) for place, seed in enumerate(numbers)]
    trainers = train_runs(
        runs, tasks, source, cooked, protect=names, device=device_of(device), stack_size=stack_size,
        tell=tell, folder=None if folder is None else usable_folder(folder), watch=keys,
    )  # fmt: skip
    facts = facts_of(trainers, source, chosen, numbers, cooked)
    history = tuple({"seeds": [run.seed for run in t.runs], "epochs": t.history} for t in trainers)
    models = tuple(Trained(trainer.predictor, trainer.state) for trainer in trainers)
    scalings = tuple(one.scaling for one in tasks)
    known = tuple(one.encoding for one in tasks if one.encoding is not None)
    encodings = known if len(known) == len(tasks) else ()
    return Fitted(models, tasks[0].classes, names, scalings, facts, history, tuple(tasks), encodings)


def facts_of(
    trainers: Sequence[Trainer], net: Any, method: Method, seeds: Sequence[int], recipe: Recipe
) -> dict[str, Any]:
    """The record of a fit: enough to do it again."""
    import torch

    from evenhand import __version__

    task = trainers[0].tasks[0]
    described: Mapping[str, Any] = (
        {"name": net.name, "options": dict(net.options)} if isinstance(net, NetSpec) else {"name": None}
    )
    device = trainers[0].device
    card = {item.name: getattr(task.card, item.name) for item in fields(task.card) if item.name != "notes"}
    return {
        "name": f"{task.name}, {method.key or type(method).__name__}",
        "method": {"key": method.key, "fields": asdict(method)},
        "net": described,
        "task": {
            "name": task.name,
            "rows": {part: len(rows) for part, rows in task.split.items()},
            "card": card,
        },
        "recipe": asdict(recipe),
        "seeds": list(seeds),
        "seconds": sum(trainer.position.seconds for trainer in trainers),
        "device": torch.cuda.get_device_name(device) if device.type == "cuda" else platform.machine(),
        "versions": {
            "evenhand": __version__,
            "python": platform.python_version(),
            "torch": torch.__version__,
        },
    }
