"""The store of the study `ci-mnist` in S3's shape: tables, figures, claims, as one dictionary and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.ci_mnist.changes import change_rows, checks
from evenhand.evaluation.ci_mnist.correlations import correlation_rows
from evenhand.evaluation.ci_mnist.evidence import Evidence
from evenhand.evaluation.ci_mnist.findings import findings
from evenhand.evaluation.ci_mnist.layout import BESIDE, METRICS, MODELS, NAME, SETTINGS, table_number
from evenhand.evaluation.ci_mnist.numbers import Cell, Numbers, missing
from evenhand.evaluation.ci_mnist.pareto import pareto_views
from evenhand.evaluation.ci_mnist.samples import sample_rows
from evenhand.evaluation.ci_mnist.spread import spread_lines
from evenhand.evaluation.ci_mnist.stability import deviation_rows, overall_rows, spreads_of
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import setting_words
from evenhand.study.select import TEST

TITLE = "Coloured digits: what S3 claims, and what its study shows when run again"

Progress = Callable[[str], None]


def paper(store: Any, folder: Path | str, progress: Progress | None = None) -> dict[str, Any]:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows.

    `store` may be unfinished: what is missing is said, the rest is shown. `progress` is told each step.
    """
    from evenhand.report.ci_mnist_files import write_paper

    tell = progress or (lambda words: None)
    body = compute(store, tell)
    tell("writing the paper's tables, figures and page")
    write_paper(body, Path(folder))
    return body


def compute(store: Any, tell: Progress = lambda words: None) -> dict[str, Any]:
    """The whole paper as plain values; NaN is None."""
    tell("choosing settings as the paper does")
    frame = Frame.open(store)
    if not frame.done.any():
        raise InputError(f"no run of this study is done: there is nothing to show of {NAME}")
    numbers, oracle = Numbers.of(frame), Numbers.of(frame, TEST)
    tell("correlations with the knobs")
    correlations = correlation_rows(frame)
    evidence = Evidence(numbers, correlations, _done(frame), spreads_of(frame))
    tell("answering the paper's claims")
    body = {
        **_head(frame, numbers),
        "numbers": [_entry(place, cell, oracle.cells.get(place)) for place, cell in numbers.cells.items()],
        "runs": spread_lines(numbers, oracle),
        "deviations": deviation_rows(numbers), "overall": overall_rows(numbers, evidence.spreads),
        "correlations": correlations,
        "changes": change_rows(evidence), "pareto": pareto_views(frame, numbers.part),
        "findings": [found.to_dict() for found in findings(evidence)],
        "checks": [part.to_dict() for part in checks(evidence)], "missing": list(missing(frame)),
    }  # fmt: skip
    tell("painting samples")
    clean: dict[str, Any] = judged_if_whole(plain(body))
    return clean | {"samples": list(sample_rows())}


def _head(frame: Frame, numbers: Numbers) -> dict[str, Any]:
    """What was run and how the paper lays it out."""
    return {
        **page_head(frame, NAME, TITLE), "widths": list(numbers.widths), "part": numbers.part,
        "models": dict(MODELS), "beside": BESIDE, "metrics": dict(METRICS),
        "settings": [_setting(setting) for setting in SETTINGS],
    }  # fmt: skip


def _setting(setting: Any) -> dict[str, Any]:
    numbered = {model: table_number(setting, model) for model in MODELS}
    pair = [place % len(setting.rows) for place in setting.pair]
    return {**plain(setting), "pair": pair, "tables": numbered}


def _entry(place: tuple[str, str, str, str], cell: Cell, oracle: Cell | None) -> dict[str, Any]:
    width, task, model, metric = place
    told = None if oracle is None else {"mean": oracle.mean, "std": oracle.std}
    return {
        "width": width, "task": task, "model": model, "metric": metric, "mean": cell.mean, "std": cell.std,
        "values": {str(seed): value for seed, value in cell.values.items()}, "n": len(cell.known),
        "setting": setting_words(cell.setting), "chosen_among": cell.chosen_among, "oracle": told,
    }  # fmt: skip


def _done(frame: Frame) -> Counter[tuple[str, str]]:
    columns = frame.columns
    return Counter(
        (str(columns["task"][row]), str(columns["method"][row])) for row in range(frame.n) if frame.done[row]
    )
