"""Tables of CEV and SDE: every model against every other, and one model on all rows against each group."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.metrics.counts import Counts
from evenhand.metrics.margins import Margins
from evenhand.metrics.pairs import ZeroPolicy, all_rows, error_rates, n_classes_of, pair_measures
from evenhand.metrics.rates import accuracy, as_margins

MATRICES = ("cev", "sde", "cev_norm", "sde_norm")


def matrices(
    fpr: Array,
    fnr: Array,
    accuracy: Array,
    zero_policy: ZeroPolicy = "skip",
    n_classes: int | None = None,
) -> dict[str, FloatArray]:
    """Matrices `[..., M, M]` of M models: row = base, column = alternative, diagonal 0 (S2, Figure 3).

    Rates are `[..., M, K]`, accuracies `[..., M]`; "accuracy_change" is column minus row. The normaliser of a
    cell belongs to its row.

    >>> fpr = np.array([[0.10, 0.20, 0.05], [0.12, 0.16, 0.05]])
    >>> fnr = np.array([[0.20, 0.10, 0.25], [0.20, 0.15, 0.20]])
    >>> found = matrices(fpr, fnr, np.array([0.8, 0.7]))
    >>> found["cev"].round(4).tolist()
    [[0.0, 0.1133], [0.0864, 0.0]]
    >>> found["accuracy_change"].round(4).tolist()
    [[0.0, -0.1], [0.1, 0.0]]
    """
    base, other = (..., slice(None), None, slice(None)), (..., None, slice(None), slice(None))
    found = pair_measures(fpr[base], fnr[base], fpr[other], fnr[other], zero_policy, n_classes)
    same = np.eye(fpr.shape[-2], dtype=bool)  # a model has not moved from itself, whatever can be measured
    tables = {key: np.where(same, 0.0, found[key]) for key in MATRICES}
    change = accuracy[..., None, :] - accuracy[..., :, None]
    return tables | {"accuracy_change": change, "skipped": found["skipped"]}


def model_matrices(models: Counts | Margins, zero_policy: ZeroPolicy = "skip") -> dict[str, FloatArray]:
    """`matrices` of stacked counts (or margins), models on the first axis, all their rows together.

    Stacked replicates go between models and classes: counts `[M, R, ...]` give `[R, M, M]`.

    >>> big = [[[8, 1, 1], [2, 7, 1], [0, 2, 8]]]
    >>> small = [[[6, 3, 1], [1, 9, 0], [1, 3, 6]]]
    >>> model_matrices(Counts.from_table([big, small]))["cev"].round(4).tolist()
    [[0.0, 1.0062], [1.7778, 0.0]]
    """
    whole = all_rows(models)
    smooth = zero_policy == "smooth"
    fpr, fnr = (np.moveaxis(rate[..., 0, :], 0, -2) for rate in error_rates(whole, smooth))
    hit = np.moveaxis(accuracy(whole)[..., 0], 0, -1)
    return matrices(fpr, fnr, hit, "skip" if smooth else zero_policy, n_classes_of(whole))


def all_to_group(counts: Counts | Margins, zero_policy: ZeroPolicy = "skip") -> dict[str, FloatArray]:
    """One model: base = all rows, alternative = the rows of one group; each group `[..., G]` (S2, Table 4).

    Of counts, the base holds the rows of unknown group too. "fpr_change" and "fnr_change" are the mean
    relative changes over the classes, which S2 prints in percent without saying how it sums them up.

    >>> counts = Counts.from_table([[[30, 10], [10, 30]], [[35, 5], [15, 25]]])
    >>> all_to_group(counts)["sde"].round(4).tolist()
    [0.5333, 0.5333]
    """
    whole, groups, smooth = all_rows(counts), as_margins(counts), zero_policy == "smooth"
    base, parts = error_rates(whole, smooth), error_rates(groups, smooth)
    return pair_measures(*base, *parts, "skip" if smooth else zero_policy, n_classes_of(whole))
