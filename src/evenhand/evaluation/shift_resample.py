"""What other test rows would do to a difference: shifted and clean rows are resampled together.

The same rows are scored before and after the shift, so their errors move together from sample to sample; a
replicate draws rows (with all that every run predicted for them, clean and shifted, and how often each draw
counts them) and works out the difference anew. What a shift draws row by row, such as noise, is resampled
with its row, so that the interval holds it too. Nonparametric bootstrap: B. Efron, Annals of Statistics 1979.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.evaluation.joint import Joint
from evenhand.evaluation.options import Options
from evenhand.evaluation.shift_rows import Draw, Sample
from evenhand.metrics.margins import Margins, margins_of_tables
from evenhand.metrics.metric import Metric
from evenhand.metrics.sparse_cells import margins_of_cells
from evenhand.metrics.undefined import mean_defined
from evenhand.metrics.view import View

MOST_DRAWN = 1 << 26  # distinct rows drawn over all replicates: beyond it there are fewer replicates
FEWEST = 100
MOST_COLUMNS = 1 << 10  # cells up to which a matrix product is the fastest way to count
NAN = float("nan")


class Resampled:
    """The distinct rows of one sample under a clean and some shifted draws."""

    def __init__(self, sample: Sample, clean: Draw, shifted: Sequence[Draw]) -> None:
        ids, self.n_groups = sample.groups.ids, sample.groups.n_groups
        self.n_classes, self.multi_label = sample.task.n_classes, sample.task.multi_label
        group, y = np.where(ids < 0, self.n_groups, ids), sample.y
        draws = (clean, *shifted)
        columns = [group, *_columns(y), *(c for draw in draws for c in _of_draw(draw))]
        self.first, self.rows = distinct(columns)
        self.group, self.y = group[self.first], y[self.first]
        self.draws = [draw.of(self.first) for draw in draws]

    def reaches(
        self, metrics: Sequence[Metric], view: View, chosen: Array, options: Options
    ) -> dict[str, float]:
        """Half the width of the interval of each metric's difference (mean over runs and draws)."""
        observed = self._differences(self.rows[None].astype(np.float64), metrics, view, chosen)
        wanted = max(min(FEWEST, options.replicates), min(options.replicates, MOST_DRAWN // len(self.rows)))
        drawn = self._strata().draw(wanted, np.random.default_rng(options.seed))
        parts = [self._differences(weights, metrics, view, chosen) for weights in drawn]
        return {
            key: _reach(np.concatenate([part[key] for part in parts]) - value, options.confidence)
            for key, value in observed.items()
        }

    def _strata(self) -> Joint:
        """Rows in their groups, which keep their sizes; what is drawn does not look at labels."""
        sizes = self.rows.astype(np.float64)
        return Joint(self.group, self.group, self.group[None], self.rows, sizes, self.n_groups, 1)

    def _differences(
        self, weights: FloatArray, metrics: Sequence[Metric], view: View, chosen: Array
    ) -> dict[str, FloatArray]:
        """Shifted minus clean `[B]`, for rows that count `weights [B, M]` times."""
        clean, *shifted = (self._views(draw, weights, view, chosen) for draw in self.draws)
        found = {}
        for metric in metrics:
            base = np.stack([metric(one) for one in clean])
            moved = np.stack([np.stack([metric(one) for one in draw]) - base for draw in shifted])
            flat = moved.reshape(-1, moved.shape[-1])
            found[metric.key] = mean_defined(np.where(np.isfinite(flat), flat, NAN), axis=0)
        return found

    def _views(self, draw: Draw, weights: FloatArray, view: View, chosen: Array) -> list[View]:
        """What a metric looks at, for each run."""
        counted = weights if draw.weights is None else weights * draw.weights
        every = [self._margins(counted, guess) for guess in draw.guesses]
        return [view.of(margins.groups(chosen), margins.pooled) for margins in every]

    def _margins(self, weights: FloatArray, guess: Array) -> Margins:
        """Margins `[B, K, G + 1]`, the unknown group last."""
        groups, classes = self.n_groups + 1, 2 if self.multi_label else self.n_classes
        labels = self.y.shape[1] if self.multi_label else 1
        columns = labels * groups * classes * classes
        if not self.multi_label and columns > MOST_COLUMNS:
            return margins_of_cells(self.group, self.y, guess, weights, groups, classes)
        y, p = (part.reshape(len(self.rows), labels) for part in (self.y, guess))
        cell = (self.group[:, None] * classes + y) * classes + p
        falls = np.zeros((len(self.rows), columns))
        np.put_along_axis(falls, np.arange(labels) * groups * classes * classes + cell, 1.0, axis=1)
        shape = (labels, groups, classes, classes) if self.multi_label else (groups, classes, classes)
        return margins_of_tables((weights @ falls).reshape(-1, *shape), multilabel=self.multi_label)


def _columns(values: Array) -> list[Array]:
    return [values] if values.ndim == 1 else list(values.T)


def _of_draw(draw: Draw) -> list[Array]:
    guesses = [column for run in draw.guesses for column in _columns(run)]
    return guesses if draw.weights is None else [*guesses, draw.weights]


def distinct(columns: Iterable[Array]) -> tuple[Array, Array]:
    """The place of the first of each kind of row, in the order of the columns, and how many there are.

    >>> first, rows = distinct([np.array([1, 0, 1]), np.array([5, 5, 5])])
    >>> first.tolist(), rows.tolist()
    ([1, 0], [1, 2])
    """
    code: Array | None = None
    for column in columns:
        values = np.unique(column, return_inverse=True)[1]
        joined = values if code is None else code * (int(values.max()) + 1) + values
        code = np.unique(joined, return_inverse=True)[1]  # numbered anew, so that many columns fit
    _, first, rows = np.unique(np.asarray(code), return_index=True, return_counts=True)
    return first, rows


def _reach(errors: FloatArray, confidence: float) -> float:
    known = np.abs(errors[np.isfinite(errors)])
    return float(np.quantile(known, confidence)) if len(known) > len(errors) // 2 else NAN
