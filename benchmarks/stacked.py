"""Many small models at once against one after the other: model-steps a second, side by side in one run.

    python benchmarks/stacked.py                      on the CPU: the two MLPs of the studies
    python benchmarks/stacked.py --device cuda        on a GPU: stacks of up to 2048

The loop it is compared with is what one would write by hand: a DataLoader that shuffles,
`torch.nn.Sequential`, `torch.optim.Adam`, eager. On a GPU the loop is given its data on the device, scaled
to floats, which is the faster loop there. Both train the same network on the same rows in their own batches.
Needs numpy, torch and evenhand only. Results go to results/stacked-DEVICE.json and .md.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

from evenhand.data.card import DataCard
from evenhand.data.task import Scaling, Task
from evenhand.groups import Attribute
from evenhand.methods.erm import ERM
from evenhand.methods.problem import Problem
from evenhand.nets import NetSpec
from evenhand.train.precision import matmul_precision
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

RESULTS = Path(__file__).with_name("results")


@dataclass(frozen=True)
class Setting:
    """A network and a batch size; targets are for the CPU: with batches of their own, with shared ones."""

    name: str
    inputs: int
    widths: tuple[int, ...]
    outputs: int
    batch: int
    own: float
    shared: float | None = None
    image: bool = False

    @property
    def flops(self) -> int:
        """Floating-point operations of one model-step: forward, and backward but for the inputs."""
        sizes = (self.inputs, *self.widths, self.outputs)
        products = [2 * self.batch * a * b for a, b in pairwise(sizes)]
        return 3 * sum(products) - products[0]


SETTINGS = (
    Setting("Adult MLP 102-100-64-32-2, batch 256", 102, (100, 64, 32), 2, 256, 6.0),
    Setting("CI-MNIST MLP 2352-64-64-1, batch 128", 2352, (64, 64), 1, 128, 2.0, 4.0, image=True),
)


@dataclass(frozen=True)
class Logistic(ERM):
    """ERM with as many outputs as the setting has."""

    n_outputs: int = 2

    def outputs(self, problem: Problem) -> int:
        return self.n_outputs


def task_of(setting: Setting, rows: int) -> Task:
    """Noise with labels; how fast a network trains does not depend on what is in them."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, rows)
    if setting.image:  # bytes, as images are
        x = rng.integers(0, 256, (rows, setting.inputs), dtype=np.uint8)
    else:
        x = rng.standard_normal((rows, setting.inputs), dtype=np.float32)
    group = Attribute("group", ("a", "b"), rng.integers(0, 2, rows))
    split = {"train": torch.arange(rows)}
    card = DataCard("noise", "two classes of noise", "drawn", "none needed")
    scaling = Scaling(127.5, 127.5) if setting.image else Scaling()
    return Task("noise", torch.from_numpy(x), torch.from_numpy(y), (group,), split, card, ("0", "1"), scaling)


