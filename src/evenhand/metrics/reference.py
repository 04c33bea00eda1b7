"""The metrics reference, written from the tables that the program computes with: it cannot fall behind them.

    python -m evenhand.metrics.reference > docs/metrics.md

Formulas, ideals, ranges and citations are those of the catalogue; the values in the table of conventions are
computed while the page is written.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from itertools import groupby

from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.metric import HOW, Metric
from evenhand.metrics.rates import RATES, Rate
from evenhand.metrics.score_rates import SCORE_RATES, ScoreRate
from evenhand.metrics.view import Convention, View

INTRODUCTION = """# Metrics

<!-- Written by `python -m evenhand.metrics.reference`; change the catalogue, not this page. -->

Every number of an audit has a key, and every key is a row here. A key of the form `rate.comparison` says what
is measured in each group and how the groups become one number: `tpr.gap` is the largest minus the smallest
true positive rate. Keys without a dot are metrics that a publication defines. *Undefined* values are left out
and named, never replaced by 0 or 1. Where libraries and papers disagree about a name, see
[conventions](conventions.md); for the intervals, see [intervals](intervals.md).
"""

CLASSES = """## How classes become one number

A rate belongs to a class: TP, FP, FN and TN count that class against the rest.

- **Two classes**: the rates are those of the positive class, which comes last in order (`positive=` names
  another).
- **More classes**: each class against the rest, then the plain mean over the classes that have a value.
  Accuracy, balanced accuracy and Matthews' coefficient look at all classes at once.
- **Several labels** (`y` has a column for each): each label by itself, then the plain mean over the labels.
- **`mean`** in the column *classes* of the tables below: the mean over all classes, those of a binary task
  included, as the paper defines it. `positive` is the rule above.

The value of each class is kept in `per_class`, the class that decided in `decided_in`, and the reasons for
classes and groups that were left out in `undefined`.
"""

CONVENTIONS = """## The three conventions of S0

