"""How long 60,000 images of CI-MNIST take to generate: drawn and painted, variants A and B.

    python benchmarks/ci_mnist.py                     on the CPU
    python benchmarks/ci_mnist.py --device cuda       on a GPU, warm and synchronised

Digits are MNIST's where `EVENHAND_DATA` leads to mnist.npz, and the packaged ones over and over elsewhere:
the time is the same. What is timed begins with digits in memory and ends with the images on the device; the
best and the median of some repetitions are told. On a GPU the bytes are compared with those of the CPU.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from statistics import median

import numpy as np
import torch
from torch import Tensor

from evenhand.data.ci_mnist_draw import draw
from evenhand.data.ci_mnist_look import Look
from evenhand.data.ci_mnist_paint import paint_on
from evenhand.data.mnist_files import read_digits
from evenhand.errors import InputError

RESULTS = Path(__file__).with_name("results")
TARGETS = {"cpu": 3.0, "cuda": 0.2}  # seconds
LOOKS = {"A": Look(), "A, one shade an image": Look(shades="per-image"), "B": Look("B")}


def digits_of(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """So many images and their digits."""
    try:
        found = read_digits("full")
    except InputError:
        found = read_digits()
    places = np.arange(rows) % len(found.x_train)
    return found.x_train[places], found.y_train[places]


def generate(images: np.ndarray, labels: np.ndarray, look: Look, device: str) -> Tensor:
    """Everything that a part of the task is made by."""
    seed = (123, 0)
    return paint_on(images, draw(labels, look, np.random.default_rng(seed)), look, seed, device)


def seconds(images: np.ndarray, labels: np.ndarray, look: Look, device: str) -> float:
    _wait(device)
    start = time.perf_counter()
    generate(images, labels, look, device)
    _wait(device)
    return time.perf_counter() - start


def _wait(device: str) -> None:
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize()


def run(rows: int = 60_000, rounds: int = 5, device: str = "cpu") -> list[dict[str, object]]:
    """The best and the median time of each look, after one that is not counted."""
    images, labels = digits_of(rows)
    found = []
    for name, look in LOOKS.items():
        seconds(images, labels, look, device)
        times = [seconds(images, labels, look, device) for _ in range(rounds)]
        row = {"look": name, "images": rows, "best_s": min(times), "median_s": median(times)}
        if torch.device(device).type != "cpu":
            ours, theirs = (generate(images, labels, look, where) for where in (device, "cpu"))
            row["bytes_as_on_cpu"] = bool(torch.equal(ours.cpu(), theirs))
        found.append(row)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    kind = torch.device(options.device).type
    found = run(options.rows, options.rounds, options.device)
    machine = torch.cuda.get_device_name() if kind == "cuda" else f"CPU, {torch.get_num_threads()} threads"
    load = round(os.getloadavg()[0], 1)
    body = {"machine": f"{machine}, torch {torch.__version__}", "load": load, "rows": found}
    if kind in TARGETS:
        body["target_s"] = TARGETS[kind]
        body["reached"] = all(float(str(row["median_s"])) < TARGETS[kind] for row in found)
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / f"ci-mnist-{kind}.json").write_text(json.dumps(body, indent=1) + "\n")
    print(json.dumps(body, indent=1))


if __name__ == "__main__":
    main()
