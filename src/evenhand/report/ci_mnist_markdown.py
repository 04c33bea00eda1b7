"""The results of S3's study as Markdown with pictures: the raw material of docs/studies/ci-mnist.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.ci_mnist_body import ORACLE, Cells, present
from evenhand.report.ci_mnist_tables import mean_and_deviation
from evenhand.report.ci_mnist_words import missing_words, part_rows, sentences, shown
from evenhand.report.numbers import interval
from evenhand.report.spread_table import TITLE, spread_view
from evenhand.report.study_table_files import to_markdown
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]


def results_markdown(body: Json, figures: str = "figures") -> str:
    """Claims with their deciding parts, what each knob changes, the last rows of the tables, pictures."""
    parts = ["# ci-mnist: results", *sentences(body)]
    parts += ["\n".join(f"- {told}" for told in missing_words(body))] if body["missing"] else []
    parts += ["## Claims", to_markdown(claims(body))]
    parts += [
        f"### {found['id']}: {found['verdict']}\n\n{to_markdown(_parts(found))}" for found in body["findings"]
    ]
    parts += ["## The smallest group", to_markdown(_parts({"parts": body["checks"]}))]
    for setting in body["settings"]:
        parts += [f"## {setting['title']}", to_markdown(changes(body, setting))]
        for width in body["widths"]:
            parts.append(to_markdown(last_row(body, setting, width)))
        parts.append(_pictures(body, setting, figures))
    spread = to_markdown(spread_view(body["runs"], ORACLE))
    parts += ["## Over runs", f"<details><summary>{TITLE}</summary>\n\n{spread}\n</details>"]
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def claims(body: Json) -> Table:
    """A line for each claim: how many of its parts hold, and the runs behind it."""
    rows = [
        (found["id"], found["claim"], found["verdict"], _tally(found["parts"]), found["runs"])
        for found in body["findings"]
    ]
    return Table(
        "Claims", ("", "Claim", "Verdict", "Parts: hold / do not / cannot tell", "Runs"), tuple(rows)
    )


def _tally(parts: Sequence[Json]) -> str:
    words = [part["verdict"] for part in parts]
    return " / ".join(str(words.count(word)) for word in ("holds", "does not", "cannot tell"))


def _parts(found: Json) -> Table:
    keys = ("words", "effect", "interval", "by", "rule", "replicates", "verdict")
    heads = ("Part", "Effect", "Interval", "Each width", "Holds if it", "Replicates", "Verdict")
    return Table("Parts", heads, tuple(tuple(row[key] for key in keys) for row in part_rows(found)))


def changes(body: Json, setting: Json) -> Table:
    """What the knob changes in accuracy and fairness of each model."""
    after, before = (setting["rows"][place]["label"] for place in reversed(setting["pair"]))
    rows = []
    for row in body["changes"]:
        if row["setting"] == setting["name"] and row["accuracy"]["effect"] is not None:
            told = [
                text
                for what in ("accuracy", "fairness")
                for text in (shown(row[what]["effect"], "difference"), _interval(row[what]))
            ]
            rows.append((body["models"][row["model"]], *told))
    heads = ("Model", "Accuracy", "Interval", "Fairness", "Interval")
    return Table("Changes", heads, tuple(rows), f"{after} less {before}, both widths together.")


def _interval(found: Json) -> str:
    return interval([found["low"], found["high"]], signed=True)


def last_row(body: Json, setting: Json, width: str) -> Table:
    """All models in the last row of a setting."""
    cells, row = Cells(body), setting["rows"][-1]
    rows = tuple(
        (name, *(mean_and_deviation(cells.get(width, row["task"], model, key)) for key in body["metrics"]))
        for model, name in present(body).items()
    )
    note = f"{setting['knob']} {row['label']}, {width}: mean ± deviation over seeds."
    return Table("Last row", ("Model", *body["metrics"].values()), rows, note)


def _pictures(body: Json, setting: Json, figures: str) -> str:
    width, name = body["widths"][-1].replace(" ", "-"), setting["name"]
    stems = (f"figure-{setting['pair_figure']:02d}-pair", "figure-10", "figure-11")
    return "\n".join(f"![{stem}, {name}]({figures}/{stem}-{name}-{width}.svg)" for stem in stems)
