"""What a metric means: its row of the catalogue, or what its key says when the catalogue has none."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.report.names import rate_name
from evenhand.report.numbers import defined, number

# comparison: (name after the rate, formula over the groups' rates r, ideal value, better)
COMPARISONS: dict[str, tuple[str, str, float | None, str]] = {
    "gap": ("gap", "max r − min r", 0.0, "lower"),
    "ratio": ("ratio", "min r / max r", 1.0, "higher"),
    "worst": ("of the lowest group", "min r", None, "higher"),
    "best": ("of the highest group", "max r", None, "higher"),
    "spread": ("spread", "standard deviation of r over groups", 0.0, "lower"),
    "to_overall": ("largest distance to all rows", "max |r − r of all rows|", 0.0, "lower"),
}


BETTER = {"lower": "lower is better", "higher": "higher is better", "nearer": "nearer to the ideal is better"}


@dataclass(frozen=True)
class Definition:
    """The part of a catalogue row that a reader sees."""

    key: str
    name: str
    formula: str
    ideal: float | None
    better: str
    citation: str
    family: str

    @property
    def text(self) -> str:
        """The definition as lines of plain text.

        >>> print(guessed("tpr.gap").text)
        true positive rate gap
        max r − min r
        ideal 0.000 · lower is better
        """
        aim = [f"ideal {number(self.ideal)}"] if defined(self.ideal) else []
        aim += [BETTER[self.better]] if self.better in BETTER else []
        return "\n".join(line for line in (self.name, self.formula, " · ".join(aim), self.citation) if line)


def define(key: str) -> Definition:
    """The definition of a metric key; a key that the catalogue lacks is described by its parts.

    >>> define("tpr.gap").key
    'tpr.gap'
    """
    row = CATALOGUE.get(key)
    if row is None:
        return guessed(key)
    ideal = float(row.ideal) if defined(row.ideal) and row.better in BETTER else None
    return Definition(key, row.name, row.formula, ideal, row.better, row.citation, row.family)


def guessed(key: str) -> Definition:
    """What the key alone tells.

    >>> guessed("fpr.ratio").name, guessed("mystery").name
    ('false positive rate ratio', 'mystery')
    """
    rate, _, comparison = key.partition(".")
    if comparison not in COMPARISONS:
        return Definition(key, key.replace("_", " "), "", None, "", "", "other")
    name, formula, ideal, better = COMPARISONS[comparison]
    return Definition(key, f"{rate_name(rate)} {name}", formula, ideal, better, "", comparison)
