"""What makes a study weaker than it looks, in sentences that stand at the top of its report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.evaluation.options import SMALL_GROUP
from evenhand.evaluation.study.levels import level_words
from evenhand.evaluation.study.repeats import repeat_notes, shared_notes
from evenhand.evaluation.study.setup import Setup
from evenhand.study.select_words import ORACLE

FEW_SEEDS = 5
MOST_SMALL = 10  # sentences on small groups: with many problems they would hide the others
SAME_SEEDS = (
    "settings were chosen over the seeds that are reported, so some of the luck of these seeds is in their "
    "numbers: new seeds of a chosen setting may come out less well (equal budgets keep comparisons level)"
)


def notes(setup: Setup, budget: Mapping[str, Any], problems: Sequence[Mapping[str, Any]]) -> list[str]:
    """All notes of a study, the gravest first."""
    found = [*_selection(setup), *_runs(setup), *repeat_notes(setup), *_seeds(setup), *_trained_once(setup)]
    found += shared_notes(setup.frame)
    if not budget["equal"]:
        found.append(f"{budget['words']}; with more settings there are more chances to look good")
    found += [*_small(problems), *_undefined(setup), *_without_scores(setup)]
    return [*found, *_rows_apart(setup), *setup.selected.notes]


def _selection(setup: Setup) -> list[str]:
    spec, report = setup.selected.spec, setup.report
    several = any(choice.runners_up for choice in setup.selected.choices)
    if setup.selected.oracle:
        return [f"settings were {ORACLE}"] if several else []
    if spec.part == report.part and several:
        return [f"settings were chosen on the {spec.part} rows, which are also those that are reported"]
    if several and level_words(setup.frame.study):
        return [level_words(setup.frame.study)]
    return [SAME_SEEDS] if several else []


def _runs(setup: Setup) -> list[str]:
    frame, found = setup.frame, []
    planned, failed, done = (int((rows & frame.trained).sum()) for rows in (True, frame.failed, frame.done))
    if failed:
        found.append(f"{failed} of {planned} runs failed and take no part; their reasons are listed")
    if planned - done - failed:
        found.append(f"{planned - done - failed} of {planned} runs are not there yet: numbers may move")
    for problem, entry in enumerate(frame.layout.problems):
        if not setup.of_problem(problem):
            found.append(f"{entry.id} has nothing to report yet")
        elif setup.base_of(problem) is None:
            found.append(f"{entry.id} has no finished run of the base {setup.base}: nothing is compared")
    return found + _sources(setup)


def _sources(setup: Setup) -> list[str]:
    """Runs taken from a file that another version made."""
    columns, rows = setup.frame.columns, np.flatnonzero(setup.frame.done & setup.frame.trained).tolist()
    version = "evenhand"
    own = {(columns["versions"][row] or {}).get(version) for row in rows if columns["source"][row] == "run"}
    reused = [row for row in rows if columns["source"][row] != "run"]
    other = {(columns["versions"][row] or {}).get(version, "unknown") for row in reused} - own
    if not reused:
        return []
    made = f", made by version {', '.join(sorted(map(str, other)))}" if other else ""
    return [f"{len(reused)} of {len(rows)} runs were taken from a file and not trained here{made}"]


def _seeds(setup: Setup) -> list[str]:
    fewest = min((len(arm.seeds) for arm in setup.arms), default=FEW_SEEDS)
    found = []
    if fewest == 1:
        found.append("one seed tells nothing of what training again would change; give several")
    elif fewest < FEW_SEEDS and not all(arm.equal for arm in setup.arms):
        found.append(f"some methods have only {fewest} seeds: intervals over seeds are wide and tests weak")
    seeded = [task.get("name") or task["data"] for task in setup.frame.study.get("tasks") or ()
              if task.get("seeded")]  # fmt: skip
    if seeded:
        found.append(
            f"each seed has its own split of {', '.join(seeded)}: deviations over seeds hold other rows too, "
            "and as the splits share rows, other data may move the numbers further than the intervals say"
        )
        if setup.report.test == "mann-whitney":
            found.append(
                "Mann-Whitney's test does not know that methods share these splits: it errs towards showing "
                "nothing; a paired test sees more, given seeds enough"
            )
    return found


def _trained_once(setup: Setup) -> list[str]:
    """Rows of one training are no trainings of their own, and the problems that they stand in not apart."""
    frame = setup.frame
    again = [name for name, first in zip(frame.columns["method"], frame.trained, strict=True) if not first]
    if not again:
        return []
    return [
        f"runs of {', '.join(dict.fromkeys(again))} stand for several groupings each: the luck of their "
        "seeds is the same in all of these, so ranks, intervals and verdicts over problems are surer than "
        "they ought to be"
    ]


def _small(problems: Sequence[Mapping[str, Any]]) -> list[str]:
    """Groups that are small, and (of two classes) those with few rows of one, on which a rate then rests.

    Of many problems the first few are told, and how many others there are.
    """
    found = [(problem["id"], words) for problem in problems for words in _small_groups(problem)]
    rest = {id for id, _ in found[MOST_SMALL:]} - {id for id, _ in found[:MOST_SMALL]}
    more = [f"{len(rest)} more problems have groups as small: see their tables"] if rest else []
    return [f"{id}: {words}" for id, words in found[:MOST_SMALL]] + more


def _small_groups(problem: Mapping[str, Any]) -> Iterator[str]:
    counts = {"n": "rows", "fewest": "rows of a class, on which rates of theirs rest"}
    for count, words in counts.items() if len(problem["classes"]) == 2 else [("n", "rows")]:
        small = [f"{group['name']} ({group[count]})" for group in problem["groups"]
                 if group[count] < SMALL_GROUP]  # fmt: skip
        if small:
            shown = ", ".join(small[:5]) + (f" and {len(small) - 5} more" if len(small) > 5 else "")
            yield f"groups with fewer than {SMALL_GROUP} {words}: {shown}"


def _undefined(setup: Setup) -> list[str]:
    found = []
    for key in setup.keys:
        values = [arm.of(key).values[key] for arm in setup.arms]
        missing = sum(int(np.isnan(entry).sum()) for entry in values)
        total = sum(len(entry) for entry in values)
        if missing:
            found.append(f"{key} is undefined in {missing} of the {total} runs shown, which are left out")
    return found


def _without_scores(setup: Setup) -> list[str]:
    """Metrics whose values came in place of scores: what other test rows would change is not known."""
    told = [metric.key for metric in setup.metrics if metric.needs == "scores"]
    bare = np.zeros(setup.frame.n, dtype=bool)
    for look in setup.frame.looks(setup.report.part):
        bare[look.rows] = look.scores is None
    found = []
    for key in told:
        arms = [arm.of(key) for arm in setup.arms]
        runs = sum(int((bare[arm.rows] & ~np.isnan(arm.values[key])).sum()) for arm in arms)
        if runs:
            total = sum(len(arm.rows) for arm in arms)
            found.append(
                f"{key} of {runs} of the {total} runs shown was taken from a file without the scores that it "
                "is made of: what other test rows would change in them is not known"
            )
    return found


def _rows_apart(setup: Setup) -> list[str]:
    """What resampling counts cannot know."""
    if not any(look.counts.multilabel for look in setup.frame.looks(setup.report.part)):
        return []
    return ["deviations by test rows are rough here: the labels of a row were drawn apart"]
