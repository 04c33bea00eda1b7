"""Model against model: how unevenly the error rates of the classes moved (CEV, SDE).

For class i and each of its two one-vs-rest error rates, the relative change from base to alternative is
d = (alternative - base) / base. Then (S2; "Measure Twice, Cut Once")

    CEV = (1/n) sum_i || (dFPR_i, dFNR_i) - mean ||^2      spread of the changes over the classes
    SDE = (1/n) sum_i | dFNR_i - dFPR_i |                  trade of one kind of error for the other

Both are 0 for a model against itself and neither is symmetric in the two models. Rates are `[..., K]`, the
classes last; leading axes (models, groups, replicates) give results `[...]`. Of two classes CEV = SDE^2 / 2;
of one CEV is undefined, as there is no other that its change could differ from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import Margins, margins_of_tables
from evenhand.metrics.undefined import divide, mean_defined

ZeroPolicy = Literal["skip", "smooth", "eps", "raise"]
Key = Literal["cev", "sde", "cev_norm", "sde_norm"]
EPS = 1e-6  # the base rate that the "eps" policy puts in the place of 0
FLOOR = 1e-9  # a normaliser below this is rounding, not a scale


def relative_changes(
    base_fpr: Array, base_fnr: Array, fpr: Array, fnr: Array, zero_policy: ZeroPolicy = "skip"
) -> tuple[FloatArray, FloatArray]:
    """The changes dFPR and dFNR of each class, `[..., K]`; both NaN for a class where either is undefined.

    A base rate of 0 (or a class without rows) has no relative change. `zero_policy`: "skip" leaves the class
    out, "eps" reads a base rate below 1e-6 as 1e-6, "raise" refuses; "smooth" needs counts: `error_rates`.

    >>> d_fpr, d_fnr = relative_changes([0.1, 0.2], [0.2, 0.0], [0.12, 0.16], [0.2, 0.15])
    >>> d_fpr.round(3).tolist(), d_fnr.tolist()
    ([0.2, nan], [0.0, nan])
    """
    if zero_policy == "smooth":
        raise ValueError(
            '"smooth" needs counts, not rates: take the rates from error_rates(margins, smooth=True)'
        )
    base = np.stack(np.broadcast_arrays(np.asarray(base_fpr, float), np.asarray(base_fnr, float)))
    other = np.stack(np.broadcast_arrays(np.asarray(fpr, float), np.asarray(fnr, float)))
    if zero_policy == "eps":
        base = np.maximum(base, EPS)
    changes = divide(other - base, base)
    undefined = np.isnan(changes).any(axis=0)
    if zero_policy == "raise" and undefined.any():
        classes = np.unique(np.argwhere(undefined)[:, -1]).tolist()
        raise ValueError(f"no relative change in classes {classes}: a base rate is 0, or a class has no rows")
    return np.where(undefined, np.nan, changes[0]), np.where(undefined, np.nan, changes[1])


def cev(
    base_fpr: Array, base_fnr: Array, fpr: Array, fnr: Array, zero_policy: ZeroPolicy = "skip"
) -> FloatArray:
    """Combined error variance of the alternative against the base: Var(dFPR) + Var(dFNR), population.

    >>> base = [0.10, 0.20, 0.05], [0.20, 0.10, 0.25]
    >>> cev(*base, [0.12, 0.16, 0.05], [0.20, 0.15, 0.20]).round(6).item()
    0.113333
    """
    return _cev(*relative_changes(base_fpr, base_fnr, fpr, fnr, zero_policy))


def sde(
    base_fpr: Array, base_fnr: Array, fpr: Array, fnr: Array, zero_policy: ZeroPolicy = "skip"
) -> FloatArray:
    """Symmetric distance error of the alternative against the base: mean |dFNR - dFPR|.

    >>> base = [0.10, 0.20, 0.05], [0.20, 0.10, 0.25]
    >>> sde(*base, [0.12, 0.16, 0.05], [0.20, 0.15, 0.20]).round(6).item()
    0.366667
    """
    return _sde(*relative_changes(base_fpr, base_fnr, fpr, fnr, zero_policy))


def pair_measures(
    base_fpr: Array,
    base_fnr: Array,
    fpr: Array,
    fnr: Array,
    zero_policy: ZeroPolicy = "skip",
    n_classes: int | None = None,
    floor: float = FLOOR,
) -> dict[str, FloatArray]:
    """cev, sde, their normalised forms, the mean relative changes and the classes left out, each `[...]`.

    Normalised = divided by the same measure of a uniform random predictor (FPR 1/C, FNR 1 - 1/C) against the
    same base and over the same classes; NaN where that is below `floor` (balanced classes with symmetric
    errors have a random SDE of 0). C is `n_classes`, by default the number of classes given.

    >>> base = [0.10, 0.20, 0.05], [0.20, 0.10, 0.25]
    >>> found = pair_measures(*base, [0.12, 0.16, 0.05], [0.20, 0.15, 0.20])
    >>> found["cev_norm"].round(6).item(), found["sde_norm"].round(6).item(), found["skipped"].item()
    (0.015351, 0.122222, 0)
    """
    changes = relative_changes(base_fpr, base_fnr, fpr, fnr, zero_policy)
    undefined = np.isnan(changes[0])
    chance = 1.0 / (n_classes or undefined.shape[-1])
    guess_fpr, guess_fnr = (np.where(undefined, np.nan, rate) for rate in (chance, 1.0 - chance))
    random = relative_changes(base_fpr, base_fnr, guess_fpr, guess_fnr, zero_policy)
    found = {"cev": _cev(*changes), "sde": _sde(*changes)}
    for key, divisor in (("cev", _cev(*random)), ("sde", _sde(*random))):
        found[f"{key}_norm"] = divide(found[key], np.where(divisor < floor, 0.0, divisor))
    found["fpr_change"], found["fnr_change"] = (mean_defined(change) for change in changes)
    return found | {"skipped": np.asarray(undefined.sum(axis=-1))}


@dataclass(frozen=True)
class PairValue:
    """One measure of an alternative against a base, with what it was made of.

    `fpr_change` and `fnr_change` are the relative changes of the classes (NaN where left out), `skipped` is
    the number of classes left out, and `reason` says why `value` is NaN.
    """

    value: float
    fpr_change: FloatArray
    fnr_change: FloatArray
    skipped: int
    reason: str | None = None


def measure(
    key: Key, base: Counts | Margins, alternative: Counts | Margins, zero_policy: ZeroPolicy = "skip"
) -> PairValue:
    """One measure of two models (or of two sets of rows), all groups together.

    >>> base = Counts.from_table([[[8, 1, 1], [2, 7, 1], [0, 2, 8]]])
    >>> other = Counts.from_table([[[6, 3, 1], [1, 9, 0], [1, 3, 6]]])
    >>> round(measure("cev", base, other).value, 6), measure("sde_norm", base, other).reason
    (1.006173, 'the random predictor has an SDE below 1e-09 against this base')
    """
    whole = all_rows(base)
    smooth, policy = zero_policy == "smooth", _after_smoothing(zero_policy)
    (base_fpr, base_fnr), (fpr, fnr) = error_rates(whole, smooth), error_rates(all_rows(alternative), smooth)
    rates = base_fpr[0], base_fnr[0], fpr[0], fnr[0]
    changes = relative_changes(*rates, zero_policy=policy)
    value = pair_measures(*rates, zero_policy=policy, n_classes=n_classes_of(whole))[key].item()
    skipped = int(np.isnan(changes[0]).sum())
    reason = None
    if skipped == len(changes[0]):
        reason = "no class has a relative change: every one has a base rate of 0 or no rows"
    elif np.isnan(value) and skipped == len(changes[0]) - 1:
        reason = "one class alone has a relative change: there is no other that it could differ from"
    elif np.isnan(value):
        reason = f"the random predictor has {_named(key)} below {FLOOR} against this base"
    return PairValue(value, *changes, skipped, reason)


def error_rates(margins: Margins, smooth: bool = False) -> tuple[FloatArray, FloatArray]:
    """FPR and FNR with the classes last, `[..., G, K]`; NaN for a class without negatives (positives).

    `smooth` takes (count + 0.5) / (rows + 1), the Jeffreys estimate, so that no rate is 0.

    >>> margins = Counts.from_table([[[4, 0], [1, 3]]]).margins()
    >>> [rate.tolist() for rate in error_rates(margins)]
    [[[0.25, 0.0]], [[0.0, 0.25]]]
    >>> error_rates(margins, smooth=True)[0].tolist()
    [[0.3, 0.1]]
    """
    fpr, fnr = _share(margins.fp, margins.negatives, smooth), _share(margins.fn, margins.actual, smooth)
    return np.swapaxes(fpr, -1, -2), np.swapaxes(fnr, -1, -2)


def _share(wrong: Array, rows: Array, smooth: bool) -> FloatArray:
    # a class without rows stays undefined: smoothing must not invent a rate of one half for it
    return divide(wrong + 0.5, np.where(rows > 0, rows + 1.0, 0.0)) if smooth else divide(wrong, rows)


def all_rows(counts: Counts | Margins) -> Margins:
    """All rows as one group: of counts, those of unknown group too; of margins, the groups that they hold."""
    if isinstance(counts, Margins):
        return counts.pooled
    return margins_of_tables(counts.cells.sum(axis=-3, keepdims=True), multilabel=counts.multilabel)


def n_classes_of(margins: Margins) -> int:
    """What a random predictor chooses among: the classes, or presence and absence of a label."""
    return int(margins.tp.shape[-2]) if margins.exclusive else 2


def _after_smoothing(zero_policy: ZeroPolicy) -> ZeroPolicy:
    """Smoothed rates are never 0; what is still undefined is a class without rows, which is left out."""
    return "skip" if zero_policy == "smooth" else zero_policy


def _named(key: str) -> str:
    return "a CEV" if key.startswith("cev") else "an SDE"


def _cev(d_fpr: FloatArray, d_fnr: FloatArray) -> FloatArray:
    return _variance(d_fpr) + _variance(d_fnr)


def _variance(values: FloatArray) -> FloatArray:
    """Over the classes; NaN of fewer than two."""
    found = mean_defined((values - mean_defined(values)[..., None]) ** 2)
    return np.where(np.isfinite(values).sum(axis=-1) > 1, found, np.nan)


def _sde(d_fpr: FloatArray, d_fnr: FloatArray) -> FloatArray:
    return mean_defined(np.abs(d_fnr - d_fpr))
