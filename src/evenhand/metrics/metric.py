"""A metric: one row of the catalogue, and the comparisons that every rate gets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evenhand.arrays import FloatArray
from evenhand.metrics.compare import Compared, Statistic
from evenhand.metrics.rates import Better, Rate, over_classes
from evenhand.metrics.score_rates import ScoreRate
from evenhand.metrics.undefined import mean_defined
from evenhand.metrics.view import View

Direction = Literal["lower", "higher", "nearer", "none"]
Needs = Literal["counts", "scores", "two models", "several runs", "model"]
Average = Literal["positive", "mean"]
INFINITY = float("inf")
NAN = float("nan")
GENERAL = "standard definition, compared over all pairs of groups"


@dataclass(frozen=True)
class Metric:
    """One row of the catalogue.

    `average` says how the classes become one number: `positive` takes the positive class of a binary task and
    the mean over classes otherwise; `mean` always takes the mean over all classes (S0's rule).
    `low` and `high` are the range of possible values, `ideal` the best one.
    """

    key: str
    name: str
    formula: str
    family: str
    ideal: float
    low: float
    high: float
    better: Direction
    citation: str
    needs: Needs = "counts"
    statistic: Statistic | None = None
    average: Average = "positive"

    @property
    def needs_privileged(self) -> bool:
        """Whether one group must be singled out as the privileged one."""
        return self.key.startswith("s3.") or self.key in ("acc_p", "acc_up", "acc_mean")

    def per_class(self, view: View) -> FloatArray:
        """The value of each class, `[..., K]`."""
        if self.statistic is None:
            raise ValueError(f"metric '{self.key}' needs {self.needs}, not counts alone")
        return self.statistic.value(view)

    def reduce(self, values: FloatArray, view: View) -> FloatArray:
        """One number from the classes' values; undefined classes are skipped."""
        return over_classes(values, view.margins) if self.average == "positive" else mean_defined(values)

    def __call__(self, view: View) -> FloatArray:
        return self.reduce(self.per_class(view), view)


@dataclass(frozen=True)
class RateName:
    """A rate by its name alone: what its comparisons are called and which way is better."""

    key: str
    name: str
    formula: str
    better: Better
    low: float = 0.0
    high: float = 1.0


HOW = {
    "gap": ("gap", "max over groups - min over groups", 0.0),
    "ratio": ("ratio", "min over groups / max over groups", 1.0),
    "worst": ("worst group", "the value of the worst group", NAN),
    "best": ("best group", "the value of the best group", NAN),
    "spread": ("spread", "standard deviation over groups (population)", 0.0),
    "to_overall": ("largest distance to overall", "max over groups of |group - all rows|", 0.0),
}


def comparisons(rate: Rate | ScoreRate | RateName, needs: Needs) -> list[Metric]:
    """The rows `<rate>.gap`, `.ratio`, `.worst`, `.best`, `.spread` and `.to_overall`."""
    return [_comparison(rate, how, needs) for how in HOW]


def _comparison(rate: Rate | ScoreRate | RateName, how: str, needs: Needs) -> Metric:
    label, formula, ideal = HOW[how]
    direction: Direction = "higher" if how == "ratio" else "lower"
    low, high = 0.0, rate.high - rate.low
    if how in ("worst", "best"):
        direction, low, high = rate.better, rate.low, rate.high
        ideal = {"higher": rate.high, "lower": rate.low, "none": NAN}[rate.better]
    elif how == "ratio":  # a ratio of signed values can leave [0, 1]
        low, high = (-INFINITY, INFINITY) if rate.low < 0 else (0.0, 1.0)
    return Metric(
        f"{rate.key}.{how}",
        f"{rate.name}: {label}",
        f"{formula}; {rate.key} = {rate.formula}",
        "rates" if needs == "counts" else "scores",
        ideal,
        low,
        high,
        direction,
        GENERAL,
        needs,
        Compared(rate.key, how, rate.better),
    )


def row(
    key: str,
    name: str,
    formula: str,
    statistic: Statistic,
    citation: str,
    family: str,
    *,
    better: Direction = "lower",
    ideal: float = 0.0,
    low: float = 0.0,
    high: float = 1.0,
    average: Average = "positive",
) -> Metric:
    """A row that is computed from counts."""
    return Metric(
        key, name, formula, family, ideal, low, high, better, citation, "counts", statistic, average
    )
