"""Study: what is to be run, selected, compared and shown, as plain values; a TOML file says the same.

`evenhand.study.read.read_study` makes one from a file (with the line of every mistake), and
`evenhand.study.expand` makes the runs of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Grid:
    """Every one of these values, combined with those of the method's other grids."""

    values: tuple[Any, ...]


@dataclass(frozen=True)
class Search:
    """Values drawn at random between two bounds, by the study's seed; None: the range beside the field."""

    low: float | None = None
    high: float | None = None
    log: bool | None = None


@dataclass(frozen=True)
class TaskSpec:
    """A data set with its knobs. `seeded`: knobs that take the run's seed (another split for each seed).

    `drop_protected`: of several labels, those that a grouping protects take no part in what is measured by
    it; they are trained all the same.
    """

    data: str
    name: str = ""
    knobs: Mapping[str, Any] = field(default_factory=dict)
    seeded: tuple[str, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)  # over the study's, for this task
    drop_protected: bool = False


@dataclass(frozen=True)
class GroupingSpec:
    """Attributes whose crossed levels are the groups; `tasks` limits it to some tasks (names), else all.

    `measure` are further groupings that the same runs are measured by, beside this one.
    """

    attributes: tuple[str, ...]
    name: str = ""
    tasks: tuple[str, ...] = ()
    measure: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class NetEntry:
    """A network with its options; `tasks` and `methods` limit it to some of them (by name), else all.

    Two may have one name if they are for other methods: a problem is told by that name, and a method that
    brings an encoder of its own wants another network than those beside it.
    """

    net: str
    name: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    tasks: tuple[str, ...] = ()
    methods: tuple[str, ...] = ()

    def is_for(self, method: str) -> bool:
        """Whether a method of that name is trained with it."""
        return not self.methods or method in self.methods


@dataclass(frozen=True)
class MethodSpec:
    """A method with fixed, gridded or searched fields; `recipe` values may be varied in the same way.

    `draws` is how many points a random search has (each of them combined with the grids). `once`: it knows no
    groups, so it is trained once a task, network, setting and seed, and measured by every grouping.
    `groupings` limits it to some of them (by name), else all. Two may have one name if they are for other
    tasks: one method, with other values on another task.
    """

    key: str
    name: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)  # value, Grid or Search
    recipe: Mapping[str, Any] = field(default_factory=dict)  # value, Grid or Search
    draws: int = 0
    tasks: tuple[str, ...] = ()
    once: bool = False
    groupings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ShiftSpec:
    """A shift that every run is measured under, beside the part as it is.

    `kind` is one of `evenhand.data.shifts.SHIFTS`; `severities` are those of the registry if empty; `draws`
    is how often chance is drawn (the number of a draw is its seed, the same for every run); `tasks` limits it
    to some tasks (names), else all.

    >>> ShiftSpec("gaussian", (0.03,)).name
    'gaussian 0.03 of test'
    """

    kind: str
    severities: tuple[float, ...] = ()
    draws: int = 5
    part: str = "test"
    tasks: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What a shift is called where something is wrong with it."""
        told = [f"{severity:g}" for severity in self.severities]
        return f"{' '.join([self.kind, ', '.join(told)]).strip()} of {self.part}"


@dataclass(frozen=True)
class SelectionSpec:
    """Which setting of a method is reported: see `evenhand.study.select.RULES`.

    `metric` decides (by the catalogue's direction); `accuracy` and `tolerance` serve the rule with a
    constraint; `part` is where it is chosen. Choosing on "test" is an oracle and is marked as one wherever it
    is shown.
    """

    rule: str = "best-mean"
    metric: str = "acc"
    part: str = "validation"
    accuracy: str = "acc"
    tolerance: float = 0.01


@dataclass(frozen=True)
class ReportSpec:
    """What is shown: metrics by key, whom the others are compared with, and which figures and tests."""

    metrics: tuple[str, ...] = ("tpr.gap", "fpr.gap", "selection.gap", "odds.max")
    accuracy: str = "acc"
    base: str = ""  # a method's name; the first one if empty
    part: str = "test"
    confidence: float = 0.95
    test: str = "mann-whitney"  # or "wilcoxon", "permutation": paired on seeds
    correction: str = "holm"  # or "benjamini-hochberg", "none"
    convention: str = "strict"
    figures: tuple[str, ...] = ()  # empty: all that can be drawn


@dataclass(frozen=True)
class Study:
    """A whole study. `kind` is "train", "replay" for one that reads published runs, or "program".

    `recipe` is the budget of every run; `smoke` is the same study in small, a full Study with the same name;
    `shifts` are further parts that every run is measured on, `numbers` what is taken of every trained model
    beside its counts (see `evenhand.study.numbers`); `options` belong to the kind. `repeats` is how many
    identical runs are made of every setting with the one seed (0: none, there is a run for each seed), `vary`
    what may differ between them (see `evenhand.study.fit`). `predictions` keeps the scores of every run and
    row, for what counts cannot tell, such as the rows on which two populations of models part.
    """

    name: str
    title: str = ""
    about: str = ""
    kind: str = "train"
    tasks: tuple[TaskSpec, ...] = ()
    groupings: tuple[GroupingSpec, ...] = ()
    nets: tuple[NetEntry, ...] = ()
    methods: tuple[MethodSpec, ...] = ()
    recipe: Mapping[str, Any] = field(default_factory=dict)
    seeds: tuple[int, ...] = (0,)
    search_seed: int = 0
    parts: tuple[str, ...] = ("validation", "test")
    score_bins: int = 0
    selection: SelectionSpec = SelectionSpec()
    report: ReportSpec = ReportSpec()
    claims: tuple[str, ...] = ()  # ids of docs/claims.csv that this study speaks to
    options: Mapping[str, Any] = field(default_factory=dict)
    smoke: Study | None = None
    source: str = ""  # the file it was read from
    shifts: tuple[ShiftSpec, ...] = ()
    numbers: tuple[str, ...] = ()
    repeats: int = 0
    vary: tuple[str, ...] = ()
    predictions: bool = False
