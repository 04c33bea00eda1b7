"""Stacks of small convolutional networks: images a second, their convolutions as such and as products.

    python benchmarks/convnet_stack.py --device cuda     on a GPU, recorded or not, compiled or not
    python benchmarks/convnet_stack.py                   on the CPU, as it trains there

A step is a whole one: drawing the batch, fetching and scaling bytes, losses, gradients, Adam. `convnet` at 32
pixels, batches of 128, as in the studies of drawn faces; an image that R runs look at counts R times. Each
row is written as soon as it is there. Results go to results/convnet-stack-DEVICE.json.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from evenhand.methods import ERM, DomainIndependent, GroupDRO, Method
from evenhand.nets import NetSpec
from evenhand.nets.convnet import ConvNet
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import SWITCH
from evenhand.train.runs import Run
from evenhand.train.trainer import Trainer

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] * (str(ROOT) not in sys.path)

from benchmarks.cuma_step import seconds_of, steps_of  # noqa: E402
from benchmarks.images import task_of  # noqa: E402

RESULTS = Path(__file__).with_name("results")
METHODS: dict[str, Method] = {"erm": ERM(), "gdro": GroupDRO(), "ind": DomainIndependent()}
TARGET = 200_000  # images a second on an H200
BATCH = 128


@dataclass(frozen=True)
class Setting:
    """One way to train: how many side by side, in which form, in which numbers."""

    method: str
    runs: int
    products: bool = False  # where it is compiled
    precision: str = "float32"
    compiled: bool = True
    recorded: bool = True  # as a CUDA graph


# half a minute of compiling is much for 1,570 steps; recording takes less than a second
GPU = (
    Setting("erm", 12, compiled=False, recorded=False),
    Setting("erm", 12, compiled=False),
    Setting("erm", 3, compiled=False),
    Setting("erm", 60, compiled=False),
    Setting("gdro", 12, compiled=False),
    Setting("ind", 12, compiled=False),
    Setting("erm", 12, products=True, recorded=False),
    Setting("erm", 12, products=True),
    Setting("erm", 12),
    Setting("erm", 60, products=True),
)
CPU = (
    Setting("erm", 1, compiled=False, recorded=False),
    Setting("erm", 4, compiled=False, recorded=False),
)


def measured(
    setting: Setting, device: torch.device, rows: int, steps: int, rounds: int
) -> tuple[float, float]:
    """Seconds of the first five steps, compiling included, and images a second in the best stretch then."""
    recipe = Recipe(epochs=10**6, batch_size=BATCH, precision=setting.precision, compile=setting.compiled)
    seeds = [Run(METHODS[setting.method], seed) for seed in range(setting.runs)]
    ConvNet.products = setting.products
    os.environ[SWITCH] = str(int(setting.recorded))
    trainer = Trainer(seeds, [task_of(rows)], NetSpec("convnet"), recipe, protect=["group"], device=device)
    step = steps_of(trainer)
    began = time.perf_counter()
    seconds_of(step, device, 5)
    ready = time.perf_counter() - began
    return ready, setting.runs * BATCH / min(seconds_of(step, device, steps) for _ in range(rounds))


def run(
    settings: Sequence[Setting], device: torch.device, rows: int = 20_000, steps: int = 50, rounds: int = 3
) -> Iterator[dict[str, Any]]:
    """Each setting with its rate; a CPU has no products."""
    before, switch = ConvNet.products, os.environ.get(SWITCH, "1")
    try:
        for setting in settings:
            ready, rate = measured(setting, device, rows, steps, rounds)
            told = {"ready_s": ready, "images_a_second": round(rate), "reached": rate >= TARGET}
            yield {**vars(setting), **told}
    finally:
        ConvNet.products, os.environ[SWITCH] = before, switch


def main() -> None:
    """Measure, and write after every row."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--steps", type=int, default=50, help="of one stretch")
    parser.add_argument("--rounds", type=int, default=3, help="stretches of each; the best one counts")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    device = torch.device(options.device)
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else f"{torch.get_num_threads()} CPU threads"
    body: dict[str, Any] = {
        "machine": f"{name}, torch {torch.__version__}, Python {platform.python_version()}", "rows": [],
    }  # fmt: skip
    options.out.mkdir(parents=True, exist_ok=True)
    for row in run(GPU if cuda else CPU, device, steps=options.steps, rounds=options.rounds):
        body["rows"].append(row)
        print(row, flush=True)
        text = json.dumps(body, indent=1) + "\n"
        (options.out / f"convnet-stack-{device.type}.json").write_text(text)


if __name__ == "__main__":
    main()
