"""Mean, deviation and range over seeds of every number of S3's tables, for both ways of choosing."""

from __future__ import annotations

from typing import Any

from evenhand.evaluation.ci_mnist.layout import BESIDE, METRICS, MODELS
from evenhand.evaluation.ci_mnist.numbers import Numbers
from evenhand.evaluation.study.run_spread import ORACLE, run_spread

NAMES = {**MODELS, BESIDE: "AdvDebias"}


def spread_lines(numbers: Numbers, oracle: Numbers) -> list[dict[str, Any]]:
    """A line for each width, task, model and metric: settings of the study's own choice first."""
    return [
        run_spread(
            {"model": NAMES.get(model, model), "width": width, "task": task, "chosen on": chosen_on},
            METRICS[metric],
            cell.values.values(),
        )
        for found, chosen_on in ((numbers, numbers.part), (oracle, ORACLE))
        for (width, task, model, metric), cell in found.cells.items()
    ]
