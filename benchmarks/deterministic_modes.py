"""Which modes vary: the same training in each of them, its parameters as a digest, and how fast it went.

Plain loops in float32, tf32 and bfloat16, with and without channels last and kernels chosen by timing; the
same in deterministic mode; and the trainer of evenhand, as studies use it.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.deterministic_overhead import CLASSES, NETWORKS, SMALL
from benchmarks.images import steps as trainer_steps
from benchmarks.images import task_of, trainer_of
from evenhand.train.determinism import deterministic
from evenhand.train.precision import matmul_precision
from evenhand.train.recipe import Recipe

PRECISIONS = ("float32", "tf32", "bfloat16")
BATCH, ROWS, FIRST = 128, 2560, 8  # the first steps, which load and time kernels, are not timed


@dataclass(frozen=True)
class Mode:
    """How a training computes; `ours`: by the trainer of evenhand instead of a plain loop."""

    precision: str = "float32"
    channels_last: bool = False
    benchmark: bool = False
    deterministic: bool = False
    ours: bool = False
    tiny: bool = False

    @property
    def name(self) -> str:
        """What it is called in tables."""
        told = [self.precision, *(["channels last"] * self.channels_last)]
        told += ["kernels by timing"] * self.benchmark + ["deterministic"] * self.deterministic
        return ", ".join(told + ["evenhand"] * self.ours + ["tiny"] * self.tiny)


MODES = (
    *(Mode(precision, last, timed) for precision in PRECISIONS for last in (False, True)
      for timed in (False, True)),
    *(Mode(precision, last, deterministic=True) for precision in PRECISIONS for last in (False, True)),
    *(Mode(precision, benchmark=timed, deterministic=fixed, ours=True) for precision in PRECISIONS
      for timed, fixed in ((False, False), (True, False), (False, True))),
)  # fmt: skip
TINY = (Mode(tiny=True), Mode(deterministic=True, tiny=True))


def one_mode(mode: Mode, device: torch.device, steps: int) -> dict[str, Any]:
    """The digest of the parameters after so many steps, and images a second."""
    train = _ours if mode.ours else _plain
    with _computing(mode):
        return train(mode, device, steps)


def both(known: Mapping[str, Any], mode: Mode, number: int, found: Mapping[str, Any]) -> dict[str, Any]:
    """The row of a mode with what one more process found; equal or not once there are two."""
    digests = {**known.get("digests", {}), str(number): found["digest"]}
    rates = {**known.get("rates", {}), str(number): found["images"]}
    return {
        "name": mode.name, **vars(mode), "steps": found["steps"], "digests": digests, "rates": rates,
        "images": max(rates.values()), "equal": len(set(digests.values())) == 1 if len(digests) > 1 else None,
    }  # fmt: skip


@contextmanager
def _computing(mode: Mode) -> Iterator[None]:
    before = torch.backends.cudnn.benchmark
    with deterministic(mode.deterministic), matmul_precision(Recipe(precision=mode.precision)):
        torch.backends.cudnn.benchmark = mode.benchmark
        try:
            yield
        finally:
            torch.backends.cudnn.benchmark = before


def _plain(mode: Mode, device: torch.device, steps: int) -> dict[str, Any]:
    """A loop as everybody writes it: fixed batches, cross-entropy, SGD with momentum."""
    torch.manual_seed(0)
    network = SMALL[0] if mode.tiny else NETWORKS[0]
    layout = torch.channels_last if mode.channels_last else torch.contiguous_format
    model = network.build(network.size).to(device, memory_format=layout).train()
    batch = network.batch
    x = torch.randn(4 * batch, 3, network.size, network.size).to(device, memory_format=layout)
    y = torch.randint(CLASSES, (4 * batch,)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
    short = mode.precision == "bfloat16"

    def step(number: int) -> None:
        rows = slice(batch * (number % 4), batch * (number % 4 + 1))
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device.type, torch.bfloat16) if short else nullcontext():
            logits = model(x[rows])
        F.cross_entropy(logits.float(), y[rows]).backward()
        optimizer.step()

    rate = _timed(lambda first, last: [step(number) for number in range(first, last)], device, steps, batch)
    return {"digest": digest_of(model.parameters()), "images": rate, "steps": steps}


def _ours(mode: Mode, device: torch.device, steps: int) -> dict[str, Any]:
    """The trainer of evenhand, one run by itself: crops, flips and all."""
    trainer = trainer_of(
        task_of(ROWS), str(device), batch_size=BATCH, precision=mode.precision, compile=False,
        deterministic=mode.deterministic,
    )  # fmt: skip
    sampler, one = trainer.batches.sampler(), trainer.new_step(trainer.phases[0])
    rate = _timed(
        lambda first, last: trainer_steps(trainer, last - first, sampler, one), device, steps, BATCH
    )
    return {"digest": digest_of(trainer.stack.parameters["model"].values()), "images": rate, "steps": steps}


def _timed(go: Callable[[int, int], object], device: torch.device, steps: int, batch: int) -> float:
    """Images a second of all steps but the first ones."""
    first = min(FIRST, steps // 2)
    go(0, first)
    _wait(device)
    start = time.perf_counter()
    go(first, steps)
    _wait(device)
    return (steps - first) * batch / (time.perf_counter() - start)


def digest_of(parameters: Iterable[Tensor]) -> str:
    """The bits of all parameters as a SHA-256."""
    digest = hashlib.sha256()
    for leaf in parameters:
        digest.update(leaf.detach().contiguous().cpu().numpy().tobytes())
    return digest.hexdigest()


def _wait(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
