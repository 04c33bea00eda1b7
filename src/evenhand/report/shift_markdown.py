"""An audit under shift as a section of a model card, in Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.model_card import escaped
from evenhand.report.numbers import interval, number, without_nan
from evenhand.report.shift import rows
from evenhand.report.verdict_shift import shift_sentences

Json = Mapping[str, Any]
HEADS = ("Metric", "Severity", "Value", "interval", "Difference", "interval", "Verdict")


def render(body: Json) -> str:
    """A `## Under shift` section: findings, every number, caveats, method."""
    body = without_nan(body)
    parts = [
        f"## Under shift: {escaped(body['shift']['title'])}",
        "\n".join(f"- {escaped(sentence)}" for sentence in shift_sentences(body)),
        _table(body),
    ]
    if body["warnings"]:
        parts += ["### Caveats", "\n".join(f"- {escaped(note)}." for note in body["warnings"])]
    return "\n\n".join([*parts, "### Method", _method(body)]) + "\n"


def _table(body: Json) -> str:
    level = f"{100 * body['method']['confidence']:g}%"
    heads = [f"{level} {head}" if head == "interval" else head for head in HEADS]
    lines = [
        [
            escaped(row["metric"]), f"{row['severity']:g}", number(row["value"]), interval(row["interval"]),
            number(row["difference"], signed=True), interval(row["reach"], signed=True), row["verdict"],
        ]
        for row in rows(body)
    ]  # fmt: skip
    align = ["---", *("---:" for _ in heads[2:]), "---"]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (heads, align, *lines))


def _method(body: Json) -> str:
    kept, shift = body["method"], body["shift"]
    made = ", ".join(f"{escaped(str(name))} {escaped(str(v))}" for name, v in kept["versions"].items())
    how = "paired, on the same rows" if shift["acts_on"] == "inputs" else "between samples of the same rows"
    return (
        f"{escaped(shift['words'])}; the severity is the {escaped(shift['unit'])}. Draws of each severity: "
        f"{body['draws']}; runs: {body['runs']}; differences to severity 0 are {how}. confidence "
        f"{kept['confidence']}; replicates {kept['replicates']}; seed {kept['seed']}. Measured with {made}."
    )
