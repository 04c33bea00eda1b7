"""CIFAR ResNet-18 on 32 px images: images a second, and what deterministic mode costs.

    python benchmarks/images.py                       on a GPU
    python benchmarks/images.py --net resnet18 --size 64   another network, other images: the rate alone
    python benchmarks/images.py --hash                one deterministic training, its parameters as a SHA-256

Images are bytes on the device; random crops and flips are made there for every batch, and are part of the
time. The deterministic rows train at batch 128 in float32 (tf32 off); the training is done in two processes,
and the bits of all parameters must agree. Needs torch and evenhand only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch

from evenhand.data.card import DataCard
from evenhand.data.task import Scaling, Task
from evenhand.groups import Attribute
from evenhand.methods.erm import ERM
from evenhand.nets import NetSpec
from evenhand.train.determinism import deterministic
from evenhand.train.precision import matmul_precision
from evenhand.train.recipe import Recipe
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

RESULTS = Path(__file__).with_name("results")
NET = "cifar-resnet18"
TITLES = {NET: "CIFAR ResNet-18"}
FAST = ((1024, "bfloat16", False, False), (1024, "bfloat16", True, False), (2048, "bfloat16", True, False))
EXACT = ((128, "float32", False, True), (128, "float32", True, True))  # with and without deterministic mode
SCALING = Scaling((125.3, 123.0, 113.9), (63.0, 62.1, 66.7))


def task_of(rows: int, size: int = 32) -> Task:
    """Images of noise; how fast a network trains does not depend on what is in them."""
    rng = np.random.default_rng(0)
    x = torch.from_numpy(rng.integers(0, 256, (rows, 3, size, size), dtype=np.uint8))
    y = torch.from_numpy(rng.integers(0, 10, rows))
    group = Attribute("group", ("a", "b"), rng.integers(0, 2, rows))
    card = DataCard("noise", "images of noise", "drawn", "none needed")
    names = tuple(str(number) for number in range(10))
    return Task("noise", x, y, (group,), {"train": torch.arange(rows)}, card, names, SCALING)


def trainer_of(task: Task, device: str, net: str = NET, **values: object) -> Trainer:
    """A trainer with S0's optimiser."""
    recipe = Recipe.of(
        epochs=1000, optimizer="sgd", rate=0.1, weight_decay=5e-4, augment="crop-flip", **values
    )
    return Trainer([Run(ERM(), 0)], [task], NetSpec(net), recipe, protect=["group"], device=device)


def steps(trainer: Trainer, count: int, sampler: object, one: object) -> None:
    """Take steps."""
    for _ in range(count):
        trainer._one_step(trainer.phases[0], sampler, one)  # type: ignore[arg-type]
        trainer.position.step += 1
        if trainer.position.step == sampler.steps:  # type: ignore[attr-defined]
            trainer.position.step, trainer.position.epoch = 0, trainer.position.epoch + 1


def measure(task: Task, device: str, count: int, rounds: int = 5, **values: object) -> list[float]:
    """Images a second of each round, without and with deterministic mode where both are asked for.

    The two take turns, so that whatever else the machine does meets both alike.
    """
    modes = (False, True) if values.pop("both", False) else (False,)
    ready = [Timed(trainer_of(task, device, deterministic=mode, **values)) for mode in modes]
    for timed in ready:
        timed.images_a_second(10)
    found = [[timed.images_a_second(count) for timed in ready] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*found, strict=True)]


