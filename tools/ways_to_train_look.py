"""What `ways_to_train.py` looks at: a batch after every epoch, as it is trained and plainly; the end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn

from evenhand.records import Phase
from evenhand.train.step import Step
from evenhand.train.trainer import Trainer

REPLAYS = 20
Tensors = dict[str, Tensor]


class Looked(Trainer):
    """Training goes on as if nobody had looked."""

    looks: tuple[dict[str, float], ...] = ()
    way = ""  # of training, as it came to be

    def found(self) -> dict[str, float]:
        """The worst of all looks."""
        return {name: max(look[name] for look in self.looks) for name in self.looks[0]}

    def _run_epoch(self, phase: Phase, sampler: Any, step: Step, validation: Any) -> None:
        super()._run_epoch(phase, sampler, step, validation)
        (player,) = turn = phase.turns[0]
        batch = self.batches.batch(sampler.rows(0, 0), 0, phase.name)
        given = (self.state, batch, self.batches.noise(0, sampler.batch_size, phase.name))

        def one(taken: Step) -> tuple[Tensors, Tensors]:
            """The gradient of each parameter, and how far each running statistic moved."""
            with put_back(self.stack.buffers()) as before:
                rows = taken._computed(turn)(*given)[3][player]
                leaves = taken._leaves(player)
                grads = {key: row.clone() for (_, key, _), row in zip(leaves, rows, strict=True)}
                after = self.stack.buffers()
                moved = {key: after[key] - before[key] for key in after if "running" in key}
            return grads, {key: value for key, value in moved.items() if value.any()}

        ways = {(False, False): "plain", (True, False): "compiled", (False, True): "recorded"}
        replays = any(each.replays for each in step.recorded.values())
        self.way = ways.get((step._compiled, replays), "both")
        (own, moved), (plain, expected) = one(step), one(self._plain(phase, step.recipe.precision))
        exact, _ = one(self._plain(phase, "float32"))
        again = [farthest(one(step)[0], own) for _ in range(REPLAYS)]
        look = {
            "worst": farthest(own, plain), "rounding": farthest(exact, plain), "replay": max(again),
            "replays": float(sum(far > 0 for far in again)), "moved": farthest(moved, expected),
        }  # fmt: skip
        self.looks = (*self.looks, look)

    def _plain(self, phase: Phase, precision: str) -> Step:
        """A step of the same networks that is neither compiled nor recorded."""
        recipe = replace(self.recipe, precision=precision)
        shared = self.batches.shared
        return Step(self.method, self.hyper, self.stack, self.sizes, recipe, phase=phase.name, shared=shared)


@contextmanager
def put_back(buffers: Mapping[str, Tensor]) -> Iterator[Tensors]:
    """What statistics were before; they are so again afterwards."""
    before = {name: value.clone() for name, value in buffers.items()}
    yield before
    with torch.no_grad():
        for name, value in buffers.items():
            value.copy_(before[name])


def farthest(given: Mapping[str, Tensor], wanted: Mapping[str, Tensor]) -> float:
    """The largest distance of a tensor; infinite where others are there than wanted."""
    if given.keys() != wanted.keys():
        return float("inf")
    return max(distance([given[name]], [wanted[name]]) for name in wanted)


def distance(given: Iterable[Tensor], wanted: Iterable[Tensor]) -> float:
    """`||a - b|| / ||b||` of all numbers of lists of tensors."""
    pairs = [(a.double(), b.double()) for a, b in zip(given, wanted, strict=True)]
    apart = sum(float((a - b).square().sum()) for a, b in pairs)
    return float((apart / max(sum(float(b.square().sum()) for _, b in pairs), 1e-30)) ** 0.5)


def norms_of(trainer: Looked, network: str) -> dict[str, float]:
    """Of kernels: what follows a norm does not change with their length, only how far a step turns them."""
    leaves = trainer.stack.parameters[network].items()
    return {key: float(leaf.detach().norm()) for key, leaf in leaves if leaf.ndim == 4}


@torch.no_grad()
def accuracies(trainer: Looked, network: str, task: Any) -> dict[str, float]:
    """On the test, with statistics as remembered and taken anew from the last epoch's batches."""
    test, phase = trainer.part("test"), trainer.phases[0].name
    norms = [part for part in trainer.stack.templates[network].modules() if isinstance(part, nn.BatchNorm2d)]
    y = task.y[task.rows("test")].to(trainer.device)

    def accuracy() -> float:
        return float((trainer.scores(test, phase)[0].argmax(-1) == y).float().mean())

    counted = [int(part.num_batches_tracked) for part in norms if part.num_batches_tracked is not None]
    found = {"acc": accuracy(), "least counted": min(counted), "most counted": max(counted)}
    for part in norms:
        part.reset_running_stats()
        part.momentum = None  # the mean over batches
    sampler, epoch = trainer.batches.sampler(phase), trainer.recipe.epochs - 1
    for step in range(sampler.steps):
        batch = trainer.batches.batch(sampler.rows(epoch, step), epoch * sampler.steps + step, phase)
        with torch.autocast(trainer.device.type, torch.bfloat16):
            trainer.stack.templates[network](batch.x)
    return found | {"anew": accuracy(), "steps": sampler.steps * (epoch + 1)}
