"""The report of an audit under shift: `ShiftAudit.to_dict()` into one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report import page
from evenhand.report.definitions import define
from evenhand.report.figures.curve import CurvePoint, curve
from evenhand.report.numbers import defined, interval, number, without_nan
from evenhand.report.tradeoff import settings, spelled
from evenhand.report.verdict_shift import MOVED, metric_name, shift_sentences, title_of

Json = Mapping[str, Any]
TRAINED = ("net", "device", "seeds")


def render(body: Json) -> str:
    """The HTML report of an audit under shift."""
    body = without_nan(body)
    return page.render(
        "shift.html.j2",
        audit=body,
        title=heading(body),
        sentences=shift_sentences(body),
        panels=panels(body),
        rows=rows(body),
        made=how_made(body),
        spelled=spelled,
        kept=page.method_of(body),
    )


def heading(body: Json) -> str:
    """What the page is called."""
    return f"{body['name'] or 'A fit'} under {title_of(body)}"


def panels(body: Json) -> list[dict[str, str]]:
    """A curve for each metric that has a value anywhere."""
    drawn = []
    for key, found in body["metrics"].items():
        if not any(defined(point["value"]) for point in found["points"]):
            continue
        name, definition = metric_name(key), define(key)
        title = f"{name[:1].upper()}{name[1:]}"
        runs = list(zip(*(_means(point["values"]) for point in found["points"]), strict=True))
        made = curve(
            [_point(point) for point in found["points"]],
            runs,
            title=f"{title} over severity",
            y_axis=_axis(name, definition.better),
            x_axis=f"severity: {body['shift']['unit']}",
            floor=0.0 if definition.better == "lower" else None,
        )
        word = {"key": key, "title": title, "verdict": found["verdict"]}
        drawn.append({**word, "formula": definition.formula, "figure": made})
    return drawn


def _axis(name: str, better: str) -> str:
    aims = {"lower": "  (lower is nearer to equality ↓)", "higher": "  (higher is better ↑)"}
    return f"{name}{aims.get(better, '')}"


def _means(runs: list[list[float | None]]) -> list[float | None]:
    """Each run's mean over its defined draws."""
    known = [[float(x) for x in run if x is not None and defined(x)] for run in runs]
    return [sum(run) / len(run) if run else None for run in known]


def _point(point: Json) -> CurvePoint:
    change, note = point.get("moved") or {}, ""
    if defined(change.get("difference")):
        reach = interval((change.get("low"), change.get("high")), signed=True)
        note = f"{number(change['difference'], signed=True)} ({reach}) from severity 0\n{change['verdict']}"
    ends = [(part.get("low"), part.get("high")) for part in (point, change)]
    moved = change.get("verdict") in MOVED
    return CurvePoint(point["severity"], point["value"], *ends[0], reach=ends[1], moved=moved, note=note)


def rows(body: Json) -> list[dict[str, Any]]:
    """A line for each metric and severity."""
    found = []
    for key, curve_ in body["metrics"].items():
        for place, point in enumerate(curve_["points"]):
            change = point.get("moved") or {}
            found.append({
                "metric": metric_name(key), "key": key, "text": define(key).text, "first": place == 0,
                **{name: point.get(name) for name in ("severity", "value", "runs_std", "draws_std")},
                "interval": (point.get("low"), point.get("high")), "difference": change.get("difference"),
                "reach": (change.get("low"), change.get("high")),
                "verdict": change.get("verdict", "as it is"), "moved": change.get("verdict") in MOVED,
                "why": "; ".join(point.get("undefined") or ()),
            })  # fmt: skip
    return found


def how_made(body: Json) -> dict[str, Any]:
    """How the models were trained, and on what."""
    fit = body.get("fit") or {}
    method = fit.get("method") or {}
    shared = {"method": method.get("key") or "own method", **{key: fit.get(key) for key in TRAINED}}
    return {
        "training": {**shared, **(fit.get("recipe") or {})},
        "fields": settings(method.get("fields") or {}),
        "card": (fit.get("task") or {}).get("card") or {},
    }
