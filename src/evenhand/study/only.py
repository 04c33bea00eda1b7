"""Which runs of a study to make now: `method=ffvae`, `net=width 32`, `alpha=100`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from evenhand.errors import InputError
from evenhand.study.records import PlannedRun
from evenhand.study.standing import Standing

LABELS = ("task", "grouping", "net", "method")


def chosen_runs(
    runs: Sequence[PlannedRun], only: Iterable[str], standing: Standing | None = None
) -> list[PlannedRun]:
    """The runs that meet every KEY=VALUE; several values of one key are alternatives.

    A run that stands for several groupings (see `standing`) is chosen by the name of any of them.

    A key is task, grouping, net, method, seed, repeat (of identical runs), or something that a method varies;
    a run whose method does not vary it is left out. A key or a value that no run has is refused with the
    nearest.
    """
    only, wanted = list(only), dict[str, list[str]]()
    for condition in only:
        key, equals, value = condition.partition("=")
        if not equals or not key.strip():
            raise InputError(f"a choice of runs is KEY=VALUE, such as method=erm, not {condition!r}")
        wanted.setdefault(key.strip(), []).append(value.strip())
    told = [facts_of(run, standing) for run in runs]
    for key, values in wanted.items():
        _check(key, values, told)
    found = [
        run
        for run, facts in zip(runs, told, strict=True)
        if all(any(_same(facts.get(key), value) for value in values) for key, values in wanted.items())
    ]
    if wanted and not found:
        raise InputError(f"no run of this study has all of {', '.join(only)}")
    return found


def facts_of(run: PlannedRun, standing: Standing | None = None) -> dict[str, Any]:
    """What a run can be chosen by; the names of all its groupings, where it stands for several."""
    facts = {**run.setting, **{label: getattr(run, label) for label in LABELS}, "seed": run.spec.seed}
    facts |= {} if run.spec.repeat is None else {"repeat": run.spec.repeat}
    stands = () if standing is None else standing.of(run.task, run.grouping, run.method)
    names = tuple(dict.fromkeys((run.grouping, *(stand.grouping for stand in stands))))
    return {**facts, "grouping": names} if len(names) > 1 else facts


def _same(fact: Any, value: str) -> bool:
    """Whether a value is meant: 100 is 100.0, and true is True."""
    if isinstance(fact, tuple):
        return any(_same(each, value) for each in fact)
    if isinstance(fact, bool) or not isinstance(fact, (int, float)):
        return str(fact).lower() == value.lower()
    try:
        return float(value) == float(fact)
    except ValueError:
        return False


def _check(key: str, values: Sequence[str], told: Sequence[Mapping[str, Any]]) -> None:
    keys = sorted({name for facts in told for name in facts})
    if key not in keys:
        raise InputError(f"no run of this study has {key!r} to be chosen by{_near(key, keys)}")
    each = [facts[key] for facts in told if key in facts]
    there = sorted({str(one) for fact in each for one in (fact if isinstance(fact, tuple) else (fact,))})
    for value in values:
        if not any(_same(facts.get(key), value) for facts in told):
            raise InputError(f"no run of this study has {key}={value}{_near(value, there)}")


def _near(name: str, known: Sequence[str]) -> str:
    near = get_close_matches(name, known, n=3, cutoff=0.5)
    return (
        f"; did you mean {' or '.join(map(repr, near))}?" if near else f"; there are {', '.join(known[:12])}"
    )
