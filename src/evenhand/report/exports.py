"""The figures of a report by themselves: SVG texts by name, and a folder of files."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.report import audit as audit_page
from evenhand.report import comparison as comparison_page
from evenhand.report import shift as shift_page
from evenhand.report import study_figures
from evenhand.report import tradeoff as tradeoff_page
from evenhand.report.names import main_rates
from evenhand.report.png import to_png

Json = Mapping[str, Any]
WIDE = 0  # figures are drawn for wide and for narrow screens; a file takes the wide one


def figures(body: Json) -> dict[str, str]:
    """Every figure of a result as an SVG text, by a name that can be a file's."""
    known = {
        "comparison": _of_comparison, "tradeoff": _of_tradeoff, "study": study_figures.figures,
        "shift": _of_shift,
    }  # fmt: skip
    found = known.get(body["kind"], _of_audit)(body)
    return {_file_name(title): svg for title, svg in found.items()}


def _of_audit(body: Json) -> dict[str, str]:
    panels = audit_page.headline_panels(body["metrics"])
    drawn = {panel["title"]: panel["figures"][WIDE][1] for panel in panels}
    for key in main_rates(body):
        drawn[f"{key} by group"] = audit_page.group_dots(body, key)["figures"][WIDE][1]
    return drawn


def _of_comparison(body: Json) -> dict[str, str]:
    drawn = {entry["title"]: entry["figure"] for entry in comparison_page.matrix_figures(body)}
    changes = comparison_page.change_scatter(body)
    if changes:
        drawn["change of the error rates"] = changes["figures"][WIDE][1]
    for view in comparison_page.difference_views(body):
        drawn[f"differences of {view['model']}"] = view["figures"][WIDE][1]
    return drawn


def _of_tradeoff(body: Json) -> dict[str, str]:
    drawn = {entry["title"]: entry["figure"] for entry in tradeoff_page.panels(body)}
    return drawn | {f"differences from {body['base']}": tradeoff_page.difference_figures(body)[WIDE][1]}


def _of_shift(body: Json) -> dict[str, str]:
    return {
        f"{entry['title']} under {body['shift']['key']}": entry["figure"] for entry in shift_page.panels(body)
    }


def _file_name(title: str) -> str:
    """Letters, digits and hyphens only: a model's name may hold anything.

    >>> _file_name("tpr by group / <b>")
    'tpr-by-group-b'
    """
    return re.sub(r"[^a-z0-9_]+", "-", title.lower()).strip("-") or "figure"


def write_figures(body: Json, folder: Path) -> list[Path]:
    """Write every figure as SVG, and as PNG beside it where the extra `png` is installed."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, svg in figures(body).items():
        path = folder / f"{name}.svg"
        path.write_text(svg, encoding="utf-8")
        written.append(path)
        try:
            bitmap = to_png(svg)
        except (ImportError, OSError):  # the extra, or the cairo library it needs, is not installed
            continue
        path.with_suffix(".png").write_bytes(bitmap)
        written.append(path.with_suffix(".png"))
    return written
