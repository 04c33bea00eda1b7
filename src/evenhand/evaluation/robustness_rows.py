"""The rows behind Equalized Robustness: the curvature and the group of each, for every run of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor, nn

from evenhand.arrays import FloatArray, IntArray
from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.evaluation.fit_arguments import check_alike, protected, tasks_of
from evenhand.evaluation.fitted import Fitted
from evenhand.evaluation.fitted_subject import part_groups
from evenhand.methods.terms import row_losses
from evenhand.nets.wrap import as_net
from evenhand.train.curvatures import curvatures_of, in_precision, measure_of
from evenhand.train.parts import Part

PIECE = 2048  # rows of a module of one's own that are looked at together


@dataclass(frozen=True)
class Curved:
    """Curvatures of each run `[N]`, group ids of each task `[N]`: one task, or one for each run."""

    curvatures: tuple[FloatArray, ...]
    ids: tuple[IntArray, ...]
    names: tuple[str, ...]
    protect: tuple[str, ...]
    task: str
    runs: tuple[str, ...]

    def rows(self) -> Iterator[tuple[FloatArray, IntArray]]:
        """Curvatures and group ids of each run."""
        ids = self.ids if len(self.ids) > 1 else self.ids * len(self.curvatures)
        yield from zip(self.curvatures, ids, strict=True)


def curved_of(net: Any, task: Any, protect: Any, part: str, h: float, how: str) -> Curved:
    """Whatever `equalized_robustness` was given, as rows."""
    measure_of(how, h)  # what cannot be meant is refused before the work
    if isinstance(net, Fitted):
        return _of_fit(net, task, protect, part, h, how)
    if not isinstance(net, nn.Module):
        raise InputError(
            f"Equalized Robustness is of a fit or of a torch module, not of a {type(net).__name__}"
        )
    if task is None:
        raise InputError("a module alone has no rows: give the task too, equalized_robustness(net, task)")
    tasks = tasks_of(task)
    if len(tasks) > 1:
        raise InputError("a module of one's own is measured on one task; call it once for each")
    names = protected(tasks[0], protect)
    _check_rows(tasks, part)
    return _grouped((_of_module(net, tasks[0], part, h, how),), tasks, names, part, ("model",))


def _of_fit(fitted: Fitted, task: Any, protect: Any, part: str, h: float, how: str) -> Curved:
    tasks = list(fitted.tasks) if task is None else tasks_of(task)
    if not tasks:
        raise InputError("this fit was loaded without its task; give it: equalized_robustness(fitted, task)")
    if len(tasks) not in (1, len(fitted.seeds)):
        raise InputError(f"{len(tasks)} tasks for {len(fitted.seeds)} runs: give one, or one for each run")
    names = fitted.protect if protect is None else protected(tasks[0], protect)
    check_alike(tasks, names)
    _check_task_of(fitted, tasks[0])
    _check_rows(tasks, part)
    scalings = fitted.scalings if len(fitted.scalings) > 1 else fitted.scalings * len(tasks)
    own = tasks if len(tasks) == len(scalings) else tasks * len(scalings)  # rows as each run read its own
    scaled = [replace(one, scaling=scaling) for one, scaling in zip(own, scalings, strict=True)]
    found, first = list[FloatArray](), 0
    for predictor, state in fitted.models:
        stop = first + predictor.stack.n_runs
        mine = scaled if len(scaled) == 1 else scaled[first:stop]
        first, stack = stop, predictor.stack
        places = torch.arange(len(mine), device=stack.device) if len(mine) > 1 else None
        rows = Part(mine, fitted.protect, part, stack.device, stack.dtype)
        found += list(curvatures_of(predictor, rows, state, places, h=h, how=how).cpu().numpy())
    return _grouped(tuple(found), tasks, names, part, tuple(f"seed {seed}" for seed in fitted.seeds))


def _grouped(
    curvatures: tuple[FloatArray, ...],
    tasks: Sequence[Task],
    protect: tuple[str, ...],
    part: str,
    runs: tuple[str, ...],
) -> Curved:
    groups = [part_groups(task, protect, part) for task in tasks]
    ids = tuple(own.ids for own in groups)
    return Curved(curvatures, ids, tuple(groups[0].names), protect, tasks[0].name, runs)


def _of_module(net: nn.Module, task: Task, part: str, h: float, how: str) -> FloatArray:
    """Curvatures of cross-entropy `[N]` by a module as it stands, at rest while it is looked at."""
    measure, modes = measure_of(how, h), [(module, module.training) for module in net.modules()]
    place = next(net.parameters(), torch.zeros(()))
    convolves = any(isinstance(module, nn.Conv2d) for module in net.modules())
    dtype = place.dtype if convolves else torch.float64
    call = in_precision(as_net(net), dtype)
    net.eval()
    try:
        with torch.no_grad():
            _check_outputs(call, task, next(_pieces(task, part))[0][:1].to(place.device, dtype))
            found = [
                measure(_loss(call, y.to(place.device)), x.to(place.device, dtype))
                for x, y in _pieces(task, part)
            ]
    finally:
        for module, training in modes:
            module.training = training
    return torch.cat(found).to("cpu", torch.float64).numpy()


def _check_rows(tasks: Sequence[Task], part: str) -> None:
    for task in tasks:
        if not len(task.rows(part)):
            raise InputError(f"the part {part!r} of '{task.name}' has no rows to be measured on")


def _check_task_of(fitted: Fitted, task: Task) -> None:
    """The networks read inputs of one shape and tell the classes that they were trained on."""
    expected = fitted.models[0].predictor.sizes.inputs
    if task.input_shape != expected:
        raise InputError(
            f"a row of '{task.name}' has inputs of the shape {task.input_shape}; this model takes {expected}"
        )
    if task.classes != fitted.classes:
        raise InputError(
            f"the classes of '{task.name}' ({', '.join(task.classes[:5])}) are not those that were trained "
            f"({', '.join(fitted.classes[:5])}); give the task of the fit"
        )


def _check_outputs(call: Callable[..., Any], task: Task, x: Tensor) -> None:
    """A module that reads other inputs, or has other outputs, would fail later or be measured for nothing."""
    try:
        shape = tuple(call(x)[0].shape)
    except RuntimeError as error:  # torch's word for shapes that do not fit
        told = f"the module cannot read the inputs of the task '{task.name}', {tuple(x.shape[1:])} a row"
        raise InputError(f"{told}: {error}") from error
    single = not task.multi_label and task.n_classes == 2
    wanted = [(1, task.n_classes), *([(1, 1)] if single else [])]
    if shape not in wanted:
        raise InputError(
            f"the module gives {shape[1:]} outputs a row, and the task '{task.name}' asks for "
            f"{task.n_classes} logits{', or 1' if single else ''}: {', '.join(task.classes[:5])}"
        )


def _loss(call: Callable[..., Any], y: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda inputs: row_losses(call(inputs)[0], y)


def _pieces(task: Task, part: str) -> Iterator[tuple[Tensor, Tensor]]:
    for rows in torch.split(task.rows(part), PIECE):
        x = task.x[rows] if isinstance(task.x, Tensor) else task.x.take(rows)
        yield task.scaling(x), task.y[rows]
