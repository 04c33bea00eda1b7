"""The numbers of S1's figures: means over structures and seeds, 68 % intervals as printed and 95 % beside.

S1's error bars are 68 % intervals over the runs of a bar or point (about one standard error); ours are
Student's over the same runs. Runs of one structure are alike, so that both are narrower than they should be:
claims are judged by other intervals.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from evenhand.evaluation.many_attributes.layout import EPSILON, SLOTS
from evenhand.evaluation.many_attributes.runs import Runs, Structure
from evenhand.statistics.effects import mean_interval

Json = dict[str, Any]
BY_ERM, BY_SIZE = "ERM's own", "attributes"
PRINTED, USUAL = 0.68, 0.95


def estimate(values: Sequence[float]) -> Json:
    """Mean, both intervals, and how many runs; None for what is undefined."""
    narrow, wide = (mean_interval(values, level) for level in (PRINTED, USUAL))
    mean = sum(values) / len(values) if values else float("nan")
    return {"y": mean, "low68": narrow[0], "high68": narrow[1], "low95": wide[0], "high95": wide[1],
            "n": len(values)}  # fmt: skip


def bars(runs: Runs, where: Sequence[Structure], methods: Iterable[str]) -> list[Json]:
    """Figure 2: a panel for each metric, a bar for each method over all runs of all structures."""
    return [
        {"slot": slot, "x": "", "bars": [
            {"method": runs.shown(method), **estimate(found)}
            for method in methods if (found := pooled(runs, where, method, slot))
        ]}
        for slot in SLOTS
    ]  # fmt: skip


def pooled(runs: Runs, where: Iterable[Structure], method: str, slot: str) -> list[float]:
    """The metric of all runs of a method on these structures."""
    return [value for structure in where for value in runs.values(structure, method, slot).values()]


def against_erm(
    runs: Runs, where: Sequence[Structure], methods: Iterable[str], slot: str, relative: bool = False
) -> Json:
    """Figure 3 a-c: a point for each structure and method, by ERM's mean there (less it in Figure 4)."""
    base = runs.find("erm")
    known = [(runs.mean(structure, base, slot), structure) for structure in where]
    found = []
    for method in methods:
        points = [
            {"x": x, "name": structure.grouping,
             **estimate([value - (x if relative else 0.0) for value in values])}
            for x, structure in sorted(((x, one) for x, one in known if x == x), key=lambda pair: pair[0])
            if (values := list(runs.values(structure, method, slot).values()))
        ]  # fmt: skip
        if points:
            found.append({"method": runs.shown(method), "points": points})
    return {"slot": slot, "x": BY_ERM, "relative": relative, "series": found}


def against_size(
    runs: Runs, where: Sequence[Structure], methods: Iterable[str], slot: str, relative: bool = False
) -> Json:
    """Figure 3 d-f: a point for each number of attributes and method (less ERM's mean in Figure 4)."""
    base, found = runs.find("erm"), []
    sizes = sorted({structure.attributes for structure in where})
    by_size = {size: [structure for structure in where if structure.attributes == size] for size in sizes}
    taken = dict.fromkeys(sizes, 0.0)
    if relative:
        taken = {size: estimate(pooled(runs, by_size[size], base or "", slot))["y"] for size in sizes}
    for method in methods:
        points = [
            {"x": size, "name": f"{size} attribute{'s' if size > 1 else ''}",
             **estimate([value - taken[size] for value in values])}
            for size in sizes if (values := pooled(runs, by_size[size], method, slot))
        ]  # fmt: skip
        if points:
            found.append({"method": runs.shown(method), "points": points})
    return {"slot": slot, "x": BY_SIZE, "relative": relative, "series": found}


def spread(runs: Runs, where: Sequence[Structure], methods: Sequence[str]) -> list[Json]:
    """The six panels of Figure 3."""
    return [draw(runs, where, methods, slot) for draw in (against_erm, against_size) for slot in SLOTS]


def normalised(runs: Runs, where: Sequence[Structure], methods: Sequence[str]) -> list[Json]:
    """The two panels of Figure 4."""
    return [draw(runs, where, methods, EPSILON, True) for draw in (against_erm, against_size)]
