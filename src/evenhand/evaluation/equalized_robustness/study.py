"""The store of `equalized-robustness` in S4's shape: one dictionary, a page, tables, figures, claims."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.equalized_robustness.ablations import ablations
from evenhand.evaluation.equalized_robustness.arms import Runs
from evenhand.evaluation.equalized_robustness.beside import cells_of, main_table, nearness
from evenhand.evaluation.equalized_robustness.checks import checks, reaching
from evenhand.evaluation.equalized_robustness.findings import findings
from evenhand.evaluation.equalized_robustness.frontier import curves
from evenhand.evaluation.equalized_robustness.layout import (
    BESIDE,
    MAIN_TABLES,
    METHODS,
    METRICS,
    NAME,
    TASKS,
)
from evenhand.evaluation.equalized_robustness.spread import spread_lines
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.study.frame import Frame

TITLE = "Gaps that survive a shift: what S4 claims, and what its tabular study shows when run again"

Progress = Callable[[str], None]


def paper(store: Any, folder: Path | str, progress: Progress | None = None) -> dict[str, Any]:
    """Write paper.html, paper.json and paper/{tables,figures}/ into the folder; gives what the page shows.

    `store` may be unfinished: what is missing is said, the rest is shown. `progress` is told each step.
    """
    from evenhand.report.equalized_robustness_files import write_paper

    tell = progress or (lambda words: None)
    body = compute(store, tell)
    tell("writing the paper's tables, figures and page")
    write_paper(body, Path(folder))
    return body


def compute(store: Any, tell: Progress = lambda words: None) -> dict[str, Any]:
    """Everything that is said of a store, finished or not, as plain values; NaN is None."""
    frame = Frame.open(store)
    if frame.study.get("name") != NAME:
        raise InputError(
            f"this is the study {frame.study.get('name')!r}, not {NAME!r}; give the folder of the latter"
        )
    if not frame.done.any():
        raise InputError(f"no run of this study is done: there is nothing to show of {NAME}")
    tell("setting our numbers beside the paper's")
    runs = Runs(frame)
    tables = [main_table(runs, number) for number in MAIN_TABLES]
    varied = ablations(runs)
    tell("answering the paper's claims")
    body = {
        **_head(frame), "tables": tables, "nearness": nearness(tables),
        "table6": cells_of(runs, 6), "table7": cells_of(runs, 7), "ablations": varied,
        "curves": curves(runs), "findings": [found.to_dict() for found in findings(runs)],
        "checks": [check.to_dict() for check in checks(runs)], "reaching": reaching(varied[-1]),
    }  # fmt: skip
    clean: dict[str, Any] = judged_if_whole(plain({**body, "runs": spread_lines(runs, body)}))
    return clean


def _head(frame: Frame) -> dict[str, Any]:
    """What was run, and how its columns are called."""
    return {
        **page_head(frame, NAME, TITLE), "tasks": dict(TASKS), "methods": {**METHODS, **BESIDE},
        "beside": list(BESIDE), "metrics": dict(METRICS),
    }  # fmt: skip
