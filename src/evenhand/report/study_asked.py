"""What a study asks its page to show: the parts behind `figures` of its `[report]`, or everything."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.study_body import DEFAULTS, METHOD, PROBLEM

Json = Mapping[str, Any]
# fmt: off
# the parts of the dictionary behind each entry of a study's list of figures, as they are where it is left out
ASIDE: dict[str, dict[str, Any]] = {
    "frontier": {"points": []}, "ranks": {"ranks": {}}, "groups": {"rates": {}}, "classes": {"per_class": {}},
    "variance": {"variance": []}, "levelling": {"levelling": None}, "cost": {"cost": []},
    "spearman": {"spearman": []},
}
# fmt: on


def asked(body: Json) -> dict[str, Any]:
    """The body without the parts that the study's list of figures leaves out; a study without one has all."""
    listed = (body["spec"].get("report") or {}).get("figures") or ()
    if not listed:
        return dict(body)
    away = [name for name in ASIDE if name not in listed]
    parts = {part: empty for name in away for part, empty in ASIDE[name].items()}
    problems = [_cut(problem, parts, "variance" in away) for problem in body["problems"]]
    return {**body, **{part: parts[part] for part in parts if part in DEFAULTS}, "problems": problems}


def _cut(problem: Json, parts: Json, spreads: bool) -> dict[str, Any]:
    """A problem without some parts, and without the values of single runs where spreads are not shown."""
    empty = {part: parts[part] for part in parts if part in METHOD}
    methods = [{**entry, **empty} for entry in problem["methods"]]
    for entry in methods if spreads else ():
        entry["numbers"] = {key: {**found, "values": []} for key, found in entry["numbers"].items()}
    return {**problem, **{part: parts[part] for part in parts if part in PROBLEM}, "methods": methods}
