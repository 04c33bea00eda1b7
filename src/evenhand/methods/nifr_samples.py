"""Null-sampled inputs of a trained flow, to be looked at or read by another model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from evenhand.data.task import Task
from evenhand.errors import InputError
from evenhand.methods.nets import Nets
from evenhand.methods.nifr import NullSampling

if TYPE_CHECKING:
    from evenhand.train.evaluate import Predictor

PIECE = 1024  # rows that are sent through the flow at a time


@torch.no_grad()
def null_samples(predictor: Predictor, task: Task, rows: Tensor, run: int = 0) -> Tensor:
    """Inputs of these rows without what z_s held `[N, ...]`, on the CPU, scaled as a model reads them.

    `predictor` is that of a `Trainer`, or of `fitted.models[0]`; `run` counts the runs of its stack.
    """
    stack, method = predictor.stack, predictor.method
    if not isinstance(method, NullSampling):
        raise InputError(f"the method '{method.key}' has no flow; null-samples are those of 'nifr'")
    own = {
        name: {key: value[run] if stack.stacked else value for key, value in values.items()}
        for name, values in stack.parameters.items()
    }
    numbers: dict[str, Any] = {name: float(values[run]) for name, values in predictor.hyper.items()}
    method = replace(method, **numbers)
    nets = Nets(stack.networks(own), predictor.sizes, phase="classify")
    found = []
    for some in torch.split(rows, PIECE):
        x = task.x[some] if isinstance(task.x, Tensor) else task.x.take(some)
        found.append(method.null_sample(nets, task.scaling(x.to(stack.device)).to(stack.dtype)).cpu())
    return torch.cat(found)
