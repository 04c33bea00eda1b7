"""Batches: the rows of each step with their inputs, labels, groups and noise, for one run or a stack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from evenhand.records import Batch, NoiseSpec
from evenhand.train.augment import augmented
from evenhand.train.parts import Part
from evenhand.train.prepared import PreparedPart
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.sampler import Sampler, sampler_of
from evenhand.train.streams import Streams

Noise = dict[str, dict[str, Tensor]]

LARGE = 1 << 24  # numbers of a batch from which on fetching is worth a kernel of its own


class Batches:
    """Everything that a step is fed with; what is random in it follows from a run's seeds and the step alone.

    Where batches are shared they are those of seed 0, unless the first run names an `order_seed`: so a run
    sees the same ones whichever runs are beside it, and alone.
    """

    def __init__(
        self,
        runs: Sequence[Run],
        part: Part,
        recipe: Recipe,
        templates: Mapping[str, nn.Module],
        *,
        stacked: bool,
        dtype: torch.dtype,
    ) -> None:
        self.runs, self.part, self.recipe, self.stacked, self.dtype = list(runs), part, recipe, stacked, dtype
        self.source: Part | PreparedPart = part  # what a batch is taken from in the phase that is going on
        self.shared = recipe.share_batches and stacked
        self._seeds = [(runs[0].order_seed or 0) if recipe.share_batches else run.seeds[1] for run in runs]
        self._order = Streams(self._seeds[:1] if self.shared else self._seeds, part.device)
        self._noise = Streams([run.seeds[2] for run in runs], part.device)
        task_of_run = torch.tensor([run.task for run in runs], device=part.device)
        self.tasks = task_of_run if part.n_tasks > 1 else None
        self._method_noise = runs[0].method.noise(part.problems[0])
        wanted: dict[str, dict[str, NoiseSpec]] = {
            name: getattr(module, "noise", dict)() for name, module in templates.items()
        }
        self._net_noise = {name: specs for name, specs in wanted.items() if specs}
        numbers = len(runs) * recipe.batch_size * math.prod(part.problems[0].sizes.inputs)
        self._fused_fetch = part.device.type == "cuda" and recipe.compile is not False and numbers >= LARGE

    def sampler(self, phase: str = "train") -> Sampler:
        """Which rows come when in this phase: as the method says."""
        runs = zip(self.runs[: 1 if self.shared else None], self._seeds, strict=False)
        found = [run.method.sampling(self.part.problems[run.task], seed, phase) for run, seed in runs]
        return sampler_of(found, self.part.n, self.recipe.batch_size, self._order)

    def batch(self, rows: Tensor, number: int, phase: str) -> Batch:
        """The batch of these rows `[R, B]` (`[1, B]` where they are shared); `number` counts all steps."""
        x, y, g, a = self.source.take(rows, self.tasks, self._fused_fetch)
        x = augmented(x, self.recipe.augment, self._order, number)
        noise = self._draw(self._method_noise, phase, "method", number, rows.shape[1])
        if self.stacked and not self.shared:
            return Batch(x, y, g, a, rows, noise)
        return Batch(_laid_out(x[0]), y[0], g[0], a[0], rows[0], noise)

    def noise(self, number: int, rows: int, phase: str) -> Noise:
        """What the networks asked for, by network and name."""
        return {name: self._draw(specs, phase, name, number, rows) for name, specs in self._net_noise.items()}

    def _draw(
        self, specs: Mapping[str, NoiseSpec], phase: str, owner: str, number: int, rows: int
    ) -> dict[str, Tensor]:
        found = {}
        for name, spec in specs.items():
            if spec.phases and phase not in spec.phases:
                continue
            drawn = self._noise.draw(spec, f"{phase}/{owner}.{name}", number, rows)
            drawn = drawn.to(self.dtype) if drawn.is_floating_point() else drawn
            found[name] = drawn if self.stacked else drawn[0]
        return found


def _laid_out(x: Tensor) -> Tensor:
    """Images on a GPU with their channels last, which its convolutions prefer."""
    return x.contiguous(memory_format=torch.channels_last) if x.ndim == 4 and x.is_cuda else x
