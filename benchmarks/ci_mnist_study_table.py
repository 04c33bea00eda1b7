"""What benchmarks/ci_mnist_study.py found, as a page: its rows, and the whole study one by one.

The second is an extrapolation and is called one: runs x steps x the measured time of a step alone. How long
each run trained before it stopped early is not in the study's records, so both ends are given: all epochs
that the recipe allows, and the fewest that its patience allows.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from statistics import fmean
from typing import Any

from evenhand.study.read import read_study
from evenhand.study.search import settings_of

RECORDS = Path(__file__).resolve().parent.parent / "studies" / "results" / "ci-mnist" / "runs.parquet"
TRAIN_ROWS = 50_000  # of MNIST's full part
FIRST_PHASE = "first phase"  # of FFVAE, which is the same for both widths

Rows = Sequence[Mapping[str, Any]]
Counts = Mapping[tuple[str, str], int]


def declared() -> Counter[tuple[str, str]]:
    """How many runs of each method and net the study has."""
    study = read_study("ci-mnist")
    each = len(study.tasks) * len(study.seeds)
    return Counter(
        {
            (method.name, net.name): each * len(settings_of(method))
            for method in study.methods
            for net in study.nets
            if net.is_for(method.name)
        }
    )


def steps_of(method: str, *, fewest: bool = False) -> int:
    """Steps of one run: at most, or where it stops as early as it may; FFVAE's first phase has one length."""
    study = read_study("ci-mnist")
    recipe = study.recipe
    epochs = recipe["patience"] + 1 if fewest else recipe["epochs"]
    if method == "ffvae":
        (epochs,) = [spec.fields["represent_epochs"] for spec in study.methods if spec.name == "ffvae"]
    return int(epochs) * (TRAIN_ROWS // int(recipe["batch_size"]))


def row_for(rows: Rows, method: str, net: str) -> dict[str, float] | None:
    """Milliseconds of a step alone and of a model-step in the stack; for other variants, those measured."""
    net = FIRST_PHASE if method == "ffvae" else net
    family = [
        row for row in rows if row["method"].split("-")[0] == method.split("-")[0] and row["net"] == net
    ]
    own = [row for row in family if row["method"] == method] or family
    if not own:
        return None
    alone, together = (
        fmean(row["alone_ms"] for row in own),
        fmean(row["stack_ms"] / row["stack"] for row in own),
    )
    return {"alone": alone, "together": together}


def hours(rows: Rows, counts: Counts, which: str, *, fewest: bool = False) -> float:
    """Hours of so many runs; NaN where a method was not measured."""
    total = 0.0
    for (method, net), runs in counts.items():
        row = row_for(rows, method, net)
        total += runs * steps_of(method, fewest=fewest) * (row[which] if row else float("nan"))
    return total / 3.6e6


def recorded(machine: str, ffvae: bool) -> tuple[Counter[tuple[str, str]], float] | None:
    """Finished runs of the committed records, if made on this machine, and the hours they were made in."""
    try:
        import polars
    except ImportError:
        return None
    if not RECORDS.exists():
        return None
    found = polars.read_parquet(RECORDS).unique("id")
    found = found.filter((polars.col("method") == "ffvae") == ffvae, polars.col("status") == "done")
    found = found.filter(
        polars.Series([_same(device, machine) for device in found["device"]], dtype=polars.Boolean)
    )
    counts = Counter(zip(found["method"], found["net"], strict=True))
    spans = sorted(
        {tuple(map(datetime.fromisoformat, span)) for span in found.select("started", "finished").rows()}
    )
    return counts, _covered(spans) / 3600


def _same(device: str, machine: str) -> bool:
    """Whether a record's device, such as "cuda (NVIDIA H200)", is the one that was measured on."""
    kind, _, name = device.partition(" (")
    return kind.startswith("cuda") and machine.startswith(name.removesuffix(")"))


def _covered(spans: Sequence[tuple[datetime, ...]]) -> float:
    """Seconds that lie in any of the spans, which are in order."""
    total, end = 0.0, None
    for start, stop in spans:
        begin = start if end is None else max(start, end)
        total += max(0.0, (stop - begin).total_seconds())
        end = stop if end is None else max(end, stop)
    return total


def markdown(found: Mapping[str, Any]) -> str:
    """The page."""
    rows: Rows = found["rows"]
    parts = ", ".join(
        sorted({f"{row['part']} MNIST, images of {row['trainings']} of the trainings" for row in rows})
    )
    lines = [
        f"# The study ci-mnist in stacks and one by one, {found['machine']}",
        "",
        f"`{found['command']}` ({parts}; batches of 64, float32)",
        "",
        "One by one: our trainer with one run, eager. Plain loop: written by hand, for the MLP only. Stack:",
        "as the study trains these runs, alone on the device. They took turns and the best stretch of each",
        "counts; validation is not in it. Of FFVAE the first phase is timed, in which the autoencoder is",
        "trained; alone it has its convolutions in whichever form is faster.",
        "",
        "| method | | one by one, ms a step | plain loop | runs in the stack | stack, ms a step "
        "| model-steps/s | times one by one | times the plain loop |",
        "|---|---|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(_cells(row))} |" for row in rows),
        "",
        *_whole(rows, found["machine"]),
    ]
    return "\n".join(lines) + "\n"


