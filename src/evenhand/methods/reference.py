"""The methods reference, written from the classes that train: it cannot fall behind them.

    python -m evenhand.methods.reference > docs/methods.md

Objectives, needs and differences from the authors' code are the docstrings; fields, their ranges and the
columns of S1's Table 1 are what the classes say of themselves.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from evenhand.methods.base import Method
from evenhand.methods.registry import METHODS
from evenhand.nets.reference import described, table

INTRODUCTION = """# Methods

<!-- Written by `python -m evenhand.methods.reference`; change the methods, not this page. -->

A method is named by its key, `evenhand.fit("mlp", "gdro", "adult")` and `evenhand train adult --method
gdro`, or given as an object with other fields, `evenhand.methods.GroupDRO(eta=0.1)` and `--method gdro
--set eta=0.1`. Your own is an object too: see [a method of your own](training.md#a-method-of-your-own).
What a method does to accuracy and gaps depends on the data: measure it ([the trade-off
page](training.md#reading-the-trade-off-page)).

In the table, *groups*: the method must know the groups of the training rows; rows whose group is unknown
(-1) are used as its section says. *Reweights*: it changes how much rows count; *adversarial*: something
works against the model, such as the weight of the group or of the rows that it serves worst. Both are as in
Table 1 of S1. *Stackable*: many runs are [trained at once](training.md#stacking). S0 to S4 are the
publications that the [metrics](metrics.md) cite.

Four rules make further keys of these: `pre+KEY` trains by ERM on all rows first and has `pre_epochs`
([scarce group labels](training.md#scarce-group-labels)), `staged+KEY` trains a new head on a frozen backbone
first and has `head_epochs` and `rate_share` ([two stages](training.md#two-stages-a-new-head-first)),
`prune+KEY` prunes the model while it trains and has `share`, `share_start`, `every`, `until` and `kind`
([compression](compression.md#pruning-while-a-method-trains)), `KEY+cm` matches curvatures and has `cm_gamma`,
`cm_h` and `cm_kernels` ([curvature matching](training.md#curvature-matching-beside-any-method)).
"""

COLUMNS = ("groups", "reweights", "adversarial", "stackable")


def page() -> str:
    """The whole page, as Markdown."""
    entries = [entry(method) for method in METHODS.values()]
    rows = [(f"`{e['key']}`", e["title"], *(_yes(e[column]) for column in COLUMNS)) for e in entries]
    overview = table(("key", "method", *COLUMNS), rows)
    return "\n".join([INTRODUCTION, overview, *(_section(e) for e in entries)])


def entry(method: type[Method]) -> dict[str, Any]:
    """Everything that is told of a method, in plain values.

    >>> found = entry(METHODS["gdro"])
    >>> found["groups"], found["adversarial"], found["fields"][0]["allowed"]
    (True, True, '0 or more')
    """
    return {
        "key": method.key,
        "title": method.title,
        "class": method.__name__,
        "groups": method.needs.groups,
        "groups_at_test": method.needs.groups_at_test,
        "reweights": method.reweights,
        "adversarial": method.adversarial,
        "stackable": method.needs.stackable,
        "about": described(method),
        "citation": method.citation,
        "fields": [
            {"name": item.name, "default": item.default, **_facts(item.metadata)} for item in fields(method)
        ],
    }


def _facts(facts: Mapping[str, Any]) -> dict[str, Any]:
    search = facts.get("search")
    return {
        "allowed": allowed(facts),
        "search": list(search) if search else None,
        "about": facts.get("about", ""),
    }


def allowed(facts: Mapping[str, Any]) -> str:
    """What a field may be, in words.

    >>> allowed({"at_least": 0.0, "at_most": None}), allowed({"options": ("a", "b")}), allowed({})
    ('0 or more', 'a, b', 'true, false')
    """
    if options := facts.get("options"):
        return ", ".join(options)
    if told := facts.get("allowed"):
        return str(told)
    if "at_least" not in facts:
        return "true, false"
    low, high = facts["at_least"], facts["at_most"]
    if low is not None and high is not None:
        return f"{low:g} to {high:g}"
    if low is None and high is None:
        return "any number"
    return f"{low:g} or more" if high is None else f"{high:g} or less"


def _section(found: Mapping[str, Any]) -> str:
    parts = [f"## `{found['key']}`: {found['title']}\n", f"{found['about']}\n"]
    if found["fields"]:
        head = ("field", "default", "allowed", "about")
        rows = [
            (f"`{row['name']}`", f"`{row['default']!r}`", row["allowed"], _about(row))
            for row in found["fields"]
        ]
        parts.append(table(head, rows))
    parts.append(f"In Python `evenhand.methods.{found['class']}`. Source: {found['citation']}.\n")
    return "\n".join(parts)


def _about(row: Mapping[str, Any]) -> str:
    """What a field does, and where a search would look."""
    where = f" (searched from {row['search'][0]:g} to {row['search'][1]:g})" if row["search"] else ""
    return f"{row['about']}{where}"


def _yes(value: bool) -> str:
    return "yes" if value else "no"


if __name__ == "__main__":
    sys.stdout.write(page())
