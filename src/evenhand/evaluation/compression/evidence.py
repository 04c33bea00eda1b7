"""What the runs of a compression study say, in the tables that claims are judged by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.compression.measures import ACCURACY, CEV, SDE, Against, against_base
from evenhand.evaluation.compression.populations import PRUNING, Compressed

Table = dict[tuple[str, int], float]  # (method, seed) -> number
FEATURES = ("at", "pkt", "sp", "fsp")
DISTILLED = ("kd", *FEATURES, *(f"{name}-kd" for name in FEATURES))
PAIR_METRICS = (CEV, SDE)
TOLD = {CEV: "CEV", SDE: "SDE", ACCURACY: "accuracy"}
CLOSE = 0.01  # accuracies that are nearer than that are called similar, and equal


@dataclass(frozen=True, eq=False)
class Place:
    """A task, network and level: the populations that are compared with each other."""

    world: Compressed = field(repr=False)
    level: str
    against: tuple[Against, ...]
    _values: dict[str, FloatArray] = field(default_factory=dict, repr=False)  # worked out once

    @property
    def name(self) -> str:
        """Where it is."""
        return f"{self.world.name} at {self.level}" if self.level else self.world.name

    def of(self, role: str) -> Against | None:
        """The population of a role, if there is one."""
        return next((one for one in self.against if one.population.role == role), None)

    @cached_property
    def seeds(self) -> list[int]:
        """The seeds that all populations have."""
        return sorted(set.intersection(*(set(one.seeds) for one in self.against)))

    def values(self, key: str) -> FloatArray:
        """A number of every population and seed, `[M, S]`."""
        if key not in self._values:
            self._values[key] = np.stack([_at(one, key, self.seeds) for one in self.against])
        return self._values[key]


@dataclass(frozen=True, eq=False)
class Evidence:
    """All places of a study."""

    places: tuple[Place, ...]

    @classmethod
    def of(cls, worlds: Sequence[Compressed]) -> Evidence:
        """The places of these tasks and networks, level by level."""
        found = []
        for world in worlds:
            every = against_base(world)
            for level in world.levels:
                here = tuple(one for one in every if one.population.level == level)
                found += [Place(world, level, here)] if here else []
        return cls(tuple(found))

    @property
    def against(self) -> list[Against]:
        """Every population against its base."""
        return [one for place in self.places for one in place.against]

    @property
    def runs(self) -> int:
        """How many trainings stand behind it, those of the bases too."""
        bases = {id(place.world): len(place.world.base.seeds) for place in self.places}
        return sum(bases.values()) + sum(len(one.seeds) for one in self.against)

    def roles(self, among: Sequence[str] = DISTILLED) -> list[str]:
        """Which of these methods there are."""
        there = {one.population.role for one in self.against}
        return [role for role in among if role in there]

    def less(self, key: str, pairs: Sequence[tuple[str, str]]) -> Table:
        """A number of the one role less the other's, seed by seed, its mean over the places where both are.

        Methods are draws, tasks and levels are not: a method at two levels is one draw. A seed that lacks a
        number at one of the places is left out.
        """
        found: dict[tuple[str, int], list[float]] = {}
        for one, other in pairs:
            differences = [_differences(place, one, other, key) for place in self.places]
            there = [each for each in differences if each]
            for seed in set[int]().union(*there):
                found[one, seed] = [each.get(seed, np.nan) for each in there]
        means = {at: float(np.mean(values)) for at, values in found.items()}
        return {at: value for at, value in means.items() if np.isfinite(value)}

    def less_pruning(self, key: str) -> Table:
        """Every distillation less pruning alone."""
        return self.less(key, [(role, PRUNING) for role in self.roles()])

    def with_kd(self, key: str) -> Table:
        """Every feature distillation with KD less itself without."""
        return self.less(key, [(f"{role}-kd", role) for role in FEATURES])

    def pairs(self) -> Iterator[tuple[Place, Against, Against]]:
        """Two populations of a place, every pair once."""
        for place in self.places:
            for number, one in enumerate(place.against):
                yield from ((place, one, other) for other in place.against[number + 1 :])


def _differences(place: Place, one: str, other: str, key: str) -> dict[int, float]:
    """By seed; nothing where one of them is not there."""
    first, second = place.of(one), place.of(other)
    if first is None or second is None:
        return {}
    seeds = [seed for seed in first.seeds if seed in second.seeds]
    values = _at(first, key, seeds) - _at(second, key, seeds)
    return dict(zip(seeds, values.tolist(), strict=True))


def _at(one: Against, key: str, seeds: Sequence[int]) -> FloatArray:
    return one.by_seed[key][[one.seeds.index(seed) for seed in seeds]]
