"""What is to be drawn of each face: the strength of its signs, and its chances, from hashed counters.

A fact that holds is a *sign* of strength

    s = fact · (1 − 0.8 · difficulty) · (1 − 0.15 · nuisance · u),   u ~ U(0, 1) of this row and this fact,

and everything else that varies from face to face (pose, skin tone, colours, light) is a *chance* in
[−nuisance, nuisance]. Both are pure functions of (seed, row id, facts, knobs). Only sums, products,
quotients, comparisons and square roots are used: they are rounded alike on every path through a vector unit,
so that a face is the same to the byte in any batch and with any number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor

from evenhand.data.faces_names import ATTRIBUTES
from evenhand.data.shift_counters import Counters

FADE = 0.8  # the share of a sign that the highest difficulty takes away
SIGN_SPREAD = 0.15
SIGNS = (*ATTRIBUTES, "Beard", "Age")  # the last two: the absence of No_Beard and of Young is what shows
PLACES = {name: place for place, name in enumerate(SIGNS)}
CHANCES = (
    *("across", "down", "scale", "turn", "nod", "tilt"),
    *("tone", "warmth", "hair", "strand", "parting", "length", "iris", "cloth", "cloth_2", "cloth_3"),
    *("wall", "wall_2", "wall_3", "wall_4", "light", "side_light", "hat", "hat_2", "frame", "tie", "lip"),
    *("width", "height", "jaw", "eye", "apart", "brow", "nose", "mouth", "mouth_2"),
)


@dataclass(frozen=True)
class Traits:
    """Some faces: `signs [n, 42]` in [0, 1] in the order SIGNS, `chances [n, K]` in the order CHANCES.

    >>> facts = torch.zeros(2, 40, dtype=torch.bool)
    >>> facts[1, ATTRIBUTES.index("Smiling")] = True
    >>> traits = Traits.of(facts, torch.arange(2), seed=0, difficulty=0.5, nuisance=0.0)
    >>> [round(float(s), 3) for s in traits.sign("Smiling").flatten()]
    [0.0, 0.6]
    """

    signs: Tensor
    chances: Tensor
    colours: dict[str, Tensor] = field(default_factory=dict)  # [n, 3, 1, 1] of each name

    @classmethod
    def of(cls, facts: Tensor, rows: Tensor, *, seed: int, difficulty: float, nuisance: float) -> Traits:
        """The traits of the rows with these ids, on their device."""
        facts = facts.to(torch.float32)
        shown = torch.cat([facts, 1 - facts[:, [PLACES["No_Beard"], PLACES["Young"]]]], 1)
        spread = Counters.of(seed, "faces: signs", rows).uniform(len(SIGNS)) * (SIGN_SPREAD * nuisance)
        chances = Counters.of(seed, "faces: chances", rows).uniform(len(CHANCES)) * 2 - 1
        return cls(shown * (1 - FADE * difficulty) * (1 - spread), chances * nuisance)

    def take(self, rows: Tensor) -> Traits:
        """The traits of some of these faces."""
        colours = {name: colour[rows] for name, colour in self.colours.items()}
        return Traits(self.signs[rows], self.chances[rows], colours)

    def sign(self, name: str) -> Tensor:
        """The strength of a sign, `[n, 1, 1]`: 0 where the fact does not hold."""
        return self.signs[:, PLACES[name], None, None]

    def chance(self, name: str) -> Tensor:
        """A number of each face's own, `[n, 1, 1]`, evenly within ± nuisance."""
        return self.chances[:, CHANCES.index(name), None, None]
