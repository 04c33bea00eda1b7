"""Drawing rows from the population of a synthetic task."""

from __future__ import annotations

import numpy as np

from evenhand.arrays import Array, IntArray
from evenhand.data.synthetic_world import World
from evenhand.groups import UNKNOWN

PLACES = {"train": 0, "validation": 1, "test": 2}  # part of the seed, so that a part never depends on another


def draw_part(
    world: World, part: str, rows: int, seed: int, attribute_noise: float, scarcity: float
) -> tuple[Array, IntArray, IntArray]:
    """Inputs, labels and recorded attributes of one part; each from generators of its own."""
    place = PLACES[part]
    who, what, where, wrong = (np.random.default_rng([seed, place, purpose]) for purpose in range(4))
    codes = _attributes(world, part, rows, who)
    group = np.ravel_multi_index(tuple(codes.T), [len(shares) for shares in world.shares])
    y = _classes(world.class_shares(part)[group], world.labels, what)
    x = where.standard_normal((rows, world.d))
    if world.labels:
        signs = world.signals[group, None] * (2.0 * y - 1.0)
        x += world.group_means[group] + np.einsum("nl,nld->nd", signs, world.directions[group])
    else:
        x += world.class_means[group, y]
    if part == "test":
        return x, y, codes
    flips = world.flips[group]
    flipped = what.random(y.shape) < (flips[:, None] if world.labels else flips)
    return (
        x,
        np.where(flipped, np.maximum(y - 1, 0), y),
        _recorded(world, codes, attribute_noise, scarcity, wrong),
    )


def _attributes(world: World, part: str, rows: int, draw: np.random.Generator) -> IntArray:
    """True levels `[rows, attributes]`: normal variables with a common factor, cut at their quantiles."""
    if part == "test" and world.balanced_test:
        return world.cells[draw.integers(len(world.cells), size=rows)]
    common = np.sqrt(world.correlation) * draw.standard_normal((rows, 1))
    own = np.sqrt(1.0 - world.correlation) * draw.standard_normal((rows, len(world.shares)))
    cut = [np.searchsorted(world.bounds(j), column) for j, column in enumerate((common + own).T)]
    return np.stack(cut, axis=1).astype(np.int64)


def _classes(shares: Array, labels: int, draw: np.random.Generator) -> IntArray:
    """A class for each row by its probabilities `[rows, C]`; with labels, each of them by P(1) of the row."""
    size = (len(shares), labels) if labels else (len(shares),)
    chance = draw.random(size)
    if labels:
        return (chance < shares[:, 1:]).astype(np.int64)
    bounds = np.cumsum(shares, axis=1)[:, :-1]
    return np.asarray((chance[:, None] > bounds).sum(axis=1), dtype=np.int64)


def _recorded(
    world: World, codes: IntArray, noise: float, scarcity: float, draw: np.random.Generator
) -> IntArray:
    """The attributes as somebody wrote them down: some wrong, and some rows without any."""
    sizes = np.array([len(shares) for shares in world.shares])
    other = (codes + 1 + draw.integers(sizes - 1, size=codes.shape)) % sizes
    found = np.where(draw.random(codes.shape) < noise, other, codes)
    return np.where(draw.random((len(codes), 1)) < scarcity, UNKNOWN, found)
