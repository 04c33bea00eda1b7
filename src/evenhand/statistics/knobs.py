"""How closely does a metric follow how a data set was made? S3's Figure 11."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import FloatArray, as_array
from evenhand.errors import InputError
from evenhand.statistics.correlation import correlate


def knob_strength(knobs: object, centre: float = 0.5) -> FloatArray:
    """How far the knobs `[R, J]` of each run are from the centre, averaged over the knobs.

    S3 uses (|b_e - 0.5| + |b_o - 0.5|) / 2 of the two background proportions (of the two label proportions in
    its third and fourth setting): 0 where nothing is tied to the label, 0.5 where all is.

    >>> knob_strength([[0.5, 0.5], [0.9, 0.5], [0.0, 1.0]]).round(6).tolist()
    [0.0, 0.2, 0.5]
    """
    values = np.asarray(as_array(knobs), dtype=np.float64)
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2:
        raise InputError(f"the knobs must be runs by knobs, not an array {values.shape}")
    return np.asarray(np.abs(values - centre).mean(axis=1))


def knob_correlations(knobs: object, values: object, centre: float = 0.5) -> FloatArray:
    """|Spearman's rho| `[M]` between the strength of the knobs and each metric `[R, M]`, over all runs.

    Runs on which a metric is undefined are left out for that metric. NaN where a side is constant or fewer
    than 3 runs are left.

    >>> knobs = [[0.5, 0.5], [0.6, 0.5], [0.8, 0.7], [1.0, 0.9]]
    >>> knob_correlations(knobs, [[0.9, 1.0], [0.8, 1.0], [0.5, 1.0], [0.2, 1.0]]).tolist()
    [1.0, nan]
    """
    table = np.asarray(as_array(values), dtype=np.float64)
    table = table[:, None] if table.ndim == 1 else table
    strength = knob_strength(knobs, centre)
    if len(table) != len(strength):
        raise InputError(f"there are {len(strength)} rows of knobs for {len(table)} runs")
    return np.abs([correlate(strength, column).value for column in table.T])
