"""What the claims are judged by: the chosen numbers, the correlations with the knobs, how many runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.evaluation.ci_mnist.layout import ACCURACY, FAIRNESS, MODELS
from evenhand.evaluation.ci_mnist.numbers import Numbers, Series
from evenhand.evaluation.ci_mnist.stability import Spreads


@dataclass(frozen=True, eq=False)
class Evidence:
    """Numbers of the tables, rows of Figure 11, finished runs by task and model, deviations over seeds."""

    numbers: Numbers
    correlations: Sequence[Mapping[str, Any]]
    done: Mapping[tuple[str, str], int]
    spreads: Spreads = field(default_factory=dict)

    def runs(self, tasks: Iterable[str], models: Iterable[str] = tuple(MODELS)) -> int:
        """Finished runs, of all settings and seeds, among which the numbers were chosen."""
        wanted = set(tasks)
        return sum(self.done.get((task, model), 0) for task in wanted for model in models)

    def accuracy(self, models: Iterable[str], tasks: Iterable[str]) -> Series:
        """The mean accuracy of the two groups, by width and seed."""
        return self.numbers.series(list(models), list(tasks), [ACCURACY])

    def fairness(self, models: Iterable[str], tasks: Iterable[str]) -> Series:
        """What is called fairness in the claims: the mean of DP, EqOpp0, EqOpp1 and EqOdd."""
        return self.numbers.series(list(models), list(tasks), FAIRNESS)

    def everywhere(self, tasks: Sequence[str]) -> list[str]:
        """The models that have their numbers on these tasks at every width, so that widths compare alike."""
        wanted = set(self.numbers.widths)
        return [
            model for model in MODELS
            if {width for width, _ in self.fairness([model], tasks)} == wanted
        ]  # fmt: skip


def mean_of(models: Sequence[str]) -> str:
    """Whose mean it is, in words.

    >>> mean_of(list(MODELS)), mean_of([model for model in MODELS if model != "ffvae"]), mean_of([])
    ('mean of all models', 'mean of all models but FFVAE', 'which no model has')
    """
    left_out = [name for model, name in MODELS.items() if model not in models]
    if not models:
        return "which no model has"
    return "mean of all models" + (f" but {', '.join(left_out)}" if left_out else "")
