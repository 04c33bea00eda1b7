"""Ours beside the public values, chosen twice: on test rows, as theirs were, and on validation rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.reference_values.public import MEANS_OF, Reference, references_of
from evenhand.report.reference_values_tables import values_table
from evenhand.report.study_tables import Table
from evenhand.statistics.effects import mean_interval
from evenhand.study.frame import Frame
from evenhand.study.frame_blocks import StoreLike
from evenhand.study.select import TEST, Choice, select
from evenhand.study.spec import SelectionSpec

# what is said of a difference, fixed before the studies were run in full
READ, SEEDS, OUTSIDE = "within the reading", "within reading and seeds", "outside"


@dataclass(frozen=True)
class Ours:
    """A metric of the chosen setting on test rows, by seed."""

    values: Mapping[int, float]

    @property
    def known(self) -> FloatArray:
        """The values, in the order of the seeds."""
        return np.array(list(self.values.values()), dtype=np.float64)

    @property
    def n(self) -> int:
        """How many seeds."""
        return len(self.values)

    @property
    def mean(self) -> float:
        """The mean over seeds."""
        return float(self.known.mean())

    @property
    def std(self) -> float:
        """The deviation over seeds (n - 1); NaN for one seed."""
        return float(self.known.std(ddof=1)) if self.n > 1 else float("nan")

    @property
    def reach(self) -> float:
        """Half of Student's 95 % interval of the mean; 0 for one seed, which tells nothing of others."""
        low, high = mean_interval(self.known)
        return 0.0 if isnan(low) else (high - low) / 2

    def to_dict(self) -> dict[str, Any]:
        """Mean, deviation, half the interval and the value of each seed."""
        by_seed = {str(seed): value for seed, value in self.values.items()}
        return {"mean": self.mean, "std": self.std, "reach": self.reach, "n": self.n, "values": by_seed}


@dataclass(frozen=True)
class Beside:
    """A public value and ours on one problem; None where there is nothing of ours to choose."""

    reference: Reference
    net: str
    oracle: Ours | None
    validation: Ours | None

    @property
    def difference(self) -> float | None:
        """Ours less theirs, both chosen on test."""
        return None if self.oracle is None else self.oracle.mean - self.reference.value

    @property
    def lies(self) -> str | None:
        """Where the difference lies: within the reading of the picture, that and our seeds, or outside."""
        if self.oracle is None or self.difference is None:
            return None
        rounding = 1e-9  # 0.92 - 0.9 is a little more than 0.02
        beyond = abs(self.difference) - self.reference.within - rounding
        return READ if beyond <= 0 else SEEDS if beyond <= self.oracle.reach else OUTSIDE

    def to_dict(self) -> dict[str, Any]:
        """One row, as the report reads it."""
        told, own = self.reference, self.validation
        return {
            "task": told.task, "grouping": told.grouping, "net": self.net, "model": told.model,
            "metric": told.metric, "public": told.value, "difference": self.difference, "lies": self.lies,
            "oracle": None if self.oracle is None else self.oracle.to_dict(),
            "validation": None if own is None else own.to_dict(),
            "difference_validation": None if own is None else own.mean - told.value,
        }  # fmt: skip


def beside(frame_or_store: Frame | StoreLike, study: str = "") -> Table:
    """A table of the public values with ours; `study` names whose values (that of the store unless given)."""
    return values_table([row.to_dict() for row in matched(frame_or_store, study)])


def matched(frame_or_store: Frame | StoreLike, study: str = "") -> list[Beside]:
    """Every public value whose task and grouping the store has, once for each of its networks."""
    frame = Frame.open(frame_or_store)
    known = references_of(study or str(frame.study["name"]))
    part = str((frame.study.get("selection") or {}).get("part", "validation"))
    on_test = _chosen(frame, TEST, known)
    on_validation = _chosen(frame, part, known) if part != TEST else {}
    return list(_rows(frame, known, on_test, on_validation))


Chosen = Mapping[tuple[int, str], Mapping[str, Choice]]


def _chosen(frame: Frame, part: str, known: Sequence[Reference]) -> Chosen:
    """The setting of each method on each problem that is best by each metric on a part."""
    metrics = list(dict.fromkeys(reference.metric for reference in known))
    spec = SelectionSpec("best-per-metric", metrics[0], part, metrics[0])
    return {
        (choice.problem, choice.method): choice.per_metric for choice in select(frame, spec, metrics).choices
    }


def _rows(
    frame: Frame, known: Sequence[Reference], on_test: Chosen, on_validation: Chosen
) -> Iterator[Beside]:
    for number, problem in enumerate(frame.layout.problems):
        for reference in known:
            if (reference.task, reference.grouping) != (problem.task, problem.grouping):
                continue
            place, metric = (number, reference.model), reference.metric
            of_two = MEANS_OF.get(metric, (metric,))
            oracle = _numbers(frame, on_test.get(place, {}), of_two)
            own = _numbers(frame, on_validation.get(place, {}), (metric,))
            yield Beside(reference, problem.net, oracle, own)


def _numbers(frame: Frame, chosen: Mapping[str, Choice], metrics: Sequence[str]) -> Ours | None:
    """The mean over these metrics, each with its own setting, seed by seed."""
    if not all(metric in chosen for metric in metrics):
        return None
    by_seed = [_by_seed(frame, chosen[metric], metric) for metric in metrics]
    seeds = [seed for seed in by_seed[0] if all(seed in values for values in by_seed)]
    found = {seed: float(np.mean([values[seed] for values in by_seed])) for seed in seeds}
    return Ours(found) if found else None


def _by_seed(frame: Frame, choice: Choice, metric: str) -> dict[int, float]:
    """A metric on test rows of every finished seed of a choice where it is defined."""
    values = frame.values(TEST, metric)
    rows = [row for row in choice.rows.tolist() if not np.isnan(values[row])]
    return {int(frame.columns["seed"][row]): float(values[row]) for row in rows}
