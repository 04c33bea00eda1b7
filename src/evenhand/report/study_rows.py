"""Rows of the long tables of a study: a dictionary a row, raw numbers, None where undefined."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.report.study_body import keys_of, names_by_id, problem_name, setting_words

Json = Mapping[str, Any]
Rows = list[dict[str, Any]]
SUMMARY = ("mean", "std", "low", "high", "min", "max", "maxdiff", "row_std", "run_share")
AGAINST = ("difference", "low", "high", "p", "p_adjusted", "effect", "band", "paired", "verdict")


def _methods(body: Json) -> Iterator[tuple[str, Json, Json]]:
    for problem in body["problems"]:
        for entry in problem["methods"]:
            yield problem_name(body, problem), problem, entry


def number_rows(body: Json) -> Rows:
    """Problem, method, setting, metric; its summary over seeds; its difference from the base."""
    return [
        {
            "problem": name,
            "method": entry["method"],
            "setting": setting_words(entry["setting"]),
            "metric": key,
            "runs": entry["n"],
            **{part: (entry["numbers"].get(key) or {}).get(part) for part in SUMMARY},
            **{
                part if part not in SUMMARY else f"difference_{part}": (moved or {}).get(part)
                for part in AGAINST
                for moved in [(entry["against"] or {}).get(key)]
            },
        }
        for name, _, entry in _methods(body)
        for key in keys_of(body)
    ]


def failure_rows(body: Json) -> Rows:
    """Reasons with the number of runs and one example each."""
    rows = []
    for found in body["state"]["failures"]:
        first: Json = (found.get("examples") or [{}])[0]
        parts = [first.get("task"), first.get("method"), setting_words(first.get("setting"))]
        parts += [f"seed {first['seed']}"] if first.get("seed") is not None else []
        example = ", ".join(str(part) for part in parts if part)
        rows.append({"reason": found["reason"], "runs": found["runs"], "example": example})
    return rows


def group_rows(body: Json) -> Rows:
    """The rates of every group under every method."""
    rows = []
    for name, problem, entry in _methods(body):
        for place, group in enumerate(problem["groups"]):
            rates = {
                rate: values[place]
                for rate, values in entry["rates"].items()
                if values and place < len(values)
            }
            rows.append(
                {
                    "problem": name,
                    "method": entry["method"],
                    "group": group["name"],
                    "rows": group.get("n"),
                    **rates,
                }
            )
    return rows


def class_rows(body: Json) -> Rows:
    """The metrics of each class by itself, where a problem has more than two classes."""
    return [
        {"problem": name, "method": entry["method"], "metric": key, "class": label, "value": values[place]}
        for name, problem, entry in _methods(body)
        for key, values in (entry["per_class"] or {}).items()
        if values and len(problem["classes"]) > 2
        for place, label in enumerate(problem["classes"][: len(values)])
    ]


def levelling_rows(body: Json) -> Rows:
    """What became of the worst and the best group of the base."""
    keys = ("rate", "worst", "worst_change", "best", "best_change", "verdict")
    return [
        {"problem": name, "method": entry["method"], **{key: entry["levelling"].get(key) for key in keys}}
        for name, _, entry in _methods(body)
        if entry["levelling"]
    ]


def variance_rows(body: Json) -> Rows:
    """Mean, deviation and range over seeds beside the spread over test rows."""
    names = names_by_id(body)
    untold = dict.fromkeys(("mean", "min", "max"))  # earlier versions left them out
    return [
        {"problem": names.get(str(row["problem"]), row["problem"]), "method": row["method"],
         "metric": row["metric"], **untold, **{key: v for key, v in row.items() if key != "problem"}}
        for row in body["variance"]
    ]  # fmt: skip


def rank_rows(body: Json) -> Rows:
    """The mean rank of each method by each number, with Friedman's test."""
    return [
        {"metric": key, "method": method, "mean_rank": rank, "problems": found.get("problems"),
         "friedman_p": (found.get("friedman") or {}).get("p"),
         "critical_difference": found.get("critical_difference")}
        for key, found in body["ranks"].items()
        for method, rank in zip(found.get("methods") or [], found.get("mean_ranks") or [], strict=True)
    ]  # fmt: skip


def cost_rows(body: Json) -> Rows:
    """Direction of accuracy and of its variance, and which metrics were lowered."""
    names = names_by_id(body)
    return [
        {**row, "problem": names.get(str(row["problem"]), row["problem"]),
         "reduces": ", ".join(row.get("reduces") or []), "cross": "yes" if row.get("cross") else "no"}
        for row in body["cost"]
    ]  # fmt: skip
