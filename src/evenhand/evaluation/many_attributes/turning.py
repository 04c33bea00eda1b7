"""Do metrics move in one direction as attributes are added? The largest rise and fall, found on other seeds.

A curve is the mean of a metric over the structures with 1, 2, ... attributes, as far as all collections go.
The two numbers of attributes between which it rises (falls) most are found on the mean of all other seeds and
read off the seed left out, so that noise makes neither a rise nor a fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.evaluation.many_attributes.evidence import Evidence, name_of
from evenhand.evaluation.many_attributes.judging import Asked, contrast
from evenhand.evaluation.many_attributes.layout import AMPLIFICATION, EPSILON, MARGIN, PERFORMANCE
from evenhand.evaluation.many_attributes.rules import above, below
from evenhand.evaluation.many_attributes.runs import Structure

Curves = dict[str, dict[int, FloatArray]]  # method -> seed -> value for 1, 2, ... attributes
RISE, FALL = 1.0, -1.0


def directions(e: Evidence) -> list[Asked]:
    """10: intersectional bias is higher for most attributes than for one and nowhere falls by the margin;
    performance and bias amplification both rise and fall by more than the margin.
    """
    found = []
    for track in e.runs.tracks:
        where = [structure for structure in e.runs.of(track) if not structure.swapped]
        told, sizes = e.runs.track_name(track), shared_sizes(where)
        curves = {slot: curves_of(e, where, slot) for slot in (EPSILON, PERFORMANCE, AMPLIFICATION)}
        grown = {(method, seed): float(values[-1] - values[0])
                 for method, seeds in curves[EPSILON].items() for seed, values in seeds.items()
                 if len(sizes) > 1}  # fmt: skip
        name = name_of(EPSILON, where)
        found.append(contrast(f"{name}, most attributes less one ({told})", above(), (1.0, grown)))
        fall = left_out(curves[EPSILON], FALL)
        found.append(contrast(f"largest fall of {name} ({told})", below(MARGIN[EPSILON]), (1.0, fall)))
        for slot in (PERFORMANCE, AMPLIFICATION):
            for word, sign in (("rise", RISE), ("fall", FALL)):
                words = f"largest {word} of {name_of(slot, where)} ({told})"
                turned = left_out(curves[slot], sign)
                found.append(contrast(words, above(MARGIN[slot]), (1.0, turned)))
    return found


def shared_sizes(where: Sequence[Structure]) -> list[int]:
    """The numbers of attributes that every collection has."""
    by: dict[str, set[int]] = {}
    for structure in where:
        by.setdefault(structure.collection, set()).add(structure.attributes)
    return sorted(set.intersection(*by.values())) if by else []


def curves_of(e: Evidence, where: Sequence[Structure], slot: str) -> Curves:
    """The curve of every method and seed that has all its structures."""
    sizes, found = shared_sizes(where), Curves()
    for method in e.runs.claimed:
        by_size = [
            [e.values(structure, method, slot) for structure in where if structure.attributes == size]
            for size in sizes
        ]
        every = [values for group in by_size for values in group]
        seeds = set.intersection(*(set(values) for values in every)) if every else set()
        for seed in sorted(seeds):
            curve = np.array([np.mean([values[seed] for values in group]) for group in by_size])
            found.setdefault(method, {})[seed] = curve
    return found


def left_out(curves: Curves, sign: float) -> dict[tuple[str, int], float]:
    """The largest rise (sign 1) or fall (-1) of each curve, between places that the other seeds choose.

    >>> left_out({"erm": {0: np.array([0.0, 1.0, 0.5]), 1: np.array([0.0, 0.8, 0.5])}}, FALL)
    {('erm', 0): 0.5, ('erm', 1): 0.30000000000000004}
    """
    found = {}
    for method, by_seed in curves.items():
        for seed, own in by_seed.items():
            rest = [curve for other, curve in by_seed.items() if other != seed]
            if not rest or len(own) < 2:
                continue
            guide = np.mean(rest, axis=0)
            first, last = max(
                combinations(range(len(own)), 2), key=lambda pair: sign * (guide[pair[1]] - guide[pair[0]])
            )
            found[method, seed] = float(sign * (own[last] - own[first]))
    return found
