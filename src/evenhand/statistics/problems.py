"""One method against the base over several problems: the mean difference, wins, ties and losses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.statistics.corrections import correct
from evenhand.statistics.effects import mean_interval
from evenhand.statistics.imagined import best_corrected
from evenhand.statistics.outcome import ALPHA, NAN, Test, undefined
from evenhand.statistics.paired import wilcoxon
from evenhand.statistics.power import attainable_p
from evenhand.statistics.samples import numbers
from evenhand.statistics.verdicts import verdict


@dataclass(frozen=True)
class Combined:
    """Over problems: mean difference (other - base), Student's interval, Wilcoxon's p, and who won where.

    `p` is the corrected one where several were judged together; `test` has it as it was.
    """

    mean: float
    low: float
    high: float
    p: float
    wins: int
    ties: int
    losses: int
    problems: int
    test: Test
    verdict: str = ""
    why: str = ""
    alpha: float = ALPHA


def combine(
    differences: object,
    better: str = "lower",
    verdicts: object = None,
    tie: float = 0.0,
    confidence: float = 0.95,
    alpha: float = ALPHA,
) -> Combined:
    """Sum up one difference (other - base) for each problem; undefined ones are left out.

    Every problem counts the same, however many rows and runs it has, and the interval is over problems like
    these: what another problem would do, not another seed. A win is a difference on the better side by more
    than `tie`; with `verdicts` (one word a problem, as of `compare_runs`), only one that was shown, all
    others tie.

    >>> found = combine([-0.02, -0.03, -0.01, 0.01, -0.04, -0.05, -0.06])
    >>> found.wins, found.ties, found.losses, round(found.mean, 4), found.verdict
    (6, 0, 1, -0.0286, 'lower')
    >>> combine([-0.02, -0.03], verdicts=["lower", "no difference shown"]).ties
    1
    """
    given = numbers(differences)
    known = given[~np.isnan(given)]
    turn = {"lower": -1.0, "higher": 1.0}.get(better)
    if turn is None:
        raise InputError(f"better must be 'lower' or 'higher', not '{better}'")
    gains = turn * (known if verdicts is None else _shown(given, verdicts))
    room = tie if verdicts is None else 0.0
    mean = float(known.mean()) if len(known) else NAN
    told = (
        wilcoxon(np.zeros(len(known)), known, alpha=alpha) if len(known) > 1 else undefined("two-sided", "")
    )
    found = Combined(
        mean, *mean_interval(known, confidence), told.p, int((gains > room).sum()),
        int((np.abs(gains) <= room).sum()), int((gains < -room).sum()), len(known), told, alpha=alpha,
    )  # fmt: skip
    return judge_combined([found], "none")[0]


def judge_combined(found: Sequence[Combined], how: str = "holm") -> list[Combined]:
    """The sums with their p-values corrected for each other, and their verdicts anew, as `judge` does.

    >>> alone = combine([-0.02, -0.03, -0.01, -0.04, -0.05, -0.06])
    >>> [alone.verdict, *{one.verdict for one in judge_combined([alone] * 3)}]
    ['lower', 'not enough problems to tell']
    """
    p = np.array([one.test.p for one in found], dtype=np.float64)
    least = np.array([attainable_p("wilcoxon", one.problems, one.problems) for one in found])
    said = [
        (one, verdict(one.test, one.mean, best, p=adjusted, alpha=one.alpha), adjusted)
        for one, adjusted, best in zip(found, correct(p, how), best_corrected(p, least, how), strict=True)
    ]
    return [
        replace(one, verdict=told.word.replace("runs", "problems"), why=told.why.replace("runs", "problems"),
                p=float(adjusted))
        for one, told, adjusted in said
    ]  # fmt: skip


def _shown(differences: FloatArray, verdicts: object) -> FloatArray:
    """-1, 0 or 1 for each problem with a difference: what its own runs have shown."""
    words = list(verdicts) if isinstance(verdicts, (list, tuple)) else []
    if len(words) != len(differences):
        raise InputError(f"there are {len(words)} verdicts for {len(differences)} problems")
    signs = np.array([{"lower": -1.0, "higher": 1.0}.get(word, 0.0) for word in words])
    return signs[~np.isnan(differences)]
