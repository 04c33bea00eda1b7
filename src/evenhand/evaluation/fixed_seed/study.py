"""Studies in the shape of S0 as one dictionary: tables, tests, costs, what varies; NaN is None."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from evenhand.errors import InputError
from evenhand.evaluation.fixed_seed.best import best_rows, best_verdict
from evenhand.evaluation.fixed_seed.changes import attainable, change_rows, known_mean
from evenhand.evaluation.fixed_seed.layout import FEWEST, RULES, RUNS, technique_names, technique_of
from evenhand.evaluation.fixed_seed.one_answer import same_answers
from evenhand.evaluation.fixed_seed.origin import origins
from evenhand.evaluation.fixed_seed.printed import Printed, read_printed
from evenhand.evaluation.fixed_seed.ratio import PERFORMANCE, median_ratios, ratio_rows
from evenhand.evaluation.fixed_seed.trained import Trained, facts, kind_of, read_trained
from evenhand.evaluation.fixed_seed.varying import devices_of, machines_of, varying_rows
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.replay.cost import cost_rows, venn_rows
from evenhand.evaluation.replay.published import METRICS
from evenhand.evaluation.replay.rows import Row, variance_rows
from evenhand.evaluation.values import plain
from evenhand.statistics.variance import percent_text, spread
from evenhand.study.frame import Frame
from evenhand.study.records import canonical
from evenhand.study.smoke import IN_SMALL

KIND = "fixed-seed"
TITLE = "Trained again, the same way: how far bias moves, what moves it, and at what cost"
Progress = Callable[[str], None]
Json = dict[str, Any]
_NOT_OURS = ("official_variance", "official_cross")  # of the published figure, not of these runs


def compute(store: Any, tell: Progress = lambda words: None, printed: Printed | None = None) -> Json:
    """Everything that is said of one store, finished or not, as plain values."""
    tell("reading the runs by technique")
    frame = Frame.open(store)
    found = read_trained(frame)
    beside = printed or read_printed()
    tell("variation, tests and costs")
    methods = frame.layout.methods()
    body = {
        **page_head(frame, KIND, str(frame.study.get("title") or frame.study.get("name", ""))),
        "runs_differ_by": found[0].kind, "loose": list(found[0].loose),
        **devices_of(frame, found),
        "others": [name for name in methods if not technique_of(name)],
        "published": beside.whole,
        "sets": [_set(frame, one, beside) for one in found],
    }  # fmt: skip
    clean: Json = plain(body)
    return clean


def together(studies: Sequence[Json], benchmark: Json | None = None) -> Json:
    """Several studies as one dictionary, with what they say to each other; `benchmark` as its program wrote.

    `ratios` sets identical runs beside runs with other seeds of the same technique on the same data.
    """
    names = [one["name"] for one in studies]
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    if twice:
        raise InputError(f"the study {twice[0]!r} was given twice; give each folder once")
    sets = [{**each, "study": one["name"]} for one in studies for each in one["sets"]]
    ratios = ratio_rows(sets)
    small = any(one["small"] for one in studies)
    return {
        "kind": KIND, "title": f"{TITLE} {IN_SMALL}" if small else TITLE,
        "studies": list(studies), "rules": dict(RULES), "order": list(technique_names()),
        "ratios": plain(ratios), "median_ratios": plain(median_ratios(ratios)), "benchmark": benchmark,
    }  # fmt: skip


def _set(frame: Frame, one: Trained, printed: Printed) -> Json:
    tests = change_rows(one)
    costs = _costs(one, tests)
    best = best_rows(one)
    origin = origins(frame, one)
    return {
        "name": one.name, "kind": one.kind, "convention": one.convention, "performed": dict(one.performed),
        "techniques": list(one.techniques), "short": _short(one), "left_out": dict(one.left_out),
        "without_base": _without_base(one), "origin": origin, "attainable": attainable(one, tests),
        "alike": {name: same_answers(frame, one.rows[name]) for name in one.techniques},
        "variance": [_beside(row, printed.variance.get(_place_of(row)), one)
                     for row in variance_rows(one)],
        "performance": [_performance(one, name, printed, origin[name]) for name in one.techniques],
        "tests": [row | _said(printed.tests.get(_place_of(row))) for row in tests],
        "cost": [row | _paid(printed.cost.get(technique_of(row["technique"]) or "")) for row in costs],
        "venn": venn_rows([row for row in tests if row["technique"] in {c["technique"] for c in costs}],
                          costs),
        "kinds": {name: kind_of(facts(frame, one.rows[name], "spec"))[0] for name in one.techniques},
        "machines": {name: machines_of(frame, one.rows[name]) for name in one.techniques},
        "varying": varying_rows(frame, one), "best": best, "best_verdict": best_verdict(best) if best else "",
        "places": {name: _place(frame, one, name) for name in one.techniques},
        "recipes": {name: facts(frame, one.rows[name], "spec")[0].get("recipe") or {}
                    for name in one.techniques},
        "data": {name: facts(frame, one.rows[name], "spec")[0].get("data") for name in one.techniques},
        "values": {name: _values(one, name) for name in one.techniques},
    }  # fmt: skip


def _costs(one: Trained, tests: Sequence[Row]) -> list[Row]:
    """The corrected cost of each technique whose performance is known in at least two runs of both."""
    known = [name for name, values in one.performance.items() if np.isfinite(values).sum() >= FEWEST]
    rows = cost_rows(dataclasses.replace(one, techniques=tuple(known)), tests)
    return [{key: value for key, value in row.items() if key not in _NOT_OURS} for row in rows]


def _beside(row: Row, printed: Row | None, one: Trained) -> Row:
    runs = one.bias[row["technique"], row["metric"]]
    classes = one.classes[row["technique"]]
    named = classes[row["class"]] if row["class"] is not None and row["class"] < len(classes) else None
    shown = {f"printed_{key}": (printed or {}).get(key)
             for key in ("mean", "max_diff", "stdev", "class_max_diff", "class_stdev")}  # fmt: skip
    return as_printed({**row, "class": named, "runs": len(runs), **shown})


def _performance(one: Trained, technique: str, printed: Printed, origin: Row) -> Row:
    found = spread(one.performance[technique])
    alike = one.performed[technique] == origin["paper_performance"]  # else S0's is another quantity
    theirs = (printed.performance.get(technique_of(technique) or "") if alike else None) or {}
    return as_printed({
        "technique": technique, "what": one.performed[technique], "runs": int(found.n),
        "mean": known_mean(one.performance[technique]), "stdev": float(found.std), "min": float(found.min),
        "max": float(found.max), "max_diff": float(found.maxdiff), "printed_mean": theirs.get("mean"),
        "printed_stdev": theirs.get("pstdev"),
    })  # fmt: skip


def as_printed(row: Row) -> Row:
    """The row with its fractions as S0 prints them, in percent, under `text`; undefined ones are not there.

    >>> as_printed({"technique": "S-RS", "mean": 0.0204, "max": float("nan")})["text"]
    {'mean': '2.0'}
    """
    known = {key: value for key, value in row.items() if isinstance(value, float) and not math.isnan(value)}
    return {**row, "text": {key: percent_text(value) for key, value in known.items()}}


def _place_of(row: Row) -> tuple[str, str]:
    return technique_of(row["technique"]) or "", row["metric"]


def _said(printed: Row | None) -> Row:
    keys = ("direction", "variance_direction")
    return {f"printed_{key}": (printed or {}).get(key) for key in keys}


def _paid(printed: Row | None) -> Row:
    return {f"printed_{key}": (printed or {}).get(key) for key in ("accuracy", "variance")}


def _short(one: Trained) -> dict[str, int]:
    """Techniques with fewer runs than S0's 16, and how many they have."""
    return {name: len(rows) for name, rows in one.rows.items() if len(rows) < RUNS}


def _without_base(one: Trained) -> list[str]:
    return [name for name in one.techniques if not name.endswith("-Base") and name not in one.mitigations]


def _place(frame: Frame, one: Trained, technique: str) -> str:
    """What a technique was trained on: data, knobs and network, as text that is equal for equal ones."""
    spec = facts(frame, one.rows[technique], "spec")[0]
    return canonical([spec.get(key) for key in ("data", "knobs", "net", "net_options")])


def _values(one: Trained, technique: str) -> dict[str, list[float]]:
    """Every run's number by each metric, in the order of the runs."""
    performed = {PERFORMANCE: one.performance[technique].tolist()}
    return performed | {metric: one.overall(technique, metric).tolist() for metric in METRICS}
