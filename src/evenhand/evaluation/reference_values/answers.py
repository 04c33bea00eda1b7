"""The answers to the questions of order: of the public values, of ours chosen on test and on validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from statistics import fmean
from typing import Any

from evenhand.evaluation.reference_values.beside import Beside, Ours
from evenhand.evaluation.reference_values.public import READING
from evenhand.evaluation.reference_values.questions import FAMILIES, MEASURES, QUESTIONS, Mean, Part
from evenhand.statistics.effects import mean_interval

AS_PUBLIC, NOT_AS, UNTOLD = "as in public", "not as in public", "cannot tell"
Place = tuple[str, str, str, str]  # task, grouping, model, metric


@dataclass(frozen=True)
class Numbers:
    """All numbers by place: a public value, or ours by seed."""

    public: Mapping[Place, float]
    oracle: Mapping[Place, Ours]
    validation: Mapping[Place, Ours]

    @classmethod
    def of(cls, rows: Sequence[Beside]) -> Numbers:
        """Of the rows of one network."""
        by_place = {place_of(row): row for row in rows}
        return cls(
            {place: row.reference.value for place, row in by_place.items()},
            {place: row.oracle for place, row in by_place.items() if row.oracle},
            {place: row.validation for place, row in by_place.items() if row.validation},
        )


def place_of(row: Beside) -> Place:
    """Where a row belongs."""
    told = row.reference
    return told.task, told.grouping, told.model, told.metric


def answers(study: str, rows: Sequence[Beside]) -> list[dict[str, Any]]:
    """Every question of a study with its parts answered."""
    numbers = Numbers.of(rows)
    return [
        {"words": question.words, "parts": [_answer(part, numbers) for part in question.parts]}
        for question in QUESTIONS.get(study, ())
    ]


def judge(public: float | None, low: float, high: float) -> str | None:
    """Whether ours, with its interval, says what the public numbers say.

    A public effect of more than the reading (0.02) has a sign: ours must have it too, the whole interval on
    one side of 0. A smaller one is no difference: our interval must then lie within the reading.

    >>> judge(0.15, 0.01, 0.3), judge(0.15, -0.2, -0.1), judge(0.15, -0.1, 0.2), judge(0.0, -0.01, 0.01)
    ('as in public', 'not as in public', 'cannot tell', 'as in public')
    """
    if public is None or isnan(low):
        return None
    if abs(public) <= READING + 1e-9:
        inside = low >= -READING and high <= READING
        return AS_PUBLIC if inside else NOT_AS if low > READING or high < -READING else UNTOLD
    if low <= 0 <= high:
        return UNTOLD
    return AS_PUBLIC if (low > 0) == (public > 0) else NOT_AS


def _answer(part: Part, numbers: Numbers) -> dict[str, Any]:
    values = [numbers.public.get(place) for mean in part.means for place in _places(mean)]
    there = None if None in values else part.constant + sum(
        mean.weight * fmean(numbers.public[place] for place in _places(mean)) for mean in part.means
    )  # fmt: skip
    return {
        "words": part.words, "public": there,
        "oracle": _ours(part, numbers.oracle, there), "validation": _ours(part, numbers.validation, there),
    }  # fmt: skip


def _ours(part: Part, found: Mapping[Place, Ours], public: float | None) -> dict[str, Any]:
    """The effect seed by seed, its mean with Student's interval, and the verdict."""
    places = [place for mean in part.means for place in _places(mean)]
    known = [found[place].values for place in places if place in found]
    seeds = [seed for seed in known[0] if all(seed in values for values in known)] if known else []
    if len(known) < len(places) or not seeds:
        return {"effect": None, "low": None, "high": None, "n": 0, "verdict": None}
    effects = [
        part.constant
        + sum(
            mean.weight * fmean(found[place].values[seed] for place in _places(mean)) for mean in part.means
        )
        for seed in seeds
    ]
    low, high = mean_interval(effects)
    verdict = judge(public, low, high)
    return {"effect": fmean(effects), "low": low, "high": high, "n": len(seeds), "verdict": verdict}


def _places(mean: Mean) -> list[Place]:
    return [
        (*mean.problem, model, metric) for model in FAMILIES[mean.family] for metric in MEASURES[mean.measure]
    ]
