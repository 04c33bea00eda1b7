"""A whole study as one dictionary: what was run, what was chosen, what it shows, and how far to trust it."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

from evenhand.evaluation.study.against import against_base, words_of_tests
from evenhand.evaluation.study.budget import budget
from evenhand.evaluation.study.correlations import spearman_matrices
from evenhand.evaluation.study.cost import costs
from evenhand.evaluation.study.frontier import points
from evenhand.evaluation.study.leaders import leaders
from evenhand.evaluation.study.levels import levels_of
from evenhand.evaluation.study.notes import notes
from evenhand.evaluation.study.problems import problem_entry
from evenhand.evaluation.study.ranks import rank_tables
from evenhand.evaluation.study.resampled import row_deviations
from evenhand.evaluation.study.setup import Setup
from evenhand.evaluation.study.state import environment, state
from evenhand.evaluation.study.variance import variance_rows
from evenhand.evaluation.values import plain
from evenhand.study.frame import Frame

Progress = Callable[[str], None]


def summarise(store: Any, *, replicates: int = 200, progress: Progress | None = None) -> dict[str, Any]:
    """The study of a store (or a frame) as plain values, finished or not; NaN is None. Reports read this.

    `replicates` are drawn for each run of a chosen setting to see what other test rows would change (fewer
    where there are many runs, none for 0); `progress` is told what is being worked out.
    """
    tell = progress or (lambda words: None)
    tell("reading the runs")
    frame = Frame.open(store)
    setup = Setup.of(frame, replicates)
    tell("comparing with the base")
    against = against_base(setup)
    single = against_base(setup, single=True) if any(arm.own for arm in setup.arms) else against
    tell("resampling the test rows")
    rows = row_deviations(setup)
    tell("putting the problems together")
    count = len(frame.layout.problems)
    problems = [problem_entry(setup, number, rows, against, single) for number in range(count)]
    spent = budget(frame)
    body = {
        **_head(setup, frame.failures, words_of_tests(setup, against)), "budget": spent,
        "problems": problems, "ranks": rank_tables(setup),
        "leaders": leaders(setup, against), "variance": variance_rows(setup, rows),
        "cost": costs(setup, single), "spearman": spearman_matrices(setup), "settings": _settings(setup),
        "environment": environment(frame), "notes": notes(setup, spent, problems),
        "equal_runs": bool(setup.arms) and all(arm.equal for arm in setup.arms),
    }  # fmt: skip
    clean: dict[str, Any] = plain(body)
    for number, problem in enumerate(clean["problems"]):  # plain from the start: they are the bulk of it
        problem["points"] = points(setup, number)
    return clean


def _head(setup: Setup, failures: list[dict[str, Any]], tests: str) -> dict[str, Any]:
    """What was declared and how it is judged."""
    from evenhand import __version__

    study, report, spec = setup.frame.study, setup.report, setup.selected.spec
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return {
        "kind": "study", "evenhand": __version__, "name": study.get("name", ""),
        "title": study.get("title") or study.get("name", ""), "about": study.get("about", ""),
        "created": created, "state": state(setup.frame, failures), "spec": study,
        "metrics": [_metric(setup, key) for key in setup.keys],
        "accuracy": report.accuracy, "base": setup.base, "confidence": report.confidence, "part": report.part,
        "selection": {"rule": spec.rule, "metric": spec.metric, "part": spec.part,
                      "oracle": setup.selected.oracle, "words": _selected(setup)},
        "tests": {"test": report.test, "correction": report.correction, "words": tests},
    }  # fmt: skip


def _selected(setup: Setup) -> str:
    """How the setting of a method was chosen; of levels, which one is shown."""
    field, _ = levels_of(setup.frame.study)
    shown = f"of the levels of {field} one is shown, " if field else ""
    return shown + setup.selected.words


def _metric(setup: Setup, key: str) -> dict[str, Any]:
    metric = next(metric for metric in setup.metrics if metric.key == key)
    return {name: getattr(metric, name) for name in ("key", "name", "better", "ideal", "formula")}


def _settings(setup: Setup) -> list[dict[str, Any]]:
    """What was chosen for each method, by what, and how many other settings could have been."""
    return [
        {
            "problem": setup.frame.layout.problems[choice.problem].id, "method": choice.method,
            "setting": dict(choice.candidate.setting), "chosen_by": choice.chosen_by, "value": choice.value,
            "runners_up": choice.runners_up, "others": [dict(other.setting) for other in choice.others],
        }
        for first in setup.selected.choices
        for choice in {setup.selected.spec.metric: first, **first.per_metric}.values()
    ]  # fmt: skip
