"""The findings of a trade-off in plain sentences: what moved against the base, and what it cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.headline import GAPS, label
from evenhand.report.names import isolated, listed, rate_head
from evenhand.report.numbers import defined, interval, number

Json = Mapping[str, Any]
MOST_METHODS = 4
ACCURACY = "acc"
# key: (in a sentence, over a column)
SHORT = {"odds.max": ("equalized odds gap", "Odds gap")}


def tradeoff_sentences(body: Json) -> list[str]:
    """A sentence for each method against the base, and one on the frontier.

    >>> gap = {"difference": -0.03, "low": -0.04, "high": -0.02}
    >>> moved = {"acc": {"difference": -0.004, "low": -0.006, "high": -0.002}, "tpr.gap": gap}
    >>> methods = [{"name": "erm", "against_base": None}, {"name": "gap", "against_base": moved}]
    >>> body = {"base": "erm", "metrics": ["tpr.gap"], "methods": methods, "frontiers": {}}
    >>> print(*tradeoff_sentences(body))
    Compared with erm, gap has a smaller true positive rate gap by 0.030 (0.020 to 0.040), at an accuracy
    0.004 lower (0.002 to 0.006).
    """
    others = [method for method in body["methods"] if method.get("against_base")]
    told = [_method(body, method) for method in others[:MOST_METHODS]]
    if len(others) > MOST_METHODS:
        told.append(f"{len(others) - MOST_METHODS} more methods are in the tables.")
    return [*told, *_frontier(body)]


def short(key: str) -> str:
    """A metric in few words.

    >>> short("tpr.gap"), short("odds.max")
    ('true positive rate gap', 'equalized odds gap')
    """
    return label(key) if key in GAPS else SHORT[key][0] if key in SHORT else define(key).name


def column_head(key: str) -> str:
    """A metric over a narrow column.

    >>> column_head("tpr.gap"), column_head("odds.max"), column_head("dp")
    ('TPR gap', 'Odds gap', 'dp')
    """
    rate, _, how = key.partition(".")
    return f"{rate_head(rate)} {how}" if how in ("gap", "ratio") else SHORT[key][1] if key in SHORT else key


def clear(found: Json) -> bool:
    """Whether the interval of a difference leaves out zero.

    >>> clear({"low": -0.2, "high": -0.1}), clear({"low": None, "high": 0.1})
    (True, False)
    """
    low, high = found.get("low"), found.get("high")
    return low is not None and high is not None and defined(low) and defined(high) and low * high > 0


def size(found: Json) -> str:
    """How far, whichever way, with the interval turned to match.

    >>> size({"difference": -0.03, "low": -0.04, "high": -0.02})
    '0.030 (0.020 to 0.040)'
    """
    down = found["difference"] < 0
    ends = [found.get("high"), found.get("low")] if down else [found.get("low"), found.get("high")]
    known = [-float(end) if down else float(end) for end in ends if end is not None and defined(end)]
    return number(abs(found["difference"])) + (f" ({interval(known)})" if len(known) == 2 else "")


def _method(body: Json, method: Json) -> str:
    moved = {key: method["against_base"][key] for key in body["metrics"]}
    known = {key: found for key, found in moved.items() if defined(found.get("difference")) and clear(found)}
    name, base = isolated(method["name"]), isolated(body["base"])
    smaller = [f"{short(key)} by {size(found)}" for key, found in known.items() if found["difference"] < 0]
    larger = [f"{short(key)} by {size(found)}" for key, found in known.items() if found["difference"] > 0]
    cost = _cost(method["against_base"][ACCURACY])
    if not known:
        return f"Between {base} and {name} no gap differs by more than seeds and test rows explain{cost}."
    parts = [f"a smaller {_joined(smaller)}"] if smaller else []
    parts += [f"a larger {_joined(larger)}"] if larger else []
    return f"Compared with {base}, {name} has {' but '.join(parts)}{cost}."


def _joined(parts: Sequence[str]) -> str:
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)


def _cost(accuracy: Json) -> str:
    if not defined(accuracy.get("difference")):
        return ""
    if not clear(accuracy):
        moved = number(accuracy["difference"], signed=True)
        return f", at an accuracy that does not clearly differ ({moved})"
    return f", at an accuracy {_turned(accuracy)}"


def _turned(accuracy: Json) -> str:
    amount, _, rest = size(accuracy).partition(" ")
    return f"{amount} {'lower' if accuracy['difference'] < 0 else 'higher'}{f' {rest}' if rest else ''}"


def _frontier(body: Json) -> list[str]:
    """Who lies on the frontier of the first metric, where not all do."""
    for key in body["metrics"][:1]:
        names = (body.get("frontiers") or {}).get(key) or []
        rest = [method["name"] for method in body["methods"] if method["name"] not in names]
        if names and rest:
            return [
                f"On the frontier of accuracy and {short(key)} {'lies' if len(names) == 1 else 'lie'} "
                f"{listed(names)}; some method here is at least as good as {listed(rest)} in both."
            ]
    return []
