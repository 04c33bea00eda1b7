"""The numbers of a compression study as rows: Table 1 beside the paper's, Figure 2's points, who paid."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.evaluation.comparison import Rows
from evenhand.evaluation.compression.measures import ACCURACY, KEYS, Against, summary
from evenhand.evaluation.compression.populations import Compressed
from evenhand.evaluation.compression.printed import table_1
from evenhand.evaluation.options import Options
from evenhand.evaluation.paid import Paid, payments
from evenhand.statistics.effects import SHARE

Json = dict[str, Any]


def measured_row(one: Against) -> Json:
    """A method at a level: exemplars, and every number over its seeds, with what S2 prints for the method."""
    found, population = one.exemplars, one.population
    return {
        "method": population.method, "role": population.role, "level": population.level,
        "runs": len(one.seeds), "cie": found.count, "cie_share": found.share,
        **{key: summary(one.by_seed[key], *([SHARE] if key == ACCURACY else [])) for key in KEYS},
        "skipped": summary(one.by_seed["skipped"]),
        "seeds": list(one.seeds), "by_seed": {key: one.by_seed[key].tolist() for key in KEYS},
        "printed": table_1().get(population.role),
    }  # fmt: skip


def base_row(world: Compressed) -> Json:
    """The base itself: its accuracy over seeds."""
    right = (world.base.labels == world.y).mean(axis=1)
    return {"method": world.base.method, "runs": len(world.base.seeds), ACCURACY: summary(right, SHARE)}


def change_points(one: Against) -> Json:
    """Figure 2: the relative changes of every class, and which share of their training rows it kept."""
    d_fpr, d_fnr = one.pooled_changes
    kept = kept_of_classes(one.world)
    points = [
        {"class": name, "kept": kept[k], "fpr_change": float(d_fpr[k]), "fnr_change": float(d_fnr[k])}
        for k, name in enumerate(one.world.classes)
    ]
    return {"method": one.population.method, "level": one.population.level, "points": points}


def kept_of_classes(world: Compressed) -> list[str | None]:
    """The level of the attribute `kept` of each class, where the data has one."""
    if "kept" not in [attribute.name for attribute in world.data.attributes]:
        return [None] * len(world.classes)
    kept = world.data.attribute("kept")
    y, codes = world.data.y.numpy(), np.asarray(kept.codes)
    return [kept.levels[int(codes[y == k][0])] if (y == k).any() else None for k in range(len(world.classes))]


def who_paid_rows(world: Compressed, one_by_one: list[Against], grouping: str) -> list[Json]:
    """Classes, groups and cells of every population: change with interval, p, CEV and SDE in each group.

    Each run stands against the base run of its own seed: seeds that one of the two lacks are left out.
    """
    by_seeds: dict[tuple[int, ...], list[Against]] = {}
    for one in one_by_one:
        by_seeds.setdefault(one.seeds, []).append(one)
    found: dict[str, Paid] = {}
    for seeds, those in by_seeds.items():
        found |= _paid_on(world, seeds, those, grouping)
    return [
        {"method": one.population.method, "level": one.population.level,
         "grouping": grouping, **found[one.population.name].to_dict()}
        for one in one_by_one
    ]  # fmt: skip


def _paid_on(
    world: Compressed, seeds: tuple[int, ...], those: Sequence[Against], grouping: str
) -> dict[str, Paid]:
    """Who paid by the populations that share these seeds with the base."""
    groups, base = world.groupings[grouping], world.base.method
    predictions = {base: world.base.of_seeds(seeds)} | {
        one.population.name: one.population.of_seeds(seeds) for one in those
    }
    rows = Rows(
        world.y, predictions, world.classes, np.asarray(groups.ids), groups.names, grouping=(grouping,)
    )
    return payments(rows, base, [one.population.name for one in those], Options())
