"""The audit under shift: every metric as a curve over the severity of a shift, with intervals.

Noise, lost entries and other shares of groups are what a model meets after it was audited. S4 asks whether
the metrics of groups stay where they are under such shifts; this is how to see it.
"""

from __future__ import annotations

import datetime
import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.data.shift_registry import Shift
from evenhand.errors import InputError
from evenhand.evaluation.audit import Audit, assess
from evenhand.evaluation.fitted_subject import subject_of_task, subject_of_tasks
from evenhand.evaluation.option_names import refuse_unknown
from evenhand.evaluation.options import Options
from evenhand.evaluation.shift_choices import METRICS, metrics_of, severities_of, shift_of, tasks_of
from evenhand.evaluation.shift_measure import Bench
from evenhand.evaluation.shift_notes import notes_on_shift
from evenhand.evaluation.shift_rows import draws_nothing, samples_of
from evenhand.evaluation.shift_values import Curve
from evenhand.evaluation.values import plain
from evenhand.levels import level_name

if TYPE_CHECKING:
    from evenhand.evaluation.fitted import Fitted

SHOWN = ("key", "title", "acts_on", "unit", "words")  # what a report says of a shift
Tell = Callable[[float, str], None]  # the share of the work that is done, and what is being done


@dataclass(frozen=True)
class ShiftAudit:
    """The result of `evenhand.audit_under_shift`: `.curves["tpr.gap"].verdict`, and ways to show it."""

    shift: Shift
    asked: str  # the shift's key, with what was chosen of it after a colon
    severities: tuple[float, ...]
    curves: dict[str, Curve]
    clean: Audit = field(repr=False)
    part: str
    draws: int
    facts: dict[str, Any] = field(repr=False)
    warnings: tuple[str, ...]
    options: Options = field(repr=False)
    created: str

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values: NaN is None. Reports read this."""
        from evenhand import __version__

        subject, shift, facts = self.clean.subject, self.shift, self.facts
        kept = ("method", "net", "seeds", "recipe", "device", "task")
        body = {
            "evenhand": __version__, "kind": "shift", "name": facts.get("name"), "task": subject.task,
            "n": self.clean.n, "unknown": self.clean.unknown, "part": self.part, "classes": subject.classes,
            "positive": subject.positive, "grouping": subject.grouping.attributes,
            "groups": [{"name": group.name, "n": group.n} for group in self.clean.groups],
            "shift": {name: getattr(shift, name) for name in SHOWN} | {"asked": self.asked},
            "severities": self.severities, "draws": self.draws, "runs": len(facts["seeds"]),
            "metrics": {key: _without_key(curve) for key, curve in self.curves.items()},
            "fit": {key: facts[key] for key in kept if key in facts}, "warnings": self.warnings,
            "method": self._method(__version__),
        }  # fmt: skip
        clean: dict[str, Any] = plain(body)
        return clean

    def _method(self, version: str) -> dict[str, Any]:
        o = self.options
        return {
            "confidence": o.confidence, "replicates": o.replicates, "resampling": o.resampling,
            "seed": o.seed, "min_count": o.min_count, "privileged": o.privileged,
            "versions": {"evenhand": version, "python": platform.python_version(), "numpy": np.__version__},
            "created": self.created,
        }  # fmt: skip

    def to_json(self, indent: int | None = 2) -> str:
        """The audit as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False, default=str)

    def to_html(self) -> str:
        """The audit as one self-contained page."""
        from evenhand.report.shift import render

        return render(self.to_dict())

    def to_markdown(self) -> str:
        """The audit as a section of a model card."""
        from evenhand.report.shift_markdown import render

        return render(self.to_dict())

    def figures(self) -> dict[str, str]:
        """A curve for each metric as an SVG text; `evenhand.report.png.to_png` makes bitmaps of them."""
        from evenhand.report.exports import figures

        return figures(self.to_dict())

    def __rich__(self) -> Any:
        from evenhand.report.terminal_shift import shift_table

        return shift_table(self.to_dict())

    def __repr__(self) -> str:
        said = ", ".join(f"{key}: {curve.verdict}" for key, curve in self.curves.items())
        return f"ShiftAudit({self.shift.key}, severities 0 to {self.severities[-1]:g}, {said})"


def _without_key(curve: Curve) -> dict[str, Any]:
    return {name: getattr(curve, name) for name in ("points", "verdict", "since")}


def audit_under_shift(
    fitted: Fitted,
    task: Any = None,
    shift: str = "gaussian",
    severities: Sequence[float] | None = None,
    metrics: Sequence[str] | str = METRICS,
    part: str = "test",
    draws: int = 5,
    confidence: float = 0.95,
    *,
    tell: Tell | None = None,
    **options: Any,
) -> ShiftAudit:
    """Audit a fit on shifted rows: each metric over the severity, and what moved against severity 0.

    `fitted` is what `evenhand.fit` gave back, or `Fitted.load` with its `task` (a task, a data set's name, or
    one task for each run). `shift` is a key of `evenhand.data.shifts.SHIFTS`, such as "gaussian" or
    "group-share:Female"; `severities` may come in any order (default: the five standard ones), 0 is always
    among them, and so is accuracy among the metrics. At each severity the rows are shifted `draws` times with
    fixed seeds and scored by every run; a metric is the mean over draws and runs. `tell` is called with the
    share of the work that is done. Further options are those of `evenhand.audit`.

    >>> import evenhand
    >>> fitted = evenhand.fit("mlp", "erm", "titanic", epochs=2)
    >>> found = evenhand.audit_under_shift(fitted, severities=[0.5], draws=2, replicates=100)
    >>> found.severities, list(found.curves)[:2], found.curves["acc"].points[0].severity
    ((0.0, 0.5), ['acc', 'tpr.gap'], 0.0)
    """
    refuse_unknown(audit_under_shift, options)
    chosen = _options(metrics, confidence, options)
    if isinstance(draws, bool) or not isinstance(draws, int) or draws < 1:
        raise InputError(f"draws must be a whole number of at least 1, not {draws!r}")
    tasks = tasks_of(fitted, task, part)
    found = shift_of(shift, tasks[0])
    levels = severities_of(severities, found)
    fitted = replace(fitted, tasks=tasks)
    tell = tell or (lambda done, words: None)
    tell(0.0, "scoring the rows as they are")
    make = subject_of_task if len(tasks) == 1 else subject_of_tasks
    clean = assess(make(fitted, part, chosen.topk), chosen)
    samples = samples_of(fitted, part)
    drawn = 1 if draws_nothing(fitted, samples[0], shift, levels[-1]) else draws
    bench = Bench(fitted, samples, clean, shift, chosen, drawn)
    curves = bench.curves(levels, tell)
    notes = notes_on_shift(curves, found, len(fitted.seeds), drawn, draws)
    return ShiftAudit(
        found, shift, levels, curves, clean, part, drawn, dict(fitted.facts),
        (*clean.warnings, *notes, *bench.small(levels[-1])), chosen,
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
    )  # fmt: skip


def _options(metrics: Sequence[str] | str, confidence: float, options: dict[str, Any]) -> Options:
    privileged = options.pop("privileged", None)
    chosen = Options(
        metrics=metrics_of(metrics), confidence=confidence,
        privileged=None if privileged is None else level_name(privileged), **options,
    )  # fmt: skip
    chosen.check()
    return chosen
