"""How often do the intervals hold the truth? Simulated data with known rates, and three kinds of interval.

Every data set has G groups of n rows, half of them positive in expectation, predicted right at known rates.
For each, the interval of the audit is made by the audit's own code, next to two textbook ones: percentile
(the quantiles of the resampled metric) and basic (those quantiles reflected in the estimate). Coverage is the
share of data sets whose interval holds the true value of the metric; it should be 95 %.

    python tools/coverage_simulation.py                            # prints the tables: 40 minutes on one core
    python tools/coverage_simulation.py --sets 50 --jobs 2         # a quick look on two
    python tools/coverage_simulation.py --write docs/intervals.md  # puts them between the page's markers
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import chain, product, repeat
from pathlib import Path

import numpy as np
from coverage_situations import OTHERS

from evenhand.arrays import FloatArray
from evenhand.metrics.catalogue import CATALOGUE
from evenhand.metrics.counts import Counts
from evenhand.metrics.interval import draw_metrics, interval
from evenhand.metrics.metric import Metric
from evenhand.metrics.resample import resample
from evenhand.metrics.view import View

CONFIDENCE, REPLICATES, ROUNDING = 0.95, 1000, 1e-9
GROUPS, ROWS = (2, 4, 8, 16), (50, 200, 1000)
COMPARED = ("tpr.gap", "tpr.worst", "tpr.ratio")
MORE = (
    "odds.max",
    "tpr.spread",
    "tpr.to_overall",
    "mcc.gap",
    "dp",
    "di",
    "spsf",
    "fped",
    "ba",
    "ba_signed",
    "acc_u",
    "min_acc.label_attr",
    "eps",
)
MANY = 1e9  # rows a group of the population, so that smoothing does not show in the truth
BEGIN, END = "<!-- coverage: written by tools/coverage_simulation.py -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class Pattern:
    """True and false positive rates of G groups."""

    name: str
    tpr: Callable[[int], FloatArray]
    fpr: Callable[[int], FloatArray]


def _one_apart(most: float, one: float) -> Callable[[int], FloatArray]:
    return lambda groups: np.r_[one, np.full(groups - 1, most)]


PATTERNS = (
    Pattern("equal, 0.7", lambda g: np.full(g, 0.7), lambda g: np.full(g, 0.2)),
    Pattern("spaced, 0.5 to 0.9", lambda g: np.linspace(0.5, 0.9, g), lambda g: np.linspace(0.1, 0.3, g)),
    Pattern("one apart, 0.8 and 0.6", _one_apart(0.8, 0.6), _one_apart(0.2, 0.3)),
    Pattern("near 1, 0.9 to 0.98", lambda g: np.linspace(0.9, 0.98, g), lambda g: np.linspace(0.02, 0.1, g)),
)


def population(pattern: Pattern, groups: int) -> FloatArray:
    """Chances of the cells of each group `[G, 2, 2]`: the table that infinitely many rows would give."""
    tpr, fpr = pattern.tpr(groups), pattern.fpr(groups)
    return np.stack([np.stack([1 - fpr, fpr], axis=-1), np.stack([1 - tpr, tpr], axis=-1)], axis=-2) / 2


def view_of(table: FloatArray) -> View:
    """What a metric sees of a table without unknown rows."""
    margins = Counts.from_table(table).margins()
    return View(margins, everyone=margins.pooled)


def intervals(counts: Counts, metrics: list[Metric], seed: int) -> dict[str, list[tuple[float, float]]]:
    """For each metric the interval of the audit, the percentile and the basic one."""
    view = view_of(counts.table)
    chosen = np.arange(counts.n_groups)
    draws = draw_metrics(counts, metrics, view, chosen, replicates=REPLICATES, seed=seed, chance=False)
    plain = view_of(resample(counts, REPLICATES, np.random.default_rng(seed + 1)).table)
    found = {}
    for metric in metrics:
        value, values = float(metric(view)), metric(plain)
        known = values[~np.isnan(values)]
        low, high = np.quantile(known, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
        ours = interval(value, draws[metric.key], metric, CONFIDENCE)
        ends = [ours, (low, high), (2 * value - high, 2 * value - low)]
        found[metric.key] = [(max(a, metric.low), min(b, metric.high)) for a, b in ends]
    return found


@dataclass(frozen=True)
class Outcome:
    """Of one metric in one setting, by method: coverage, mean width, how often the truth lies above."""

    coverage: FloatArray
    width: FloatArray
    above: FloatArray
    truth: float


def simulate(place: int, groups: int, rows: int, sets: int) -> dict[str, Outcome]:
    """Coverage over `sets` data sets of one pattern, number of groups and rows a group."""
    pattern = PATTERNS[place]
    keys = COMPARED + MORE
    metrics = [CATALOGUE[key] for key in keys]
    cells = population(pattern, groups)
    truth = {metric.key: float(metric(view_of(cells * MANY))) for metric in metrics}
    rng = np.random.default_rng([groups, rows, place])
    ends = np.empty((len(keys), sets, 3, 2))
    for place in range(sets):
        table = rng.multinomial(rows, cells.reshape(groups, 4)).reshape(groups, 2, 2)
        found = intervals(Counts.from_table(table), metrics, seed=2 * place)
        ends[:, place] = [found[key] for key in keys]
    return {key: _outcome(ends[index], np.full((sets, 1), truth[key])) for index, key in enumerate(keys)}


def _outcome(ends: FloatArray, truth: FloatArray) -> Outcome:
    """Summary of intervals `[sets, method, 2]`; one that does not exist (NaN) holds nothing."""
    low, high = ends[..., 0] - ROUNDING, ends[..., 1] + ROUNDING
    held = (low <= truth) & (truth <= high)
    width = np.nanmean(ends[..., 1] - ends[..., 0], axis=0)
    return Outcome(held.mean(axis=0), width, (high < truth).mean(axis=0), float(truth.mean()))


Found = dict[tuple[str, int, int], dict[str, Outcome]]


def tables(sets: int, jobs: int) -> Iterator[str]:
    """The page's tables, as Markdown; every setting has its own seed, so that `jobs` change nothing."""
    settings = list(product(range(len(PATTERNS)), GROUPS, ROWS))
    with ProcessPoolExecutor(jobs) as pool:
        outcomes = pool.map(simulate, *zip(*settings, strict=True), repeat(sets))
        others = list(pool.map(_situation, range(len(OTHERS)), repeat(sets)))
        found = {
            (PATTERNS[place].name, *setting): outcome
            for (place, *setting), outcome in zip(settings, outcomes, strict=True)
        }
    yield from (_table_of(key, found) for key in COMPARED)
    yield _table_of_more(found)
    yield _table_of_others(others)