def _cells(row: Mapping[str, Any]) -> list[str]:
    plain, ratio = row.get("plain_ms"), row.get("plain_ratio")
    return [
        row["method"],
        row["net"],
        f"{row['alone_ms']:.2f}",
        "" if plain is None else f"{plain:.2f}",
        f"{row['stack']:,}",
        f"{row['stack_ms']:.2f}",
        f"{row['rate']:,.0f}",
        f"{row['ratio']:.1f}",
        "" if ratio is None else f"{ratio:.1f}",
    ]


def _whole(rows: Rows, machine: str) -> list[str]:
    """What that makes of the whole study."""
    everything = declared()
    lines = [
        "## The whole study one by one: an extrapolation",
        "",
        "Runs x steps x the time of a step above. At most: all epochs of the recipe. At least: every run",
        "stops as soon as its patience allows. FFVAE's second phase is left out on both sides; variants that",
        "were not measured count as the mean of those that were. Stacks: the same steps in stacks, one after",
        "the other. Validation is left out everywhere.",
        "",
        "| | runs | one by one, at least | one by one, at most | stacks, at most | ratio |",
        "|---|---|---|---|---|---|",
    ]
    for name, ffvae in (("all but FFVAE", False), ("FFVAE, first phase", True)):
        counts = {pair: runs for pair, runs in everything.items() if (pair[0] == "ffvae") == ffvae}
        least, most = (hours(rows, counts, "alone", fewest=fewest) for fewest in (True, False))
        stacks = hours(rows, counts, "together")
        cells = [f"{sum(counts.values()):,}", *map(_told, (least, most, stacks))]
        cells.append("" if math.isnan(stacks) else f"{most / stacks:.0f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    for name, ffvae in (("all but FFVAE", False), ("FFVAE", True)):
        lines += _beside_records(rows, name, recorded(machine, ffvae))
    return lines


def _told(number: float) -> str:
    return "not measured" if math.isnan(number) else f"{number:.2f} h"


def _beside_records(rows: Rows, name: str, record: tuple[Counts, float] | None) -> list[str]:
    """How that compares with the time in which the study's committed runs were made."""
    if record is None or not record[0]:
        return []
    counts, took = record
    least, most = (hours(rows, counts, "alone", fewest=fewest) for fewest in (True, False))
    if math.isnan(most):
        return []
    span = f"{most:.1f}" if least == most else f"{least:.1f} to {most:.1f}"
    times = f"{most / took:.0f}" if least == most else f"{least / took:.0f} to {most / took:.0f}"
    first = " (the first phase alone)" if name == "FFVAE" else ""
    return [
        "",
        f"As the study ran ({name}, several stacks at a time on the device; committed records): "
        f"{sum(counts.values()):,} runs in {60 * took:.1f} minutes, with the workers' painting, compiling, "
        f"validation and measuring. One by one they would take {span} hours{first}: {times} times as long.",
    ]
