"""How many runs would tell a difference? Every method of a study against its base, from the runs it has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.study.pairing import shared_runs
from evenhand.evaluation.study.setup import Arm, Setup
from evenhand.nets.names import no_such
from evenhand.statistics.asked_power import check_asked, check_power_test
from evenhand.statistics.outcome import ALPHA
from evenhand.statistics.planning import plan_runs
from evenhand.statistics.power_simulation import DRAWS, PAIRED, Imagined
from evenhand.study.frame import Frame, metric_of

CURVE = (2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128)  # runs of each at which power is drawn
BASE = "-Base"  # what the techniques of S0 call a family's base
Json = dict[str, Any]
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Asked:
    """What is planned for: a metric, a difference of it, and how sure one wants to be to tell it.

    `paired` takes runs of the same seed together. `base` and `part` are the study's unless given.
    """

    metric: str
    difference: float
    power: float = 0.8
    alpha: float = ALPHA
    test: str = "mann-whitney"
    paired: bool = False
    base: str = ""
    part: str = ""
    draws: int = DRAWS
    seed: int = 0

    def check(self) -> Asked:
        """The question itself, after refusing an impossible one."""
        metric_of(self.metric)
        check_power_test(self.test)
        check_asked(self.difference, self.power, self.alpha, self.draws)
        return self


def study_power(
    store: Any, asked: Asked, tell: Progress = lambda words: None, *, curves: bool = False
) -> Json:
    """The plan of every comparison of a study, as plain values; `store` may be a store or published runs.

    `curves` adds power over the number of runs, for a figure.
    """
    asked.check()
    frame = Frame.open(store)
    asked = replace(asked, part=asked.part or str((frame.study.get("report") or {}).get("part") or "test"))
    setup = _setup(frame, asked)
    lines = []
    for arm, base in _comparisons(setup, asked):
        tell(f"{frame.layout.problems[arm.place[0]].id}: {arm.place[1]}")
        lines.append(_line(setup, arm, base, asked, curves))
    if not lines:
        raise InputError(_nothing(setup, asked))
    return {
        "study": str(frame.study.get("name", "")),
        **{
            name: getattr(asked, name) for name in ("metric", "difference", "power", "alpha", "part", "draws")
        },
        "test": PAIRED[asked.test] if asked.paired else asked.test,
        "paired": asked.paired,
        "seed": asked.seed,
        "comparisons": lines,
        "notes": _notes(setup, asked, lines),
    }


def _setup(frame: Frame, asked: Asked) -> Setup:
    """The study's own choice of settings, with the asked metric among the reported ones."""
    setup = Setup.of(frame)
    keys = tuple(dict.fromkeys((asked.metric, *setup.report.metrics)))
    made = replace(setup, report=replace(setup.report, metrics=keys, part=asked.part))
    if asked.base and asked.base not in frame.layout.methods():
        told = no_such("the study has no method", asked.base, frame.layout.methods(), "Its methods")
        raise InputError(told)
    if frame.done.any() and not frame.met(asked.part, np.flatnonzero(frame.done)):
        raise InputError(f"no run of the study was measured on a part '{asked.part}'; see --part")
    return replace(made, base=asked.base) if asked.base else made


def _comparisons(setup: Setup, asked: Asked) -> list[tuple[Arm, Arm]]:
    """Every method with the base of its problem: the study's, or where that is not there its family's."""
    found = []
    for arm in setup.arms:
        here = {other.place[1]: other for other in setup.of_problem(arm.place[0])}
        own = arm.place[1].partition("-")[0] + BASE
        base = here.get(setup.base) or here.get(own)
        if own in here and not asked.base:
            base = here[own]
        if base is not None and base is not arm:
            found.append((arm.of(asked.metric), base.of(asked.metric)))
    return found


def _line(setup: Setup, arm: Arm, base: Arm, asked: Asked, curves: bool) -> Json:
    a, b = _sides(setup, arm, base, asked)
    given = {name: getattr(asked, name) for name in ("alpha", "test", "paired", "draws", "seed")}
    plan = plan_runs(a, b, asked.difference, asked.power, **given)
    return {
        "problem": setup.frame.layout.problems[arm.place[0]].id,
        "method": arm.place[1],
        "base": base.place[1],
        "observed": _mean(b) - _mean(a) if len(a) and len(b) else None,
        **plan.to_dict(),
        "curve": _curve(a, b, asked, given) if curves and plan.own else [],
    }


def _sides(setup: Setup, arm: Arm, base: Arm, asked: Asked) -> tuple[FloatArray, FloatArray]:
    """The runs of both; seed by seed where pairs are asked for."""
    a, b = base.values[asked.metric], arm.values[asked.metric]
    if not asked.paired:
        return a[np.isfinite(a)], b[np.isfinite(b)]
    for side in (arm, base):
        if any(setup.frame.columns["repeat"][row] is not None for row in side.rows):
            told = f"the runs of '{side.place[1]}' are identical ones of one seed, and make no pairs"
            raise InputError(f"{told}; leave --paired out")
    return shared_runs(base.seeds, a, arm.seeds, b)


def _mean(values: FloatArray) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _curve(a: FloatArray, b: FloatArray, asked: Asked, given: Json) -> list[Json]:
    """Power over the number of runs."""
    spread = Imagined.of(a, b, **given)
    powers = [spread.power(asked.difference, runs) for runs in CURVE]
    return [{"runs": one.runs, "power": one.power, "low": one.low, "high": one.high} for one in powers]


def _notes(setup: Setup, asked: Asked, lines: Sequence[Json]) -> list[str]:
    notes = [f"{line['problem']}, {line['method']}: {note}" for line in lines for note in line["notes"]]
    same: dict[str, list[str]] = {}
    for line in lines:
        for note in line["notes"]:
            same.setdefault(note, []).append(line["method"])
    if len(notes) > len(same):  # said once where it is said of many
        notes = [f"{_several(names)}: {note}" for note, names in same.items()]
    tests = sum(line["own"] is not None for line in lines)
    if tests > 1:
        notes.append(
            f"each comparison by itself at {asked.alpha:g}: the first of {tests} that Holm's correction lets "
            f"through must reach {asked.alpha / tests:.2g}, which --alpha asks for"
        )
    if setup.report.test == "permutation" and asked.test != "welch":
        notes.append("the study's own test is a permutation test of means: --test welch is nearer to it")
    return notes


def _several(names: Sequence[str]) -> str:
    known = list(dict.fromkeys(names))
    return ", ".join(known) if len(known) <= 4 else f"{', '.join(known[:3])} and {len(known) - 3} more"


def _nothing(setup: Setup, asked: Asked) -> str:
    names = setup.frame.layout.methods()
    if not setup.frame.done.any():
        return "no run of this study is done, so there is no variance to plan with"
    return (
        f"nothing can be compared: of {', '.join(names)} none stands beside the base "
        f"({setup.base or 'none is named'}) on the same task, grouping and network; name another: --base"
    )
