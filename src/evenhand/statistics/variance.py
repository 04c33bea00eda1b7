"""How much a number moves between identical training runs (S0: 16 fixed-seed runs of each technique).

MaxDiff = max - min and STDEV (population) over runs; for values of several classes, S0 reports the class
whose MaxDiff is the largest. Runs on which the number is undefined are left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_HALF_EVEN, Decimal

import numpy as np

from evenhand.arrays import Array, FloatArray, as_array
from evenhand.metrics.undefined import count_defined, divide, max_defined, mean_defined, min_defined


@dataclass(frozen=True)
class Spread:
    """The runs of one number (or of K numbers, as arrays `[K]`): how many, where, how far apart.

    `relative_maxdiff` is maxdiff / mean (S0 prints it times 100); NaN where the mean is 0.
    """

    n: Array
    mean: FloatArray
    std: FloatArray
    min: FloatArray
    max: FloatArray
    maxdiff: FloatArray
    relative_maxdiff: FloatArray

    def to_dict(self) -> dict[str, float | int]:
        """The plain numbers of a single spread.

        >>> spread([1.0, 3.0]).to_dict()["maxdiff"]
        2.0
        """
        values = {name: np.asarray(value).item() for name, value in vars(self).items()}
        return values | {"n": int(values["n"])}


def spread(values: object) -> Spread:
    """Mean, population standard deviation, extremes and MaxDiff over runs: `[R]`, or `[R, ...]` for each.

    >>> found = spread([0.20, 0.26, 0.23])
    >>> round(found.maxdiff.item(), 6), round(found.std.item(), 6), round(found.relative_maxdiff.item(), 6)
    (0.06, 0.024495, 0.26087)
    """
    runs = np.asarray(as_array(values), dtype=np.float64)
    mean, low, high = mean_defined(runs, axis=0), min_defined(runs, axis=0), max_defined(runs, axis=0)
    # constant runs have a spread of exactly 0, whatever the rounding of their mean
    std = np.where(high == low, high - low, np.sqrt(mean_defined((runs - mean) ** 2, axis=0)))
    return Spread(count_defined(runs, axis=0), mean, std, low, high, high - low, divide(high - low, mean))


def widest_class(values: object) -> tuple[int, Spread]:
    """The class with the largest MaxDiff over runs `[R, K]`, and its spread (S0's "per-class" columns).

    MaxDiffs are compared after rounding to 4 significant digits and the first of several wins, as in S0. It
    is not an average over classes, and its std need not be the largest.

    >>> widest_class([[0.1, 0.5], [0.2, 0.8]])[0]
    1
    """
    runs = np.asarray(as_array(values), dtype=np.float64)
    rounded = [significant(value) for value in spread(runs).maxdiff.tolist()]
    if not rounded or all(np.isnan(rounded)):
        raise ValueError("no class has a defined value")
    best = int(np.nanargmax(rounded))
    return best, spread(runs[:, best])


def variance_share(run_std: Array | float, sampling_std: Array | float) -> FloatArray:
    """Share of the uncertainty that comes from training again: run^2 / (run^2 + sampling^2).

    The rest comes from the finite test set. NaN where both are 0.

    >>> variance_share(0.03, 0.04).round(6).item()
    0.36
    """
    run, sampling = np.square(run_std), np.square(sampling_std)
    return divide(run, run + sampling)


def significant(value: float, digits: int = 4) -> float:
    """The value with so many significant decimal digits, halves to even; S0 rounds before it compares.

    >>> significant(0.123450), significant(0.123550), significant(1234.5)
    (0.1234, 0.1236, 1234.0)
    """
    if not np.isfinite(value) or value == 0:
        return value
    exact = Decimal(repr(float(value)))  # the shortest decimal of the number, which is what a reader sees
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    return float(exact.quantize(last, rounding=ROUND_HALF_EVEN))


def percent_text(value: float) -> str:
    """The value as S0 prints it: 4 significant digits, then percent with one decimal, "<0.1" below that.

    >>> percent_text(0.3357), percent_text(0.0004), percent_text(0.0)
    ('33.6', '<0.1', '0.0')
    """
    if not np.isfinite(value):
        return "-"
    percent = 100 * significant(float(value))  # in floats, as S0's program: 9 of its cells would else differ
    return "<0.1" if 0 < percent < 0.1 else f"{percent:.1f}"
