"""The audit: every metric of one set of predictions (or of several runs), as a record that can be shown."""

from __future__ import annotations

import datetime
import json
import platform
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.evaluation.group_rows import group_rows, overall_row
from evenhand.evaluation.measure import frame_of, measure
from evenhand.evaluation.notes import notes_on
from evenhand.evaluation.options import Options, chosen_metrics
from evenhand.evaluation.runs import measure_runs
from evenhand.evaluation.scored import ScoreData, measure_scores
from evenhand.evaluation.shift_to_groups import shift_to_groups
from evenhand.evaluation.subject import Grouping, Subject
from evenhand.evaluation.values import GroupRow, MetricValue, plain
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts


@dataclass(frozen=True)
class Section:
    """The groups and metrics of one grouping."""

    groups: tuple[GroupRow, ...]
    metrics: dict[str, MetricValue]


@dataclass(frozen=True)
class Audit:
    """The result of `evenhand.audit`: `.metrics["dp"].value`, `.groups`, `.warnings`, and ways to show it."""

    subject: Subject
    options: Options
    groups: tuple[GroupRow, ...]
    overall: GroupRow
    metrics: dict[str, MetricValue]
    attributes: dict[str, Section]
    warnings: tuple[str, ...]
    created: str

    @property
    def n(self) -> int:
        """Rows that were counted, those of unknown group included."""
        return self.overall.n

    @property
    def unknown(self) -> int:
        """Rows whose group is not known."""
        return self.subject.grouping.unknown_rows

    def to_dict(self) -> dict[str, Any]:
        """The audit as plain values: NaN is None. Reports and gates read this."""
        from evenhand import __version__

        subject = self.subject
        body = {
            "evenhand": __version__,
            "kind": "audit",
            "task": subject.task,
            "name": subject.name,
            "n": self.n,
            "weighted": subject.grouping.counts.weighted,
            "unknown": self.unknown,
            "missing": subject.missing,
            "classes": subject.classes,
            "positive": subject.positive,
            "grouping": subject.grouping.attributes,
            "groups": self.groups,
            "overall": self.overall,
            "metrics": {key: _without_key(value) for key, value in self.metrics.items()},
            "attributes": {
                name: {
                    "groups": part.groups,
                    "metrics": {key: _without_key(value) for key, value in part.metrics.items()},
                }
                for name, part in self.attributes.items()
            },
            "runs": {"n": len(subject.run_names), "names": subject.run_names} if subject.run_names else None,
            "warnings": self.warnings,
            "method": self._method(__version__),
        }
        clean: dict[str, Any] = plain(body)
        return clean

    def _method(self, version: str) -> dict[str, Any]:
        o = self.options
        return {
            "confidence": o.confidence,
            "replicates": o.replicates,
            "resampling": o.resampling,
            "seed": o.seed,
            "min_count": o.min_count,
            "convention": o.convention,
            "smoothing": o.smoothing,
            "privileged": o.privileged,
            "scores": self.subject.score_kind,
            "versions": {"evenhand": version, "python": platform.python_version(), "numpy": np.__version__},
            "files": self.subject.files,
            "created": self.created,
        }

    def to_json(self, indent: int | None = 2) -> str:
        """The audit as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """The audit as one self-contained page."""
        from evenhand.report.audit import render

        return render(self.to_dict())

    def to_markdown(self) -> str:
        """The audit as a section of a model card."""
        from evenhand.report.model_card import render

        return render(self.to_dict())

    def to_polars(self) -> Any:
        """The metrics as a polars data frame, a row each."""
        from evenhand.tables.frames import metric_frame

        return metric_frame(self.to_dict())

    def figures(self) -> dict[str, str]:
        """The figures of the report as SVG texts; `evenhand.report.png.to_png` makes bitmaps of them."""
        from evenhand.report.exports import figures

        return figures(self.to_dict())

    def _repr_html_(self) -> str:
        from evenhand.report.notebook import audit_card

        return audit_card(self.to_dict())

    def __rich__(self) -> Any:
        from evenhand.report.terminal import audit_table

        return audit_table(self.to_dict())

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{key}={self.metrics[key].value:.3f}"
            for key in ("selection.gap", "tpr.gap", "fpr.gap")
            if key in self.metrics
        )
        return f"Audit(n={self.n}, groups={len(self.groups)}, unknown={self.unknown}, {shown})"


def _without_key(value: MetricValue) -> dict[str, Any]:
    fields = {name: getattr(value, name) for name in value.__dataclass_fields__}
    fields.pop("key")
    return fields


def assess(subject: Subject, options: Options) -> Audit:
    """Measure everything there is to measure about the subject."""
    options.check()
    main = subject.grouping
    section = _section(main, subject, options)
    alone = {
        grouping.attributes[0]: _section(grouping, subject, _for_attribute(options, grouping))
        for grouping in subject.alone
    }
    warnings = (*subject.warnings, *notes_on(subject, section.groups, section.metrics, options))
    created = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    return Audit(
        subject,
        options,
        section.groups,
        overall_row(_one(main), options, _scores(main)),
        section.metrics,
        alone,
        warnings,
        created,
    )


def _for_attribute(options: Options, grouping: Grouping) -> Options:
    """A privileged group is named in the main grouping; an attribute by itself may not have it."""
    known = options.privileged is None or options.privileged in grouping.names
    return options if known else replace(options, privileged=None)


def _one(grouping: Grouping) -> Counts:
    """Counts without the run axis: the mean over the runs, which all predict the same rows."""
    if not grouping.runs:
        return grouping.counts
    kinds = (kind.mean(axis=0) for kind in grouping.counts._kinds)
    return Counts(*kinds, multilabel=grouping.counts.multilabel)


def _scores(grouping: Grouping) -> ScoreData | None:
    return grouping.scores if isinstance(grouping.scores, ScoreData) else None


def _section(grouping: Grouping, subject: Subject, options: Options) -> Section:
    frame = frame_of(grouping.counts, grouping.rows, grouping.names, subject.classes, options)
    frame = replace(frame, label_rows=grouping.label_rows)
    wanted = [CATALOGUE[key] for key in chosen_metrics(options.metrics, list(CATALOGUE))]
    counted = [metric for metric in wanted if metric.needs == "counts"]
    found = measure_runs(frame, counted) if grouping.runs else measure(frame, counted)
    rows = group_rows(_one(grouping), grouping.names, grouping.levels, options, _scores(grouping))
    data = _scores(grouping)
    if data is not None:
        single = replace(frame, counts=_one(grouping))
        found |= measure_scores(data, single, [metric for metric in wanted if metric.needs == "scores"])
    found |= shift_to_groups(frame, _one(grouping), [metric.key for metric in wanted])
    return Section(tuple(rows), {metric.key: found[metric.key] for metric in wanted if metric.key in found})
