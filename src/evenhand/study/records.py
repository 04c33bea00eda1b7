"""What passes between the parts of a study: a run to be made, what was made of it, and a bucket of runs.

All of them are plain values (and counts), so that they travel between processes and machines and are stored
as JSON and bytes, never as pickles.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from evenhand.metrics.counts import Counts
from evenhand.metrics.scores import Scores


@dataclass(frozen=True)
class RunSpec:
    """One training, with nothing left open: what its identity is computed from.

    `data` names a data set of the registry, a function ("file.py:name") or a table, `knobs` are its choices;
    `protect` are the attributes whose groups the method sees; `method` is a key or "file.py:Class" and
    `fields` all its fields; `recipe` holds every value of the recipe; `parts` are measured after training, by
    each of `groupings` (tuples of attribute names), and a part under a shift is one of them, by its name (see
    `evenhand.study.shifted`); `numbers` are taken of the trained model (see `evenhand.study.numbers`);
    `sources` maps files of the user's own to their SHA-256; `repeat` is the number of a run among those that
    are to be identical (None: there are no others), and `vary` what may differ between them all the same (see
    `evenhand.study.fit`).
    """

    data: str
    knobs: Mapping[str, Any]
    protect: tuple[str, ...]
    net: str
    net_options: Mapping[str, Any]
    method: str
    fields: Mapping[str, Any]
    recipe: Mapping[str, Any]
    seed: int
    parts: tuple[str, ...] = ("validation", "test")
    groupings: tuple[tuple[str, ...], ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    numbers: tuple[str, ...] = ()
    repeat: int | None = None
    vary: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The specification as JSON values; `numbers`, `repeat` and `vary` only where there are some.

        They came later: a run without them has the identity that it had before there were any.
        """
        values = {name: dict(v) if isinstance(v, Mapping) else v for name, v in vars(self).items()}
        away = [] if self.numbers else ["numbers"]
        away += ["repeat", "vary"] if self.repeat is None else []
        return {name: value for name, value in values.items() if name not in away}

    def content(self) -> dict[str, Any]:
        """What it says, however it was written: 1 is 1.0, and files of the user's own are their checksums."""
        values = plain_numbers(self.to_dict())
        for path, checksum in self.sources.items():
            for name in ("data", "method"):
                values[name] = values[name].replace(path, checksum)
        return {**values, "sources": sorted(self.sources.values())}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RunSpec:
        """The specification again, from JSON values."""
        lists = {name: tuple(values.get(name, ())) for name in ("protect", "parts", "numbers", "vary")}
        groupings = tuple(tuple(names) for names in values["groupings"])
        return cls(**{**values, **lists, "groupings": groupings})


def identity(spec: RunSpec, version: str, data_checksum: str) -> str:
    """What a run is known by: the hash of its specification, the package's version and its data.

    >>> one = RunSpec("adult", {}, ("sex",), "mlp", {}, "erm", {}, {"epochs": 1}, seed=0)
    >>> len(identity(one, "0.1.0", "00")), identity(one, "0.1.0", "00") == identity(one, "0.2.0", "00")
    (32, False)
    """
    text = canonical({"spec": spec.content(), "version": version, "data": data_checksum})
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def canonical(value: Any) -> str:
    """JSON text that is the same for equal values: sorted keys, no spaces; tuples are lists.

    >>> canonical({"b": (1, 2), "a": 0.1})
    '{"a":0.1,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def plain_numbers(value: Any) -> Any:
    """The same values, with whole numbers as integers: 1 and 1.0 are written alike.

    >>> plain_numbers({"widths": (64.0, 8), "rate": 0.5, "balanced": True})
    {'widths': [64, 8], 'rate': 0.5, 'balanced': True}
    """
    if isinstance(value, Mapping):
        return {name: plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain_numbers(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class PlannedRun:
    """A run of a study: its identity, its specification, and what it is called in tables.

    `task`, `grouping`, `net` and `method` are the names that the study gives; `setting` holds the fields that
    the study varies for this method ({} where nothing is varied), `place` the number in the study's order.
    """

    id: str
    spec: RunSpec
    task: str
    grouping: str
    net: str
    method: str
    setting: Mapping[str, Any]
    data_checksum: str
    place: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The run as JSON values."""
        return {**vars(self), "spec": self.spec.to_dict(), "setting": dict(self.setting)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> PlannedRun:
        """The run again, from JSON values."""
        return cls(**{**values, "spec": RunSpec.from_dict(values["spec"])})


@dataclass(frozen=True)
class Bucket:
    """Runs that one worker trains together, always in this order: a resumed bucket gives the same bits.

    `cost` is an estimate by which slow ones go first; `threads` is how many CPU threads it is trained with;
    `device` is the kind of device it was planned for, "cpu" or "cuda"; `first` says whether its trainings are
    what other runs begin with ("own": they are not; see `evenhand.study.first_training`).
    """

    id: str
    runs: tuple[PlannedRun, ...]
    stack: int  # at most so many runs side by side
    threads: int = 1
    cost: float = 0.0
    device: str = "cpu"
    first: str = "own"

    @property
    def fresh(self) -> bool:
        """Whether it is to be worked on by a process that has worked on nothing before."""
        return any(run.spec.repeat is not None for run in self.runs)

    def to_dict(self) -> dict[str, Any]:
        """The bucket as JSON values."""
        return {**vars(self), "runs": [run.to_dict() for run in self.runs]}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Bucket:
        """The bucket again, from JSON values."""
        return cls(**{**values, "runs": tuple(PlannedRun.from_dict(run) for run in values["runs"])})


@dataclass(frozen=True)
class Measured:
    """The raw counts of one run on one part, by one grouping; binned scores too if they were asked for.

    `grouping` is "sex × race", or "all" where there is one group of everybody.
    """

    part: str
    grouping: str
    groups: tuple[str, ...]
    classes: tuple[str, ...]
    counts: Counts
    scores: Scores | None = None


@dataclass(frozen=True)
class RunRecord:
    """What became of a run: "done" with its counts, or "failed" with the reason.

    `seconds` is the run's share of its stack's time, `stack_seconds` the whole: of a training that is read in
    several ways each run has its part, so that sums over runs are what was spent; `weights`
    is the SHA-256 of the trained parameters, equal for runs of one training; `history` holds a list over
    epochs for each number that was watched, by what was trained; `peak_memory` is in bytes, of the worker;
    `predictions` is part -> scores `[N, C]` where they were asked for; `numbers` are those that the
    specification asks for, NaN where undefined, and what scores told that it came without.
    """

    id: str
    status: str
    reason: str | None = None
    # the traceback of a failure; as JSON: how an identical run was made, or which first training one shares
    detail: str = ""
    measured: tuple[Measured, ...] = ()
    history: Mapping[str, list[Any]] = field(default_factory=dict)
    seconds: float = 0.0
    stack_seconds: float = 0.0
    stack: int = 1
    peak_memory: int = 0
    device: str = "cpu"
    host: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    weights: str = ""
    started: str = ""
    finished: str = ""
    source: str = "run"  # "run", or the file that a finished run was taken from
    predictions: Mapping[str, Any] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