def _table_of(key: str, found: Found) -> str:
    columns = " | ".join(f"n = {n} | percentile | basic | width" for n in ROWS)
    title = f"**`{key}`**, coverage in percent, with the mean width of the audit's interval."
    lines = [
        title,
        "",
        f"| true rates | groups | truth | {columns} |",
        "|---|---|---|" + "---|" * 4 * len(ROWS),
    ]
    for pattern in PATTERNS:
        for groups in GROUPS:
            outcomes = [found[pattern.name, groups, n][key] for n in ROWS]
            cells = [
                [
                    f"**{o.coverage[0]:.1%}**",
                    f"{o.coverage[1]:.1%}",
                    f"{o.coverage[2]:.1%}",
                    f"{o.width[0]:.2f}",
                ]
                for o in outcomes
            ]
            lines.append(_row(pattern.name, groups, f"{outcomes[0].truth:.3g}", *chain(*cells)))
    return "\n".join(lines)


def _table_of_more(found: Found) -> str:
    """Lowest, mean and highest coverage of the audit's interval over all settings, and where it is lowest."""
    lines = [
        f"**All simulated metrics**, the audit's interval over the {len(found)} settings above.",
        "",
        "| metric | lowest | mean | highest | where it is lowest | percentile, lowest | percentile, mean |",
        "|---|---|---|---|---|---|---|",
    ]
    for key in COMPARED + MORE:
        ours, theirs = (np.array([o[key].coverage[method] for o in found.values()]) for method in (0, 1))
        name, groups, n = list(found)[int(ours.argmin())]
        where = f"{name}; {groups} groups, n = {n}"
        numbers = [
            f"{share:.1%}" for share in (ours.min(), ours.mean(), ours.max(), theirs.min(), theirs.mean())
        ]
        lines.append(_row(f"`{key}`", f"**{numbers[0]}**", *numbers[1:3], where, *numbers[3:]))
    return "\n".join(lines)


def _situation(place: int, sets: int) -> Outcome:
    found = np.array([OTHERS[place].interval_of(seed) for seed in range(sets)])
    return _outcome(found[:, None, :2], found[:, 2:])


def _table_of_others(outcomes: Sequence[Outcome]) -> str:
    lines = [
        "**Other situations**, the audit's interval.",
        "",
        "| situation | metric | true value (mean) | coverage | truth above the upper end | mean width |",
        "|---|---|---|---|---|---|",
    ]
    for situation, o in zip(OTHERS, outcomes, strict=True):
        numbers = (f"{o.truth:.3g}", f"**{o.coverage[0]:.1%}**", f"{o.above[0]:.1%}", f"{o.width[0]:.2f}")
        lines.append(_row(situation.name, f"`{situation.key}`", *numbers))
    return "\n".join(lines)


def _row(*cells: object) -> str:
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def write(page: Path, text: str) -> None:
    """Put the tables between the page's markers."""
    before, rest = page.read_text(encoding="utf-8").split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.split(END)[1]}", encoding="utf-8")


def main() -> None:
    """Simulate, then print or write."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--sets", type=int, default=1000, help="simulated data sets of each setting")
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    parser.add_argument("--write", type=Path, help="the page whose tables are to be replaced")
    options = parser.parse_args()
    parts = [
        f"{options.sets} data sets in each setting, {REPLICATES} replicates.",
        *tables(options.sets, options.jobs),
    ]
    text = "\n" + "\n\n".join(parts) + "\n"
    if options.write is None:
        sys.stdout.write(text)
    else:
        write(options.write, text)


if __name__ == "__main__":
    main()
