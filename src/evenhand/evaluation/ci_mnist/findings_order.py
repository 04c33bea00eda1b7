"""S3's claims over settings: correlation with the knobs, which settings hurt, whether anything serves all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import permutations, product

import numpy as np

from evenhand.arrays import Array, FloatArray, IntArray
from evenhand.evaluation.ci_mnist.evidence import Evidence, mean_of
from evenhand.evaluation.ci_mnist.judging import ABOVE, BELOW, NO_CHANCE, Asked, contrast, resampled
from evenhand.evaluation.ci_mnist.layout import FAIRNESS, METRICS, MODELS, SETTINGS, setting_of, tasks_of
from evenhand.evaluation.ci_mnist.numbers import NAN, Series


def less_correlated_is_fairer(e: Evidence) -> list[Asked]:
    """6: over models, |correlation with the knob| against fairness, within each setting and width."""
    follows, fair = (_table(e, fill) for fill in (_follows(e), _fairness(e)))
    models = np.flatnonzero(np.isfinite(follows).any(axis=0) & np.isfinite(fair).any(axis=0))

    def statistic(places: IntArray) -> float:
        drawn = models[places]
        return _mean_rank_correlation(follows[:, drawn], fair[:, drawn])

    words, runs = "mean rank correlation over models, within settings and widths", e.runs(tasks_of())
    p = _exact_p(follows[:, models], fair[:, models])
    return [
        resampled(words, BELOW, len(models), statistic, runs, "correlation"),
        Asked("its p over all orders of the models", lambda level: (p, p, p, runs), NO_CHANCE, "p"),
    ]


def large_features(e: Evidence) -> list[Asked]:
    """7: fairness falls farther with few blue digits or correlated colour than with lines or green marks."""
    asked = []
    for large, small in product(("minority", "colour"), ("lines", "green")):
        one, other = setting_of(small).after, setting_of(large).after
        models = e.everywhere([*one, *other])
        words = f"fairness with {small} less with {large}, {mean_of(models)}"
        asked.append(contrast(words, ABOVE, e.fairness(models, one), e.fairness(models, other)))
    return asked


def nothing_serves_all(e: Evidence) -> list[Asked]:
    """8: every model is behind another in some setting, and so is every metric's choice on another metric."""
    models = e.everywhere([task for setting in SETTINGS for task in setting.after])
    fair = {(m, s.name): e.fairness([m], s.after) for m in models for s in SETTINGS}
    asked = []
    for model in models:
        behind = [
            (f"{MODELS[other]} less {MODELS[model]} in fairness, {s.name}",
             fair[other, s.name], fair[model, s.name])
            for s in SETTINGS for other in models if other != model
        ]  # fmt: skip
        asked.append(_farthest(behind))
    return asked + [_farthest(_behind_by(e, models, key)) for key in METRICS if len(models) > 1]


def _behind_by(e: Evidence, models: list[str], key: str) -> list[tuple[str, Series, Series]]:
    """What a metric's choice of a model leaves behind on the other metrics, in every setting."""
    found = []
    for setting in SETTINGS:
        by_metric = {name: _by_model(e, models, setting.after, name) for name in METRICS}
        chosen = _first(by_metric[key])
        for name in METRICS:
            best = _first(by_metric[name])
            if name != key and best != chosen:
                words = f"chosen by {METRICS[key]}: {METRICS[name]} of {MODELS[best]} less {MODELS[chosen]}"
                found.append((f"{words}, {setting.name}", by_metric[name][best], by_metric[name][chosen]))
    return found


def _by_model(e: Evidence, models: list[str], tasks: tuple[str, ...], key: str) -> dict[str, Series]:
    return {model: e.numbers.series([model], tasks, [key]) for model in models}


def _first(series: Mapping[str, Series]) -> str:
    return max(series, key=lambda model: float(np.mean(list(series[model].values()))))


def _farthest(pairs: list[tuple[str, Series, Series]]) -> Asked:
    """The pair whose difference is the surest, at a level that pays for having looked at all of them."""
    if not pairs:
        return contrast("nothing is behind", ABOVE, {})
    asked = [contrast(words, ABOVE, one, other) for words, one, other in pairs]

    def measure_of(one: Asked) -> Callable[[float], tuple[float, float, float, int]]:
        return lambda level: one.measure(1 - (1 - level) / len(asked))

    def sure(one: Asked) -> float:
        low = measure_of(one)(0.95)[1]
        return low if low == low else -np.inf

    best = max(asked, key=sure)
    return Asked(best.words, measure_of(best), ABOVE)


def _follows(e: Evidence) -> dict[tuple[str, str, str], float]:
    """Mean |correlation| of the fairness metrics with the knob, by setting, width and model."""
    places = [list(METRICS).index(key) for key in FAIRNESS]
    return {
        (row["setting"], row["width"], row["model"]): float(np.mean([row["values"][p] for p in places]))
        for row in e.correlations
    }


def _fairness(e: Evidence) -> dict[tuple[str, str, str], float]:
    """Mean fairness over seeds where the knob is turned, by setting, width and model."""
    found = {}
    for setting, width, model in product(SETTINGS, e.numbers.widths, MODELS):
        series = e.numbers.series([model], setting.after, FAIRNESS, [width])
        found[setting.name, width, model] = float(np.mean(list(series.values()))) if series else NAN
    return found


def _table(e: Evidence, values: Mapping[tuple[str, str, str], float]) -> FloatArray:
    """`[settings x widths, models]`."""
    cases = product([setting.name for setting in SETTINGS], e.numbers.widths)
    return np.array(
        [[values.get((setting, width, model), NAN) for model in MODELS] for setting, width in cases]
    )


def _mean_rank_correlation(a: FloatArray, b: FloatArray) -> float:
    """Spearman's rho of each row over the places where both sides are defined, averaged over rows.

    >>> nan = float("nan")
    >>> _mean_rank_correlation(np.array([[1.0, 2, 3, nan]]), np.array([[9.0, 5, 5, 1]])).__round__(4)
    -0.866
    """
    both = np.isfinite(a) & np.isfinite(b)
    x, y = (_centred_ranks(side, both) for side in (a, b))
    size = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    known = (both.sum(axis=1) >= 3) & (size > 0)
    return float(np.mean((x * y).sum(axis=1)[known] / size[known])) if known.any() else NAN


def _exact_p(a: FloatArray, b: FloatArray) -> float:
    """The share of all orders of the models whose correlation is as far from 0: few models show little."""
    found = _mean_rank_correlation(a, b)
    if found != found:
        return NAN
    drawn = [_mean_rank_correlation(a, b[:, list(order)]) for order in permutations(range(a.shape[1]))]
    return float(np.mean(np.abs(drawn) >= abs(found) - 1e-9))


def _centred_ranks(values: FloatArray, known: Array) -> FloatArray:
    """Ranks within each row (ties averaged) less their mean, 0 where unknown; all rows at once."""
    pairs = known[:, :, None] & known[:, None, :]
    less = ((values[:, :, None] > values[:, None, :]) & pairs).sum(axis=2)
    equal = ((values[:, :, None] == values[:, None, :]) & pairs).sum(axis=2)
    ranks = np.where(known, less + (equal + 1) / 2, 0.0)
    middle = (known.sum(axis=1, keepdims=True) + 1) / 2
    return np.where(known, ranks - middle, 0.0)
