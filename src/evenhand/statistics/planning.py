"""How many runs tell a difference of a given size, and what difference can a given number of runs tell?"""

from __future__ import annotations

import math
from typing import Any

from evenhand.statistics.asked_power import check_asked, draws_for
from evenhand.statistics.outcome import ALPHA, NAN
from evenhand.statistics.power import power_to_see
from evenhand.statistics.power_simulation import DRAWS, ENOUGH, Imagined, SimulatedPower
from evenhand.statistics.run_plan import Plan
from evenhand.statistics.samples import finite, numbers

MOST_RUNS = 1000  # of each side that are looked for
FEW = 5  # fewer observed runs than that make a rough guess of a deviation
STILL = (
    "all observed runs of both sides are equal to each other: with no variance one run of each tells any "
    "difference, and more runs of the same kind would tell nothing of other seeds, machines or data"
)
STILL_PAIRS = (
    "all pairs differ by the same number: with no variance one pair tells any difference, and more pairs of "
    "the same kind would tell nothing of other seeds, machines or data"
)
STEPS = 24  # halvings in the search for a difference


def plan_runs(
    base: object,
    other: object,
    difference: float,
    power: float = 0.8,
    alpha: float = ALPHA,
    test: str = "mann-whitney",
    paired: bool = False,
    draws: int = DRAWS,
    seed: int = 0,
) -> Plan:
    """How many runs (of each) tell `difference` with the chance `power`, spread as the observed ones are.

    Two-sided at the level alpha. `paired`: the same place is the same seed, and the test is Wilcoxon's (for
    "mann-whitney") or Student's (for "welch") of the differences.

    >>> plan = plan_runs([0.30, 0.32, 0.31, 0.33, 0.35], [0.21, 0.20, 0.24, 0.22, 0.23], difference=0.02)
    >>> plan.formula, plan.runs, (plan.runs_low, plan.runs_high)
    (14, 15, (8, 75))
    >>> plan_runs([0.3, 0.3], [0.2, 0.2], difference=0.02).runs
    1
    """
    check_asked(difference, power, alpha, draws)
    sides = [values[~_isnan(values)] for values in (numbers(base), numbers(other))]
    n = (len(sides[0]), len(sides[1]))
    if min(n) < 2 or not finite(*sides):
        why = "a value is infinite" if min(n) >= 2 else f"a deviation needs 2 runs of each side, not {min(n)}"
        return Plan(n, (NAN, NAN), notes=(why,))
    fewest = max(ENOUGH, draws_for(power))
    spread = Imagined.of(base, other, test, paired, alpha, draws, seed, fewest)
    if spread.still:
        return Plan(n, (0.0, 0.0), 1, 1, 1, 1, detectable=0.0, notes=(STILL_PAIRS if paired else STILL,))
    return _planned(spread, n, difference, power)


def _planned(spread: Imagined, n: tuple[int, int], difference: float, power: float) -> Plan:
    own = min(n)
    formula = runs_by_formula(difference, spread.std, power, spread.alpha, spread.paired)
    needed = runs_needed(spread, difference, power)
    low, high = _reach(spread, n, difference, power, formula, needed)
    return Plan(
        n,
        spread.std,
        needed.runs if needed else NAN,
        low,
        high,
        formula,
        needed,
        spread.power(difference, own),
        smallest_difference(spread, own, power),
        tuple(_notes(spread, n, needed)),
    )


def _notes(spread: Imagined, n: tuple[int, int], needed: SimulatedPower | None) -> list[str]:
    found = []
    if needed is None:
        found.append(f"more than {MOST_RUNS:,} runs of each would be needed")
    if not spread.possible(min(n)):
        found.append(f"no outcome of {min(n)} and {min(n)} runs reaches p = {spread.alpha:g} in this test")
    if min(n) < FEW:
        found.append(f"the deviation is that of {min(n)} runs, a rough guess: see the range")
    if not spread.paired and min(spread.std) == 0:
        found.append("all runs of one side are equal: the other side's deviation decides alone")
    return found


def runs_needed(spread: Imagined, difference: float, power: float) -> SimulatedPower | None:
    """The smallest number of runs of each side whose simulated power is at least `power`; None: over 1000."""
    first = next((n for n in range(2, MOST_RUNS) if spread.possible(n)), MOST_RUNS)
    guess = runs_by_formula(difference, spread.std, power, spread.alpha, spread.paired)
    low, high = first - 1, max(first, int(min(guess, MOST_RUNS) if guess == guess else MOST_RUNS))
    while (found := spread.power(difference, high)).power < power:
        if high >= MOST_RUNS:
            return None
        low, high = high, min(MOST_RUNS, high + max(1, high // 4))
    while high - low > 1:
        middle = (low + high) // 2
        tried = spread.power(difference, middle)
        if tried.power >= power:
            high, found = middle, tried
        else:
            low = middle
    return found


def smallest_difference(spread: Imagined, runs: int, power: float) -> float:
    """The smallest difference that so many runs find with this chance; NaN where they find none."""
    if not spread.possible(runs):
        return NAN
    noise, high = spread.noise(runs), max(spread.std)
    while spread.found(noise, high) < power:
        high *= 2
        if high > 1e6 * max(spread.std):  # Welch's test of 2 runs hardly finds anything
            return NAN
    low = 0.0
    for _ in range(STEPS):
        middle = (low + high) / 2
        low, high = (low, middle) if spread.found(noise, middle) >= power else (middle, high)
    return high


def runs_by_formula(
    difference: float,
    std: tuple[float, float],
    power: float = 0.8,
    alpha: float = ALPHA,
    paired: bool = False,
) -> float:
    """The smallest number of runs of each side with which a t-test has this power; NaN above 1,000,000.

    >>> runs_by_formula(0.5, (1.0, 1.0)), runs_by_formula(0.5, (1.0, 1.0), paired=True)  # Cohen's d of 0.5
    (64, 34)
    """
    low, high = 1, 2
    while not power_to_see(difference, std, high, alpha, paired) >= power:
        low, high = high, 2 * high
        if high > 10**6:
            return NAN
    while high - low > 1:
        middle = (low + high) // 2
        enough = power_to_see(difference, std, middle, alpha, paired) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def _reach(
    spread: Imagined,
    n: tuple[int, int],
    difference: float,
    power: float,
    formula: float,
    needed: SimulatedPower | None,
) -> tuple[float, float]:
    """The runs for the ends of the deviations' interval: the formula's ratio carries over to the test."""
    from scipy.special import chdtri

    if needed is None or math.isnan(formula):
        return NAN, NAN
    ends = []
    for tail in (0.05, 0.95):
        std = [s * math.sqrt((k - 1) / chdtri(k - 1, tail)) for s, k in zip(spread.std, n, strict=True)]
        other = runs_by_formula(difference, (std[0], std[1]), power, spread.alpha, spread.paired)
        ends.append(math.ceil(needed.runs * other / formula) if other == other else NAN)
    return min(ends[0], needed.runs), max(ends[1], needed.runs) if ends[1] == ends[1] else NAN


def _isnan(values: Any) -> Any:
    return values != values
