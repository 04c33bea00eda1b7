"""The models of a zoo, read from the store of a study: counts of every model and seed, and what it costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.model_selection.layout import CHOSEN, SHOWN, TOP
from evenhand.metrics.counts import Counts
from evenhand.study.frame import Frame
from evenhand.study.store import Store

Found = dict[tuple[str, int], int]  # (model, seed) -> row of the frame


@dataclass(frozen=True, eq=False)
class Zoo:
    """M models with S seeds each on one task; counts `[M, S, groups, classes, classes]` of each part."""

    task: str
    models: tuple[str, ...]
    seeds: tuple[int, ...]
    classes: tuple[str, ...]
    counts: Mapping[str, Counts] = field(repr=False)
    top5: FloatArray = field(repr=False)  # [M, S], NaN where no scores were kept
    parameters: tuple[int | None, ...] = ()
    inputs: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()


def read_zoos(store: Store) -> list[Zoo]:
    """A zoo for each task of the study; models that are not finished are named in `left_out`."""
    frame = Frame.open(store)
    tasks = dict.fromkeys(frame.columns["task"])
    return [_zoo(store, frame, task) for task in tasks]


def _zoo(store: Store, frame: Frame, task: str) -> Zoo:
    found = _rows(frame, task)
    models, seeds = _finished(found)
    if len(models) < 2:
        raise InputError(
            f"fewer than two models of the task '{task}' are trained: there is no pair to compare"
        )
    order = np.array([[found[model, seed] for seed in seeds] for model in models])
    parts = [part for part in (CHOSEN, SHOWN) if frame.met(part, order.ravel())]
    shape, sizes, labels = _facts(frame, order[:, 0])
    scored = [[_top(store, frame, row, labels) for row in line] for line in order.tolist()]
    look = frame.met(SHOWN, order.ravel())[0][0]
    lacking = tuple(dict.fromkeys(model for model, _ in found if model not in models))
    counts = {part: _stacked(frame, part, order) for part in parts}
    return Zoo(task, models, seeds, look.classes, counts, np.array(scored), sizes, shape, lacking)


def _rows(frame: Frame, task: str) -> Found:
    """Rows by model and seed; a model is a network, and the method where a network has several."""
    columns, rows = frame.columns, [r for r in range(frame.n) if frame.columns["task"][r] == task]
    methods: dict[str, set[str]] = {}
    for row in rows:
        methods.setdefault(columns["net"][row], set()).add(columns["method"][row])
    found: Found = {}
    for row in rows:
        net, method = columns["net"][row], columns["method"][row]
        name = net if len(methods[net]) == 1 else f"{net}, {method}"
        found[name, int(columns["seed"][row])] = row if frame.done[row] else -1
    return found


def _finished(found: Found) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """Models that have something, and the seeds that all of them have."""
    models = [
        model
        for model in dict.fromkeys(model for model, _ in found)
        if any(row >= 0 for (other, _), row in found.items() if other == model)
    ]
    seeds = sorted({seed for _, seed in found})
    common = [seed for seed in seeds if all(found.get((model, seed), -1) >= 0 for model in models)]
    if models and not common:
        raise InputError("no seed is finished for all models; run the study to its end")
    return tuple(models), tuple(common)


def _stacked(frame: Frame, part: str, order: Array) -> Counts:
    """Counts of a part `[M, S, ...]`."""
    cells: Array | None = None
    flat = order.ravel()
    for look, here, inside in frame.met(part, flat):
        block = look.counts.cells[inside]
        cells = np.zeros((len(flat), *block.shape[1:]), block.dtype) if cells is None else cells
        cells[here] = block
    assert cells is not None
    whole = cells.sum(axis=-3, keepdims=True).reshape(*order.shape, 1, *cells.shape[-2:])
    return Counts.from_table(whole)


def _facts(frame: Frame, rows: Sequence[int] | Array) -> tuple[tuple[int, ...], tuple[int | None, ...], Any]:
    """Shape of an input, parameters of each model, labels of the shown part; unknown without the data."""
    from evenhand.nets.registry import NETS, NetSpec
    from evenhand.study.tasks import look_at_task

    specs = [frame.columns["spec"][row] for row in rows]
    try:
        task = look_at_task(specs[0]["data"], specs[0]["knobs"])
    except InputError:
        return (), (None,) * len(specs), None
    shape = tuple(task.input_shape)
    sizes = []
    for spec in specs:
        known = spec["net"] in NETS
        net = NetSpec(spec["net"], spec["net_options"]).build(shape, task.n_classes) if known else None
        sizes.append(None if net is None else sum(weights.numel() for weights in net.parameters()))
    return shape, tuple(sizes), np.asarray(task.y)[np.asarray(task.rows(SHOWN))]


def _top(store: Store, frame: Frame, row: int, labels: Array | None) -> float:
    """The share of rows whose class is among the five with the highest scores."""
    scores = store.predictions(frame.columns["id"][row]).get(SHOWN)
    if scores is None or labels is None or len(scores) != len(labels):
        return math.nan
    own = np.take_along_axis(scores, labels[:, None], axis=1)
    return float(((scores > own).sum(axis=1) < TOP).mean())