def clock(device: torch.device) -> float:
    """Now, with the device's work done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter()


@dataclass(frozen=True)
class Candidate:
    """One way to train: its step moves so many models at once; `flops` of one model-step."""

    setting: str
    what: str
    step: Callable[[], None]
    models: int
    flops: int
    precision: Recipe

    def rate(self, device: torch.device, seconds: float) -> float:
        """Model-steps a second over one stretch."""
        with matmul_precision(self.precision):
            start, done = clock(device), 0
            while time.perf_counter() - start < seconds:
                self.step()
                done += 1
                if device.type == "cuda" and done % 20 == 0:
                    torch.cuda.synchronize(device)  # work is queued: let the clock see it
            return done * self.models / (clock(device) - start)


def take_turns(candidates: list[Candidate], device: torch.device, seconds: float, rounds: int) -> list[float]:
    """The best rate of each: whatever else the machine does meets all of them alike."""
    for candidate in candidates:
        candidate.rate(device, seconds / 4)  # warm up, compile
    times = [[candidate.rate(device, seconds) for candidate in candidates] for _ in range(rounds)]
    return [max(rates) for rates in zip(*times, strict=True)]


def by_hand(setting: Setting, task: Task, device: torch.device) -> Candidate:
    """The plain loop."""
    torch.manual_seed(0)
    sizes = (setting.inputs, *setting.widths)
    layers = [part for a, b in pairwise(sizes) for part in (nn.Linear(a, b), nn.ReLU())]
    net = nn.Sequential(*layers, nn.Linear(sizes[-1], setting.outputs)).to(device)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    x, y = task.scaling(task.x).to(device), task.y.to(device)  # type: ignore[arg-type]

    def batches():  # type: ignore[no-untyped-def]
        while True:
            if device.type == "cpu":
                yield from DataLoader(TensorDataset(x, y), setting.batch, shuffle=True, drop_last=True)
            else:
                order = torch.randperm(len(y), device=device)
                for rows in order.split(setting.batch)[: len(y) // setting.batch]:
                    yield x[rows], y[rows]

    feed = batches()

    def step() -> None:
        inputs, labels = next(feed)
        logits = net(inputs)
        if setting.outputs == 1:
            loss = functional.binary_cross_entropy_with_logits(logits[:, 0], labels.to(logits.dtype))
        else:
            loss = functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return Candidate(setting.name, "plain loop", step, 1, setting.flops, Recipe())


def stacked(setting: Setting, task: Task, device: torch.device, runs: int, recipe: Recipe) -> Candidate:
    """A stack of so many runs."""
    method = Logistic(n_outputs=setting.outputs)
    trainer = Trainer(
        [Run(method, seed) for seed in range(runs)], [task], NetSpec("mlp", widths=setting.widths), recipe,
        protect=["group"], device=device, stacked=runs > 1,
    )  # fmt: skip
    sampler, one = trainer.batches.sampler(), trainer.new_step(trainer.phases[0])
    place = trainer.position

    def step() -> None:
        trainer._one_step(trainer.phases[0], sampler, one)
        place.step += 1
        if place.step == sampler.steps:
            place.step, place.epoch = 0, place.epoch + 1

    what = f"stack of {runs}, {'one batch for all' if recipe.share_batches else 'own batches'}"
    return Candidate(setting.name, what, step, runs, setting.flops, recipe)


def product(device: torch.device) -> Candidate:
    """One large float32 product, for the rate that the arithmetic could reach."""
    a = torch.randn(2048, 2048, device=device)
    return Candidate("", "product", lambda: torch.mm(a, a), 1, 2 * 2048**3, Recipe())


def run(
    device: torch.device, sizes: list[int], seconds: float, rounds: int, rows: int, precision: str
) -> list[dict]:
    """All settings, all stack sizes; within a setting they take turns."""
    found = []
    for setting in SETTINGS:
        task = task_of(setting, rows)
        recipe = Recipe(
            epochs=1000, batch_size=setting.batch, precision=precision, compile=device.type == "cuda"
        )
        kinds = [replace(recipe, share_batches=shared) for shared in (False, True)]
        stacks = [stacked(setting, task, device, runs, kind) for kind in kinds for runs in sizes]
        candidates = [product(device), by_hand(setting, task, device), *stacks]
        ceiling, *rates = take_turns(candidates, device, seconds, rounds)
        ceiling *= candidates[0].flops
        for one, rate in zip(candidates[1:], rates, strict=True):
            row = {"setting": one.setting, "what": one.what, "runs": one.models, "rate": rate}
            found.append(row | {"ratio": rate / rates[0], "gemm": rate * one.flops / ceiling})
            print(found[-1], flush=True)
    return found


def table(rows: list[dict], machine: str, command: str) -> str:
    """The rows as Markdown."""
    lines = [
        f"# Stacked training, {machine}",
        "",
        f"`{command}`",
        "",
        "Model-steps a second; the ratio is to the plain loop of the same run (always float32); the last",
        "column is the share of the rate that one large float32 product reaches on the same machine.",
        "",
        "| network | | model-steps/s | ratio | share of GEMM rate |",
        "|---|---|---|---|---|",
    ]
    cells = (
        (r["setting"], r["what"], f"{r['rate']:,.0f}", f"{r['ratio']:.1f}", f"{r['gemm']:.0%}") for r in rows
    )
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in cells), ""])


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--sizes", type=int, nargs="*", help="stack sizes")
    parser.add_argument("--seconds", type=float, default=0.3, help="of one stretch")
    parser.add_argument("--rounds", type=int, default=9, help="stretches of each; the best one counts")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--precision", default="float32", choices=("float32", "tf32"))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    device = torch.device(options.device)
    cuda = device.type == "cuda"
    sizes = options.sizes or ([1, 64, 512, 2048] if cuda else [1, 4, 8, 16, 32, 64])
    found = run(device, sizes, options.seconds, options.rounds, options.rows, options.precision)
    name = torch.cuda.get_device_name(device) if cuda else f"{torch.get_num_threads()} CPU threads"
    machine = f"{name}, torch {torch.__version__}, Python {platform.python_version()}, {options.precision}"
    command = f"python benchmarks/stacked.py --device {options.device} --precision {options.precision}"
    options.out.mkdir(parents=True, exist_ok=True)
    stem = f"stacked-{device.type}" + ("" if options.precision == "float32" else f"-{options.precision}")
    (options.out / f"{stem}.json").write_text(
        json.dumps({"machine": machine, "rows": found}, indent=1) + "\n"
    )
    text = table(found, machine, command)
    (options.out / f"{stem}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
