"""The work of an audit under shift: severity by severity, rows shifted and scored, metrics measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.data.shift_registry import find_shift
from evenhand.evaluation.audit import Audit
from evenhand.evaluation.measure import Frame, frame_of, measure
from evenhand.evaluation.options import Options
from evenhand.evaluation.runs import measure_runs
from evenhand.evaluation.shift_notes import note_on_small
from evenhand.evaluation.shift_resample import Resampled
from evenhand.evaluation.shift_rows import Draw, Sample, clean_draw, counts_of, shifted_draw
from evenhand.evaluation.shift_values import Curve, Point, curve_of, moved, point_of
from evenhand.evaluation.values import NAN, MetricValue
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.metric import Metric

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted


class Bench:
    """What stays the same over the severities: the fit, its rows, the clean audit and the options."""

    def __init__(
        self,
        fitted: Fitted,
        samples: Sequence[Sample],
        clean: Audit,
        shift: str,
        options: Options,
        draws: int,
    ) -> None:
        self.fitted, self.samples, self.shift, self.options, self.draws = (
            fitted,
            samples,
            shift,
            options,
            draws,
        )
        self.runs = len(fitted.seeds)
        self.metrics = [CATALOGUE[key] for key in options.metrics or ()]
        self.grouping, self.classes = clean.subject.grouping, clean.subject.classes
        self.start = {key: point_of(0.0, clean.metrics[key], self.runs) for key in clean.metrics}
        self.clean = [clean_draw(fitted, sample) for sample in samples]

    def curves(self, severities: Sequence[float], tell: Callable[[float, str], None]) -> dict[str, Curve]:
        """Every metric at every severity, 0 first."""
        points: dict[str, list[Point]] = {key: [point] for key, point in self.start.items()}
        steps = len(severities[1:]) * (self.draws + 1)  # the last step of a severity is its resampling
        for place, severity in enumerate(severities[1:]):
            done = place * (self.draws + 1)

            def drawing(number: int, done: int = done, severity: float = severity) -> None:
                tell((done + number) / steps, f"severity {severity:g}, draw {number + 1} of {self.draws}")

            draws = self._draws(severity, drawing)
            tell((done + self.draws) / steps, f"severity {severity:g}, resampling rows")
            for key, point in self._points(severity, draws).items():
                points[key].append(point)
        tell(1.0, "done")
        return {key: curve_of(key, found) for key, found in points.items()}

    def small(self, severity: float) -> tuple[str, ...]:
        """Groups of the first sample that a shift of rows leaves with few rows, as sentences."""
        if find_shift(self.shift)[0].acts_on != "rows":
            return ()
        sample, clean = self.samples[0], self.clean[0]
        draw = shifted_draw(self.fitted, sample, self.shift, severity, self.options.seed + 1, clean)
        sizes = sample.sizes(clean), sample.sizes(draw)
        return note_on_small(sample.groups.names, *sizes, severity)

    def _draws(self, severity: float, drawing: Callable[[int], None]) -> list[list[Draw]]:
        """The draws of each sample."""
        found: list[list[Draw]] = [[] for _ in self.samples]
        for number in range(self.draws):
            drawing(number)
            for own, sample, clean in zip(found, self.samples, self.clean, strict=True):
                seed = self.options.seed + number + 1  # as a study numbers its draws
                own.append(shifted_draw(self.fitted, sample, self.shift, severity, seed, clean))
        return found

    def _points(self, severity: float, draws: list[list[Draw]]) -> dict[str, Point]:
        frame, found = self._measured(draws)
        reaches = self._reaches(draws, frame)
        points = {}
        for metric in self.metrics:
            key, level = metric.key, self.options.confidence
            point, rows = point_of(severity, found[key], self.runs), reaches.get(key, NAN)
            ends = metric.low, metric.high
            change = moved(self.start[key], np.array(point.values), rows, level, ends)
            points[key] = replace(point, moved=change)
        return points

    def _measured(self, draws: list[list[Draw]]) -> tuple[Frame, dict[str, MetricValue]]:
        """The audit of all runs and draws together, as that of so many runs."""
        counts, several = counts_of(self.samples, draws), self.runs * self.draws > 1
        frame = frame_of(
            counts if several else counts[0],
            self.grouping.rows,
            self.grouping.names,
            self.classes,
            self.options,
        )
        return frame, (measure_runs if several else measure)(frame, self.metrics)

    def _reaches(self, draws: list[list[Draw]], frame: Frame) -> dict[str, float]:
        """What other rows would change about each difference.

        Where every run has test rows of its own, the spread over the runs holds that already.
        """
        usable = [metric for metric in self.metrics if self._serves(metric, frame)]
        if len(self.samples) > 1 or not self.options.replicates or not usable:
            return {}
        rows = Resampled(self.samples[0], self.clean[0], draws[0])
        return rows.reaches(usable, frame.view(), frame.chosen, self.options)

    def _serves(self, metric: Metric, frame: Frame) -> bool:
        privileged = frame.privileged(frame.chosen)
        return len(frame.chosen) > 0 and not (metric.needs_privileged and privileged < 0)
