"""The colours of each face: skin, hair, lips, clothes, wall.

The tone of the skin is drawn for each row by itself, of no other fact but `Pale_Skin`: nothing in this world
ties skin to anything else. Hair with none of the four named colours is copper red, so that each of the four
shows; hair with several of them has strands of each (`strands`).
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from evenhand.data.faces_traits import PLACES, Traits

Colour = tuple[float, float, float]
TONES: tuple[Colour, ...] = (
    (0.38, 0.24, 0.17),
    (0.56, 0.37, 0.25),
    (0.72, 0.51, 0.37),
    (0.85, 0.65, 0.51),
    (0.92, 0.74, 0.62),
)
PALE: Colour = (0.985, 0.915, 0.875)
COPPER: Colour = (0.72, 0.35, 0.15)
HAIR: dict[str, Colour] = {
    "Black_Hair": (0.09, 0.08, 0.09),
    "Blond_Hair": (0.93, 0.79, 0.42),
    "Brown_Hair": (0.36, 0.22, 0.13),
    "Gray_Hair": (0.74, 0.75, 0.77),
}
BANDS = 4.0  # bands of strands in a unit of width


def with_colours(traits: Traits) -> Traits:
    """The same faces with their colours, `[n, 3, 1, 1]` each.

    >>> facts = torch.zeros(1, 40)
    >>> traits = Traits.of(facts, torch.arange(1), seed=0, difficulty=0.0, nuisance=0.0)
    >>> [round(float(c), 2) for c in with_colours(traits).colours["skin"].flatten()]
    [0.72, 0.51, 0.37]
    """
    skin = _skin(traits)
    copper = hair = _copper(traits)
    named = traits.signs[:, [PLACES[name] for name in HAIR]]
    share = named / (named > 0).sum(1, keepdim=True).clamp_min(1)
    for k, colour in enumerate(HAIR.values()):
        hair = hair + (_tensor(colour, skin) - copper) * share[:, k, None, None, None]
    lips = skin * _tensor((0.84, 0.68, 0.65), skin) + _tensor((0.04, 0.01, 0.02), skin)
    colours = {
        "skin": skin,
        "hair": hair,
        "brow": hair * 0.62 + skin * 0.05,
        "lips": lips,
        "cloth": mixed_colour(traits, (0.42, 0.46, 0.58), ("cloth", "cloth_2", "cloth_3"), 0.28),
        "wall": mixed_colour(traits, (0.66, 0.72, 0.74), ("wall", "wall_2", "wall_3"), 0.15),
        "hat": mixed_colour(traits, (0.46, 0.28, 0.34), ("hat", "hat_2", "cloth_3"), 0.24),
        "tie": mixed_colour(traits, (0.62, 0.16, 0.20), ("tie", "hat_2", "cloth_2"), 0.16),
    }
    return replace(traits, colours=colours)


def mixed_colour(traits: Traits, base: Colour, names: tuple[str, str, str], spread: float) -> Tensor:
    """`[n, 3, 1, 1]`: a colour whose red, green and blue vary by three chances."""
    own = torch.cat([traits.chance(name) for name in names], 1)[..., None]
    return (own * spread + _tensor(base, own)).clamp_(0.03, 0.97)


def strands(traits: Traits, x: Tensor) -> Tensor:
    """The colour of the hair at each column, `[n, 3, 1, w]`: bands of each colour where there are several."""
    on = torch.cat([(traits.sign(name) > 0).to(x.dtype) for name in HAIR], 1)
    share = on / on.sum(1, keepdim=True).clamp_min(1)
    first = share.cumsum(1) - share
    place = x * BANDS + traits.chance("parting")
    place = place - place.floor()
    colour = _copper(traits)
    for k, name in enumerate(HAIR):
        low = first[:, k : k + 1]
        mine = (place >= low) & (place < low + share[:, k : k + 1]) & (traits.sign(name) > 0)
        weight = (mine * traits.sign(name))[:, None]
        colour = colour + (_tensor(HAIR[name], x) - colour) * weight
    return colour * (1 + traits.chance("hair")[..., None] * 0.12)


def _copper(traits: Traits) -> Tensor:
    redder = traits.chance("strand")[..., None] * 0.05
    return _tensor(COPPER, redder) + redder


def _skin(traits: Traits) -> Tensor:
    """From deep to light along the tones, evenly; then pale where that is the fact."""
    place = (traits.chance("tone") * 0.5 + 0.5).clamp_(0, 1) * (len(TONES) - 1)
    skin = _tensor(TONES[0], place)
    for k in range(1, len(TONES)):
        step = _tensor(TONES[k], place) - _tensor(TONES[k - 1], place)
        skin = skin + (place - (k - 1)).clamp(0, 1)[..., None] * step
    warm = traits.chance("warmth")[..., None] * 0.03
    skin = skin + warm * _tensor((0.4, 0.0, -1.0), place)
    return skin + (_tensor(PALE, place) - skin) * traits.sign("Pale_Skin")[..., None]


def _tensor(colour: Colour, like: Tensor) -> Tensor:
    return like.new_tensor(colour)[:, None, None]
