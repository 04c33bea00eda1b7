"""The findings of a comparison of models in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.comparison_paid import paid_sentence
from evenhand.report.headline import headline, label
from evenhand.report.names import isolated, listed
from evenhand.report.numbers import ROUNDING, UNDEFINED, count, defined, interval, number, percent
from evenhand.report.told_apart import most_p, told_from_zero

Json = Mapping[str, Any]


def comparison_sentences(comparison: Json) -> list[str]:
    """Two to six sentences: accuracy and disagreement, who paid, class changes, differences, what is skipped.

    >>> models = {"models": ["big", "small"], "base": "big", "accuracy": {"big": 0.9, "small": 0.88}}
    >>> said = comparison_sentences(models | {"disagreement": {"small": 0.07}})
    >>> print(said[0])
    small differs from big in 7.0% of the predictions, and its accuracy is 0.020 lower (0.880 against 0.900).
    """
    told = [
        _accuracy(comparison),
        paid_sentence(comparison),
        _classes(comparison),
        _differences(comparison),
        _exemplars(comparison),
        _skipped(comparison),
    ]
    return [sentence for sentence in told if sentence]


def alternatives(comparison: Json) -> list[str]:
    """The models other than the base.

    >>> alternatives({"models": ["a", "b"], "base": "a"})
    ['b']
    """
    return [model for model in comparison["models"] if model != comparison["base"]]


def of_runs(comparison: Json) -> bool:
    """Whether some model has several runs: then what is said of "its prediction" is what most of them say.

    >>> of_runs({"runs": {"a": 1, "b": 5}}), of_runs({})
    (True, False)
    """
    return any(runs > 1 for runs in (comparison.get("runs") or {}).values())


def _accuracy(comparison: Json) -> str:
    names, base = alternatives(comparison), comparison["base"]
    accuracy, disagreement = comparison.get("accuracy") or {}, comparison.get("disagreement") or {}
    changes = {
        m: accuracy[m] - accuracy[base]
        for m in names
        if defined(accuracy.get(m)) and defined(accuracy.get(base))
    }
    if not changes:
        return ""
    if len(names) == 1:
        name = names[0]
        both = f"{number(accuracy[name])} against {number(accuracy[base])}"
        if of_runs(comparison):  # how often the usual predictions differ, the exemplars tell
            mean = f"The accuracy of {isolated(name)}, the mean over runs,"
            return f"{mean} is {_moved(changes[name])} ({both})."
        return (
            f"{isolated(name)} differs from {isolated(base)} in {percent(disagreement.get(name))} of the"
            f" predictions, and its accuracy is {_moved(changes[name])} ({both})."
        )
    lowest, highest = min(changes, key=lambda m: changes[m]), max(changes, key=lambda m: changes[m])
    ends = [f"{number(changes[m], signed=True)} ({isolated(m)})" for m in (lowest, highest)]
    sentence = (
        f"Against {isolated(base)} (accuracy {number(accuracy[base])}) the accuracy of the alternatives"
    )
    sentence += f" moves by {ends[0]} to {ends[1]}"
    parted = {m: disagreement[m] for m in names if defined(disagreement.get(m))}
    if parted and not of_runs(comparison):
        most = max(parted, key=lambda m: parted[m])
        sentence += f"; {isolated(most)} differs from it most often, in {percent(parted[most])} of the rows"
    return f"{sentence}."


def _moved(change: float) -> str:
    if number(abs(change)) == "0.000":
        return "the same"
    return f"{number(abs(change))} {'lower' if change < 0 else 'higher'}"


def _classes(comparison: Json) -> str:
    for key, name in VARIANCES.items():
        found = comparison.get(key) or {}
        values = {model: v["value"] for model, v in found.items() if v and defined(v.get("value"))}
        if values and max(values.values()) <= ROUNDING:
            return f"The error rates of {_which(comparison, found)} moved alike, or not at all."
        if values and (key != "cev_norm" or max(values.values()) <= MOST_NORMALISED):
            return _most_moved(comparison, found, values, name)
    return ""


def _which(comparison: Json, found: Json) -> str:
    """All classes, or those that have relative changes to speak of."""
    left_out = max(value.get("skipped") or 0 for value in found.values() if value)
    known = len(comparison.get("classes") or ()) - left_out
    return f"the {known} classes that are not left out" if left_out else "all classes"


VARIANCES = {"cev_norm": "normalised combined error variance", "cev": "combined error variance"}
MOST_NORMALISED = 1.0  # beyond, a random predictor moves errors less than the model: no yardstick


def _most_moved(comparison: Json, found: Json, values: dict[str, float], name: str) -> str:
    most = max(values, key=lambda model: values[model])
    spread = interval((found[most].get("low"), found[most].get("high")), 4)
    size = f"{name} {number(values[most], 4)}" + ("" if spread == UNDEFINED else f", interval {spread}")
    where = f"most in {isolated(most)}" if len(values) > 1 else f"in {isolated(most)}"
    if defined(found[most].get("low")) and found[most]["low"] <= ROUNDING:
        return f"That errors moved between classes is not shown: {where} by {size}."
    sentence = f"Errors moved between classes {where} ({size}){_one_class(comparison, most)}"
    if len(values) > 1:
        least = min(values, key=lambda model: values[model])
        sentence += f"; they moved least in {isolated(least)} ({number(values[least], 4)})"
    return f"{sentence}."


def _one_class(comparison: Json, model: str) -> str:
    rows = (comparison.get("per_class") or {}).get(model) or []
    known = [row for row in rows if defined(row.get("fnr_change"))]
    if not known:
        return ""
    row = max(known, key=lambda row: abs(row["fnr_change"]))
    return (
        f", where the false negative rate of “{isolated(str(row['class']))}” goes from"
        f" {number(row.get('base_fnr'))} to {number(row.get('fnr'))}"
    )


BY_BOTH = "can be told from zero, by interval and p"


def _differences(comparison: Json) -> str:
    cases = [
        (model, key, metrics[key])
        for model, metrics in (comparison.get("differences") or {}).items()
        for key in headline(metrics)
        if all(defined(metrics[key].get(end)) for end in ("difference", "low", "high"))
    ]
    clear = [case for case in cases if told_from_zero(case[2], most_p(comparison))]
    if not cases:
        return ""
    if not clear:
        return f"None of the {len(cases)} paired differences in headline metrics {BY_BOTH}."
    model, key, found = max(clear, key=lambda case: abs(case[2]["difference"]))
    size, spread = (
        number(found["difference"], signed=True),
        interval((found["low"], found["high"]), signed=True),
    )
    return (
        f"{len(clear)} of {len(cases)} paired differences in headline metrics {BY_BOTH};"
        f" the largest is that of the {label(key)} in {isolated(model)}, {size} ({spread})."
    )


def _exemplars(comparison: Json) -> str:
    cie = {
        m: found
        for m, found in (comparison.get("cie") or {}).items()
        if found and defined(found.get("count"))
    }
    if not cie:
        return ""
    most = max(cie, key=lambda m: cie[m]["count"])
    changed = f"{count(cie[most]['count'])} rows ({percent(cie[most].get('share'))})"
    return f"The prediction that most runs agree on changes most often with {isolated(most)}: in {changed}."


def _skipped(comparison: Json) -> str:
    skipped = {
        m: v.get("skipped") for m, v in (comparison.get("cev") or {}).items() if v and v.get("skipped")
    }
    if not skipped:
        return ""
    return (
        "Classes in which the base makes no errors of a kind have no relative change and were skipped"
        f" ({listed(skipped)}: up to {max(skipped.values())})."
    )
