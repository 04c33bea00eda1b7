"""The facts of drawn faces, and what is written down of them: each a function of seed and face alone.

No generator is used: the random numbers of a face are counted from its own (`evenhand.data.shift_counters`),
so a face is the same however many others there are, in any block and order. Sums are taken in one fixed
order, each step rounded by itself: a matrix product may round differently for another number of rows.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from evenhand.arrays import FloatArray
from evenhand.data.shift_counters import Counters
from evenhand.data.tetrachoric import thresholds

FACTS, MISTAKES = "faces facts", "faces mistakes"  # uses of the seed
BLOCK = 4096  # faces at a time: their numbers stay in the processor's cache


def draw_facts(ids: Tensor, seed: int, rates: FloatArray, latent: FloatArray) -> Tensor:
    """Which facts hold of the faces with these ids `[N]`: `[N, L]`, uint8, from the Gaussian copula.

    >>> pair = np.array([[1.0, 0.9], [0.9, 1.0]])
    >>> few = draw_facts(torch.tensor([3]), 7, np.array([0.5, 0.5]), pair)
    >>> torch.equal(few[0], draw_facts(torch.arange(9), 7, np.array([0.5, 0.5]), pair)[3])
    True
    """
    factor = torch.from_numpy(np.ascontiguousarray(np.linalg.cholesky(latent).T))  # row j: what draw j adds
    above = torch.from_numpy(np.ascontiguousarray(thresholds(rates)))
    found = torch.empty((len(ids), len(rates)), dtype=torch.uint8)
    for start in range(0, len(ids), BLOCK):
        block = ids[start : start + BLOCK]
        draws = torch.special.ndtri(Counters.of(seed, FACTS, block).fine(len(rates)))
        latents = torch.zeros_like(draws)
        for place, row in enumerate(factor):
            latents += draws[:, place, None] * row
        found[start : start + BLOCK] = latents > above
    return found


def with_mistakes(facts: Tensor, ids: Tensor, seed: int, chances: FloatArray) -> Tensor:
    """The facts as somebody wrote them down: fact l is told wrong with probability `chances[l]`.

    What is wrong at a chance is wrong at every larger one.

    >>> facts = torch.zeros((4, 2), dtype=torch.uint8)
    >>> with_mistakes(facts, torch.arange(4), 0, np.array([0.0, 1.0])).tolist()
    [[0, 1], [0, 1], [0, 1], [0, 1]]
    """
    if not chances.any():
        return facts
    wrong = Counters.of(seed, MISTAKES, ids).fine(facts.shape[1]) < torch.from_numpy(chances)
    return facts ^ wrong.to(facts.dtype)
