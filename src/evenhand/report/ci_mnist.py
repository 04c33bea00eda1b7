"""The page of S3's study in the paper's shape: its dictionary into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.ci_mnist_body import ORACLE, Cells, model_names, present, tables_of
from evenhand.report.ci_mnist_figures import (
    knob_figure,
    models_figure,
    pair_figure,
    pareto_figure,
    sample_figure,
    spread_figure,
)
from evenhand.report.ci_mnist_tables import mean_and_deviation
from evenhand.report.ci_mnist_words import missing_words, part_rows, sentences, shown
from evenhand.report.figures.canvas import both_widths
from evenhand.report.numbers import interval
from evenhand.report.paper_page import told_table
from evenhand.report.spread_table import spread_view

Json = Mapping[str, Any]


def render(body: Json) -> str:
    """The HTML page; an unfinished store gives what it has."""
    return page.render(
        "ci_mnist.html.j2",
        scripts=("script.js", "study.js"),
        paper=body,
        title=body["title"],
        sentences=sentences(body),
        missing=missing_words(body),
        oracle=ORACLE,
        findings=[{**found, "rows": part_rows(found)} for found in body["findings"]],
        checks=part_rows({"parts": body["checks"]}),
        # the wider network first: it is the one whose correlations the paper shows
        widths=[(f"w{place}", width) for place, width in enumerate(reversed(body["widths"]))],
        settings=[_setting(body, setting) for setting in body["settings"]],
        tables=list(_tables(body)),
        spread=told_table(spread_view(body["runs"], ORACLE)),
        samples=_samples(body),
        overall=[{**row, "name": model_names(body, True)[row["model"]]} for row in body["overall"]],
    )


def _setting(body: Json, setting: Json) -> dict[str, Any]:
    """Everything that is drawn of one setting, by width."""
    drawn = {width: _drawn(body, setting, width) for width in body["widths"]}
    return {**setting, "drawn": drawn, "changes": _changes(body, setting["name"])}


def _drawn(body: Json, setting: Json, width: str) -> dict[str, Any]:
    name = setting["name"]
    return {
        "pair": both_widths(lambda size: pair_figure(body, width, setting, size)),
        "all": both_widths(lambda size: models_figure(body, width, setting, size)),
        "spread": spread_figure(body, width, name),
        "knob": knob_figure(body, width, name),
        "pareto": [
            (view["head"], view["row"], pareto_figure(body, view))
            for view in body["pareto"]
            if (view["setting"], view["width"]) == (name, width) and view["points"]
        ],
    }


def _changes(body: Json, setting: str) -> list[dict[str, Any]]:
    """Before to after, for each model: the difference of accuracy and of fairness."""
    rows = [row for row in body["changes"] if row["setting"] == setting]
    return [
        {
            "model": body["models"][row["model"]],
            **{
                what: {"text": shown(row[what]["effect"], "difference"), "n": row[what]["replicates"],
                       "interval": interval([row[what]["low"], row[what]["high"]], signed=True)}
                for what in ("accuracy", "fairness")
            },
        }
        for row in rows
        if row["accuracy"]["effect"] is not None
    ]  # fmt: skip


def _tables(body: Json) -> list[dict[str, Any]]:
    """The tables of the paper, those of models without any number left out."""
    cells, there = Cells(body), present(body)
    return [
        {"number": number, "model": body["models"][model], "setting": setting,
         "rows": [_row(body, cells, width, row, model)
                  for width in body["widths"] for row in setting["rows"]]}
        for number, setting, model in tables_of(body)
        if model in there
    ]  # fmt: skip


def _row(body: Json, cells: Cells, width: str, row: Json, model: str) -> dict[str, Any]:
    entries = [cells.get(width, row["task"], model, key) for key in body["metrics"]]
    return {
        "width": width, "label": row["label"],
        "cells": [
            {"text": mean_and_deviation(entry), "oracle": mean_and_deviation(entry, True),
             "note": entry["setting"] if entry else ""}
            for entry in entries
        ],
    }  # fmt: skip


def _samples(body: Json) -> list[tuple[str, list[tuple[str, str]]]]:
    """The rows of each setting with their images, the balanced ones once."""
    images, shown_already = {row["task"]: row for row in body["samples"]}, set()
    found = []
    for setting in body["settings"]:
        rows = [row for row in setting["rows"] if row["task"] not in shown_already]
        shown_already |= {row["task"] for row in rows}
        found.append(
            (
                setting["title"],
                [(row["label"], sample_figure(images[row["task"]], ("even", "odd"))) for row in rows],
            )
        )
    return found
