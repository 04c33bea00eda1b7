"""The finished runs of a study as S0 lays its own out: bias by technique, metric, run and class.

`Trained` is a `Published` of the replay, so that every table of S0 is made by the code that prints the
paper's own numbers from the authors' runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenhand.arrays import Array, FloatArray
from evenhand.errors import InputError
from evenhand.evaluation.fixed_seed.layout import (
    CONTROL,
    FEWEST,
    IDENTICAL,
    PART,
    SEEDS,
    VARIED,
    technique_names,
    technique_of,
)
from evenhand.evaluation.fixed_seed.official import by_class, official
from evenhand.evaluation.replay.published import METRICS, Published, base_of
from evenhand.metrics.undefined import mean_defined
from evenhand.study.fit import SOURCES, STREAMS
from evenhand.study.frame import Frame
from evenhand.study.frame_layout import Candidate

ACCURACY, PRECISION = "acc", "map"
PERFORMANCES = {ACCURACY: "accuracy", PRECISION: "mean average precision"}


@dataclass(frozen=True)
class Trained(Published):
    """Techniques that are compared with each other: those of a whole study, or of one of its tasks.

    `rows[technique]` are its finished runs in the frame, in order; `kind` says what sets them
    apart and `loose` which sources of chance may; `left_out` has techniques with fewer than two finished
    runs, and how many they have.
    """

    name: str
    rows: Mapping[str, Array] = field(repr=False)
    classes: Mapping[str, tuple[str, ...]] = field(repr=False)
    planned: Mapping[str, int] = field(repr=False)
    left_out: Mapping[str, int]
    kind: str
    loose: tuple[str, ...]
    performed: Mapping[str, str]
    convention: str

    @property
    def mitigations(self) -> tuple[str, ...]:
        """The techniques whose baseline was run beside them."""
        return tuple(name for name in self.techniques if base_of(name) in self.techniques and not _base(name))

    def overall(self, technique: str, metric: str) -> FloatArray:
        """The bias of each run: the mean over the classes for which it is defined."""
        return mean_defined(self.bias[technique, metric], axis=1)


def read_trained(frame: Frame) -> list[Trained]:
    """Every set of techniques of a study that can be compared; `InputError` where there is none."""
    own = [candidate for candidate in frame.layout.candidates if technique_of(candidate.method)]
    if not own:
        raise InputError(
            "no method of this study has the name of one of S0's techniques (S-Base ... N-Flow): "
            "`evenhand list techniques` tells them"
        )
    sets = _sets(frame, own)
    found = [_read(frame, name, candidates) for name, candidates in sets.items()]
    known = [one for one in found if one.techniques]
    if not known:
        raise InputError(
            f"no technique of this study has {FEWEST} finished runs yet: nothing can be said of variation"
        )
    return known


def _sets(frame: Frame, own: Sequence[Candidate]) -> dict[str, list[Candidate]]:
    """Sets in which no technique occurs twice: of each family the study, else its tasks, else its problems.

    A technique that changes the data (C-R1) sits on a task of its own beside its baseline's.
    """
    found: dict[str, list[Candidate]] = {}
    for family in dict.fromkeys(one.method[0] for one in own):
        members = [one for one in own if one.method[0] == family]
        for one, name in zip(members, _names(frame, members), strict=True):
            found.setdefault(name, []).append(one)
    return found


def _names(frame: Frame, members: Sequence[Candidate]) -> list[str]:
    """The name of the set that each technique of a family belongs to: the shortest that tells all apart."""
    problems = [frame.layout.problems[one.problem] for one in members]
    ways = ([""] * len(members), [f"{p.task} / {p.grouping}" for p in problems], [p.id for p in problems])
    methods = [one.method for one in members]
    for names in ways:
        if len(set(zip(names, methods, strict=True))) == len(members):
            return names
    twice = Counter(zip(ways[-1], methods, strict=True)).most_common(1)[0][0]
    raise InputError(f"{twice[1]} has several settings in this study; a page of S0 shows one of each")


def _read(frame: Frame, name: str, candidates: Sequence[Candidate]) -> Trained:
    order = {technique: place for place, technique in enumerate(technique_names())}
    rows = {
        one.method: one.rows[frame.done[one.rows]]
        for one in sorted(candidates, key=lambda one: order[technique_of(one.method) or ""])
    }
    few = {technique: len(found) for technique, found in rows.items() if len(found) < FEWEST}
    kept = {technique: found for technique, found in rows.items() if technique not in few}
    kind, loose = kind_of(frame.columns["spec"])
    measured = {technique: _performance(frame, found) for technique, found in kept.items()}
    conventions = {
        official(look, one).convention for one, found in kept.items() for look, *_ in frame.met(PART, found)
    }
    return Trained(
        tuple(kept), {(one, key): _bias(frame, one, key, kept[one]) for one in kept for key in METRICS},
        {one: values for one, (_, values) in measured.items()}, name, kept,
        {one: frame.met(PART, found)[0][0].classes for one, found in kept.items()},
        {one.method: len(one.rows) for one in candidates}, few, kind, tuple(loose),
        {one: words for one, (words, _) in measured.items()}, ", ".join(sorted(conventions)),
    )  # fmt: skip


def _base(technique: str) -> bool:
    return technique == base_of(technique)


def kind_of(specs: Sequence[Mapping[str, Any]]) -> tuple[str, list[str]]:
    """What sets runs with these specifications apart, and the sources of chance that may differ between them.

    >>> kind_of([{"repeat": 0, "vary": ["kernels"]}, {"repeat": 1, "vary": ["kernels"]}])
    ('identical', ['kernels'])
    """
    repeated = [spec for spec in specs if spec.get("repeat") is not None]
    if not repeated:
        return SEEDS, list(STREAMS)
    loose = {source for spec in repeated for source in spec.get("vary", ())}
    named = [source for source in SOURCES if source in loose]
    return (VARIED if loose & set(STREAMS) else IDENTICAL if loose else CONTROL), named


def _performance(frame: Frame, rows: Array) -> tuple[str, FloatArray]:
    """What is called performance, and that of each run: mAP for several labels a row, as in S0, if kept."""
    looks = [look for look, *_ in frame.met(PART, rows)]
    ranked = all(look.counts.multilabel and look.scores is not None for look in looks)
    key = PRECISION if ranked else ACCURACY
    return PERFORMANCES[key], np.asarray(frame.values(PART, key)[rows])


def _bias(frame: Frame, technique: str, key: str, rows: Array) -> FloatArray:
    """A metric of these runs by class `[R, K]`; NaN for classes that a run was not measured on."""
    met = [
        (here, by_class(official(look, technique), key)[inside])
        for look, here, inside in frame.met(PART, rows)
    ]
    out = np.full((len(rows), max((values.shape[-1] for _, values in met), default=1)), np.nan)
    for here, values in met:
        out[here, : values.shape[-1]] = values
    return out


def facts(frame: Frame, rows: Array, column: str) -> list[Any]:
    """A column of the store for these runs."""
    return [frame.columns[column][row] for row in rows.tolist()]
