"""Comparing models: who moved, in which class and group, by how much, and whether that is more than noise."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.differences import Difference, Measured
from evenhand.evaluation.options import Options
from evenhand.evaluation.paired_errors import PAIR_KEYS
from evenhand.evaluation.values import plain
from evenhand.groups import Attribute
from evenhand.metrics.cie import Exemplars

if TYPE_CHECKING:
    from evenhand.evaluation.paid import Paid

EXEMPLARS_SHOWN = 100


@dataclass(frozen=True)
class Rows:
    """Coded rows: `y [N]`, one `[N]` or `[R, N]` of predictions a model, group ids (-1 unknown)."""

    y: Array = field(repr=False)
    predictions: Mapping[str, Array] = field(repr=False)
    classes: tuple[str, ...]
    ids: Array = field(repr=False)
    group_names: tuple[str, ...] = ()
    weights: Array | None = field(default=None, repr=False)
    missing: int = 0
    grouping: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    files: tuple[dict[str, object], ...] = ()
    attributes: tuple[Attribute, ...] = field(default=(), repr=False)  # what groups are made of, coded alone


@dataclass(frozen=True)
class Comparison:
    """The result of `evenhand.compare`: `.cev["small"]` against the base, matrices, differences, and more.

    `.paid["small"]` has the classes and groups that lost or gained, with intervals and corrected p-values.
    """

    rows: Rows
    base: str
    options: Options
    accuracy: dict[str, float]
    disagreement: dict[str, float]
    cev: dict[str, Measured]
    sde: dict[str, Measured]
    cev_norm: dict[str, Measured]
    sde_norm: dict[str, Measured]
    matrices: dict[str, FloatArray]
    per_class: dict[str, list[dict[str, Any]]]
    groups: dict[str, list[dict[str, Any]]] | None
    differences: dict[str, dict[str, Difference]]
    cie: dict[str, Exemplars] | None
    warnings: tuple[str, ...]
    created: str
    paid: dict[str, Paid] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models, the base first."""
        return tuple(self.rows.predictions)

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values; reports and gates read this."""
        from evenhand import __version__

        pairs = {
            key: {
                name: {
                    "value": value,
                    "low": value.low,
                    "high": value.high,
                    "skipped": value.skipped,
                    "reason": value.reason,
                }
                for name, value in getattr(self, key).items()
            }
            for key in PAIR_KEYS
        }
        found = (
            None
            if self.cie is None
            else {
                name: {
                    "count": entry.count,
                    "share": entry.share,
                    "rows": entry.indices[:EXEMPLARS_SHOWN].tolist(),
                }
                for name, entry in self.cie.items()
            }
        )
        o = self.options
        body = {
            "evenhand": __version__,
            "kind": "comparison",
            "n": len(self.rows.y),
            "missing": self.rows.missing,
            "classes": self.rows.classes,
            "models": self.models,
            "runs": {name: len(np.atleast_2d(each)) for name, each in self.rows.predictions.items()},
            "base": self.base,
            "grouping": self.rows.grouping,
            "accuracy": self.accuracy,
            "disagreement": self.disagreement,
            **pairs,
            "matrices": {key: table.tolist() for key, table in self.matrices.items()},
            "per_class": self.per_class,
            "groups": self.groups,
            "differences": self.differences,
            "cie": found,
            "paid": {name: entry.to_dict() for name, entry in self.paid.items()},
            "warnings": self.warnings,
            "method": {
                "confidence": o.confidence,
                "replicates": o.replicates,
                "resampling": "stratified",
                "seed": o.seed,
                "min_count": o.min_count,
                "created": self.created,
                "files": self.rows.files,
                "versions": {
                    "evenhand": __version__,
                    "python": platform.python_version(),
                    "numpy": np.__version__,
                },
            },
        }
        clean: dict[str, Any] = plain(body)
        return clean

    def to_json(self, indent: int | None = 2) -> str:
        """The comparison as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, ensure_ascii=False, allow_nan=False)

    def to_html(self) -> str:
        """The comparison as one self-contained page."""
        from evenhand.report.comparison import render

        return render(self.to_dict())

    def figures(self) -> dict[str, str]:
        """The figures of the report as SVG texts; `evenhand.report.png.to_png` makes bitmaps of them."""
        from evenhand.report.exports import figures

        return figures(self.to_dict())

    def _repr_html_(self) -> str:
        from evenhand.report.notebook import comparison_card

        return comparison_card(self.to_dict())

    def __rich__(self) -> Any:
        from evenhand.report.terminal import comparison_table

        return comparison_table(self.to_dict())

    def __repr__(self) -> str:
        moved = ", ".join(f"{name}: cev={self.cev[name]:.4f} sde={self.sde[name]:.4f}" for name in self.cev)
        return f"Comparison(n={len(self.rows.y)}, base={self.base!r}, {moved})"
