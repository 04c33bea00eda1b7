"""Gates on a comparison of models: `tpr.gap.difference.high>0.02`, of one alternative or of any.

- `KEY.difference`, `.difference.low`, `.difference.high`, `.p`: how far an alternative is from the base;
- `KEY` or `KEY.value`, `KEY.base`: the metric of the alternative, and of the base;
- `accuracy`, `accuracy.difference`, `accuracy.base`, `disagreement`, `cie.share`, `cie.count`;
- `cev`, `sde`, `cev_norm`, `sde_norm`, each with `.low` and `.high`;
- `paid.classes`, `paid.groups`, `paid.cells`, `paid.worst`: who paid (`gate_paid`).

`NAME:` before the key picks one alternative; without it the gate fails if the condition holds for any.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.errors import InputError
from evenhand.evaluation.gate import Check, Condition, resolve, split
from evenhand.evaluation.gate_paid import PAID_KEYS, paid_number
from evenhand.evaluation.paired_errors import PAIR_KEYS
from evenhand.metrics.catalogue import COUNT_METRICS

Json = Mapping[str, Any]
METRIC_FIELDS = ("value", "base", "difference", "difference.low", "difference.high", "p")
FIELDS: dict[str, tuple[str, ...]] = {
    "accuracy": ("value", "difference", "base"),
    "disagreement": ("value",),
    "cie": ("share", "count"),
    **dict.fromkeys(PAIR_KEYS, ("value", "low", "high")),
    **dict.fromkeys(PAID_KEYS, ("value",)),
}


def parse(text: str, alternatives: Sequence[str]) -> list[Condition]:
    """The condition for each alternative it is about.

    >>> [c.model for c in parse("tpr.gap.difference>0.02", ["small", "tiny"])]
    ['small', 'tiny']
    >>> parse("tiny:cev.high>1", ["small", "tiny"])[0].field
    'high'
    """
    name, sign, limit = split(text)
    chosen, name = _model(name, alternatives, text)
    key, field = resolve(name, [*COUNT_METRICS, *FIELDS], lambda key: FIELDS.get(key, METRIC_FIELDS))
    return [Condition(text, key, field, sign, limit, model) for model in chosen]


def _model(name: str, alternatives: Sequence[str], text: str) -> tuple[Sequence[str], str]:
    """The alternatives that a `NAME:` picks (all without one), and what follows it."""
    for model in sorted(alternatives, key=len, reverse=True):
        if name.startswith(f"{model}:"):
            return [model], name[len(model) + 1 :]
    if ":" in name:
        asked = name.rpartition(":")[0]
        known = ", ".join(alternatives)
        raise InputError(f"there is no alternative '{asked}' for the condition '{text}'; there are: {known}")
    return alternatives, name


def check(conditions: Sequence[Condition], comparison: Json) -> list[Check]:
    """Judge the conditions by the dictionary of a comparison; each says which alternative it is about."""
    return [_named(condition, _check(condition, comparison)) for condition in conditions]


def _named(condition: Condition, found: Check) -> Check:
    text = (
        condition.text
        if condition.text.startswith(f"{condition.model}:")
        else f"{condition.model}: {found.condition}"
    )
    return Check(text, found.value, found.failed, found.reason)


def _check(condition: Condition, comparison: Json) -> Check:
    key, model = condition.key, condition.model
    if key in FIELDS:
        return condition.judge(*_special(condition, comparison))
    found = comparison["differences"][model].get(key)
    if found is None:
        raise InputError(f"the metric '{key}' was not measured for these models; name a group column")
    value = found[condition.field.removeprefix("difference.")]
    return condition.judge(value, "it is not defined for both models")


def _special(condition: Condition, comparison: Json) -> tuple[float | None, str]:
    key, model, field = condition.key, condition.model, condition.field
    if key == "accuracy":
        own, base = comparison["accuracy"][model], comparison["accuracy"][comparison["base"]]
        if own is None or base is None:
            return None, "a model has no accuracy"
        return {"value": own, "base": base, "difference": own - base}[field], ""
    if key == "disagreement":
        return comparison["disagreement"][model], ""
    if key == "cie":
        if comparison.get("cie") is None:
            raise InputError("'cie' needs several runs of each model; name the run column")
        return comparison["cie"][model][field], ""
    if key in PAID_KEYS:
        return paid_number(key, comparison["paid"][model])
    found = comparison[key][model]
    return found[field], found.get("reason") or "it has no interval"
