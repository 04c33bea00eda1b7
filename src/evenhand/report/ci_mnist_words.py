"""What the page of S3's study says in sentences: what came out, what is missing, how to read a verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from evenhand.report.ci_mnist_body import Cells, model_names
from evenhand.report.claims_words import claims_by_verdict
from evenhand.report.numbers import UNDEFINED, interval, number
from evenhand.report.paper_warning import unless_small

Json = Mapping[str, Any]
SIGNED = ("difference",)


@unless_small
def sentences(body: Json) -> list[str]:
    """The findings in a few sentences."""
    tally = Counter(found["verdict"] for found in body["findings"])
    told = (
        f"Of {len(body['findings'])} claims of the paper {tally['holds']} hold, {tally['does not']} do not, "
        f"and {tally['cannot tell']} cannot be told from {body['done']:,} trainings."
    )
    return [told, claims_by_verdict(body), *_collapse(body)]


def _collapse(body: Json) -> list[str]:
    """The two ends of the scale: the MLP's numbers where nothing and where most is tied to the label."""
    cells, width = Cells(body), body["widths"][-1]
    rows = (("balanced", "with balanced colours"), ("minority .001", "at (0.001, 0.001)"),
            ("colour .01 .99", "at (0.01, 0.99)"))  # fmt: skip
    told = []
    for task, where in rows:
        accuracy, odds = (cells.get(width, task, "mlp", key) for key in ("s3.accuracy.mean", "eqodd"))
        if accuracy and odds:
            told.append(f"{where} acc {number(accuracy['mean'])} and EqOdd {number(odds['mean'])}")
    return [f"The MLP ({width}) has {'; '.join(told)}."] if told else []


def missing_words(body: Json) -> list[str]:
    """What has not been run: a line for all models of a width that lack the same."""
    names, lines = model_names(body, beside=True), dict[tuple[str, str], list[str]]()
    for entry in body["missing"]:
        lines.setdefault((_lack(entry), entry["width"]), []).append(names[entry["model"]])
    return [f"{', '.join(who)} ({width}): {told}" for (told, width), who in lines.items()]


def _lack(entry: Json) -> str:
    """What one model lacks at one width.

    >>> _lack({"planned": 30, "done": 3, "tasks": ["green 2"]})
    '3 of 30 runs are done; no run on green 2'
    """
    if not entry["planned"]:
        return "not part of this store"
    if not entry["done"]:
        return f"none of {entry['planned']:,} runs is done"
    lacking = f"; no run on {', '.join(entry['tasks'])}" if entry["tasks"] else ""
    return f"{entry['done']:,} of {entry['planned']:,} runs are done{lacking}"


def part_rows(found: Json) -> list[dict[str, Any]]:
    """The parts of a claim as rows of a table."""
    return [
        {
            "words": part["words"], "rule": part["rule"], "verdict": part["verdict"],
            "by": " / ".join(shown(value, part["unit"]) for value in part["by"].values()),
            "effect": shown(part["effect"], part["unit"]), "replicates": part["replicates"],
            "interval": interval(
                [part["low"], part["high"]], _decimals(part["unit"]), part["unit"] in SIGNED
            ),
        }
        for part in found["parts"]
    ]  # fmt: skip


def shown(value: float | None, unit: str) -> str:
    """An effect in its unit.

    >>> shown(0.1234, "difference"), shown(1.5, "ratio"), shown(None, "share")
    ('+0.123', '1.50', '–')
    """
    return UNDEFINED if value is None else number(value, _decimals(unit), unit in SIGNED)


def _decimals(unit: str) -> int:
    return 3 if unit == "difference" else 2
