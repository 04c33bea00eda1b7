"""Selection: which setting of each method is reported, by a named rule that looks at one part of the data.

A setting may be chosen when at least half of its seeds have finished; its mean is over those that have. Where
a method has a single setting nothing is chosen, and one finished run is enough.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.study.frame import Frame, metric_of
from evenhand.study.frame_layout import Candidate
from evenhand.study.number_names import NUMBERS_PART, is_number
from evenhand.study.select_rules import RULES, Means, cost
from evenhand.study.select_words import selection_words, short_words
from evenhand.study.spec import SelectionSpec

ONLY = "its only setting"
TEST = "test"


@dataclass(frozen=True, eq=False)
class Choice:
    """What was chosen for one method on one problem.

    `candidate` is reported, with its finished `rows`; `others` are further members of a Pareto set; `value`
    is the deciding metric's mean on the selection part; `runners_up` is how many other settings could have
    been chosen. `per_metric` is the choice by each metric of its own, under the rule that asks for it.
    """

    problem: int
    method: str
    candidate: Candidate
    rows: Array
    chosen_by: str
    value: float
    runners_up: int
    others: tuple[Candidate, ...] = ()
    per_metric: Mapping[str, Choice] = field(default_factory=dict)


@dataclass(frozen=True)
class Selected:
    """All choices of a study, how they were made, and what must be said with them."""

    spec: SelectionSpec
    oracle: bool
    words: str
    choices: tuple[Choice, ...]
    notes: tuple[str, ...] = ()

    def of(self, problem: int) -> list[Choice]:
        """The choices of one problem, in the study's order of methods."""
        return [choice for choice in self.choices if choice.problem == problem]


def select(frame: Frame, spec: SelectionSpec, metrics: Sequence[str] = ()) -> Selected:
    """The chosen setting of every method on every problem; methods without one are named in the notes.

    `metrics` are the reported ones, for the rule that chooses a setting for each.
    """
    check_rule(spec)
    costs = {key: _costs(frame, spec, key) for key in (spec.metric, spec.accuracy)}
    allowed, choices = _eligible(frame), list[Choice]()
    missing: dict[tuple[str, str], list[str]] = {}
    for problem, entry in enumerate(frame.layout.problems):
        for method in frame.layout.methods(problem):
            places = np.array(frame.layout.of(problem, method))
            choice = _choose(frame, spec, places, allowed, costs)
            if choice is None:
                missing.setdefault((entry.id, _why_none(frame, spec, places, allowed)), []).append(method)
                continue
            if spec.rule == "best-per-metric":
                choice = replace(choice, per_metric=_each_metric(frame, spec, places, allowed, metrics))
            choices.append(choice)
    notes = [f"{name}: no setting {why}: {', '.join(methods)}" for (name, why), methods in missing.items()]
    notes += _left_out(frame, allowed)
    return Selected(spec, spec.part == TEST, selection_words(spec), tuple(choices), tuple(notes))


def check_rule(spec: SelectionSpec) -> None:
    """Refuse an unknown rule, and a metric that has no better direction.

    >>> check_rule(SelectionSpec(rule="best-meen"))
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no selection rule 'best-meen'; did you mean 'best-mean'?
    """
    if spec.rule not in RULES:
        near = get_close_matches(spec.rule, RULES, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(RULES)}"
        raise InputError(f"there is no selection rule {spec.rule!r}; {hint}")
    for key in (spec.metric, spec.accuracy):
        if metric_of(key).better == "none":
            raise InputError(f"neither more nor less of {key!r} is better, so no setting can be chosen by it")


def _costs(frame: Frame, spec: SelectionSpec, key: str) -> FloatArray:
    return cost(frame.means(spec.part, key), metric_of(key))


def _eligible(frame: Frame) -> Array:
    """Candidates of which at least half of the seeds have finished, `[S]`."""
    planned = frame.tally(np.ones(frame.n, dtype=bool))
    return np.asarray((frame.tally(frame.done) * 2 >= planned) & (planned > 0))


def _choose(
    frame: Frame, spec: SelectionSpec, places: Array, allowed: Array, costs: Mapping[str, FloatArray]
) -> Choice | None:
    candidates = [frame.layout.candidates[place] for place in places]
    masked = {key: np.where(allowed[places], values[places], np.nan) for key, values in costs.items()}
    means = Means(masked[spec.metric], masked[spec.accuracy], spec.tolerance)
    chosen, how = RULES[spec.rule](means), short_words(spec)
    if len(places) == 1:
        chosen, how = ([0] if frame.done[candidates[0].rows].any() else []), ONLY
    if not chosen:
        return None
    first = candidates[chosen[0]]
    return Choice(
        first.problem, first.method, first, first.rows[frame.done[first.rows]], how,
        float(frame.means(spec.part, spec.metric)[places[chosen[0]]]),
        int(np.count_nonzero(~np.isnan(means.metric))) - 1 if len(places) > 1 else 0,
        tuple(candidates[place] for place in chosen[1:]),
    )  # fmt: skip


def _each_metric(
    frame: Frame, spec: SelectionSpec, places: Array, allowed: Array, metrics: Sequence[str]
) -> dict[str, Choice]:
    """The best setting by each metric's own mean; metrics without a direction or a value have none.

    A number that is taken on test rows chooses nothing on other rows: that would be an oracle unmarked.
    """
    found = {}
    for key in dict.fromkeys((spec.accuracy, *metrics)):
        if metric_of(key).better == "none" or (is_number(key) and spec.part != NUMBERS_PART):
            continue
        costs = {name: _costs(frame, spec, name) for name in (key, spec.accuracy)}
        choice = _choose(frame, replace(spec, metric=key), places, allowed, costs)
        if choice is not None:
            found[key] = choice
    return found


def _why_none(frame: Frame, spec: SelectionSpec, places: Array, allowed: Array) -> str:
    if not frame.tally(frame.done)[places].any():
        return "has a finished run"
    if not allowed[places].any():
        return "has finished at least half of its seeds"
    return f"has a value of {spec.metric} on the {spec.part} rows to be chosen by"


def _left_out(frame: Frame, allowed: Array) -> list[str]:
    """Settings that could not be chosen, and those that were judged by fewer seeds than planned."""
    planned, done = frame.tally(np.ones(frame.n, dtype=bool)), frame.tally(frame.done)
    out, short = int(np.count_nonzero(~allowed)), int(np.count_nonzero(allowed & (done < planned)))
    notes = []
    if out:
        notes.append(f"settings with fewer than half of their seeds finished, which cannot be chosen: {out}")
    if short:
        notes.append(f"settings judged by the seeds that have finished, which are not all: {short}")
    return notes
