"""What a study is judged by: its frame, its selection and the choices of its report, in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.study.repeats import are_equal
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.metric import Metric
from evenhand.study.frame import Frame, metric_of
from evenhand.study.select import Choice, Selected, select
from evenhand.study.spec import ReportSpec, SelectionSpec

Spec = TypeVar("Spec", SelectionSpec, ReportSpec)


@dataclass(frozen=True, eq=False)
class Arm:
    """The chosen setting of a method on a problem: its finished runs, and their numbers by seed.

    `own` are the arms that were chosen for single metrics, under the rule that does so. `equal`: they are
    identical runs that came out equal to the bit, in weights and numbers.
    """

    choice: Choice
    seeds: tuple[int, ...]
    failed: int
    values: Mapping[str, FloatArray]
    own: Mapping[str, Arm] = field(default_factory=dict)
    equal: bool = False

    @property
    def counted(self) -> Arm:
        """What tests and intervals go by: runs that are equal to the bit count as the one that they are."""
        if not self.equal:
            return self
        first = {key: values[:1] for key, values in self.values.items()}
        return replace(
            self, choice=replace(self.choice, rows=self.rows[:1]), seeds=self.seeds[:1], values=first
        )

    @property
    def place(self) -> tuple[int, str]:
        """What an arm is known by: the problem's number and the method's name."""
        return self.choice.problem, self.choice.method

    @property
    def rows(self) -> Array:
        """The runs, as rows of the frame."""
        return self.choice.rows

    def of(self, key: str) -> Arm:
        """The arm that speaks for a metric: this one, unless another setting was chosen for it."""
        return self.own.get(key, self)

    def mean(self, key: str) -> float:
        """The mean of a metric over the seeds where it is defined."""
        known = self.values[key][~np.isnan(self.values[key])]
        return float(known.mean()) if len(known) else float("nan")


@dataclass(frozen=True, eq=False)
class Setup:
    """Frame, selection and report choices; `arms` are what is compared, in the study's order."""

    frame: Frame
    selected: Selected
    report: ReportSpec
    base: str
    replicates: int = 200

    @classmethod
    def of(cls, frame: Frame, replicates: int = 200) -> Setup:
        """Read the choices of the frame's study and select."""
        report = _spec(ReportSpec, frame.study.get("report"))
        selection = _spec(SelectionSpec, frame.study.get("selection"))
        selected = select(frame, selection, (report.accuracy, *report.metrics))
        base = report.base or next(iter(frame.layout.methods()), "")
        return cls(frame, selected, report, base, replicates)

    @property
    def keys(self) -> tuple[str, ...]:
        """The reported metrics, accuracy first."""
        return tuple(dict.fromkeys((self.report.accuracy, *self.report.metrics)))

    @property
    def metrics(self) -> list[Metric]:
        """The same as rows of the catalogue."""
        return [metric_of(key) for key in self.keys]

    @property
    def alpha(self) -> float:
        """The level of the tests."""
        return 1.0 - self.report.confidence

    @cached_property
    def arms(self) -> tuple[Arm, ...]:
        """What was chosen, with its numbers on the reported part."""
        return tuple(self._arm(choice) for choice in self.selected.choices)

    @cached_property
    def _by_place(self) -> dict[tuple[int, str], Arm]:
        return {arm.place: arm for arm in self.arms}

    def of_problem(self, problem: int) -> list[Arm]:
        """The arms of one problem."""
        return [arm for arm in self.arms if arm.place[0] == problem]

    def base_of(self, problem: int) -> Arm | None:
        """What the others of a problem are compared with; None where it has no finished run."""
        return self._by_place.get((problem, self.base))

    def _arm(self, choice: Choice) -> Arm:
        frame = self.frame
        rows = np.array(sorted(choice.rows.tolist(), key=lambda row: int(frame.columns["seed"][row])))
        values = {key: frame.values(self.report.part, key)[rows] for key in self.keys}
        seeds = tuple(int(frame.columns["seed"][row]) for row in rows)
        failed = int(frame.failed[choice.candidate.rows].sum())
        # the selection may go by an accuracy that the report does not show
        own = {key: self._arm(chosen) for key, chosen in choice.per_metric.items() if key in self.keys}
        return Arm(
            replace(choice, rows=rows), seeds, failed, values, own, are_equal(frame, rows, values.values())
        )


def _spec(kind: type[Spec], values: Mapping[str, Any] | None) -> Spec:
    """A part of the specification again, from a dictionary that may be older than this version."""
    known = {entry.name for entry in fields(kind)}
    kept = {name: _tuple(value) for name, value in (values or {}).items() if name in known}
    return kind(**kept)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def cost_of(value: float, key: str) -> float:
    """A value turned so that less is better, by the catalogue's word; as it is where there is none.

    >>> cost_of(0.9, "acc")
    -0.9
    """
    metric = CATALOGUE[key]
    if metric.better == "higher":
        return -value
    return abs(value - metric.ideal) if metric.better == "nearer" else value
