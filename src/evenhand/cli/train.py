"""`evenhand train`: a data set, a method, some seeds; live progress, then the audit of the test rows."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.cli import choices, messages
from evenhand.cli import train_choices as given
from evenhand.cli.outputs import Outputs
from evenhand.cli.settings import methods_of, settings, typed
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.data.task import Task


def train(
    dataset: given.Dataset,
    method: given.Methods,
    field: given.Fields = None,
    protect: given.Protect = None,
    knob: given.Knobs = None,
    net: given.Net = None,
    net_option: given.NetOptions = None,
    seeds: given.Seeds = 1,
    epochs: given.Epochs = None,
    batch_size: given.BatchSize = None,
    rate: given.Rate = None,
    optimizer: given.Optimizer = None,
    schedule: given.Schedule = None,
    patience: given.Patience = None,
    recipe: given.Recipe = None,
    device: given.Device = "auto",
    watch: given.Watch = None,
    out: given.Out = None,
    json: choices.JsonOut = None,
    html: choices.HtmlOut = None,
    quiet: choices.Quiet = False,
    debug: choices.Debug = False,
) -> None:
    """Train with a method, once for each seed, and audit the test rows; several methods are compared."""
    outputs = Outputs(json, html)
    outputs.check([])
    _check_folder(out)
    if html is not None:
        from evenhand.report import page  # noqa: F401 - what it needs may not be installed: said now, not later

    methods = methods_of(method, field)
    task = load_task(dataset, settings(knob, "--data-set"), quiet)
    from evenhand.cli.showing import finish
    from evenhand.cli.training import Plan, accuracy_line, fit_all, measured, saved
    from evenhand.evaluation.defaults import net_for, recipe_for
    from evenhand.evaluation.fit_arguments import protected
    from evenhand.nets.registry import NETS

    short = {
        "epochs": epochs, "batch_size": batch_size, "rate": rate, "optimizer": optimizer,
        "schedule": schedule, "patience": patience,
    }  # fmt: skip
    named = net_for(task, net).name
    known = NETS[named].options() if net_option else {}
    options = typed(settings(net_option, "--net-set"), known, "--net-set")
    names = protected(task, _listed(protect))
    cooked = recipe_for(task, **recipe_values(recipe, short))
    shown = watched(watch, task, names)
    plan = Plan(
        task, methods, net_for(task, named, **options), cooked, names, seeds, device, shown, out
    )  # fmt: skip
    plan.check()
    if not quiet:
        print(plan.describe(), file=sys.stderr)
    fits = fit_all(plan, quiet)
    told = saved(plan, fits)
    body = measured(fits)
    finish(body, outputs, quiet)
    if not quiet and not outputs.to_stdout:
        accuracy = [accuracy_line(body)] if body["kind"] == "audit" else []
        for line in [*accuracy, *told, *_advice(seeds)]:
            messages.console().print(line, markup=False, soft_wrap=True)


def load_task(name: str, texts: Mapping[str, str], quiet: bool = False) -> Task:
    """The task with its knobs; a tenth of the training rows is held out where nothing else would be.

    Live numbers, stopping and choosing an epoch need rows that are neither trained on nor tested on.
    """
    from evenhand.data.registry import find_dataset, load
    from evenhand.evaluation.defaults import HELD_OUT

    defaults = find_dataset(name).knobs()
    knobs = typed(texts, defaults, "--data-set")
    asks = "validation" in defaults and "validation" not in knobs
    if asks and defaults["validation"] == 0:
        knobs["validation"] = HELD_OUT
    with messages.progress(quiet) as tell:
        tell(f"loading {name}")

        def arriving(file: str, there: int, whole: int | None) -> None:
            tell(f"downloading {file}: {there / 1e6:,.0f}{f' of {whole / 1e6:,.0f}' if whole else ''} MB")

        task = load(name, progress=arriving, **knobs)
        if asks and "validation" not in task.split:  # the data set's own choice turned out to be none
            task = load(name, progress=arriving, **{**knobs, "validation": HELD_OUT})
    return task


def recipe_values(given: Sequence[str] | None, short: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a recipe from `--recipe name=value` and from the options of their own.

    >>> recipe_values(["clip=5"], {"epochs": 3, "rate": None})
    {'clip': 5.0, 'epochs': 3}
    """
    from dataclasses import fields

    from evenhand.train.recipe import Recipe

    texts = settings(given, "--recipe")
    own = {name: value for name, value in short.items() if value is not None}
    for name in own.keys() & texts.keys():
        raise InputError(f"--recipe {name} and --{name.replace('_', '-')} say the same; give one of them")
    return {**typed(texts, {item.name: item.default for item in fields(Recipe)}, "--recipe"), **own}


def watched(key: str | None, task: Task, protect: tuple[str, ...]) -> str | None:
    """The metric to show: the one that is named, a usual one, or none; a misspelt one is refused."""
    from evenhand.evaluation.defaults import watched_for
    from evenhand.evaluation.options import unknown_metric
    from evenhand.metrics.catalogue import COUNT_METRICS

    if key is None or key == "none":
        return watched_for(task, protect) if key is None else None
    if key not in COUNT_METRICS:
        raise InputError(unknown_metric(key, COUNT_METRICS))
    if "validation" not in task.split:
        raise InputError(f"--watch {key} needs validation rows, and '{task.name}' has none; see --data-set")
    return key


def _listed(names: Sequence[str] | None) -> list[str] | None:
    """`--protect a,b --protect c` as three names."""
    return [name.strip() for text in names for name in text.split(",") if name.strip()] if names else None


def _check_folder(out: Path | None) -> None:
    if out is not None and out.exists() and not out.is_dir():
        raise InputError(f"--out {out} is a file; name a folder")


def _advice(seeds: int) -> list[str]:
    return ["one seed does not tell what training again would change: --seeds 5 does"] if seeds == 1 else []
