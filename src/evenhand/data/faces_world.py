"""The knobs of the `faces` world that decide who is drawn and how, checked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import FloatArray
from evenhand.data.faces_copula import latent_matrix, weakened
from evenhand.data.faces_facts import draw_facts, with_mistakes
from evenhand.data.faces_names import ATTRIBUTES, INCONSISTENT
from evenhand.data.faces_statistics import celeba_statistics
from evenhand.data.splits import check_seed, check_share
from evenhand.errors import InputError

PLACES = {"train": 0, "validation": 1, "test": 2}
APART = 1 << 28  # ids of a part begin here times its place: a part never depends on another


@dataclass(frozen=True)
class World:
    """A population of drawn faces: how many of each part, and the numbers that their facts are drawn by.

    >>> world = World(n=1000, validation=0.1, test=0.2, shares={"Male": 0.5})
    >>> world.sizes(), round(float(world.rates()[20]), 2)
    ({'train': 700, 'validation': 100, 'test': 200}, 0.5)
    """

    n: int = 20_000
    validation: float = 0.1
    test: float = 0.2
    seed: int = 0
    correlation: float = 1.0
    shares: Mapping[str, float] = field(default_factory=dict)
    noise: float | Mapping[str, float] = 0.0
    clean_test: bool = False

    def check(self) -> World:
        """The world itself, after every number was looked at."""
        check_seed(self.seed)
        check_share("validation", self.validation)
        check_share("test", self.test)
        if not isinstance(self.n, int) or not 1 <= self.n <= APART:
            raise InputError(f"the knob n={self.n!r} must be a number of faces, from 1 to {APART:,}")
        if self.sizes().get("train", 0) < 1:
            raise InputError(
                f"validation={self.validation} and test={self.test} of n={self.n:,} faces leave none to "
                "train on; make them smaller"
            )
        between("correlation", self.correlation, 0.0, 1.0)
        for name, share in self.shares.items():
            if not 0.0 < between(f"shares[{name!r}]", share, 0.0, 1.0) < 1.0:
                raise InputError(f"the knob shares[{name!r}]={share} must be more than 0 and less than 1")
        self.rates(), self.chances()
        return self

    def sizes(self) -> dict[str, int]:
        """Faces of each part that has some; what validation and test leave is for training."""
        held = {part: round(getattr(self, part) * self.n) for part in ("validation", "test")}
        found = {"train": self.n - sum(held.values()), **held}
        return {part: size for part, size in found.items() if size}

    def ids(self) -> Tensor:
        """The number of every face `[N]`, part by part: those of a part are the first of an endless row."""
        return torch.cat([torch.arange(size) + PLACES[part] * APART for part, size in self.sizes().items()])

    def rates(self) -> FloatArray:
        """The share of "yes" of each attribute: the published one, or that of `shares`."""
        return _overridden("shares", celeba_statistics().rates, self.shares)

    def chances(self) -> FloatArray:
        """The probability that each attribute is written down wrong."""
        given = self.noise
        named = dict(given) if isinstance(given, Mapping) else dict.fromkeys(INCONSISTENT, given)
        for name, chance in named.items():
            between(f"noise[{name!r}]" if isinstance(given, Mapping) else "noise", chance, 0.0, 1.0)
        return _overridden("noise", np.zeros(len(ATTRIBUTES)), named)

    def facts(self) -> Tensor:
        """What is drawn, `[N, 40]`, uint8."""
        return draw_facts(self.ids(), self.seed, self.rates(), weakened(latent_matrix(), self.correlation))

    def recorded(self, facts: Tensor) -> Tensor:
        """What is written down of them, `[N, 40]`, uint8."""
        ids = self.ids()
        told = with_mistakes(facts, ids, self.seed, self.chances())
        if not self.clean_test:
            return told
        return torch.where((ids < PLACES["test"] * APART)[:, None], told, facts)


def between(name: str, value: float, least: float, most: float) -> float:
    """The value itself if it is a number within bounds."""
    number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not number or not least <= value <= most:
        raise InputError(f"the knob {name}={value!r} must be a number from {least:g} to {most:g}")
    return value


def _overridden(knob: str, numbers: FloatArray, given: Mapping[str, float]) -> FloatArray:
    """The numbers of the attributes, with others for those that are named."""
    found = np.array(numbers)
    for name, value in given.items():
        if name not in ATTRIBUTES:
            near = get_close_matches(str(name), ATTRIBUTES, n=2, cutoff=0.4)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else "."
            raise InputError(f"the knob {knob} names {name!r}, which is no attribute of faces{hint}")
        found[ATTRIBUTES.index(name)] = value
    return found
