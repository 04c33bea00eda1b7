"""The study ci-mnist in stacks against the same models one by one: model-steps a second, in one run.

    python benchmarks/ci_mnist_study.py --device cuda          every method, both widths
    python benchmarks/ci_mnist_study.py --methods mlp cfair    some; rows measured before on this machine stay
    python benchmarks/ci_mnist_study.py --device cuda --table  the page again, with the study's own times

"One by one" is our trainer with a single run, eager, without vmap. Beside it stands, for the MLP, what one
would write by hand (the loop of benchmarks/stacked.py: `nn.Sequential`, Adam, data on the device), so that an
overhead of our own trainer does not count for us. "Stack" is the stack that the study makes of these runs.
They take turns, stretch by stretch, and the best stretch of each counts; validation is in none of them. Of
FFVAE the first phase is timed, alone in the faster of its two forms. `--jobs` stacks are compiled at a time,
in processes of their own; they are measured one after the other, when all are ready. Needs numpy, torch and
evenhand; the study's own times are added where polars is installed.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)] * (str(ROOT) not in sys.path)

from benchmarks.ci_mnist_study_table import markdown  # noqa: E402
from benchmarks.ci_mnist_study_ways import Job, measure, prepare  # noqa: E402

RESULTS = Path(__file__).with_name("results")
METHODS = ("mlp", "laftr-dp", "laftr-eqodd", "cfair", "advdebias", "ffvae")


def jobs_of(methods: Sequence[str], options: argparse.Namespace) -> list[Job]:
    """A job for each stack; LAFTR's variants share theirs, and FFVAE's first phase has no width."""
    families: dict[str, list[str]] = {}
    for method in methods:
        families.setdefault(method.split("-")[0], []).append(method)
    fixed = (options.device, options.part, options.tasks, options.ffvae_stack, options.steps, options.rounds)
    return [
        Job(tuple(members), net, *fixed)
        for family, members in families.items()
        for net in (("width 32",) if family == "ffvae" else ("width 32", "width 64"))
    ]


def work(job: Job, pipe: Connection) -> None:
    """A process of its own: gets ready, says so, and measures when it is told to."""
    try:
        ways = prepare(job)
        pipe.send("ready")
        pipe.recv()
        pipe.send(measure(job, ways))
    except Exception:
        pipe.send(traceback.format_exc())


def heard(pipe: Connection) -> Any:
    """What a process says; an account of its failure is text too."""
    try:
        return pipe.recv()
    except EOFError:
        return "its process died"


def side_by_side(jobs: Sequence[Job]) -> Iterator[list[dict[str, Any]]]:
    """Rows of jobs that get ready at the same time and are measured one after the other."""
    context = multiprocessing.get_context("spawn")
    started = []
    for job in jobs:
        here, there = context.Pipe()
        process = context.Process(target=work, args=(job, there))
        process.start()
        there.close()  # so that a process that dies is heard of
        started.append((job, here, process))
    waiting = [(*each, heard(each[1])) for each in started]
    for job, pipe, process, told in waiting:
        if told == "ready":
            pipe.send("go")
            told = heard(pipe)
        process.join()
        if isinstance(told, str):
            print(f"{', '.join(job.methods)} with {job.net} failed:\n{told}", flush=True)
        else:
            yield told


def run(jobs: Sequence[Job], at_a_time: int) -> Iterator[list[dict[str, Any]]]:
    """The rows of every job as soon as they are there."""
    if at_a_time == 1:
        for job in jobs:
            yield measure(job, prepare(job))
        return
    for first in range(0, len(jobs), at_a_time):
        yield from side_by_side(jobs[first : first + at_a_time])


def keep(rows: Sequence[dict[str, Any]], machine: str, command: str, file: Path) -> dict[str, Any]:
    """Put rows into the file; others measured on the same machine stay."""
    found: dict[str, Any] = json.loads(file.read_text()) if file.exists() else {}
    if found.get("machine") != machine:
        found = {"machine": machine, "rows": []}
    new = {(row["method"], row["net"]) for row in rows}
    others = [row for row in found["rows"] if (row["method"], row["net"]) not in new]
    order = sorted([*others, *rows], key=lambda row: (METHODS.index(row["method"]), row["net"]))
    found |= {"command": command, "rows": order}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(found, indent=1) + "\n")
    return found


def command_of(options: argparse.Namespace) -> str:
    """How to measure this again."""
    said = [f"--device {options.device}", f"--steps {options.steps}", f"--rounds {options.rounds}"]
    said += [f"--part {options.part}", f"--tasks {options.tasks}", f"--ffvae-stack {options.ffvae_stack}"]
    return f"python benchmarks/ci_mnist_study.py {' '.join(said)}"


def main() -> None:
    """Measure and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    parser.add_argument("--steps", type=int, default=100, help="of one stretch")
    parser.add_argument("--rounds", type=int, default=3, help="stretches of each; the best one counts")
    parser.add_argument("--part", default="full", choices=("full", "packaged"), help="the MNIST to use")
    parser.add_argument("--tasks", type=int, default=2, help="trainings of the study whose images are used")
    parser.add_argument(
        "--ffvae-stack", type=int, default=24, help="runs; the plan would take all of a width"
    )
    parser.add_argument("--jobs", type=int, help="stacks made ready at a time; on a GPU all, else one")
    parser.add_argument("--table", action="store_true", help="measure nothing, write the table again")
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    file = options.out / f"ci-mnist-study-{options.device}.json"
    page = file.with_suffix(".md")
    if options.table:
        page.write_text(markdown(json.loads(file.read_text())))
        print(page.read_text())
        return
    jobs, began = jobs_of(options.methods, options), time.perf_counter()
    at_a_time = options.jobs or (len(jobs) if options.device == "cuda" else 1)
    os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", str(max(1, (os.cpu_count() or 1) // at_a_time)))
    name = (
        torch.cuda.get_device_name() if options.device == "cuda" else f"{torch.get_num_threads()} CPU threads"
    )
    machine = f"{name}, torch {torch.__version__}, Python {platform.python_version()}"
    for rows in run(jobs, at_a_time):
        for row in rows:
            print(f"{time.perf_counter() - began:.0f} s", row, flush=True)
        found = keep(rows, machine, command_of(options), file)
        page.write_text(markdown(found))
    print(page.read_text())


if __name__ == "__main__":
    main()
