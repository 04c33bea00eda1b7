"""Trained models, however many stacks they were trained in: scores of rows in memory, and tensors to save."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import Array, as_array, as_codes
from evenhand.data.task import Scaling
from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.problem import Problem
from evenhand.records import Sizes, State
from evenhand.train.building import Buildable, builder
from evenhand.train.evaluate import Predictor
from evenhand.train.runs import Run
from evenhand.train.stack import Stack

PIECE = 8192  # rows that are predicted at a time


class Trained(NamedTuple):
    """The models of one stack (or a single one) and what their method remembers."""

    predictor: Predictor
    state: State

    @property
    def n_runs(self) -> int:
        """How many models there are."""
        return self.predictor.stack.n_runs


def scores_of(
    models: Sequence[Trained],
    scalings: Sequence[Scaling],
    x: object,
    groups: object | None = None,
    run: int | None = None,
) -> Array:
    """Scores `[R, N, C]` of all runs, or `[1, N, C]` of one, for inputs before scaling.

    `scalings` has one entry, or one for each run.
    """
    predictor = models[0].predictor
    inputs = _inputs(x)
    expected = predictor.sizes.inputs
    if tuple(inputs.shape[1:]) != expected:
        raise InputError(
            f"a row of inputs has the shape {tuple(inputs.shape[1:])}; this model takes {expected}"
        )
    if inputs.is_floating_point() and not bool(torch.isfinite(inputs).all()):
        row = int((~torch.isfinite(inputs)).nonzero()[0, 0])
        raise InputError(
            f"row {row} has an input that is no finite number; fill the gap, or leave the row out"
        )
    ids = _ids(groups, len(inputs), predictor)
    found, first = [], 0
    for model in models:
        own = range(first, first + model.n_runs)
        first = own.stop
        if run is not None and run not in own:
            continue
        chosen = own if run is None else [run]
        scaling = [scalings[0]] if len(scalings) == 1 else [scalings[number] for number in chosen]
        found.append(_scores(model, scaling, inputs, ids, None if run is None else run - own.start))
    return np.concatenate(found)


def _inputs(x: object) -> Tensor:
    """Numbers of any kind as a tensor, in the byte order and the layout that torch reads."""
    array = None if isinstance(x, Tensor) else np.asarray(as_array(x))
    if array is not None and array.dtype.kind in "biuf":
        native = array.dtype.newbyteorder("=")
        return torch.from_numpy(np.require(array, native, ["C", "W"]))
    if isinstance(x, Tensor) and not x.is_complex():
        return x
    kind = type(x).__name__ if array is None or array.ndim == 0 else f"{array.dtype} values"
    raise InputError(f"inputs must be numbers, encoded as the task's own, not {kind}")


def _ids(groups: object | None, n: int, predictor: Predictor) -> Tensor:
    method = predictor.method
    if groups is None:
        if method.asks().groups_at_test:
            raise InputError(f"the method '{method.key}' predicts by group: give the group ids of the rows")
        return torch.full((n,), -1)
    ids = torch.as_tensor(as_codes(groups, "groups")).to(torch.int64)
    if ids.shape != (n,):
        raise InputError(f"groups of the shape {tuple(ids.shape)} for {n} rows: there must be one id a row")
    wrong = ids[(ids < -1) | (ids >= predictor.sizes.n_groups)]
    if len(wrong):
        last = predictor.sizes.n_groups - 1
        raise InputError(
            f"there is no group {int(wrong[0])}; ids are 0 to {last}, and -1 where it is not known"
        )
    return ids


def _scores(
    model: Trained, scalings: Sequence[Scaling], inputs: Tensor, ids: Tensor, run: int | None
) -> Array:
    """All rows of one stack's runs, or of one of them: found piece by piece, settled together."""
    starts = range(0, max(len(inputs), 1), PIECE)
    pieces = [
        _piece(model, scalings, inputs[start : start + PIECE], ids[start : start + PIECE], run)
        for start in starts
    ]
    return model.predictor.settled(torch.cat(pieces, dim=1), ids, run).numpy()


def _piece(
    model: Trained, scalings: Sequence[Scaling], inputs: Tensor, ids: Tensor, run: int | None
) -> Tensor:
    stack = model.predictor.stack
    moved, g = inputs.to(stack.device), ids.to(stack.device)
    x = [each(moved).to(stack.dtype) for each in dict.fromkeys(scalings)]
    if len(x) > 1:  # each run reads the rows in its own scaling
        x, g = [torch.stack([each(moved).to(stack.dtype) for each in scalings])], g.expand(len(scalings), -1)
    return model.predictor.piece(x[0], g, model.state, run=run).cpu()


def pack(models: Sequence[Trained]) -> tuple[dict[str, Tensor], list[dict[str, Any]]]:
    """Everything that the models consist of, as tensors by name, and a description of each stack."""
    stacks, tensors = [], dict[str, Tensor]()
    for number, (predictor, state) in enumerate(models):
        stack = predictor.stack
        stacks.append({"runs": stack.n_runs, "stacked": stack.stacked})
        leaves = {f"{net}/{key}": v for net, values in stack.parameters.items() for key, v in values.items()}
        parts = {"parameter": leaves, "buffer": stack.buffers(), "state": state, "hyper": predictor.hyper}
        for kind, named in parts.items():
            tensors |= {f"{number}/{kind}/{name}": value.detach() for name, value in named.items()}
    return tensors, stacks


def unpack(
    tensors: Mapping[str, Tensor],
    stacks: Sequence[Mapping[str, Any]],
    net: Buildable,
    method: Method,
    seeds: Sequence[int],
    sizes: Sizes,
    device: torch.device,
) -> tuple[Trained, ...]:
    """The models again: networks are built anew and get the saved parameters."""
    nothing = torch.empty(0, dtype=torch.int64)
    problem = Problem(sizes, nothing, nothing, torch.empty((0, len(sizes.n_levels)), dtype=torch.int64))
    found, first = [], 0
    for number, entry in enumerate(stacks):
        mine = {name.split("/", 1)[1]: v for name, v in tensors.items() if name.startswith(f"{number}/")}
        dtype = next(value.dtype for name, value in mine.items() if name.startswith("parameter/"))
        runs = [Run(method, seed) for seed in seeds[first : first + entry["runs"]]]
        first += entry["runs"]
        builds = [builder(net, run, problem) for run in runs]
        stack = Stack(builds, [run.seed for run in runs], device, dtype, entry["stacked"])
        _fill(stack, mine)
        state, hyper = (_named(mine, kind, device) for kind in ("state/", "hyper/"))
        found.append(Trained(Predictor(method, hyper, stack, sizes), state))
    return tuple(found)


def _named(tensors: Mapping[str, Tensor], kind: str, device: torch.device) -> dict[str, Tensor]:
    return {name.removeprefix(kind): v.to(device) for name, v in tensors.items() if name.startswith(kind)}


@torch.no_grad()
def _fill(stack: Stack, tensors: Mapping[str, Tensor]) -> None:
    """Put saved numbers into networks; those of another network are refused."""
    targets = {f"buffer/{name}": value for name, value in stack.buffers().items()}
    for network, values in stack.parameters.items():
        targets |= {f"parameter/{network}/{key}": leaf for key, leaf in values.items()}
    for name, target in targets.items():
        if name not in tensors or tensors[name].shape != target.shape:
            raise InputError(f"this network is not the one that was saved: '{name}' differs")
        target.copy_(tensors[name])