`convention=` (`--convention`) chooses how `dp di spsf fpsf eofp eotp ba` treat what the printed formulas
leave open. `strict`, the default: what has no value is undefined, skipped in the mean over classes, and
counted. `paper`: the printed formulas, with 0 for a disparate impact of 0/0 and for an undefined
amplification. `artifact`: what the released code computes, slips included, to compare with the published raw
numbers; it is defined for two groups, and an audit under it also drops the rows predicted as a class that
never is the truth. The values of each class:
"""

FAMILIES = {
    "rates": "Comparisons of rates",
    "scores": "Comparisons of score rates",
    "S0": "Bias metrics of S0",
    "S1": "Several tasks and attributes: S1",
    "S2": "Model against model, and group against all: S2",
    "S3": "Scores with a privileged group: S3",
    "S3 full list": "The full list of S3's official code",
    "S4": "Differences of S4",
}

# situation, metric, table [group, truth, prediction] of two groups
CASES: tuple[tuple[str, str, list[list[list[int]]]], ...] = (
    (
        "class 2 is predicted in no group",
        "di",
        [[[6, 2, 0], [1, 7, 0], [1, 1, 0]], [[5, 3, 0], [2, 6, 0], [0, 2, 0]]],
    ),
    ("class 1 is predicted in the first group only", "di", [[[6, 2], [2, 6]], [[8, 0], [8, 0]]]),
    ("class 1 is never predicted right in the second group", "eotp", [[[8, 0], [4, 4]], [[7, 1], [8, 0]]]),
    ("the second group has no rows of class 1", "eotp", [[[6, 2], [2, 6]], [[7, 1], [0, 0]]]),
    ("groups with different shares of negatives", "fpsf", [[[4, 4], [2, 22]], [[30, 2], [4, 4]]]),
    (
        "class 1 is never predicted",
        "ba",
        [[[6, 0, 2], [2, 0, 2], [1, 0, 7]], [[4, 0, 0], [3, 0, 1], [0, 0, 4]]],
    ),
)


def page() -> str:
    """The whole page, as Markdown."""
    parts = [INTRODUCTION, CLASSES, _rates(), _comparisons(), *_families(), _conventions()]
    return "\n".join(parts)


def _rates() -> str:
    head = ("key", "rate of a group", "formula", "range", "better", "undefined when there are")
    rates: list[Rate | ScoreRate] = [*RATES.values(), *SCORE_RATES.values()]
    rows = [
        (f"`{r.key}`", r.name, r.formula, _range(r.low, r.high), _better(r.better), r.empty) for r in rates
    ]
    text = f"Those from `{next(iter(SCORE_RATES))}` on need scores. TP, FP, FN and TN are sums of weights."
    return f"## Rates\n\n{text}\n\n{_table(head, rows)}"


def _comparisons() -> str:
    rows = [
        (f"`.{how}`", name, formula, "see the rate" if math.isnan(ideal) else _number(ideal))
        for how, (name, formula, ideal) in HOW.items()
    ]
    text = "## Comparisons\n\nEvery rate gets all of them; a group whose rate is undefined takes no part.\n"
    return f"{text}\n{_table(('key', 'comparison', 'formula', 'ideal'), rows)}"


def _families() -> Iterable[str]:
    order = [*FAMILIES, *dict.fromkeys(m.family for m in CATALOGUE.values() if m.family not in FAMILIES)]
    metrics = sorted(
        CATALOGUE.values(), key=lambda metric: order.index(metric.family)
    )  # stable within a family
    for family, members in groupby(metrics, key=lambda metric: metric.family):
        yield _family(FAMILIES.get(family, family), list(members))


def _family(title: str, metrics: Sequence[Metric]) -> str:
    """One table; a citation that all rows share is given once, above it."""
    sources = sorted({metric.citation for metric in metrics})
    head = ["key", "name", "formula", "ideal", "range", "better", "classes", "needs"]
    rows = [
        [
            f"`{m.key}`",
            m.name,
            m.formula,
            _number(m.ideal),
            _range(m.low, m.high),
            _better(m.better),
            m.average,
            m.needs,
        ]
        for m in metrics
    ]
    if len(sources) == 1:
        return f"## {title}\n\nSource: {sources[0]}.\n\n{_table(head, rows)}"
    cited = [[*cells, metric.citation] for cells, metric in zip(rows, metrics, strict=True)]
    return f"## {title}\n\n{_table([*head, 'source'], cited)}"


def _conventions() -> str:
    names: tuple[Convention, ...] = ("strict", "paper", "artifact")
    rows = [
        [situation, f"`{key}`", *(_per_class(key, table, name) for name in names)]
        for situation, key, table in CASES
    ]
    return f"{CONVENTIONS}\n{_table(['situation', 'metric', *(f'`{name}`' for name in names)], rows)}"


def _per_class(key: str, table: list[list[list[int]]], convention: Convention) -> str:
    values = CATALOGUE[key].per_class(View(Counts.from_table(table).margins(), convention=convention))
    return ", ".join("undefined" if math.isnan(value) else f"{value:.3f}" for value in values.tolist())


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _number(value: float) -> str:
    """A number as a reader writes it: 1 and not 1.0, a dash where there is none.

    >>> _number(1.0), _number(float("inf")), _number(float("nan"))
    ('1', '∞', '–')
    """
    if math.isnan(value):
        return "–"
    return f"{value:g}".replace("inf", "∞").replace("-", "−")


def _range(low: float, high: float) -> str:
    """The range of values, open towards infinity.

    >>> _range(0.0, float("inf"))
    '[0, ∞)'
    """
    left, right = "(" if math.isinf(low) else "[", ")" if math.isinf(high) else "]"
    return f"{left}{_number(low)}, {_number(high)}{right}"


def _better(direction: str) -> str:
    return {"nearer": "nearer to the ideal", "none": "–"}.get(direction, direction)


if __name__ == "__main__":
    sys.stdout.write(page())
