"""Is a part of a claim shown? An effect, its interval over structures and seeds, and the bound it must pass.

Every structure and every seed is a draw: of a table of numbers d[s, r] (structure s, seed r) the variance of
the mean is taken as Var_s(mean over r) / S + Var_r(mean over s) / R, which counts what is left of both twice,
and the interval is Student's with Satterthwaite's degrees of freedom. So a seed whose one model is measured
under all structures is no 27 observations. Where a claim is about one table of the paper, its task and our
networks are given and not drawn: then the seeds alone count, and the interval says nothing of other tasks. A
claim of k parts is read from intervals of level 1 - 0.05 / k.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import isfinite

import numpy as np

from evenhand.arrays import FloatArray, IntArray
from evenhand.evaluation.ci_mnist.judging import (
    ALPHA,
    CANNOT_TELL,
    NAN,
    Asked,
    Part,
    together,
)
from evenhand.evaluation.many_attributes.rules import read

Table = Mapping[tuple[str, int], float]  # (structure or method, seed) -> number
DRAWS, SEED = 2000, 0
FEWEST = 6  # structures, below which a bootstrap over them promises too much


def judged(asked: Sequence[Asked]) -> list[Part]:
    """The parts of one claim, read from intervals that hold together."""
    level, found = 1 - ALPHA / max(1, len(asked)), []
    for one in asked:
        effect, low, high, count = one.measure(level)
        known = all(isfinite(value) for value in (effect, low, high))
        word = read(one.rule, low, high) if known else CANNOT_TELL
        found.append(Part(one.words, effect, low, high, count, one.rule, word, one.unit, one.by))
    return found


def crossed(
    groups: Sequence[tuple[float, Table]], level: float, drawn: bool = True
) -> tuple[float, float, float, int]:
    """The sum of signed means of tables, with its interval, and how many numbers stand behind it.

    Unless structures are `drawn`, they are those that are meant, and seeds alone make the interval.

    >>> table = {(str(s), r): s + r for s in (0.0, 2.0) for r in (0, 1, 2)}
    >>> [round(value, 3) for value in crossed([(1.0, table)], 0.95)]  # (2 / 2 + 1 / 3) on 1.684 degrees
    [2.0, -3.977, 7.977, 6]
    """
    effect, errors, seeds = 0.0, list[tuple[float, int]](), dict[int, float]()
    for sign, table in groups:
        means = _means(table)
        if not means:
            return NAN, NAN, NAN, 0
        values = np.array(list(means.values()))
        effect += sign * float(values.mean())
        if drawn and len(values) > 1:
            errors.append((float(values.var(ddof=1)) / len(values), len(values) - 1))
        for seed, moved in _seed_effects(table, means).items():
            seeds[seed] = seeds.get(seed, 0.0) + sign * moved
    if len(seeds) > 1:
        errors.append((float(np.var(list(seeds.values()), ddof=1)) / len(seeds), len(seeds) - 1))
    count = sum(len(table) for _, table in groups)
    # one seed may be one model under all structures, which says nothing of another
    reach = _reach(errors, level) if len(seeds) > 1 else NAN
    return effect, effect - reach, effect + reach, count


def _means(table: Table) -> dict[str, float]:
    by: dict[str, list[float]] = {}
    for (name, _), value in table.items():
        by.setdefault(name, []).append(value)
    return {name: float(np.mean(values)) for name, values in by.items()}


def _seed_effects(table: Table, means: Mapping[str, float]) -> dict[int, float]:
    """How far each seed lies off, structures' own means taken out: a run that is missing moves nothing."""
    by: dict[int, list[float]] = {}
    for (name, seed), value in table.items():
        by.setdefault(seed, []).append(value - means[name])
    return {seed: float(np.mean(values)) for seed, values in by.items()}


def _reach(errors: Sequence[tuple[float, int]], level: float) -> float:
    from scipy.special import stdtrit

    if not errors:
        return NAN
    whole = sum(error for error, _ in errors)
    if whole <= 0:
        return 0.0
    freedom = whole**2 / sum(error**2 / free for error, free in errors)
    return float(stdtrit(freedom, (1 + level) / 2) * np.sqrt(whole))


def contrast(words: str, rule: str, *groups: tuple[float, Table], drawn: bool = True) -> Asked:
    """A signed sum of means, to be judged."""
    return Asked(words, lambda level: crossed(groups, level, drawn), rule)


def resampled(
    words: str, rule: str, n: int, statistic: Callable[[IntArray], FloatArray], count: int
) -> Asked:
    """A statistic of n structures with its percentile bootstrap interval; `statistic` takes places `[B, n]`.

    Draws in which it is undefined are left out; if more than half are, or for n < 6, there is no interval. A
    statistic that is undefined itself has nothing behind it.
    """

    def measure(level: float) -> tuple[float, float, float, int]:
        effect = float(statistic(np.arange(n)[None])[0]) if n else NAN
        if not np.isfinite(effect):
            return NAN, NAN, NAN, 0
        if n < FEWEST:
            return effect, NAN, NAN, count
        drawn = statistic(np.random.default_rng(SEED).integers(0, n, size=(DRAWS, n)))
        known = drawn[np.isfinite(drawn)]
        if 2 * len(known) < len(drawn):
            return effect, NAN, NAN, count
        low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
        return effect, low, high, count

    return Asked(words, measure, rule)


def share(words: str, rule: str, hits: Sequence[bool], count: int) -> Asked:
    """A share of structures with Wilson's interval (1927)."""

    def measure(level: float) -> tuple[float, float, float, int]:
        from scipy.special import ndtri

        n = len(hits)
        if not n:
            return NAN, NAN, NAN, 0
        p, z = sum(hits) / n, float(ndtri((1 + level) / 2))
        middle, half = p + z**2 / (2 * n), z * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
        scale = 1 + z**2 / n
        return p, float((middle - half) / scale), float((middle + half) / scale), count

    return Asked(words, measure, rule, "share")


__all__ = ["Asked", "Part", "Table", "contrast", "crossed", "judged", "resampled", "share", "together"]
