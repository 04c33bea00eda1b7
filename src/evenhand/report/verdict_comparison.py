"""The findings of a comparison of models in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.names import isolated, listed
from evenhand.report.numbers import UNDEFINED, count, defined, interval, number, percent

Json = Mapping[str, Any]


def comparison_sentences(comparison: Json) -> list[str]:
    """Two to five sentences: accuracy and disagreement, class changes, metric differences, what was skipped.

    >>> said = comparison_sentences({"models": ["big", "small"], "base": "big", "accuracy": {"big": 0.9, "small": 0.88},
    ...     "disagreement": {"small": 0.07}, "cev": {"small": {"value": 0.1, "low": None, "high": None, "skipped": 0}}})
    >>> print(said[0])
    small differs from big in 7.0% of the predictions, and its accuracy is 0.020 lower (0.880 against 0.900).
    """
    told = [_accuracy(comparison), _classes(comparison), _differences(comparison), _exemplars(comparison), _skipped(comparison)]
    return [sentence for sentence in told if sentence]


def alternatives(comparison: Json) -> list[str]:
    """The models other than the base.

    >>> alternatives({"models": ["a", "b"], "base": "a"})
    ['b']
    """
    return [model for model in comparison["models"] if model != comparison["base"]]


def _accuracy(comparison: Json) -> str:
    names, base = alternatives(comparison), comparison["base"]
    accuracy, disagreement = comparison.get("accuracy") or {}, comparison.get("disagreement") or {}
    changes = {m: accuracy[m] - accuracy[base] for m in names if defined(accuracy.get(m)) and defined(accuracy.get(base))}
    if not changes:
        return ""
    if len(names) == 1:
        name = names[0]
        parted = f"{isolated(name)} differs from {isolated(base)} in {percent(disagreement.get(name))} of the predictions"
        return f"{parted}, and its accuracy is {_moved(changes[name])} ({number(accuracy[name])} against {number(accuracy[base])})."
    lowest, highest = min(changes, key=lambda m: changes[m]), max(changes, key=lambda m: changes[m])
    sentence = f"Against {isolated(base)} (accuracy {number(accuracy[base])}) the accuracy of the alternatives moves by"
    sentence += f" {number(changes[lowest], signed=True)} ({isolated(lowest)}) to {number(changes[highest], signed=True)} ({isolated(highest)})"
    parted = {m: disagreement[m] for m in names if defined(disagreement.get(m))}
    if parted:
        most = max(parted, key=lambda m: parted[m])
        sentence += f"; {isolated(most)} departs from it in most rows ({percent(parted[most])})"
    return f"{sentence}."


def _moved(change: float) -> str:
    if number(abs(change)) == "0.000":
        return "the same"
    return f"{number(abs(change))} {'lower' if change < 0 else 'higher'}"


def _classes(comparison: Json) -> str:
    for key, name in (("cev_norm", "normalised combined error variance"), ("cev", "combined error variance")):
        values = {m: v["value"] for m, v in (comparison.get(key) or {}).items() if defined((v or {}).get("value"))}
        if values:
            break
    else:
        return ""
    most = max(values, key=lambda m: values[m])
    spread = interval((comparison[key][most].get("low"), comparison[key][most].get("high")), 4)
    within = "" if spread == UNDEFINED else f", interval {spread}"
    sentence = f"Errors moved between classes most in {isolated(most)} ({name} {number(values[most], 4)}{within})"
    if len(values) > 1:
        least = min(values, key=lambda m: values[m])
        sentence += f" and least in {isolated(least)} ({number(values[least], 4)})"
    return f"{sentence}{_one_class(comparison, most)}."


def _one_class(comparison: Json, model: str) -> str:
    rows = (comparison.get("per_class") or {}).get(model) or []
    known = [row for row in rows if defined(row.get("fnr_change"))]
    if not known:
        return ""
    row = max(known, key=lambda row: abs(row["fnr_change"]))
    return (
        f"; there the false negative rate of class {isolated(str(row['class']))} goes from"
        f" {number(row.get('base_fnr'))} to {number(row.get('fnr'))}"
    )


def _differences(comparison: Json) -> str:
    clear = []
    total = 0
    for model, metrics in (comparison.get("differences") or {}).items():
        for key, found in metrics.items():
            total += 1
            if all(defined(found.get(end)) for end in ("difference", "low", "high")) and found["low"] * found["high"] > 0:
                clear.append((abs(found["difference"]), model, key, found))
    if not total:
        return ""
    if not clear:
        return f"None of the {total} paired differences in fairness metrics has an interval that leaves out zero."
    _, model, key, found = max(clear, key=lambda case: case[0])
    return (
        f"{len(clear)} of {total} paired differences in fairness metrics have an interval that leaves out zero; the largest"
        f" is the {define(key).name} of {isolated(model)}, {number(found['difference'], signed=True)}"
        f" ({interval((found['low'], found['high']), signed=True)})."
    )


def _exemplars(comparison: Json) -> str:
    cie = {m: found for m, found in (comparison.get("cie") or {}).items() if found and defined(found.get("count"))}
    if not cie:
        return ""
    most = max(cie, key=lambda m: cie[m]["count"])
    return f"{isolated(most)} changes the modal prediction of {count(cie[most]['count'])} rows ({percent(cie[most].get('share'))})."


def _skipped(comparison: Json) -> str:
    skipped = {m: v.get("skipped") for m, v in (comparison.get("cev") or {}).items() if v and v.get("skipped")}
    if not skipped:
        return ""
    return (
        f"Classes in which the base makes no errors of a kind have no relative change and were skipped ({listed(skipped)}:"
        f" up to {max(skipped.values())})."
    )