class Timed:
    """A trainer that goes on for some steps and says how fast it was."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        self.sampler, self.one = trainer.batches.sampler(), trainer.new_step(trainer.phases[0])

    def images_a_second(self, count: int) -> float:
        """Take so many steps."""
        recipe = self.trainer.recipe
        with deterministic(recipe.deterministic), matmul_precision(recipe):
            torch.cuda.synchronize()
            start = time.perf_counter()
            steps(self.trainer, count, self.sampler, self.one)
            torch.cuda.synchronize()
        return count * recipe.batch_size / (time.perf_counter() - start)


def bits(task: Task, device: str, count: int, **values: object) -> str:
    """The parameters after some deterministic steps, as a SHA-256."""
    trainer = trainer_of(task, device, batch_size=128, deterministic=True, **values)
    sampler, one = trainer.batches.sampler(), trainer.new_step(trainer.phases[0])
    with deterministic(), matmul_precision(trainer.recipe):
        steps(trainer, count, sampler, one)
    digest = hashlib.sha256()
    for leaf in trainer.stack.parameters["model"].values():
        digest.update(leaf.detach().cpu().numpy().tobytes())
    return digest.hexdigest()


def main() -> None:
    """Measure, compare the bits of two processes, write the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--hash", action="store_true")
    parser.add_argument("--compile", action="store_true", help="with --hash: compiled")
    parser.add_argument("--determinism", action="store_true", help="only what deterministic mode costs")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--net", default=NET)
    parser.add_argument("--size", type=int, default=32, help="of the images")
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    task = task_of(options.rows, options.size)
    if options.hash:
        print(bits(task, options.device, options.steps, compile=options.compile))
        return
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    usual = (options.net, options.size) == (NET, 32)
    rows = rates_of(task, options, EXACT if options.determinism else (*EXACT, *FAST) if usual else FAST)
    hashes = two_processes() if usual else {}
    machine = f"{torch.cuda.get_device_name()}, torch {torch.__version__}"
    options.out.mkdir(parents=True, exist_ok=True)
    body = {"machine": machine, "rows": rows, "two processes": hashes}
    stem = "determinism-cuda" if options.determinism else "images-cuda"
    stem = stem if usual else f"images-{options.net}-{options.size}-cuda"
    (options.out / f"{stem}.json").write_text(json.dumps(body, indent=1) + "\n")
    text = table(rows, hashes, machine, options)
    (options.out / f"{stem}.md").write_text(text)
    print(text)


def rates_of(
    task: Task, options: argparse.Namespace, settings: Sequence[tuple[int, str, bool, bool]]
) -> list[dict]:
    """A row for each setting, with and without deterministic mode where both are asked for."""
    rows = []
    for batch, precision, compiled, both in settings:
        count = max(20, options.steps * 128 // batch)
        rates = measure(
            task, options.device, count, net=options.net, batch_size=batch, precision=precision,
            compile=compiled, both=both,
        )  # fmt: skip
        for fixed, rate in zip((False, True), rates, strict=False):
            row = {"batch": batch, "precision": precision, "compiled": compiled, "deterministic": fixed}
            rows.append(row | {"images": rate})
            print(rows[-1], flush=True)
    return rows


def two_processes() -> dict[str, dict]:
    """Whether two processes end a deterministic training in the same bits, eager and compiled."""
    hashes = {}
    for compiled in (False, True):
        command = [sys.executable, __file__, "--hash", "--rows", "5000", "--steps", "60"]
        command += ["--compile"] if compiled else []
        found = [
            subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
            for _ in range(2)
        ]
        hashes["compiled" if compiled else "eager"] = {"equal": found[0] == found[1], "sha256": found}
        print(hashes, flush=True)
    return hashes


def table(rows: list[dict], hashes: dict[str, dict], machine: str, options: argparse.Namespace) -> str:
    """The rows as Markdown; what determinism costs is told beside the same training without it."""
    lines = [
        f"# {TITLES.get(options.net, options.net)}, {options.size} px, {machine}",
        "",
        f"`python benchmarks/images.py{_said(options)}`",
        "",
        "| batch | precision | compiled | deterministic | images/s | cost of determinism |",
        "|---|---|---|---|---|---|",
    ]
    plain = {(r["batch"], r["precision"], r["compiled"]): r["images"] for r in rows if not r["deterministic"]}
    for row in rows:
        cost = plain[row["batch"], row["precision"], row["compiled"]] / row["images"] - 1
        yes = {name: "yes" if row[name] else "no" for name in ("compiled", "deterministic")}
        cells = [str(row["batch"]), row["precision"], yes["compiled"], yes["deterministic"]]
        cells += [f"{row['images']:,.0f}", f"{cost:.1%}" if row["deterministic"] else ""]
        lines.append(f"| {' | '.join(cells)} |")
    for how, entry in hashes.items():
        said = "equal to the bit" if entry["equal"] else "DIFFERENT"
        lines += ["", f"Deterministic, {how}, two processes, 60 steps: {said}."]
    return "\n".join([*lines, ""])


def _said(options: argparse.Namespace) -> str:
    """The options that are not the usual ones."""
    usual = {"net": NET, "size": 32}
    named = [
        f" --{name} {getattr(options, name)}"
        for name, value in usual.items()
        if getattr(options, name) != value
    ]
    return "".join([" --determinism"] * options.determinism + named)


if __name__ == "__main__":
    main()
