"""How wrong the difference of two models may be, metric by metric: a bootstrap of the cells they share.

What is a largest value over groups (a gap, a ratio, the worst), or a sum of sizes, rests on the rates of
single groups. Every label of every group is therefore lent rows (or every group as a whole, where the rate is
one of all labels; `joint_smoothing`), and pairs of groups are looked at one by one (`metrics.range_change`).
Everything smooth rests on all rows, and these are lent one of each kind in all. CEV and SDE are relative to
rates that may be nearly 0, which lent rows would change: nothing is lent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.joint_smoothing import lent_in_all, lent_to_each, lent_to_groups
from evenhand.evaluation.options import Options
from evenhand.metrics.compare import Interval, Pair
from evenhand.metrics.margins import Margins
from evenhand.metrics.metric import Metric
from evenhand.metrics.pairs import error_rates, pair_measures
from evenhand.metrics.view import View

PAIR_KEYS = ("cev", "sde", "cev_norm", "sde_norm")
MOST_VALUES = 1 << 25  # rates worked out over all replicates: beyond this there are fewer replicates
FEWEST = 100

Errors = tuple[FloatArray, FloatArray, bool]  # how far the truth lies below, above; whether those differ


def change_errors(
    joint: Joint, metrics: Sequence[Metric], chosen: Array, options: Options
) -> dict[str, Errors]:
    """Of each metric's difference (model 1 minus model 0), draw by draw; none without replicates."""
    if not options.replicates:
        return {}
    found: dict[str, Errors] = {}
    for lend, own in _by_lending(joint, metrics, chosen, options):
        found |= _of_largest(joint, lend(joint), own, chosen, options)
    smooth = [metric for metric in metrics if metric.key not in found]
    return found | _of_smooth(joint, smooth, chosen, options)


def _by_lending(
    joint: Joint, metrics: Sequence[Metric], chosen: Array, options: Options
) -> list[tuple[Callable[[Joint], Joint], list[Metric]]]:
    """Largest values and sums of sizes, by how rows are lent to them.

    To labels; of many labels, to groups as a whole where the metric has one value for all labels together.
    """
    views = views_of(joint, None, chosen, options)
    rows_themselves = views_of(joint, joint.weight[None], chosen, options)
    of_labels: list[Metric] = []
    of_groups: list[Metric] = []
    for metric in metrics:
        if metric.statistic is not None and _change(metric, views, views, rows_themselves) is not None:
            one_value = metric.statistic.value(views[0]).shape[-1] == 1
            (of_groups if one_value and joint.n_classes > 2 else of_labels).append(metric)
    lent = ((lent_to_each, of_labels), (lent_to_groups, of_groups))
    return [(lend, own) for lend, own in lent if own]


def _of_largest(
    joint: Joint, lent: Joint, metrics: Sequence[Metric], chosen: Array, options: Options
) -> dict[str, Errors]:
    """Of those that are largest values, or sums of sizes, and can be looked at as such."""
    views = views_of(joint, None, chosen, options)
    centre = views_of(lent, None, chosen, options)
    parts: dict[str, list[Interval]] = {metric.key: [] for metric in metrics}
    for weights in _draws(lent, options):
        drawn = views_of(lent, weights, chosen, options)
        for metric in [metric for metric in metrics if metric.key in parts]:
            change = _change(metric, views, centre, drawn)
            if change is None:
                del parts[metric.key]
            else:
                parts[metric.key].append(change)
    return {
        key: (np.concatenate([down for down, _ in each]), np.concatenate([up for _, up in each]), True)
        for key, each in parts.items()
    }


def _change(metric: Metric, views: Pair, centre: Pair, drawn: Pair) -> Interval | None:
    if metric.statistic is None or any(view.convention != "strict" for view in views):
        return None
    found = metric.statistic.change(views, centre, drawn)
    return None if found is None else (metric.reduce(found[0], views[0]), metric.reduce(found[1], views[0]))


def _of_smooth(joint: Joint, metrics: Sequence[Metric], chosen: Array, options: Options) -> dict[str, Errors]:
    """Of the others: the size of the difference's own error."""
    if not metrics:
        return {}
    lent = lent_in_all(joint)
    centre = _moved(metrics, views_of(lent, None, chosen, options))
    parts: dict[str, list[FloatArray]] = {metric.key: [] for metric in metrics}
    for weights in _draws(lent, options):
        for key, moved in _moved(metrics, views_of(lent, weights, chosen, options)).items():
            parts[key].append(np.abs(moved - centre[key]))
    sizes = {key: np.concatenate(each) for key, each in parts.items()}
    return {key: (size, size, False) for key, size in sizes.items()}


def _moved(metrics: Sequence[Metric], views: Pair) -> dict[str, FloatArray]:
    with np.errstate(invalid="ignore"):  # an unsmoothed epsilon may be infinite in both
        return {metric.key: metric(views[1]) - metric(views[0]) for metric in metrics}


def pair_errors(joint: Joint, options: Options) -> dict[str, FloatArray]:
    """Of CEV and SDE of the two models, draw by draw."""
    if not options.replicates:
        return {}
    values = _pair_values(joint, None)
    drawn = [_pair_values(joint, weights) for weights in _draws(joint, options)]
    return {key: np.concatenate([draw[key] for draw in drawn]) - values[key] for key in PAIR_KEYS}


def _pair_values(joint: Joint, weights: FloatArray | None) -> dict[str, FloatArray]:
    base, other = (error_rates(joint.margins(model, weights).pooled) for model in (0, 1))
    rates = (side[..., 0, :] for side in (*base, *other))
    base_fpr, base_fnr, fpr, fnr = rates
    found = pair_measures(base_fpr, base_fnr, fpr, fnr, n_classes=joint.n_classes)
    return {key: found[key] for key in PAIR_KEYS}


def _draws(joint: Joint, options: Options) -> Iterator[FloatArray]:
    size = joint.n_classes * (joint.n_groups + 1)
    affordable = min(options.replicates, MOST_VALUES // (size * 64))
    replicates = max(min(FEWEST, options.replicates), affordable)
    return joint.draw(replicates, np.random.default_rng(options.seed))


def views_of(joint: Joint, weights: FloatArray | None, chosen: Array, options: Options) -> Pair:
    """The cells of both models as metrics look at them; of resampled `weights [..., M]` if given."""
    return view_of(joint, 0, weights, chosen, options), view_of(joint, 1, weights, chosen, options)


def view_of(joint: Joint, model: int, weights: FloatArray | None, chosen: Array, options: Options) -> View:
    """The same of one model."""
    return looked_at(joint.margins(model, weights), chosen, options)


def looked_at(margins: Margins, chosen: Array, options: Options) -> View:
    """Margins `[..., K, G + 1]` under the conventions of the comparison."""
    return View(
        margins.groups(chosen),
        everyone=margins.pooled,
        convention=options.convention,
        privileged=options.privileged_index,
        smoothing=options.smoothing,
        legacy=options.legacy,
    )
