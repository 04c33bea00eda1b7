"""The study `hair-colour`: all rows against each protected subgroup and its complement, over seeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.hair_colour import judging, layout
from evenhand.evaluation.hair_colour.chance import p_value, random_subgroups
from evenhand.evaluation.hair_colour.spread import spread_lines
from evenhand.evaluation.page_head import page_head
from evenhand.evaluation.unjudged import judged_if_whole
from evenhand.evaluation.values import plain
from evenhand.metrics.counts import Counts
from evenhand.metrics.pair_tables import all_to_group
from evenhand.metrics.pairs import all_rows, error_rates, relative_changes
from evenhand.metrics.rates import accuracy
from evenhand.metrics.undefined import mean_defined
from evenhand.statistics.effects import SHARE, mean_interval
from evenhand.study.frame import Frame
from evenhand.study.frame_blocks import Look
from evenhand.study.store import Store


def compute(store: Store) -> dict[str, Any]:
    """Everything the page shows, as plain values; NaN is None."""
    frame = Frame.open(store)
    _check_data(frame)
    looks = [look for look in frame.looks(layout.PART) if len(look.groups) == 2]
    if not looks:
        raise InputError("no run is measured by an attribute with two levels; run the study first")
    names = [str(frame.columns["grouping"][look.rows[0]]) for look in looks]
    groups = [row for name, look in zip(names, looks, strict=True) for row in subgroups(name, look)]
    whole, classes = _mean(accuracy(all_rows(looks[0].counts))[..., 0], SHARE), list(looks[0].classes)
    head = page_head(frame, layout.NAME, "Hair colour: whom the errors of one model fall on")
    body = {
        **head, "classes": classes, "accuracy": whole, "groups": groups,
        "seeds_used": len(looks[0].rows), "photographs": _photographs(frame), "draws": layout.DRAWS,
        "runs": spread_lines(whole, groups, classes),
        **judging.judged(groups),
    }  # fmt: skip
    clean: dict[str, Any] = judged_if_whole(plain(body))
    return clean


def _check_data(frame: Frame) -> None:
    """Refuse the runs of another study: digits by ink would make a page, and answer the claim, as well."""
    specs: list[Mapping[str, Any]] = [spec or {} for spec in frame.columns["spec"]]
    other = next((data for spec in specs if (data := spec.get("data", layout.NAME)) != layout.NAME), None)
    if other is not None:
        raise InputError(
            f"these are runs on the data set '{other}', not on '{layout.NAME}'; give the folder of the study "
            f"'{layout.NAME}' or '{layout.NAME}-celeba'"
        )


def subgroups(attribute: str, look: Look) -> list[dict[str, Any]]:
    """A row for each of the two levels of an attribute; runs are the seeds."""
    counts = look.counts
    pairs = all_to_group(counts)
    chance = random_subgroups(_tables(counts), layout.DRAWS)
    right = accuracy(counts)  # [R, 2]
    per_class = class_changes(counts)
    excess = {key: pairs[key] - mean_defined(chance[key], axis=1) for key in layout.METRICS}  # [R, 2]
    sizes, found = _tables(counts).sum(axis=(-2, -1)), []
    for place, level in enumerate(look.groups):
        row: dict[str, Any] = {
            "attribute": attribute, "level": level, "name": layout.subgroup_name(attribute, level),
            "rows": float(sizes[:, place].mean()), "accuracy": _mean(right[:, place], SHARE),
            "ahead": _mean(right[:, place] - right[:, 1 - place], (-1.0, 1.0)),
            "paper": layout.PAPER.get((attribute, level)),
        }  # fmt: skip
        for key in (*layout.METRICS, *layout.NORMALISED.values(), *layout.CHANGES):
            row[key] = _mean(pairs[key][:, place])
        for key in layout.METRICS:
            by_chance = mean_defined(chance[key][..., place], axis=0)
            row[key] |= {"p": p_value(row[key]["value"], by_chance), "chance": float(mean_defined(by_chance))}
            row[key]["beyond_complement"] = _mean(excess[key][:, place] - excess[key][:, 1 - place])
        row["classes"] = {
            key: [_mean(values[:, place, k]) for k in range(values.shape[-1])]
            for key, values in per_class.items()
        }
        found.append(row)
    return found


def class_changes(counts: Counts) -> dict[str, FloatArray]:
    """The relative change of FPR and FNR of each class, all rows to a group, `[R, G, K]` (S2, Figure 4)."""
    base, parts = error_rates(all_rows(counts)), error_rates(counts.margins())
    fpr, fnr = relative_changes(*base, *parts)
    return dict(zip(layout.CHANGES, (fpr, fnr), strict=True))


def _tables(counts: Counts) -> Array:
    return np.asarray(counts.table)


def _mean(values: FloatArray, within: tuple[float, float] = (-np.inf, np.inf)) -> dict[str, Any]:
    """The mean over seeds where it is defined, and Student's interval, which ends where values must."""
    known = values[~np.isnan(values)]
    low, high = mean_interval(known, within=within) if len(known) > 1 else (np.nan, np.nan)
    mean = float(known.mean()) if len(known) else np.nan
    return {"value": mean, "low": low, "high": high, "runs": values.tolist()}


def _photographs(frame: Frame) -> bool:
    """Whether the faces are CelebA's."""
    knobs: Mapping[str, Any] = frame.columns["spec"][0].get("knobs") or {}
    return knobs.get("source") == "celeba"
