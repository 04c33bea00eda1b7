"""One problem of a study: who was measured, and every method with its chosen setting, best first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.evaluation.study.against import Against
from evenhand.evaluation.study.frontier import frontiers, pareto_sets
from evenhand.evaluation.study.levelling import levelling
from evenhand.evaluation.study.numbers import numbers_of
from evenhand.evaluation.study.setup import Arm, Setup, cost_of
from evenhand.metrics.undefined import mean_defined

RATES = ("acc", "tpr", "fpr", "selection")
Place = tuple[int, str]
NAN = float("nan")


def problem_entry(
    setup: Setup,
    problem: int,
    rows: Mapping[Place, Mapping[str, float]],
    against: Mapping[Place, Against],
    single: Mapping[Place, Against],
) -> dict[str, Any]:
    """A problem with its groups, its methods, and who is beaten by nobody.

    `against` holds the comparisons of what the rule chose, `single` those of one setting in all metrics.
    """
    about = setup.frame.layout.problems[problem]
    arms = sorted(setup.of_problem(problem), key=lambda arm: _place_in_table(setup, arm))
    methods = [method_entry(setup, arm, rows.get(arm.place, {}), against.get(arm.place)) for arm in arms]
    for arm, entry in zip(arms, methods, strict=True):
        entry |= _apart(setup, arm, entry["numbers"], single.get(arm.place)) if arm.own else {}
    return {
        "id": about.id, "task": about.task, "grouping": about.grouping, "net": about.net,
        **_measured(setup, problem),
        "methods": methods, "frontier": frontiers(setup, problem), "pareto": pareto_sets(setup, problem),
    }  # fmt: skip


def _place_in_table(setup: Setup, arm: Arm) -> float:
    """Best first by the selection metric on the reported part; without a value, last."""
    key = setup.selected.spec.metric
    value = float(mean_defined(setup.frame.values(setup.report.part, key)[arm.rows]))
    return cost_of(value, key) if np.isfinite(value) else np.inf


def _measured(setup: Setup, problem: int) -> dict[str, Any]:
    """Groups with their rows on the reported part (a mean, where each seed has its own split) and classes.

    `fewest` is how many rows a group has of the class that it has fewest of: all that a rate may rest on.
    """
    places = setup.frame.layout.of(problem)
    rows = np.concatenate([setup.frame.layout.candidates[place].rows for place in places])
    found = setup.frame.met(setup.report.part, rows)
    if not found:
        return {"groups": [], "classes": [], "n": 0}
    look, _, inside = found[0]
    sizes = look.counts.rows[inside]
    sizes = sizes[:, 0] if look.counts.multilabel else sizes  # every label has the same rows
    of_class = sizes.sum(axis=-1).mean(axis=0)
    groups = [
        {"name": name, "n": round(float(n.sum())), "fewest": round(float(n.min()))}
        for name, n in zip(look.groups, of_class[:-1], strict=True)
    ]
    return {"groups": groups, "classes": list(look.classes), "n": round(float(of_class.sum()))}


def method_entry(
    setup: Setup, arm: Arm, rows: Mapping[str, float], against: Against | None
) -> dict[str, Any]:
    """The chosen setting of one method with everything that is said of it."""
    frame, candidate = setup.frame, arm.choice.candidate
    base = setup.base_of(arm.place[0])
    seconds = [float(frame.columns["seconds"][row] or 0.0) for row in arm.rows]
    entry: dict[str, Any] = {
        "method": arm.place[1], "setting": dict(candidate.setting), "label": candidate.label,
        "seeds": list(arm.seeds), "n": len(arm.rows), "failed": arm.failed,
        "numbers": {key: _numbers(setup, arm.of(key), key, rows.get(key, NAN)) for key in setup.keys},
        "against": against,
        "rates": {rate: mean_defined(frame.rates(setup.report.part, rate, arm.rows)[1], axis=0).tolist()
                  for rate in RATES},
        "per_class": {key: _per_class(setup, arm, key) for key in setup.keys},
        "levelling": None if base is None or base is arm else levelling(setup, arm.counted, base.counted),
        "seconds": {"mean": float(np.mean(seconds)) if seconds else NAN, "total": float(sum(seconds))},
        "peak_memory": max((int(frame.columns["peak_memory"][row] or 0) for row in arm.rows), default=0),
    }  # fmt: skip
    return entry


def _numbers(setup: Setup, arm: Arm, key: str, row_std: float = NAN) -> dict[str, Any]:
    found = numbers_of(arm.values[key], key, setup.report.confidence, row_std)
    return {**found, "low": NAN, "high": NAN} if arm.equal else found  # copies of one run tell no interval


def _per_class(setup: Setup, arm: Arm, key: str) -> list[float] | None:
    found = setup.frame.per_class(setup.report.part, key, arm.rows)
    return None if found is None else [float(value) for value in mean_defined(found, axis=0)]


def _apart(setup: Setup, arm: Arm, numbers: Mapping[str, Any], single: Against | None) -> dict[str, Any]:
    """Where every metric has a setting of its own: which, with the accuracy it has; and one model's numbers.

    The numbers of the row are those of the own settings, so that no single model need have them together.
    """
    accuracy = setup.report.accuracy
    per_metric = {
        key: {
            "setting": dict(own.choice.candidate.setting), "label": own.choice.candidate.label,
            "seeds": list(own.seeds), "n": len(own.rows), "failed": own.failed,
            "accuracy": _numbers(setup, own, accuracy), **numbers[key],
        }
        for key, own in arm.own.items()
    }  # fmt: skip
    one = {key: _numbers(setup, arm, key) for key in setup.keys}
    return {"per_metric": per_metric, "single": {"numbers": one, "against": single}}
