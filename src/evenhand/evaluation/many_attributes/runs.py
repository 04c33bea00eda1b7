"""The finished runs of a study by structure, method and seed, and what each metric says of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.many_attributes.layout import (
    CELLS,
    GROUPS,
    KEYS,
    MOST_CLASSES,
    MULTI,
    PART,
    PERFORMANCE,
    PRECISION,
    PRETRAINED,
    SINGLE,
    SWAPPED,
    VARIANTS,
    collection_of,
    plain_key,
    printed_name,
)
from evenhand.evaluation.study.setup import Setup
from evenhand.study.frame import Frame
from evenhand.study.select import Choice

BySeed = dict[int, float]


@dataclass(frozen=True)
class Structure:
    """A problem of the study: a base task, a network, and the groups that crossed attributes make."""

    task: str
    net: str
    grouping: str
    collection: str
    names: tuple[str, ...]  # of the crossed attributes
    kind: str
    performance: str  # key of the metric that is called performance on it

    @property
    def name(self) -> str:
        """What tells it from all others."""
        return f"{self.task} / {self.grouping} / {self.net}"

    @property
    def place(self) -> str:
        """The task and the groups, whatever the network."""
        return f"{self.task} / {self.grouping}"

    @property
    def attributes(self) -> int:
        """How many attributes are crossed."""
        return max(1, len(self.names))

    @property
    def track(self) -> tuple[str, str]:
        """The base task and network that it shares with other structures."""
        return self.task, self.net

    @property
    def swapped(self) -> bool:
        """Whether target and protected attribute have changed places."""
        return SWAPPED in f"{self.task} {self.grouping}".lower()

    def key(self, slot: str) -> str:
        """The catalogue's key of a metric on this structure."""
        return self.performance if slot == PERFORMANCE else KEYS.get(slot, slot)


