"""The findings of an audit under shift in sentences: what moved, by how much, from which severity on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.definitions import define
from evenhand.report.names import isolated
from evenhand.report.numbers import count, defined, interval, number
from evenhand.report.verdict_tradeoff import short

Json = Mapping[str, Any]
ACCURACY = "acc"
MOVED = ("moved up", "moved down")
MOST_TOLD = 4  # metrics that the headline speaks of


def metric_name(key: str) -> str:
    """A metric in a sentence.

    >>> metric_name("acc"), metric_name("tpr.gap")
    ('accuracy', 'true positive rate gap')
    """
    return "accuracy" if key == ACCURACY else short(key)


def _the(key: str) -> str:
    return metric_name(key) if key == ACCURACY else f"the {metric_name(key)}"


def shift_sentences(body: Json) -> list[str]:
    """The headline, what did not move, and over how much it was measured.

    >>> change = {"difference": 0.1, "low": 0.04, "high": 0.16, "verdict": "moved up"}
    >>> points = [{"severity": 0.0, "value": 0.2}, {"severity": 0.5, "value": 0.3, "moved": change}]
    >>> found = {"tpr.gap": {"points": points, "verdict": "moved up", "since": 0.5}}
    >>> body = {"shift": {"key": "gaussian", "title": "Gaussian noise"}, "severities": [0, 0.5], "n": 99,
    ...         "runs": 1, "draws": 5, "part": "test", "metrics": found}
    >>> print(shift_sentences(body)[0])
    Under Gaussian noise at severity 0.5, the true positive rate gap moved up by 0.100 (0.040 to 0.160), from
    0.200 to 0.300.
    """
    found = body["metrics"]
    moved = [_moved(key, curve) for key, curve in found.items() if curve["verdict"] in MOVED]
    still = [_the(key) for key, curve in found.items() if curve["verdict"] == "no change shown"]
    where = f"Under {title_of(body)} at severity {body['severities'][-1]:g}"
    told = [f"{where}, {'; '.join(moved[:MOST_TOLD])}."] if moved else []
    if len(moved) > MOST_TOLD:
        told.append(f"{len(moved) - MOST_TOLD} more moved: see the curves.")
    if still:
        words = f"no change was shown in {_listed(still)}"
        told.append(f"{words[0].upper()}{words[1:]}." if moved else f"{where}, {words}.")
    lost = [metric_name(key) for key, curve in found.items() if curve["verdict"] == "undefined"]
    if lost:
        told.append(f"Undefined with or without the shift, and so not judged: {_listed(lost)}.")
    if any(curve["verdict"] == "not judged" for curve in found.values()):
        told.append("Nothing is judged: one run and no replicates leave no interval to judge by.")
    return [*told, *_cheap(found), _measured(body, bool(still))]


def title_of(body: Json) -> str:
    """The shift in the midst of a sentence; names keep their capital.

    >>> title_of({"shift": {"title": "Gaussian noise"}}), title_of({"shift": {"title": "Lost entries"}})
    ('Gaussian noise', 'lost entries')
    """
    title = isolated(str(body["shift"]["title"]))
    return title if title.split(" ")[0] in ("Gaussian", "Poisson", "JPEG") else title[:1].lower() + title[1:]


def _moved(key: str, curve: Json) -> str:
    first, last = curve["points"][0], curve["points"][-1]
    change = last["moved"]
    amount = size(change)
    span = f", from {number(first['value'])} to {number(last['value'])}"
    earlier = curve["since"] is not None and curve["since"] < last["severity"]
    since = f", shown from severity {curve['since']:g} on" if earlier else ""
    return f"{_the(key)} {curve['verdict']} by {amount}{span}{since}"


def size(change: Json) -> str:
    """How far, whichever way, with the interval turned to match.

    >>> size({"difference": -0.03, "low": -0.04, "high": -0.02})
    '0.030 (0.020 to 0.040)'
    """
    low, high = change.get("low"), change.get("high")
    if not defined(low) or not defined(high):
        return number(abs(change["difference"]))
    ends = (-high, -low) if change["difference"] < 0 else (low, high)  # type: ignore[operator]
    return f"{number(abs(change['difference']))} ({interval(ends)})"


def _cheap(found: Json) -> list[str]:
    """A word of warning where gaps shrank because predictions tell less."""
    fell = (found.get(ACCURACY) or {}).get("verdict") == "moved down"
    shrank = any(define(key).better == "lower" and c["verdict"] == "moved down" for key, c in found.items())
    said = "A gap that shrinks while accuracy falls may only say that the predictions tell less of everybody."
    return [said] if fell and shrank else []


def _measured(body: Json, still: bool) -> str:
    runs = "1 training" if body["runs"] == 1 else f"{body['runs']} trainings"
    draws = "1 draw" if body["draws"] == 1 else f"{body['draws']} draws"
    rows = f"{count(body['n'])} rows of the {body['part']} part"
    said = f"Measured on {rows}, over {runs} and {draws} of the shift"
    caveat = (
        " “No change shown” says that the interval of the difference holds zero, not that nothing changed."
    )
    return f"{said} at each severity.{caveat if still else ''}"


def _listed(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)
