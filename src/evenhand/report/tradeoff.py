"""The report of a trade-off: `TradeOff.to_dict()` into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.definitions import define
from evenhand.report.figures import ForestRow, Spot, both_widths, forest, tradeoff
from evenhand.report.numbers import defined, interval, number, without_nan
from evenhand.report.verdict_tradeoff import ACCURACY, column_head, short, tradeoff_sentences

Json = Mapping[str, Any]


def render(body: Json) -> str:
    """The HTML report of a trade-off."""
    body = without_nan(body)
    return page.render(
        "tradeoff.html.j2",
        tradeoff=body,
        title=f"Accuracy and gaps: {body['name']}",
        sentences=tradeoff_sentences(body),
        panels=panels(body),
        rows=[method_row(body, method) for method in body["methods"]],
        heads=[(column_head(key), define(key).text) for key in body["metrics"]],
        forest=difference_figures(body),
        differences=difference_rows(body),
        runs=run_rows(body),
        made=how_made(body),
        spelled=spelled,
        kept=page.method_of(body),
    )


def panels(body: Json) -> list[dict[str, str]]:
    """A scatter plot for each metric."""
    drawn = []
    for key in body["metrics"]:
        spots = [spot for method in body["methods"] if (spot := _spot(method, key)) is not None]
        if not spots:
            continue
        definition, names = define(key), body["frontiers"].get(key) or []
        title = f"Accuracy against {short(key)}"
        made = tradeoff(
            spots, names, title=title, y_axis=column_head(key), higher=definition.better == "higher"
        )
        drawn.append({"key": key, "title": title, "formula": definition.formula, "figure": made})
    return drawn


def _spot(method: Json, key: str) -> Spot | None:
    x, y = method["accuracy"], method["metrics"][key]
    if not defined(x["mean"]) or not defined(y["mean"]):
        return None
    runs = [
        (f"seed {seed}", a, b)
        for seed, a, b in zip(method["seeds"], x["values"], y["values"], strict=True)
        if defined(a) and defined(b)
    ]
    ranges = [(part.get("low"), part.get("high")) for part in (x, y)]
    return Spot(method["name"], tuple(runs), x["mean"], y["mean"], *ranges)


def method_row(body: Json, method: Json) -> dict[str, Any]:
    """A method's line in the table: accuracy, every metric, seconds."""
    numbers = [method["accuracy"], *(method["metrics"][key] for key in body["metrics"])]
    on = [column_head(key) for key in body["metrics"] if method["name"] in (body["frontiers"].get(key) or [])]
    return {
        "name": method["name"], "base": method["name"] == body["base"], "seconds": method.get("seconds"),
        "cells": [_cell(found) for found in numbers], "frontier": on,
    }  # fmt: skip


def _cell(found: Json) -> dict[str, str]:
    several = (found.get("n") or 0) > 1
    notes = [f"{interval((found.get('min'), found.get('max')))} over {found['n']} seeds"] if several else []
    if defined(found.get("run_low")):
        notes.append(f"a single run on other rows: {interval((found['run_low'], found['run_high']))}")
    spread = f"± {number(found.get('std'))}" if several else ""
    return {"text": number(found.get("mean")), "spread": spread, "note": "\n".join(notes)}


def difference_rows(body: Json) -> list[dict[str, Any]]:
    """Every method against the base in every number."""
    return [
        {"method": method["name"], "metric": "accuracy" if key == ACCURACY else short(key), **found}
        for method in body["methods"]
        for key, found in (method.get("against_base") or {}).items()
    ]


def difference_figures(body: Json) -> list[tuple[str, str]]:
    """The differences as a forest plot, metric by metric."""
    others = [method for method in body["methods"] if method.get("against_base")]
    rows: list[ForestRow] = []
    for key in (ACCURACY, *body["metrics"]):
        rows.append(ForestRow("accuracy" if key == ACCURACY else short(key), None, heading=True))
        for method in others:
            found = method["against_base"][key]
            note = "" if defined(found.get("difference")) else "undefined in one of the two"
            rows.append(
                ForestRow(
                    method["name"], found.get("difference"), found.get("low"), found.get("high"), note=note
                )
            )
    title = f"Differences from {body['base']}"
    return both_widths(
        lambda width: forest(rows, title=title, reference=("no difference", 0.0), width=width, signed=True)
    )


def run_rows(body: Json) -> list[dict[str, Any]]:
    """Every run of every method."""
    return [
        {"method": method["name"], "seed": seed, "accuracy": method["accuracy"]["values"][place],
         "metrics": [method["metrics"][key]["values"][place] for key in body["metrics"]]}
        for method in body["methods"] for place, seed in enumerate(method["seeds"])
    ]  # fmt: skip


def how_made(body: Json) -> dict[str, Any]:
    """What all methods share (network, recipe, device) and what each has of its own."""
    every = [_training(method) for method in body["methods"]]
    shared = {key: value for key, value in every[0].items() if all(one.get(key) == value for one in every)}
    own = []
    for method, values in zip(body["methods"], every, strict=True):
        fields = (method.get("method") or {}).get("fields") or {}
        other = {key: value for key, value in values.items() if key not in shared}
        own.append({"name": method["name"], "settings": settings({**fields, **other})})
    return {"shared": shared, "own": own, "card": (body.get("task") or {}).get("card") or {}}


def _training(method: Json) -> dict[str, Any]:
    return {**{key: method.get(key) for key in ("net", "device", "seeds")}, **(method.get("recipe") or {})}


def settings(values: Json) -> str:
    """Settings in a line of text.

    >>> settings({"lam": 1.0, "target": "odds"}), settings({})
    ('lam = 1.0, target = odds', 'none')
    """
    return ", ".join(f"{key} = {spelled(value)}" for key, value in values.items()) or "none"


def spelled(value: Any) -> str:
    """A value of a recipe or a network in plain words.

    >>> spelled(True), spelled([1, 2]), spelled({"name": "mlp", "options": {}}), spelled(None)
    ('yes', '1, 2', 'mlp', 'unset')
    """
    if isinstance(value, Mapping):
        options = settings(value["options"]) if value.get("options") else ""
        return f"{value.get('name') or 'own network'}{f' ({options})' if options else ''}"
    if isinstance(value, list | tuple):
        return ", ".join(spelled(part) for part in value)
    return (
        {True: "yes", False: "no", None: "unset"}.get(value, str(value))
        if isinstance(value, bool | None)
        else str(value)
    )