class Runs:
    """The runs of the chosen setting of each method on each structure; unfinished studies give what is there.

    Methods go by the names that the study gives them; `find` says which of them has a key.
    """

    def __init__(self, store: Any) -> None:
        self.frame = Frame.open(store)
        self.problems: Sequence[Any] = self.frame.layout.problems
        found = {number: self._structure(number) for number in self._kinds}
        self.structures = tuple(found.values())
        self._number = {structure.name: number for number, structure in found.items()}
        self.methods = tuple(
            name for name in self.frame.layout.methods() if any(name == method for _, method in self._choices)
        )

    # -- what there is -------------------------------------------------------------------------------------
    @cached_property
    def _kinds(self) -> dict[int, tuple[str, int]]:
        """For each problem with a finished run: one label a row or several, and how many classes."""
        found: dict[int, tuple[str, int]] = {}
        layout = self.frame.layout
        for look in self.frame.looks(PART):
            told = (MULTI if look.counts.multilabel else SINGLE), len(look.classes)
            found |= {layout.candidates[place].problem: told for place in layout.candidate_of[look.rows]}
        return dict(sorted(found.items()))

    def _structure(self, number: int) -> Structure:
        problem = self.problems[number]
        kind, classes = self._kinds[number]
        first = self.frame.layout.candidates[self.frame.layout.of(number)[0]].rows[0]
        names = tuple(self.frame.columns["protect"][first])
        one_label = CELLS if classes <= MOST_CLASSES else GROUPS
        return Structure(
            problem.task, problem.net, problem.grouping, collection_of(problem.grouping), names, kind,
            PRECISION if kind == MULTI else one_label,
        )  # fmt: skip

    @cached_property
    def _choices(self) -> dict[tuple[int, str], Choice]:
        chosen = Setup.of(self.frame, 0).selected.choices
        return {(choice.problem, choice.method): choice for choice in chosen}

    @cached_property
    def keys(self) -> dict[str, str]:
        """The key of each method, by the name that the study gives it; one's own goes by that name."""
        columns, found = self.frame.columns, dict[str, str]()
        for name, spec in zip(columns["method"], columns["spec"], strict=True):
            key = str(spec.get("method", name))
            found.setdefault(str(name), str(name) if ":" in key else key)
        return found

    @cached_property
    def own(self) -> frozenset[str]:
        """Methods of one's own, which were added: shown beside the others, and asked by no claim."""
        columns = self.frame.columns
        pairs = zip(columns["method"], columns["spec"], strict=True)
        return frozenset(str(name) for name, spec in pairs if ":" in str(spec.get("method", "")))

    @property
    def claimed(self) -> list[str]:
        """The methods themselves that the paper's claims are about."""
        return [name for name in self.main if name not in self.own]

    def find(self, key: str, pretrained: bool | None = None) -> str | None:
        """The method that has a key: pre-trained where there is one, unless told otherwise; None without."""
        wanted = {True: [PRETRAINED + key], False: [key], None: [PRETRAINED + key, key]}[pretrained]
        for one in wanted:
            named = [name for name in self.methods if name == one]
            named += [name for name in self.methods if self.keys[name] == one]
            if named:
                return named[0]
        return None

    def shown(self, method: str) -> str:
        """What a method is called in figures: S1's name, or the study's own where several share a key."""
        key = self.keys[method]
        alone = sum(self.keys[name] == key for name in self.methods) == 1
        return printed_name(key) if alone or method == key else method

    @property
    def tracks(self) -> list[tuple[str, str]]:
        """Base tasks with their networks, in the study's order."""
        return list(dict.fromkeys(structure.track for structure in self.structures))

    def track_name(self, track: tuple[str, str]) -> str:
        """The task; with its network where the study has several."""
        several = len({net for _, net in self.tracks}) > 1
        return ", ".join(track) if several else track[0]

    def of(self, track: tuple[str, str]) -> list[Structure]:
        """The structures of a base task."""
        return [structure for structure in self.structures if structure.track == track]

    @property
    def main(self) -> list[str]:
        """The methods themselves, without those that are decomposed or distilled or lack pre-training."""
        own = [name for name in self.methods if plain_key(self.keys[name]) not in VARIANTS]
        return [name for name in own if not self._has_pretrained(name)]

    def _has_pretrained(self, name: str) -> bool:
        key = self.keys[name]
        return not key.startswith(PRETRAINED) and self.find(key, pretrained=True) is not None

    # -- numbers -------------------------------------------------------------------------------------------
    def values(self, structure: Structure, method: str | None, slot: str) -> BySeed:
        """A metric of every seed of a method where it is defined; nothing where there is no run."""
        choice = self._choices.get((self._number[structure.name], method or ""))
        if choice is None:
            return {}
        key = structure.key(slot)
        return self._by_seed(choice.per_metric.get(key, choice), self.frame.values(PART, key))

    def under(self, structure: Structure, method: str, shift: tuple[str, float], key: str) -> BySeed:
        """A metric of every seed under a shift, the mean over its draws; nothing where there is no run."""
        choice = self._choices.get((self._number[structure.name], method))
        return {} if choice is None else self._by_seed(choice, self.frame.mean_over_draws(*shift, key))

    def _by_seed(self, choice: Choice, found: FloatArray) -> BySeed:
        seeds = self.frame.columns["seed"]
        return {int(seeds[row]): float(found[row]) for row in choice.rows.tolist() if np.isfinite(found[row])}

    def mean(self, structure: Structure, method: str | None, slot: str) -> float:
        """The mean over seeds; NaN without a run."""
        found = list(self.values(structure, method, slot).values())
        return float(np.mean(found)) if found else float("nan")

    def trainings(self, places: Iterable[tuple[Structure, str | None]]) -> int:
        """How many models were trained for these: one that stands under several groupings counts once."""
        found = set()
        for structure, method in places:
            choice = self._choices.get((self._number[structure.name], method or ""))
            found |= {self.frame.columns["id"][row] for row in (choice.rows.tolist() if choice else ())}
        return len(found)
