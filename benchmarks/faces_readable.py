"""Can a small network read each of the forty facts off a drawn face, and how well?

    OMP_NUM_THREADS=1 python benchmarks/faces_readable.py              a few minutes on a CPU
    python benchmarks/faces_readable.py --n 100000 --size 64 --device cuda

One network learns all forty labels, twice: on faces whose facts are independent, where nothing but a fact's
own marks can tell it, and on faces with CelebA's correlations, where other facts help. Shares are CelebA's in
both. Of each fact: the share of pixels that it changes by more than 10 of 255 when all else of the face
stays, the AUC on test faces with its standard error (Hanley and McNeil 1982), and the balanced accuracy at
the threshold that was best on validation. A fact is called readable where the AUC of its own marks is at
least 0.9, weak from 0.75 on, and not readable below: fixed before anything was measured. Results go to
results/faces-readable-SIZE-DEVICE.json and .md.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

import evenhand
from evenhand.arrays import Array
from evenhand.data.faces import faces
from evenhand.data.faces_draw import draw_faces
from evenhand.data.faces_names import ATTRIBUTES
from evenhand.data.faces_world import World
from evenhand.data.task import Task

RESULTS = Path(__file__).with_name("results")
READABLE, WEAK = 0.9, 0.75
VISIBLE = 10  # of 255
WORLDS = {"own marks": 0.0, "with correlations": 1.0}


def auc(score: Array, truth: Array) -> float:
    """The share of pairs (yes, no) in the right order; NaN without one of the two."""
    from scipy.stats import rankdata

    yes, no = int(truth.sum()), int((1 - truth).sum())
    if not yes or not no:
        return float("nan")
    return float((rankdata(score)[truth == 1].sum() - yes * (yes + 1) / 2) / (yes * no))


def auc_error(value: float, yes: int, no: int) -> float:
    """The standard error of an AUC by Hanley and McNeil."""
    if not yes or not no:
        return float("nan")
    one, two = value / (2 - value), 2 * value**2 / (1 + value)
    spread = value * (1 - value) + (yes - 1) * (one - value**2) + (no - 1) * (two - value**2)
    return float(np.sqrt(spread / (yes * no)))


def balanced_accuracy(score: Array, truth: Array, threshold: float) -> float:
    said = score >= threshold
    return float((said[truth == 1].mean() + (~said[truth == 0]).mean()) / 2)


def best_threshold(score: Array, truth: Array) -> float:
    tried = np.quantile(score, np.linspace(0, 1, 201))
    return float(max(tried, key=lambda threshold: balanced_accuracy(score, truth, threshold)))


def scores(found: Any, task: Task, part: str) -> tuple[Array, Array]:
    rows = task.rows(part)
    assert isinstance(task.x, Tensor)  # painted at once
    return found.scores(task.x[rows]), task.y[rows].numpy()


def measured(task: Task, arguments: argparse.Namespace) -> dict[str, dict[str, float]]:
    """Of each attribute: AUC, its error, balanced accuracy, and the number of test faces that have it."""
    found = evenhand.fit(
        arguments.net, "erm", task, epochs=arguments.epochs, rate=arguments.rate, device=arguments.device
    )
    (held, held_truth), (score, truth) = (scores(found, task, part) for part in ("validation", "test"))
    table = {}
    for place, name in enumerate(task.classes):
        s, t = score[:, place], truth[:, place]
        threshold = best_threshold(held[:, place], held_truth[:, place])
        value = auc(s, t)
        table[name] = {
            "auc": value,
            "error": auc_error(value, int(t.sum()), int((1 - t).sum())),
            "balanced_accuracy": balanced_accuracy(s, t, threshold),
            "yes": int(t.sum()),
        }
    return table


def changed_pixels(size: int, count: int = 256) -> dict[str, float]:
    """The share of pixels that a fact changes visibly, over faces that differ in nothing else."""
    world = World(n=count, validation=0.0, test=0.0)
    facts, ids = world.facts(), world.ids()
    found = {}
    for place, name in enumerate(ATTRIBUTES):
        both = []
        for value in (0, 1):
            facts_now = facts.clone()
            facts_now[:, place] = value
            both.append(draw_faces(facts_now, ids, size=size).int())
        found[name] = float(((both[0] - both[1]).abs().amax(1) > VISIBLE).double().mean())
    return found


def verdict(value: float) -> str:
    return "readable" if value >= READABLE else "weak" if value >= WEAK else "not readable"


def page(body: dict[str, Any]) -> str:
    """The table, the worst first."""
    own, correlated = (body["worlds"][name] for name in WORLDS)
    lines = [
        f"# How readable the facts of `faces` are at {body['size']} px",
        "",
        f"`{body['net']}`, {body['train']:,} training faces, {body['epochs']} epochs, {body['test']:,} test "
        f"faces, {body['device']}. Pixels changed; AUC ± standard error; balanced accuracy.",
        "",
        "| attribute | pixels | own marks: AUC | balanced | with correlations: AUC | balanced | verdict |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for name in sorted(own, key=lambda name: own[name]["auc"]):
        cells = [
            f"{world[name]['auc']:.3f} ± {world[name]['error']:.3f} | {world[name]['balanced_accuracy']:.3f}"
            for world in (own, correlated)
        ]
        changed = f"{body['changed'][name]:.1%}"
        lines.append(f"| {name} | {changed} | {' | '.join(cells)} | {verdict(own[name]['auc'])} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=12_000, help="faces, of which 2/3 are for training")
    parser.add_argument("--size", type=int, default=32)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--net", default="convnet")
    parser.add_argument("--device", default="cpu")
    arguments = parser.parse_args()
    body: dict[str, Any] = {**vars(arguments), "worlds": {}, "seconds": {}}
    body["changed"] = changed_pixels(arguments.size)
    for name, correlation in WORLDS.items():
        start = time.perf_counter()
        task = faces(
            "all", n=arguments.n, size=arguments.size, correlation=correlation, validation=1 / 12, test=0.25
        )
        painted = time.perf_counter()
        body["worlds"][name] = measured(task, arguments)
        body["seconds"][name] = {"painting": painted - start, "training": time.perf_counter() - painted}
        body |= {"train": len(task.rows("train")), "test": len(task.rows("test"))}
    path = RESULTS / f"faces-readable-{arguments.size}-{arguments.device}.json"
    path.write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    path.with_suffix(".md").write_text(page(body), encoding="utf-8")
    print(page(body), body["seconds"])


if __name__ == "__main__":
    main()
