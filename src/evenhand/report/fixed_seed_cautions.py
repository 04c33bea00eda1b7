"""What keeps a reader from taking more out of few runs, shared networks or silent ones than is in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.report.replay_words import METRIC_NAMES

Json = Mapping[str, Any]


def out_of_reach(one: Json) -> list[str]:
    """Said where no outcome of so few runs could have passed the correction."""
    p, of, level = (one["attainable"][key] for key in ("p", "of", "shown"))
    if not of or p * of <= level:
        return []
    return [
        f"The smallest two-sided p that so few runs can come to is {p:.2g}, and Holm over {of} comparisons "
        f"asks the first for {level / of:.2g}: neither a fall nor a rise of bias could have been shown "
        "with it, and that none was says nothing."
    ]


def alike(one: Json) -> list[str]:
    """Networks that answer alike for everybody: their small gaps are no gain."""
    silent = {name: (n, of) for name, (n, of) in one["alike"].items() if n is not None and n >= 1}
    if not silent:
        return []
    told = ", ".join(f"{name} for {n:.1f} of {of}" for name, (n, of) in silent.items())
    worst = (
        f" By the convention `artifact` {METRIC_NAMES['di']} is 1 for what nobody is predicted as (its 0/0): "
        "what it rose by there is no loss."
        if one["convention"] == "artifact" else ""
    )  # fmt: skip
    return [
        "Some networks do not tell everything apart: for so many classes or labels, on average over runs, "
        f"one answer is given to every row: {told}. A gap is 0 or undefined there because nobody gets "
        f"another answer: what fell there is no gain.{worst}"
    ]


def own_ways(one: Json) -> list[str]:
    """Techniques whose runs were made in another way than the set's, or in several."""
    kinds, machines = one.get("kinds") or {}, one.get("machines") or {}
    held = [name for name, kind in kinds.items() if kind == "control" != one["kind"]]
    apart = [name for name, several in machines.items() if len(several) > 1 and kinds.get(name) != "seeds"]
    told = [f"In deterministic mode, unlike the others: {', '.join(held)}."] if held else []
    if apart:
        told.append(
            f"Made by several devices or versions of torch, and so not identical: {', '.join(apart)}; they "
            "answer no claim."
        )
    return told


def shared(known: list[Json]) -> list[str]:
    """Techniques that read the same networks, whether by design or because one of them changes nothing."""
    alike = dict.fromkeys(tuple(sorted([row["technique"], *row["shares"]])) for row in known if row["shares"])
    told = "; ".join(", ".join(names) for names in alike)
    return [f"The same networks, run by run, stand behind: {told}."] if told else []
