"""What a step of CUMA costs beside a plain one, both in a stack and in turns: the target is 4 at most.

    python benchmarks/cuma_step.py                     on the CPU
    python benchmarks/cuma_step.py --device cuda       on a GPU, compiled

A step is a whole one: drawing the batch and the dropout masks, losses, gradients, Adam. The shapes are those
of S4: `s4-mlp` on Communities & Crime (100 inputs, batch 64) and on Adult (108 inputs, batch 256), two
groups, stacks of 40. What the numbers are drawn from does not matter for the time. Beside it the same for the
adversary alone (`grl`) and for curvature matching added to ERM. Results go to results/cuma-step-DEVICE.json
and .md.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from evenhand.data.card import DataCard
from evenhand.data.task import Task
from evenhand.groups import Attribute
from evenhand.methods import ERM, GradientReversal, Method
from evenhand.methods.cuma import Cuma
from evenhand.methods.curvature_matching import with_curvature_matching
from evenhand.nets import NetSpec
from evenhand.train.precision import matmul_precision
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

RESULTS = Path(__file__).with_name("results")
SETTINGS = (("Communities & Crime", 100, 64, 1500), ("Adult", 108, 256, 30_000))  # inputs, batch, rows
METHODS: dict[str, Method] = {
    "erm": ERM(),
    "grl": GradientReversal(depth=1, width=32),
    "erm + curvature matching": with_curvature_matching(ERM()),
    "cuma": Cuma(),
}
TARGET = 4.0


def noise_task(inputs: int, rows: int) -> Task:
    """Noise with labels and two groups, the shares as in Communities & Crime."""
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.standard_normal((rows, inputs), dtype=np.float32))
    y = torch.from_numpy((rng.random(rows) < 0.7).astype(np.int64))
    group = Attribute("group", ("a", "b"), (rng.random(rows) < 0.7).astype(np.int64))
    card = DataCard("noise", "two classes of noise", "drawn", "none needed")
    return Task("noise", x, y, (group,), {"train": torch.arange(rows)}, card, ("0", "1"))


def stepper(method: Method, task: Task, batch: int, runs: int, device: torch.device) -> Callable[[], None]:
    """One step of a stack, every time it is called."""
    recipe = Recipe(epochs=10**6, batch_size=batch, weight_decay=1e-5, compile=device.type == "cuda")
    seeds = [Run(method, seed) for seed in range(runs)]
    trainer = Trainer(seeds, [task], NetSpec("s4-mlp"), recipe, protect=["group"], device=device)
    return steps_of(trainer)


def steps_of(trainer: Trainer) -> Callable[[], None]:
    """One step of a trainer's first phase, every time it is called."""
    phase, place = trainer.phases[0], trainer.position
    sampler, one = trainer.batches.sampler(), trainer.new_step(phase)

    def step() -> None:
        with matmul_precision(trainer.recipe):
            trainer._one_step(phase, sampler, one)
        place.step += 1
        if place.step == sampler.steps:
            place.step, place.epoch = 0, place.epoch + 1

    return step


def seconds_of(step: Callable[[], None], device: torch.device, steps: int) -> float:
    """Seconds a step over a stretch: on a CPU of the processor, which other programs may want as well."""
    cuda = device.type == "cuda"
    if cuda:
        torch.cuda.synchronize(device)
    clock = time.perf_counter if cuda else time.process_time
    start = clock()
    for _ in range(steps):
        step()
    if cuda:
        torch.cuda.synchronize(device)
    return (clock() - start) / steps


def measured(device: torch.device, runs: int, steps: int, rounds: int) -> list[dict[str, object]]:
    """The best time of each method; within a setting they take turns."""
    found: list[dict[str, object]] = []
    for name, inputs, batch, rows in SETTINGS:
        task = noise_task(inputs, rows)
        ways = {key: stepper(method, task, batch, runs, device) for key, method in METHODS.items()}
        for step in ways.values():
            seconds_of(step, device, 3)  # warm up, compile
        times = [{key: seconds_of(step, device, steps) for key, step in ways.items()} for _ in range(rounds)]
        best = {key: min(line[key] for line in times) for key in ways}
        for key, value in best.items():
            found.append({"setting": f"{name}, d = {inputs}, batch {batch}", "method": key, "runs": runs,
                          "milliseconds": 1e3 * value, "ratio": value / best["erm"]})  # fmt: skip
            print(found[-1], flush=True)
    return found


def table(rows: list[dict[str, object]], machine: str, command: str) -> str:
    """The rows as Markdown."""
    worst = max(float(str(row["ratio"])) for row in rows if row["method"] == "cuma")
    lines = [
        f"# A step of CUMA, {machine}", "", f"`{command}`", "",
        "Milliseconds of one step of the whole stack (on a CPU: of the processor), the best of several",
        "stretches in turns; the ratio is to the plain step beside it. Target for `cuma`: at most",
        f"{TARGET:g}. Worst here: {worst:.2f}.", "",
        "| setting | method | ms a step | ratio |", "|---|---|---|---|",
    ]  # fmt: skip
    cells = [f"| {r['setting']} | {r['method']} | {r['milliseconds']:.2f} | {r['ratio']:.2f} |" for r in rows]
    return "\n".join([*lines, *cells, ""])


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--runs", type=int, default=40)
    parser.add_argument("--steps", type=int, default=10, help="of one stretch")
    parser.add_argument("--rounds", type=int, default=7, help="stretches of each; the best one counts")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    device = torch.device(options.device)
    found = measured(device, options.runs, options.steps, options.rounds)
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else f"{torch.get_num_threads()} CPU threads"
    machine = (
        f"stacks of {options.runs}, {name}, torch {torch.__version__}, Python {platform.python_version()}"
    )
    text = table(found, machine, f"python benchmarks/cuma_step.py --device {options.device}")
    options.out.mkdir(parents=True, exist_ok=True)
    stem = options.out / f"cuma-step-{device.type}"
    stem.with_suffix(".json").write_text(json.dumps({"machine": machine, "rows": found}, indent=1) + "\n")
    stem.with_suffix(".md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
