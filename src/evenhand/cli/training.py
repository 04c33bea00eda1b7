"""What `train` and `demo` share: methods fitted one after the other, with progress and checkpoints."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from evenhand.cli import messages
from evenhand.cli.live import spell_seconds, training
from evenhand.cli.stopping import between_steps
from evenhand.errors import InputError

if TYPE_CHECKING:
    from evenhand.data.task import Task
    from evenhand.evaluation.fitted import Fitted
    from evenhand.methods.base import Method
    from evenhand.nets.registry import NetSpec
    from evenhand.train.recipe import Recipe


@dataclass(frozen=True)
class Plan:
    """Everything that a training needs, checked before the first step."""

    task: Task
    methods: Mapping[str, Method]
    net: NetSpec
    recipe: Recipe
    protect: tuple[str, ...]
    seeds: int = 1
    device: str = "auto"
    watch: str | None = None
    folder: Path | None = None

    def check(self) -> None:
        """Refuse what could not be trained, with the reason, before anything is."""
        from evenhand.methods.problem import Problem
        from evenhand.train.building import networks_of
        from evenhand.train.fit import device_of

        device_of(self.device)
        if "test" not in self.task.split:
            raise InputError(f"'{self.task.name}' has no rows for the test, so there is nothing to audit")
        problem = Problem.of(self.task, self.protect)
        for method in self.methods.values():
            method.check(problem)
            networks_of(self.net, method, problem)

    def folder_of(self, name: str) -> Path | None:
        """Where a method's checkpoints and results go: the folder itself where there is one method only."""
        if self.folder is None:
            return None
        return self.folder / name if len(self.methods) > 1 else self.folder

    def describe(self) -> str:
        """A line for people.

        >>> from evenhand.data.registry import load
        >>> from evenhand.evaluation.defaults import net_for, recipe_for
        >>> task = load("titanic")
        >>> print(Plan(task, {"erm": None}, net_for(task), recipe_for(task), ("sex",), seeds=2).describe())
        titanic by sex: 1,047 rows to train, 262 to test; s4-mlp, 50 epochs; erm with 2 seeds
        """
        verbs = {"train": "train", "validation": "validate", "test": "test"}
        sizes = [
            (verb, len(self.task.split[part])) for part, verb in verbs.items() if part in self.task.split
        ]
        rows = ", ".join(
            f"{n:,} {'rows ' if place == 0 else ''}to {verb}" for place, (verb, n) in enumerate(sizes)
        )
        by = f" by {' and '.join(self.protect)}" if self.protect else ""
        seeds = "1 seed" if self.seeds == 1 else f"{self.seeds} seeds"
        epochs = "1 epoch" if self.recipe.epochs == 1 else f"{self.recipe.epochs} epochs"
        how = f"{self.net.name}, {epochs}"
        return f"{self.task.name}{by}: {rows}; {how}; {', '.join(self.methods)} with {seeds}"


def fit_all(plan: Plan, quiet: bool = False) -> dict[str, Fitted]:
    """Fit every method of a plan; a fit that was interrupted says how to go on, and the program ends."""
    from evenhand.api import fit

    found: dict[str, Fitted] = {}
    began = time.time()
    try:
        with training(quiet) as start, between_steps() as stopping:
            for name, method in plan.methods.items():
                found[name] = fit(
                    plan.net, method, plan.task, plan.seeds, protect=plan.protect, device=plan.device,
                    folder=plan.folder_of(name), recipe=plan.recipe, tell=stopping(start(name, plan.watch)),
                    watch=(plan.watch,) if plan.watch else (),
                )  # fmt: skip
    except KeyboardInterrupt:
        print(interrupted(plan, began), file=sys.stderr)
        raise typer.Exit(messages.INTERRUPTED) from None
    return found


def interrupted(plan: Plan, began: float) -> str:
    """What is left of a training that was stopped, and how to go on with it."""
    if plan.folder is None:
        return (
            "stopped; nothing was kept. `evenhand train` with --out DIR keeps checkpoints and can go on later"
        )
    written = [file.stat().st_mtime for file in plan.folder.rglob("checkpoint-*.npz")]
    if not written:
        return "stopped before the first checkpoint; the same command begins again"
    age = time.time() - max(written)
    ago = f"of {spell_seconds(age)} ago" if max(written) >= began else "of the earlier run"
    return f"stopped; the checkpoint {ago} is in {plan.folder}: the same command goes on from there"


def saved(plan: Plan, fits: Mapping[str, Fitted]) -> list[str]:
    """Write every fit into its folder, if there is one; what was written, in lines for people."""
    told = []
    for name, fitted in fits.items():
        folder = plan.folder_of(name)
        if folder is not None:
            fitted.save(folder)
            told.append(f"{name} saved to {folder} (predictions.csv.gz can be audited by itself)")
    return told


def accuracy_line(body: Mapping[str, Any]) -> str:
    """The accuracy of an audit in a line: over seeds where there are several, over rows else."""
    from evenhand.report.numbers import interval, number

    found = body["metrics"]["acc"]
    runs = found.get("runs")
    if not runs:
        return f"accuracy {number(found['value'])} ({interval((found['low'], found['high']))} over test rows)"
    spread = f"{number(runs['mean'])} ± {number(runs['std'])} over {runs['n']} seeds"
    return f"accuracy {spread} ({interval((runs['min'], runs['max']))})"


def measured(fits: Mapping[str, Fitted]) -> dict[str, Any]:
    """The audit of one method with the record of its fit, or the trade-off between several."""
    from evenhand.evaluation.tradeoff import tradeoff
    from evenhand.evaluation.values import plain

    if len(fits) > 1:
        return tradeoff(fits).to_dict()
    fitted = next(iter(fits.values()))
    record: dict[str, Any] = plain(dict(fitted.facts))
    return {**fitted.audit().to_dict(), "fit": record}
