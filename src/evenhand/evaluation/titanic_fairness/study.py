"""The study `titanic-fairness`: three models on five splits of the Titanic, eight numbers each."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.data.task import Task
from evenhand.data.titanic import titanic
from evenhand.evaluation.titanic_fairness import layout
from evenhand.evaluation.titanic_fairness.chance import p_value, shuffled_means
from evenhand.evaluation.titanic_fairness.columns import Scored, accuracy, columns, names
from evenhand.evaluation.titanic_fairness.judging import judged
from evenhand.evaluation.titanic_fairness.models import SCORERS, Scorer
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.corrections import holm
from evenhand.study.smoke import IN_SMALL

Progress = Callable[[str], None]
FEW: dict[str, Any] = {"repeats": 2, "shuffles": 200}


def run(folder: Path | str, progress: Progress | None = None, small: bool = False) -> dict[str, Any]:
    """Train, measure, and write tables, figure and pages (HTML, Markdown) into the folder; what was found.

    `small`: two splits and few shuffles, to see that it runs.
    """
    from evenhand.evaluation.titanic_fairness.page import write_folder
    from evenhand.evaluation.titanic_fairness.paper import write_html

    body = compute(progress=progress, **(FEW if small else {}))
    title = f"{body['title']} {IN_SMALL}" if small else body["title"]
    body = judged_if_whole({**body, "title": title, "small": small})
    write_folder(body, Path(folder))
    write_html(body, Path(folder))
    return body


def compute(
    scorers: Mapping[str, Scorer] = SCORERS,
    repeats: int = layout.REPEATS,
    shuffles: int = layout.SHUFFLES,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """The whole study as plain values; NaN is None. Repeat r splits the rows and trains with the seed r."""
    from evenhand import __version__

    tell = progress or (lambda line: None)
    tasks = [titanic(seed=seed, test=layout.TEST) for seed in range(repeats)]
    found = []
    for key, scorer in scorers.items():
        tell(f"{layout.MODELS.get(key, key)}: {repeats} splits")
        found.append(_model(key, [_scored(task, scorer, seed) for seed, task in enumerate(tasks)], shuffles))
    sizes = {part: len(tasks[0].rows(part)) for part in ("train", "test")}
    for row in found:
        _intervals(row, sizes["test"] / sizes["train"])
    body = {
        "kind": layout.NAME,
        "evenhand": __version__,
        "name": layout.NAME,
        "title": layout.TITLE,
        "created": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "repeats": repeats,
        "shuffles": shuffles,
        "rows": sizes,
        "models": found,
        "survival_gap": float(np.mean([_gap(task) for task in tasks])),
        **judged(found),
    }
    clean: dict[str, Any] = plain(body)
    return clean


def _scored(task: Task, scorer: Scorer, seed: int) -> Scored:
    """What a model says of the test rows of a split."""
    rows = np.asarray(task.rows("test"))
    sex = next(attribute for attribute in task.attributes if attribute.name == "sex")
    men = np.asarray(sex.codes)[rows] == sex.levels.index(layout.GROUPS["men"])
    return Scored(np.asarray(task.y)[rows], scorer(task, seed), men)


def _model(key: str, tests: Sequence[Scored], shuffles: int) -> dict[str, Any]:
    """Every column over the repeats, and how often chance alone gives as much."""
    measured = [columns(rows) for rows in tests]
    by_chance = shuffled_means(tests, shuffles)
    found = {name: _column([float(one[name]) for one in measured], by_chance[name]) for name in names()}
    adjusted = holm([found[name]["p"] for name in layout.COLUMNS])
    for name, p in zip(layout.COLUMNS, adjusted, strict=True):
        found[name]["p_holm"] = float(p)
    for name, value in layout.PAPER.get(key, {}).items():
        found[name]["paper"] = value
    return {"model": key, "accuracy": [accuracy(rows) for rows in tests], "columns": found}


def _column(runs: Sequence[float], by_chance: FloatArray) -> dict[str, Any]:
    mean = float(mean_defined(np.asarray(runs)))
    ends = np.nanquantile(np.abs(by_chance), [0.5, 0.95]) if not np.isnan(by_chance).all() else [np.nan] * 2
    return {
        "runs": list(runs), "value": mean, "p": p_value(mean, by_chance), "chance": float(ends[0]),
        "chance_high": float(ends[1]),
    }  # fmt: skip


def _intervals(row: Mapping[str, Any], held_out: float) -> None:
    """Student's interval, widened because the splits share rows: s^2 (1/k + n_test / n_train).

    Nadeau and Bengio 2003, Inference for the Generalization Error.
    """
    from scipy.special import stdtrit

    for found in row["columns"].values():
        runs = np.asarray([value for value in found["runs"] if not np.isnan(value)])
        k = len(runs)
        wide = np.sqrt(runs.var(ddof=1) * (1 / k + held_out)) if k > 1 else np.nan
        half = float(stdtrit(max(k - 1, 1), (1 + layout.CONFIDENCE) / 2) * wide)
        found["low"], found["high"] = found["value"] - half, found["value"] + half


def _gap(task: Task) -> float:
    """How much more women of the test rows survived: what DIAMR and DIMS differ by."""
    rows = np.asarray(task.rows("test"))
    empty = Scored(np.asarray(task.y)[rows], np.zeros(len(rows)), np.zeros(len(rows)))
    sex = next(attribute for attribute in task.attributes if attribute.name == "sex")
    men = np.asarray(sex.codes)[rows] == sex.levels.index(layout.GROUPS["men"])
    return float(columns(empty, men)["diamr"])
