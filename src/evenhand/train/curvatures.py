"""How curved the loss of trained networks is around the rows of a part: of one run, or of a stack.

The loss of a row is -log of the probability that the method's own rule gives its true class (of several
labels, their mean), so that every method can be asked; dropout is off and batch statistics rest. It is
computed in float64 whatever training was done in: a curvature is a difference of gradients, and in float32
the probability of a class that a network is sure to be wrong rounds to 0. Networks that convolve keep their
precision, since graphics processors are slow at pictures in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call, vmap

from evenhand.errors import InputError
from evenhand.methods.nets import Network
from evenhand.methods.terms import score_losses
from evenhand.metrics.curvature import Loss, one_shot, spectral_norm
from evenhand.records import State
from evenhand.train.evaluate import Predictor, seen_by_all
from evenhand.train.shifted import Seen
from evenhand.train.stack import Parameters

HOWS = ("one-shot", "power")
SMALLER = 8  # times fewer rows in a piece than for scores: gradients keep what every layer gave


def curvatures_of(
    predictor: Predictor,
    part: Seen,
    state: State,
    tasks: Tensor | None = None,
    *,
    h: float = 1.0,
    how: str = "one-shot",
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Curvatures `[R, N]` in float64, on the device; `tasks [R]` where runs have tasks of their own.

    how: "one-shot", the estimate with steps of length h, or "power", thirty steps of power iteration.
    """
    measure = measure_of(how, h)
    if part.prepared:
        raise InputError("curvatures are taken for the task's own inputs, not for prepared ones")
    if dtype is None:
        dtype = predictor.stack.dtype if predictor.convolves() else torch.float64
    one = partial(_one, predictor.scorer(partial(_networks, predictor, dtype)), measure)
    parameters = {name: _cast(values, dtype) for name, values in predictor.stack.parameters.items()}
    found = [
        _each_run(one, predictor, parameters, state, x.to(dtype), y, g)
        for x, y, g in _pieces(predictor, part, tasks)
    ]
    return torch.cat(found, dim=1)


def measure_of(how: str, h: float = 1.0) -> Callable[[Loss, Tensor], Tensor]:
    """The estimate by its name.

    >>> measure_of("exactly")
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no way 'exactly' to measure curvature; there are: one-shot, power
    """
    if how not in HOWS:
        raise InputError(f"there is no way {how!r} to measure curvature; there are: {', '.join(HOWS)}")
    if not isinstance(h, int | float) or not 0 < abs(h) < float("inf"):
        raise InputError(f"the step h of the one-shot estimate must be a number other than 0, not {h!r}")
    return partial(one_shot, h=h) if how == "one-shot" else spectral_norm


def _one(
    scores_of: Callable[..., Tensor],
    measure: Callable[[Loss, Tensor], Tensor],
    parameters: Parameters,
    hyper: Mapping[str, Tensor],
    state: State,
    x: Tensor,
    y: Tensor,
    g: Tensor,
) -> Tensor:
    """The curvatures of some rows `[B]` in one run."""
    return measure(lambda inputs: score_losses(scores_of(parameters, hyper, state, inputs, g), y), x)


@torch.no_grad()
def _each_run(
    one: Callable[..., Tensor],
    predictor: Predictor,
    parameters: Parameters,
    state: State,
    *rows: Tensor,
) -> Tensor:
    """`[R, B]`: rows `[B, ...]` seen by all runs, or `[R, B, ...]`."""
    stack, hyper, own = predictor.stack, predictor.hyper, rows[-1].ndim > 1
    stack.mode(training=False)
    try:
        if not stack.stacked:
            mine = [values[0] if own else values for values in rows]
            return one(parameters, hyper, state, *mine)[None].to(torch.float64)
        x, data = seen_by_all(rows[0], own)
        labels = (0 if own else None,) * (len(rows) - 1)
        dims = (0, dict.fromkeys(hyper, 0), dict.fromkeys(state, 0), data, *labels)
        return vmap(one, in_dims=dims)(parameters, hyper, state, x, *rows[1:]).to(torch.float64)
    finally:
        stack.mode(training=True)


def _networks(predictor: Predictor, dtype: torch.dtype, parameters: Parameters) -> dict[str, Network]:
    templates = predictor.stack.templates.items()
    return {name: in_precision(template, dtype, parameters[name]) for name, template in templates}


def in_precision(
    module: nn.Module, dtype: torch.dtype, parameters: Mapping[str, Tensor] | None = None
) -> Network:
    """The module as a function with parameters (its own by default) and running statistics of this type."""
    held = _cast(dict(module.named_buffers()), dtype)
    held |= _cast(dict(module.named_parameters()) if parameters is None else parameters, dtype)

    def call(*inputs: Tensor, **options: object) -> object:
        return functional_call(module, held, inputs, options)

    return call


def _cast(tensors: Mapping[str, Tensor], dtype: torch.dtype) -> dict[str, Tensor]:
    return {key: v.to(dtype) if v.is_floating_point() else v for key, v in tensors.items()}


def _pieces(
    predictor: Predictor, part: Seen, tasks: Tensor | None
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    runs = predictor.stack.n_runs if tasks is not None else 1
    rows = predictor.rows_at_a_time(runs, SMALLER)
    for start in range(0, part.n, rows):
        places = torch.arange(start, min(start + rows, part.n), device=part.device)
        x, y, g, _ = part.take(places if tasks is None else places.expand(runs, -1), tasks)
        yield x, y, g
