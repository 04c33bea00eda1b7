"""How closely each metric follows the knob of a setting, over all runs of a model: S3's Figure 11.

S3 names the shares of lines as the knobs of its fourth setting, which are constant there; what is turned is
how easily the green mark is found, and that is taken instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.ci_mnist.layout import METRICS, MODELS, SETTINGS, Setting
from evenhand.evaluation.ci_mnist.numbers import widths_of
from evenhand.statistics.knobs import knob_correlations
from evenhand.study.frame import Frame
from evenhand.study.select import TEST


def correlation_rows(frame: Frame) -> list[dict[str, Any]]:
    """|Spearman| of every metric with the strength of the knob, for each width, setting and model."""
    values = np.stack([frame.values(TEST, key) for key in METRICS], axis=1)
    nets, models, tasks = (np.array(frame.columns[name], dtype=object) for name in ("net", "method", "task"))
    found = []
    for width in widths_of(frame):
        for setting in SETTINGS:
            for model in MODELS:
                mine = frame.done & (nets == width) & (models == model)
                found.append(
                    {"width": width, "setting": setting.name, "model": model}
                    | _row(setting, tasks, values, mine)
                )
    return found


def _row(setting: Setting, tasks: Array, values: FloatArray, mine: Array) -> dict[str, Any]:
    knobs = {row.task: row.knobs for row in setting.rows}
    rows = [row for row in np.flatnonzero(mine).tolist() if tasks[row] in knobs]
    if not rows:
        return {"values": [float("nan")] * len(METRICS), "runs": 0}
    strengths = np.array([knobs[tasks[row]] for row in rows])
    return {"values": knob_correlations(strengths, values[rows]).tolist(), "runs": len(rows)}
