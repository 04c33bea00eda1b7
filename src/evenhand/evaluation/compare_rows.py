"""The work of a comparison: every model against the base, all models against each other."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.comparison import Comparison, Rows
from evenhand.evaluation.comparison_notes import notes_on_models, runs_of
from evenhand.evaluation.differences import (
    Difference,
    Measured,
    Paired,
    changed_rows,
    least_p,
    mean_of_pairs,
    measured,
    over_runs,
    paired,
    within,
)
from evenhand.evaluation.each_model import Tell, each_model
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.options import Options, chosen_metrics
from evenhand.evaluation.paid import payments
from evenhand.evaluation.paired_errors import PAIR_KEYS
from evenhand.evaluation.values import NAN
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.cie import Exemplars, cie, modal_labels
from evenhand.metrics.margins import Margins
from evenhand.metrics.metric import Metric
from evenhand.metrics.pair_tables import all_to_group, matrices
from evenhand.metrics.pairs import error_rates, measure, relative_changes
from evenhand.metrics.rates import accuracy
from evenhand.metrics.undefined import divide

MOST_CELLS = 1 << 18  # classes times groups: so many take 6 GB while rows are drawn again
WITHOUT_GROUPS = ("acc", "acc_u.label_attr", "min_acc.label_attr")


def compare_rows(rows: Rows, base: str, options: Options, tell: Tell | None = None) -> Comparison:
    """Compare every model with the base, and all models with each other; `tell` hears how many are done."""
    options.check()
    rows = _base_first(rows, base)
    _refuse_many(rows)
    others = [name for name in rows.predictions if name != base]
    n_groups = max(len(rows.group_names), 1)
    margins = {name: _margins(rows, name, n_groups) for name in rows.predictions}
    whole = {name: part.pooled for name, part in margins.items()}
    sizes = np.bincount(rows.ids[rows.ids >= 0], minlength=n_groups)
    chosen = np.flatnonzero(sizes >= max(options.min_count, 1))
    options = replace(options, privileged_index=_privileged(rows, chosen, options))
    metrics = _metrics(rows, options) if len(chosen) else []
    size = len(rows.classes) * (n_groups + 1)
    found = each_model(
        others, lambda name: _paired(rows, base, name, n_groups, metrics, chosen, options), size, tell
    )
    differences = {
        name: _over_runs(rows, base, name, found[name].differences, metrics, chosen, n_groups, options)
        for name in others
    }
    changed = {name: changed_rows(rows.predictions[base], rows.predictions[name]) for name in others}
    for name, own in differences.items():
        least = least_p(changed[name])
        differences[name] = {key: within(one, CATALOGUE[key], least) for key, one in own.items()}
    paid = payments(rows, base, others, options)
    several = {name for name in others if max(runs_of(rows, base), runs_of(rows, name)) > 1}
    pairs = {
        key: {
            name: paid[name].everyone[key]
            if name in several
            else _pair(key, whole[base], whole[name], found[name].pair_errors.get(key), options)
            for name in others
        }
        for key in PAIR_KEYS
    }
    modal = {name: _modal(rows, name) for name in rows.predictions}
    return Comparison(
        rows,
        base,
        options,
        {name: float(accuracy(part)[0]) for name, part in whole.items()},
        {name: _share(modal[name] != modal[base], rows.weights) for name in others},
        pairs["cev"],
        pairs["sde"],
        pairs["cev_norm"],
        pairs["sde_norm"],
        _matrices(whole),
        {name: class_changes(whole[base], whole[name], rows.classes) for name in others},
        _group_values(margins, rows, sizes) if rows.group_names else None,
        differences,
        _cie(rows, base, others),
        notes_on_models(rows, base, whole, pairs, changed, sizes, options),
        datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        paid,
    )


def _share(hits: Array, weights: Array | None) -> float:
    w = np.ones(len(hits)) if weights is None else weights
    return float(divide((hits * w).sum(), w.sum()))


def _refuse_many(rows: Rows) -> None:
    """Classes times groups that would fill the memory, where a process is killed without a word."""
    classes, groups = len(rows.classes), len(rows.group_names)
    if classes * groups > MOST_CELLS:
        raise InputError(
            f"{groups:,} groups with {classes:,} classes are too many to be compared together; name fewer "
            "group columns, or put classes together"
        )


def _base_first(rows: Rows, base: str) -> Rows:
    if base not in rows.predictions:
        raise ValueError(f"there is no model '{base}' to be the base: {', '.join(rows.predictions)}")
    if len(rows.predictions) < 2:
        raise ValueError("a comparison needs at least two models")
    order = [base, *(name for name in rows.predictions if name != base)]
    return replace(rows, predictions={name: rows.predictions[name] for name in order})


def _margins(rows: Rows, name: str, n_groups: int) -> Margins:
    """Margins `[K, G + 1]` of one model (the unknown group last); its runs added up."""
    runs = np.atleast_2d(rows.predictions[name])
    joints = [
        Joint.from_rows(rows.y, [run], rows.ids, n_groups, len(rows.classes), rows.weights) for run in runs
    ]
    parts = [joint.margins(0) for joint in joints]
    return Margins(
        *(
            np.sum([getattr(part, kind) for part in parts], axis=0)
            for kind in ("tp", "predicted", "actual", "n")
        )
    )


def _paired(
    rows: Rows,
    base: str,
    name: str,
    n_groups: int,
    metrics: Sequence[Metric],
    chosen: Array,
    options: Options,
) -> Paired:
    """Bootstrap base and alternative together; of several runs, the first with the first, and so on.

    One run alone is set against every run of the other model.
    """
    stacks = [np.atleast_2d(rows.predictions[model]) for model in (base, name)]
    several = max(len(stack) for stack in stacks)
    stacks = [np.repeat(stack, several, axis=0) if len(stack) == 1 else stack for stack in stacks]
    pairs = list(zip(*stacks, strict=False))
    share = replace(options, replicates=-(-options.replicates // len(pairs)))
    joints = [
        Joint.from_rows(rows.y, list(pair), rows.ids, n_groups, len(rows.classes), rows.weights)
        for pair in pairs
    ]
    found = [paired(joint, metrics, chosen, share) for joint in joints]
    return mean_of_pairs(found, options.confidence)


def _privileged(rows: Rows, chosen: Array, options: Options) -> int:
    """Place of the privileged group among the chosen ones."""
    if options.privileged is None:
        return 0
    if options.privileged not in rows.group_names:
        known = ", ".join(rows.group_names)
        raise ValueError(f"there is no group '{options.privileged}' to be the privileged one: {known}")
    place = np.flatnonzero(chosen == rows.group_names.index(options.privileged))
    if not len(place):
        raise ValueError(f"the privileged group '{options.privileged}' has too few rows to be compared")
    return int(place[0])


def _metrics(rows: Rows, options: Options) -> list[Metric]:
    if options.metrics is not None:
        return [CATALOGUE[key] for key in chosen_metrics(options.metrics, COUNT_METRICS)]
    if not rows.group_names:
        return [CATALOGUE[key] for key in WITHOUT_GROUPS]
    return [CATALOGUE[key] for key in COUNT_METRICS if not CATALOGUE[key].needs_privileged]


def _over_runs(
    rows: Rows,
    base: str,
    name: str,
    found: dict[str, Difference],
    metrics: Sequence[Metric],
    chosen: Array,
    n_groups: int,
    options: Options,
) -> dict[str, Difference]:
    if not len(chosen):
        return {metric.key: Difference(NAN, NAN, NAN) for metric in _metrics(rows, options)}
    if all(runs_of(rows, model) < 2 for model in (base, name)):
        return found
    stacks = [_run_margins(rows, model, n_groups) for model in (base, name)]
    return over_runs(found, metrics, stacks[0], stacks[1], chosen, options)


def _run_margins(rows: Rows, name: str, n_groups: int) -> Margins:
    parts = [
        Joint.from_rows(rows.y, [run], rows.ids, n_groups, len(rows.classes), rows.weights).margins(0)
        for run in np.atleast_2d(rows.predictions[name])
    ]
    return Margins(
        *(np.stack([getattr(part, kind) for part in parts]) for kind in ("tp", "predicted", "actual", "n"))
    )


def _pair(key: Any, base: Margins, other: Margins, errors: FloatArray | None, options: Options) -> Measured:
    found = measure(key, base, other)
    return measured(found.value, errors, options.confidence, found.skipped, found.reason)


def _matrices(whole: Mapping[str, Margins]) -> dict[str, FloatArray]:
    rates = [error_rates(part) for part in whole.values()]
    fpr, fnr = (np.stack([pair[side][0] for pair in rates]) for side in (0, 1))
    return matrices(fpr, fnr, np.array([float(accuracy(part)[0]) for part in whole.values()]))


def class_changes(base: Margins, other: Margins, classes: tuple[str, ...]) -> list[dict[str, Any]]:
    """What each class gained and lost: rates of both models, and their relative changes."""
    (base_fpr, base_fnr), (fpr, fnr) = ([rate[0] for rate in error_rates(part)] for part in (base, other))
    fpr_change, fnr_change = relative_changes(base_fpr, base_fnr, fpr, fnr)
    return [
        {
            "class": name,
            "n": float(base.actual[k, 0]),
            "base_fpr": base_fpr[k],
            "fpr": fpr[k],
            "base_fnr": base_fnr[k],
            "fnr": fnr[k],
            "fpr_change": fpr_change[k],
            "fnr_change": fnr_change[k],
            "recall_change": base_fnr[k] - fnr[k],
        }
        for k, name in enumerate(classes)
    ]


def _group_values(
    margins: Mapping[str, Margins], rows: Rows, sizes: Array
) -> dict[str, list[dict[str, Any]]]:
    """S2's Table 4: each model on all rows against the same model on one group."""
    known = np.arange(len(rows.group_names))
    found = {}
    for name, part in margins.items():
        values, correct = all_to_group(part), accuracy(part)
        found[name] = [
            {
                "name": rows.group_names[g],
                "n": int(sizes[g]),
                "accuracy": float(correct[g]),
                **{key: float(values[key][g]) for key in (*PAIR_KEYS, "fpr_change", "fnr_change")},
                "skipped": int(values["skipped"][g]),
            }
            for g in known
        ]
    return found


def _modal(rows: Rows, name: str) -> Array:
    runs = rows.predictions[name]
    return runs if runs.ndim == 1 else modal_labels(runs, len(rows.classes))


def _cie(rows: Rows, base: str, others: Sequence[str]) -> dict[str, Exemplars] | None:
    if any(runs_of(rows, name) < 2 for name in rows.predictions):
        return None
    found = {name: cie(rows.predictions[base], rows.predictions[name], len(rows.classes)) for name in others}
    return {name: replace(one, share=_weighted(one, rows)) for name, one in found.items()}


def _weighted(found: Exemplars, rows: Rows) -> float:
    """The share of the rows that changed, by weight, as that of the predictions that differ is."""
    changed = np.zeros(len(rows.y), dtype=bool)
    changed[found.indices] = True
    return _share(changed, rows.weights)
