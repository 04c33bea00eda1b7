"""Mean, deviation and range over splits of every number of the study's tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.evaluation.study.run_spread import run_spread
from evenhand.evaluation.titanic_fairness.layout import COLUMNS, KNOWN, MODELS, NEW, NORMALISED, READINGS
from evenhand.report.spread_table import spread_table, spread_view
from evenhand.report.study_tables import Table

Json = Mapping[str, Any]
OURS = "as the formula says"
READ = {
    OURS: {key: key for key in COLUMNS},
    "normalised": {key: NORMALISED[key] for key in NEW},
    "other reading": {key: READINGS[key] for key in KNOWN},
}


def spread_lines(body: Json) -> list[dict[str, Any]]:
    """A line for each model, reading and column; the accuracy first."""
    found = []
    for row in body["models"]:
        name = MODELS[row["model"]]
        found.append(run_spread({"model": name, "reading": OURS}, "Accuracy", row["accuracy"]))
        found += [
            run_spread({"model": name, "reading": reading}, COLUMNS[key], row["columns"][own]["runs"])
            for reading, keys in READ.items()
            for key, own in keys.items()
        ]
    return found


def runs_table(body: Json) -> Table:
    """With all digits: what the file holds."""
    return spread_table(spread_lines(body))


def runs_view(body: Json) -> Table:
    """To be read: a row for each model and reading."""
    return spread_view(spread_lines(body))
