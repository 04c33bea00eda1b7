"""Scores of a whole part from the networks as they are, by the method's own rule."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import vmap

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets, Network
from evenhand.records import Batch, Sizes, State
from evenhand.train.parts import Part
from evenhand.train.prepared import PreparedPart
from evenhand.train.shifted import Seen
from evenhand.train.stack import Parameters, Stack

MOST_NUMBERS = 1 << 25  # numbers of inputs that are looked at in one piece
MOST_OF_PICTURES = 1 << 23  # the same where they are convolved


class Predictor:
    """The method's inference rule over the rows of a part, for one run or a stack."""

    def __init__(self, method: Method, hyper: Mapping[str, Tensor], stack: Stack, sizes: Sizes) -> None:
        self.method, self.hyper, self.stack, self.sizes = method, dict(hyper), stack, sizes

    def scores(
        self,
        part: Seen,
        state: State,
        tasks: Tensor | None = None,
        phase: str | None = None,
    ) -> Tensor:
        """Scores of every row, `[R, N, C]`, on the device, as in a phase (unless named, the last one)."""
        found, groups = [], []
        for x, g in self._pieces(part, tasks):
            found.append(self.piece(x, g, state, phase, prepared=part.prepared))
            groups.append(g)
        return self.settled(torch.cat(found, dim=1), torch.cat(groups, dim=-1))

    @torch.no_grad()
    def settled(self, found: Tensor, g: Tensor, run: int | None = None) -> Tensor:
        """Scores of all rows from what `piece` found of each `[R, N, C]`: a method may settle them together.

        `g` is `[N]`, or `[R, N]`; `run` says which of the stack it was, where `found` is of one alone.
        """
        if type(self.method).settle is Method.settle:
            return found
        seen = g if self.method.asks().groups_at_test else torch.full_like(g, -1)
        runs = range(len(found)) if run is None else [run]
        each = zip(runs, found, seen.expand(len(found), -1), strict=True)
        return torch.stack([self._of_run(place).settle(rows, ids, self.sizes) for place, rows, ids in each])

    def _of_run(self, run: int) -> Method:
        """The method with the numbers of one run."""
        return replace(self.method, **{name: float(values[run]) for name, values in self.hyper.items()})

    def prepared(self, part: Part, state: State, tasks: Tensor | None, phase: str) -> PreparedPart:
        """The part as the networks at rest in this phase see it, row by row."""
        one = self._one(phase, prepare=True)
        found = [self._each_run(one, x, g, state) for x, g in self._pieces(part, tasks)]
        return PreparedPart(part, torch.cat(found, dim=1))

    def piece(
        self,
        x: Tensor,
        g: Tensor,
        state: State,
        phase: str | None = None,
        run: int | None = None,
        *,
        prepared: bool = False,
    ) -> Tensor:
        """What `settled` is given of some rows, `x [B, ...]` for all runs or `[R, B, ...]`; or of one run."""
        phase = self.method.phases()[-1].name if phase is None else phase
        return self._each_run(self._one(phase, prepared=prepared, settling=True), x, g, state, run)

    @torch.no_grad()
    def _each_run(
        self, one: Callable[..., Tensor], x: Tensor, g: Tensor, state: State, run: int | None = None
    ) -> Tensor:
        parameters, hyper, own = self.stack.parameters, self.hyper, g.ndim > 1
        self.stack.mode(training=False)
        try:
            if not self.stack.stacked:
                x, g = (x[0], g[0]) if own else (x, g)
                return one(parameters, hyper, state, x, g)[None]
            if run is not None:
                parameters = {name: _one_of(values, run) for name, values in parameters.items()}
                hyper, state = _one_of(hyper, run), _one_of(state, run)
            x, data = seen_by_all(x, own)
            dims = (0, dict.fromkeys(hyper, 0), dict.fromkeys(state, 0), data, 0 if own else None)
            return vmap(one, in_dims=dims)(parameters, hyper, state, x, g)
        finally:
            self.stack.mode(training=True)

    def _one(
        self,
        phase: str,
        *,
        prepare: bool = False,
        prepared: bool = False,
        settling: bool = False,
        networks: Callable[[Parameters], Mapping[str, Network]] | None = None,
    ) -> Callable[..., Tensor]:
        """What is done with one run's networks: scores, evidence, or inputs for the model of this phase."""
        networks_of = self.stack.networks if networks is None else networks

        def one(
            parameters: Parameters, hyper: Mapping[str, Any], state: State, x: Tensor, g: Tensor
        ) -> Tensor:
            nets = Nets(networks_of(parameters), self.sizes, phase=phase, prepared=prepared)
            seen = g if self.method.asks().groups_at_test else torch.full_like(g, -1)
            batch = Batch(x, torch.full_like(g, -1), seen, attributes_of(seen, self.sizes))
            method = replace(self.method, **hyper)
            if prepare:
                return method.prepare(nets, batch)
            return (method.evidence if settling else method.predict)(nets, batch, state)

        return one

    def scorer(self, networks: Callable[[Parameters], Mapping[str, Network]]) -> Callable[..., Tensor]:
        """The function `(parameters, hyper, state, x, g) -> scores` of one run, in its last phase.

        For what needs more than scores of rows: gradients for the inputs, networks in another precision.
        """
        return self._one(self.method.phases()[-1].name, networks=networks)

    def _pieces(self, part: Seen, tasks: Tensor | None) -> Iterator[tuple[Tensor, Tensor]]:
        own = part.prepared or tasks is not None
        runs = self.stack.n_runs if own else 1
        rows = self.rows_at_a_time(1 if part.n_blocks == 1 else runs)
        for start in range(0, part.n, rows):
            places = torch.arange(start, min(start + rows, part.n), device=part.device)
            x, _, g, _ = part.take(places.expand(runs, -1) if own else places, tasks)
            yield x, g

    def rows_at_a_time(self, own: int, smaller: int = 1) -> int:
        """How many rows are looked at in one piece, if so many runs have rows of their own.

        `smaller`: how many times as much memory a row takes as its scores do.

        A multiple of 64: a matrix product then rounds every row as it would without pieces, so that the
        scores of a run do not depend on how many runs are beside it.
        """
        numbers = MOST_NUMBERS if self.stack.device.type == "cuda" else MOST_NUMBERS >> 3
        width = max(1, math.prod(self.sizes.inputs))
        if self.convolves():  # pictures inside are larger than an input, and several are held at a time
            own, numbers = self.stack.n_runs, min(numbers, MOST_OF_PICTURES)
        most = min(numbers // (width * own), (numbers >> 3) // self.stack.n_runs) // smaller
        return max(64, most - most % 64)

    def convolves(self) -> bool:
        """Whether a network looks at pictures."""
        modules = (module for template in self.stack.templates.values() for module in template.modules())
        return any(isinstance(module, nn.Conv2d) for module in modules)


def seen_by_all(x: Tensor, own: bool) -> tuple[Tensor, int | None]:
    """Inputs and their dimension of runs: none where all runs see the same, though each has its groups."""
    if own and len(x) > 1 and x.stride(0) == 0:
        return x[0], None
    return x, 0 if own else None


def _one_of(tensors: Mapping[str, Tensor], run: int) -> dict[str, Tensor]:
    return {name: value[run : run + 1] for name, value in tensors.items()}


def attributes_of(g: Tensor, sizes: Sizes) -> Tensor | None:
    """The code of each attribute `[..., A]` from the group; None where groups are not all combinations.

    >>> attributes_of(torch.tensor([5, -1]), Sizes((), 2, 6, (2, 3))).tolist()
    [[1, 2], [-1, -1]]
    """
    if math.prod(sizes.n_levels) != sizes.n_groups:
        return None
    codes, rest = [], g
    for n in reversed(sizes.n_levels):
        codes.append(torch.where(g < 0, g, rest % n))
        rest = rest // n
    return torch.stack(codes[::-1], dim=-1) if codes else None


def decide(scores: Tensor, multi_label: bool) -> Tensor:
    """Predicted classes, or for each label whether its score is at least one half."""
    return (scores >= 0.5).to(torch.int64) if multi_label else scores.argmax(-1)
