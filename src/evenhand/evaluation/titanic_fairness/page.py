"""What the study found, as Markdown, a figure and files of numbers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.evaluation.titanic_fairness import words
from evenhand.evaluation.titanic_fairness.layout import (
    COLUMNS,
    KNOWN,
    MODELS,
    NAME,
    NEW,
    NORMALISED,
    READINGS,
)
from evenhand.evaluation.titanic_fairness.spread import runs_table, runs_view
from evenhand.report.figures.forest import ForestRow, forest
from evenhand.report.marked_page import filled, link, written
from evenhand.report.numbers import interval, number
from evenhand.report.spread_table import to_be_opened
from evenhand.report.study_table_files import to_csv, to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
MARKED = "numbers"
FIGURE, TABLE, BODY = "figures/beside-the-paper.svg", "table3.csv", f"{NAME}.json"
RUNS = "runs.csv"
SPLITS = {2: "two", 5: "five"}  # in words


def write_page(body: Json, page: Path, results: Path) -> None:
    """Write the files into the folder of results and the answers between the page's two comments."""
    text = filled(page, MARKED, f"\n{answers(body, link(results, page))}\n\n")
    write_files(body, results)
    written(page, text)


def write_folder(body: Json, folder: Path) -> None:
    """Write files and the answers as a page of their own, `report.md`."""
    write_files(body, folder)
    written(folder / "report.md", f"# {body['title']}\n\n{answers(body, '.')}\n")


def write_files(body: Json, folder: Path) -> None:
    """Figure, table and all numbers."""
    written(folder / FIGURE, figure(body))
    written(folder / TABLE, to_csv(long_table(body)))
    written(folder / RUNS, to_csv(runs_table(body)))
    written(folder / BODY, json.dumps(body, indent=1, ensure_ascii=False) + "\n")


def figure_title(body: Json) -> str:
    """What the figure shows, and of how many splits.

    >>> figure_title({"repeats": 5}).partition(":")[2].partition(",")[0]
    ' mean over five splits'
    """
    splits = SPLITS.get(body["repeats"], str(body["repeats"]))
    return f"S2's Table 3 and our runs: mean over {splits} splits, 95 % interval; hollow: the paper's"


def answers(body: Json, results: str) -> str:
    """All that was found, as Markdown that links to the folder of results."""
    parts = [
        words.state(body),
        words.verdict(body),
        f"![{figure_title(body)}]({results}/{FIGURE})",
        "### Beside the paper",
        _table(known_table(body)),
        *([] if body.get("small") else [words.nearness(body), words.other_reading(body)]),
        "### CEV and SDE",
        *([] if body.get("small") else [words.normalised(body)]),
        _table(new_table(body)),
        to_be_opened(runs_view(body)),
        "### What chance gives",
        words.chance(body),
        _table(chance_table(body)),
        f"Every repeat: [{TABLE}]({results}/{TABLE}); mean, deviation, smallest and largest over splits: "
        f"[{RUNS}]({results}/{RUNS}); all numbers: [{BODY}]({results}/{BODY}).",
    ]
    return "\n\n".join(parts)


def known_table(body: Json) -> Table:
    """FPED, FNED, DIMS, DIAMR of each model with interval, the paper's and the other reading beside."""
    heads = ("Model", "Accuracy", *(COLUMNS[key] for key in KNOWN))
    rows = []
    for row in body["models"]:
        found, name = row["columns"], MODELS[row["model"]]
        accuracy = sum(row["accuracy"]) / len(row["accuracy"])
        rows.append((f"{name}, ours", number(accuracy), *(_ours(found[key]) for key in KNOWN)))
        rows.append((f"{name}, S2", "–", *(number(found[key]["paper"]) for key in KNOWN)))
        rows.append((f"{name}, other reading", "–", *(_ours(found[READINGS[key]]) for key in KNOWN)))
    return Table("known", heads, tuple(rows))


def new_table(body: Json) -> Table:
    """CEV and SDE of each model, raw and over a random predictor's, the paper's beside."""
    heads = ("Model", *(COLUMNS[key] for key in NEW))
    rows = []
    for row in body["models"]:
        found, name = row["columns"], MODELS[row["model"]]
        rows.append((f"{name}, ours, raw", *(_ours(found[key]) for key in NEW)))
        rows.append((f"{name}, ours, normalised", *(_ours(found[NORMALISED[key]]) for key in NEW)))
        rows.append((f"{name}, S2", *(number(found[key]["paper"], 4) for key in NEW)))
    return Table("new", heads, tuple(rows))


def chance_table(body: Json) -> Table:
    """The mean of each column beside what shuffled sexes give, and p after Holm's correction."""
    heads = ("Model", "Column", "Ours", "Shuffled: half lie under", "95 % lie under", "p (Holm)")
    rows = [
        (MODELS[row["model"]], COLUMNS[key], number(found["value"]), number(found["chance"]),
         number(found["chance_high"]), words.p_words(found["p_holm"]))
        for row in body["models"] for key in COLUMNS
        for found in (row["columns"][key],)
    ]  # fmt: skip
    return Table("chance", heads, tuple(rows))


def long_table(body: Json) -> Table:
    """Every number of every repeat."""
    rows = [
        (row["model"], key, repeat, value)
        for row in body["models"]
        for key, found in row["columns"].items()
        for repeat, value in enumerate(found["runs"])
    ]
    return Table("runs", ("model", "column", "repeat", "value"), tuple(rows))


def figure(body: Json, width: float = 760) -> str:
    """The known columns and normalised SDE, ours with intervals, the paper's as hollow dots."""
    rows = []
    for key in (*KNOWN, "sde.men", "sde.women"):
        rows.append(ForestRow(f"{COLUMNS[key]}{', normalised' if key in NEW else ''}", None, heading=True))
        for row in body["models"]:
            found = row["columns"][NORMALISED.get(key, key)]
            name = MODELS[row["model"]]
            rows.append(ForestRow(name, found["value"], found["low"], found["high"]))
            rows.append(ForestRow(f"{name}, S2", row["columns"][key]["paper"], remarkable=False))
    return forest(rows, title=figure_title(body), reference=("none", 0.0), axis="value", width=width)


def _ours(found: Json) -> str:
    return f"{number(found['value'])} ({interval((found['low'], found['high']))})"


def _table(table: Table) -> str:
    return to_markdown(table).rstrip()
