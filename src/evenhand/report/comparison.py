"""The report of a comparison of models: `Comparison.to_dict()` into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.comparison_paid import NOT_SHOWN, paid_rows, pair_rows
from evenhand.report.definitions import define
from evenhand.report.figures import (
    Cloud,
    ForestRow,
    both_widths,
    forest,
    heatmap,
    scatter,
)
from evenhand.report.headline import GAPS, RATIOS, WORST, label
from evenhand.report.numbers import defined, without_nan
from evenhand.report.palette import step_from_reference
from evenhand.report.verdict_comparison import alternatives, comparison_sentences, of_runs

Json = Mapping[str, Any]
DRAWN_DIFFERENCES = 16
MOST_NAMED = 5  # models whose names fit over the columns of a matrix, two matrices side by side

# key of the matrix: (title, what it says)
MATRICES = {
    "accuracy_change": ("Accuracy change", "accuracy of the column model minus that of the row model"),
    "cev": ("CEV", "combined error variance: how unevenly the classes' error rates changed"),
    "sde": ("SDE", "symmetric distance error: how far false positives were traded for false negatives"),
    "cev_norm": ("CEV, normalised", "relative to a random predictor against the same base"),
    "sde_norm": ("SDE, normalised", "relative to a random predictor against the same base"),
}


def render(comparison: Json) -> str:
    """The HTML report of a comparison."""
    comparison = without_nan(comparison)
    paid = paid_rows(comparison)
    return page.render(
        "comparison.html.j2",
        comparison=comparison,
        title=comparison.get("name") or _title(comparison),
        sentences=comparison_sentences(comparison),
        alternatives=alternatives(comparison),
        of_runs=of_runs(comparison),
        matrices=matrix_figures(comparison),
        numbered=len(comparison["models"]) > MOST_NAMED,
        changes=change_scatter(comparison),
        classes=class_rows(comparison),
        shown=[row for row in paid if row["verdict"] != NOT_SHOWN],
        not_shown=[row for row in paid if row["verdict"] == NOT_SHOWN],
        pairs=pair_rows(comparison),
        groups=group_rows(comparison),
        differences=difference_views(comparison),
        kept=page.method_of(comparison),
    )


def _title(comparison: Json) -> str:
    others = [name for name in comparison["models"] if name != comparison["base"]]
    rest = others[0] if len(others) == 1 else f"{len(others)} other models"
    return f"{comparison['base']} against {rest}"


def matrix_figures(comparison: Json) -> list[dict[str, str]]:
    """Every model against every other: row = base, column = alternative."""
    models, figures = comparison["models"], []
    rows, columns = models, models
    if len(models) > MOST_NAMED:
        rows, columns = [f"{n} {name}" for n, name in enumerate(models)], [str(n) for n in range(len(models))]
    for key, (title, meaning) in MATRICES.items():
        values = (comparison.get("matrices") or {}).get(key)
        if values and any(defined(x) for line in values for x in line):
            change = key == "accuracy_change"
            drawn = heatmap(values, rows, columns, title=title, diverging=change, decimals=3 if change else 4)
            figures.append({"title": title, "meaning": meaning, "figure": drawn})
    return figures


def change_scatter(comparison: Json) -> dict[str, Any] | None:
    """Relative change of false positive and false negative rate, a point for each class and alternative."""
    clouds, undefined = [], 0
    for model in alternatives(comparison):
        rows = (comparison.get("per_class") or {}).get(model) or []
        known = [row for row in rows if defined(row.get("fpr_change")) and defined(row.get("fnr_change"))]
        undefined += len(rows) - len(known)
        clouds.append(Cloud(model, tuple((str(r["class"]), r["fpr_change"], r["fnr_change"]) for r in known)))
    if not any(cloud.points for cloud in clouds):
        return None
    axes = {
        "x_axis": "relative change of the false positive rate",
        "y_axis": "relative change of the false negative rate",
    }
    title = "Change of the error rates of each class"
    return {
        "figures": both_widths(lambda width: scatter(clouds, title=title, width=width, **axes)),
        "undefined": undefined,
    }


def class_rows(comparison: Json) -> list[dict[str, Any]]:
    """One row for each alternative and class; relative changes are coloured."""
    found = []
    for model in alternatives(comparison):
        for row in (comparison.get("per_class") or {}).get(model) or []:
            colours = {key: _colour(row.get(key)) for key in ("fpr_change", "fnr_change")}
            found.append({"model": model, "colours": colours, **row})
    return found


def group_rows(comparison: Json) -> list[dict[str, Any]]:
    """One row for each model and group: the group measured against all rows of the same model."""
    groups = comparison.get("groups") or {}
    return [
        {
            "model": model,
            "colours": {key: _colour(row.get(key)) for key in ("fpr_change", "fnr_change")},
            **row,
        }
        for model in comparison["models"]
        for row in groups.get(model) or []
    ]


def _colour(change: float | None) -> str:
    # relative changes are of the order of one, rates differ by tenths: the same steps, five times wider
    return step_from_reference(change / 5 if defined(change) and change is not None else None)


def difference_views(comparison: Json) -> list[dict[str, Any]]:
    """Paired differences: the headline ones as a figure, all as a table."""
    views = []
    for model, metrics in (comparison.get("differences") or {}).items():
        keys = [key for key in GAPS + RATIOS + WORST if key in metrics] or list(metrics)
        rows = [
            ForestRow(
                label(key),
                found.get("difference"),
                found.get("low"),
                found.get("high"),
                note="" if defined(found.get("difference")) else "undefined in one of the models",
            )
            for key, found in ((key, metrics[key]) for key in keys[:DRAWN_DIFFERENCES])
        ]
        views.append(
            {
                "model": model,
                "figures": _differences(rows, model, comparison["base"]),
                "table": [{"definition": define(key), **found} for key, found in metrics.items()],
            }
        )
    return views


def _differences(rows: list[ForestRow], model: str, base: str) -> list[tuple[str, str]]:
    title = f"{model} minus {base}"
    return both_widths(
        lambda width: forest(rows, title=title, reference=("no change", 0.0), width=width, signed=True)
    )
