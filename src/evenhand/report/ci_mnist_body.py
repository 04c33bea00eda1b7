"""The dictionary of `evenhand.evaluation.ci_mnist` as pages and tables look things up in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Json = Mapping[str, Any]
ORACLE = "Oracle: settings chosen on the test rows themselves, as the official code does."


class Cells:
    """The numbers of the tables by width, task, model and metric."""

    def __init__(self, body: Json) -> None:
        self._cells = {
            (entry["width"], entry["task"], entry["model"], entry["metric"]): entry
            for entry in body["numbers"]
        }

    def get(self, width: str, task: str, model: str, metric: str) -> Json | None:
        """An entry, or None where no run fills it."""
        return self._cells.get((width, task, model, metric))


def model_names(body: Json, beside: bool = False) -> dict[str, str]:
    """The models as the paper writes them, those it dropped last."""
    return {**body["models"], **({body["beside"]: "AdvDebias"} if beside else {})}


def present(body: Json) -> dict[str, str]:
    """The models that have any number at all."""
    there = {entry["model"] for entry in body["numbers"]}
    return {model: name for model, name in body["models"].items() if model in there}


def tables_of(body: Json) -> Iterator[tuple[int, Json, str]]:
    """Number, setting and model of every table of the paper, in its order."""
    for setting in body["settings"]:
        for model, number in setting["tables"].items():
            yield number, setting, model
