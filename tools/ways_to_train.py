"""One training, four ways, on a GPU: plain, recorded as a CUDA graph, compiled, compiled and recorded.

    python tools/ways_to_train.py                          # 28 steps of cifar-resnet18: about a minute
    python tools/ways_to_train.py --images 0 --epochs 20   # as compression-cifar10 trains, several minutes
    python tools/ways_to_train.py --device cpu --small     # tries the program out

Eight processes train one seed by the recipe of `compression-cifar10`, all at once as a study's workers do,
each with a compiler's cache of its own, so that each chooses its kernels by timing them beside the others
(`--one-cache`: one for all, as a study's workers have). Half of them train as ERM, half as the teacher of
distillation. All should come to one end but for rounding. After every epoch one batch is looked at in the
way of training and once more plainly, from the same weights and statistics, which are put back. Of each
process, the worst over epochs:

    worst, rounding  how far its gradient is from the plain one, relative, in the worst parameter; and how far
                     a gradient in float32 is from that in the precision of training
    replays          how many of 20 repetitions of the batch gave another gradient than the first (kernels
                     that add in any order do); `replay` is how far at most: less than rounding if all is well
    moved            how far the step of batch statistics is from the plain one, relative
    counted          what batch normalisation has counted, of the steps that were taken
    acc, anew        accuracy on the test with remembered statistics, and with those of the last epoch's
                     batches taken anew: where only the first is low, statistics are wrong and weights are
                     not; or young, as after 28 steps, and then those of the plain way are too
    growth           the largest norm of a kernel, of what it began with: where first steps are too large
                     it is 5 to 18 within 25 steps, and later steps hardly turn the kernel any more
    apart            of the weights from those of the first process, relative: long trainings drift apart

A way that fell back (nothing compiled, nothing recorded) is told behind its line. A line that cannot be
rounding is `suspect`, and the program then ends with 1.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from ways_to_train_look import Looked, accuracies, distance, norms_of

from evenhand.methods.erm import ERM
from evenhand.methods.taught import Teacher
from evenhand.nets import NetSpec
from evenhand.nets.resnet import CifarResNet
from evenhand.study.tasks import load_task
from evenhand.train.checkpoint import load_tensors, save_tensors
from evenhand.train.recipe import Recipe
from evenhand.train.recorded import SWITCH
from evenhand.train.runs import Run

WAYS = ("plain", "recorded", "compiled", "both", "both", "both", "both", "both")
SHOWN = (
    "worst", "rounding", "replays", "replay", "moved", "counted", "train", "acc", "anew", "growth", "apart",
)  # fmt: skip


class Small:
    """A residual network that a CPU trains in seconds."""

    def build(self, shape: tuple[int, ...], outputs: int) -> CifarResNet:
        """Two stages of one block."""
        return CifarResNet(shape, outputs, stem=8, widths=(8, 16), blocks=1)


def train(number: int, chosen: argparse.Namespace, folder: Path) -> None:
    """What one process does: its numbers and weights go to the folder."""
    way, teaches = WAYS[number], bool(number % 2)
    knobs = {"form": "jpeg75", "validation": 0.02, "limit": chosen.images, "n_test": chosen.tests}
    task = load_task("cifar10-under", {name: value for name, value in knobs.items() if value})
    recipe = Recipe(
        epochs=chosen.epochs, batch_size=chosen.batch, optimizer="sgd", rate=chosen.rate, clip=chosen.clip,
        weight_decay=5e-4, schedule="cosine", augment="crop-flip", precision="bfloat16",
        compile=way in ("compiled", "both"),
    )  # fmt: skip
    net: Any = Small() if chosen.small else NetSpec("cifar-resnet18")
    began = time.monotonic()
    runs = [Run(Teacher() if teaches else ERM(), chosen.seed)]
    trainer = Looked(runs, [task], net, recipe, device=chosen.device)
    began_with = norms_of(trainer, "model")  # a teacher begins as the model does
    trainer.fit()
    network = "teacher" if teaches else "model"
    found = trainer.found() | accuracies(trainer, network, task)
    growth = (norm / began_with[key] for key, norm in norms_of(trainer, network).items())
    found |= {"growth": max(growth)}
    found |= {
        "way": trainer.way,
        "asked": way,
        "train": trainer.history[-1]["train"][0],
        "seconds": time.monotonic() - began,
    }
    found["name"] = f"{number} {way}, {network}"
    save_tensors(folder / f"{number}.npz", dict(trainer.stack.parameters[network]), found)


def suspicious(line: dict[str, Any], young: float = 0.0) -> bool:
    """Whether rounding cannot explain it; `young` is what remembered statistics cost the plain way."""
    return bool(
        line["worst"] > 3 * line["rounding"] + 0.05
        or line["replay"] > line["rounding"] + 0.01
        or line["moved"] > 0.05
        or not line["least counted"] == line["most counted"] == line["steps"]
        or line["anew"] - line["acc"] > young + 0.05
    )


def told(folder: Path, numbers: list[int]) -> list[dict[str, Any]]:
    """A line for each process that came to its end."""
    lines, first = [], None
    for number in numbers:
        if not (folder / f"{number}.npz").exists():
            continue
        weights, line = load_tensors(folder / f"{number}.npz")
        first = first or list(weights.values())
        counted = f"{line['least counted']} of {line['steps']}"
        lines.append({**line, "apart": distance(weights.values(), first), "counted": counted})
    best = max((line["anew"] for line in lines), default=0.0)
    young = max([0.0, *(line["anew"] - line["acc"] for line in lines if line["way"] == "plain")])
    return [{**line, "suspect": suspicious(line, young) or line["anew"] < best - 0.05} for line in lines]


def main() -> int:
    """The processes, and a table of what they found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for name, kind, usual in (
        ("images", int, 4000), ("tests", int, 2000), ("epochs", int, 4), ("batch", int, 512),
        ("seed", int, 3), ("rate", float, 0.1), ("clip", float, 1.0), ("processes", int, len(WAYS)),
        ("device", str, "cuda"), ("number", int, None), ("folder", Path, None),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=usual)
    for name in ("small", "one-cache"):
        parser.add_argument(f"--{name}", action="store_true")
    chosen = parser.parse_args()
    if chosen.number is not None:  # one of the processes
        train(chosen.number, chosen, chosen.folder)
        return 0
    numbers = list(range(chosen.processes))
    with tempfile.TemporaryDirectory() as folder:
        running = []
        for number in numbers:
            cache = Path(folder) / ("cache" if chosen.one_cache else f"cache-{number}")
            graphs = "0" if WAYS[number] in ("plain", "compiled") else "1"
            own = {SWITCH: graphs, "TORCHINDUCTOR_CACHE_DIR": str(cache)}
            own["TRITON_CACHE_DIR"] = str(cache / "triton")
            asked = [*sys.argv[1:], "--number", str(number), "--folder", folder]
            running.append(subprocess.Popen([sys.executable, __file__, *asked], env={**os.environ, **own}))
        failed = sum(process.wait() != 0 for process in running)
        lines = told(Path(folder), numbers)
    print(f"{'':>20}" + "".join(f"{name:>10}" for name in SHOWN))
    for line in lines:
        cells = "".join(f"{v:>10.4f}" if isinstance(v := line[name], float) else f"{v:>10}" for name in SHOWN)
        fell = "" if line["way"] == line["asked"] else f"  {line['way']} in truth"
        print(f"{line['name']:>20}{cells}  {line['seconds']:.0f} s{fell}{'  suspect' * line['suspect']}")
    print(json.dumps(lines))
    return int(failed > 0 or any(line["suspect"] for line in lines))


if __name__ == "__main__":
    raise SystemExit(main())
