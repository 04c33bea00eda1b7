"""Identical runs: one seed, the same code, data and order; what may still differ is named, source by source.

`repeat = "identical"` trains every method `runs` times, each in a process of its own and never stacked.
Unless `[fit]` says otherwise, only the implementation may differ between them (S0: fixed-seed identical
training):

- kernels: libraries choose among kernels by timing them (`cudnn.benchmark`)
- reduction: kernels may add in any order (torch's operations that are not deterministic)

and these have a stream of their own for each repeat where they are named:

- order: the order of training rows, what resampling draws, and augmentation
- init: the initial weights
- dropout: dropout masks, and whatever else a network or method draws while it trains

What is not named is held: without "reduction" torch is asked for deterministic operations and refuses those
that have no such form, without "kernels" nothing is chosen by timing. `deterministic = true` in the recipe
takes both away: the control, in which nothing should differ.

Citation: Qian et al., Are my deep learning systems fair? An empirical study of fixed-seed training, NeurIPS
2021 (S0).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenhand.study.mistakes import Mistakes
from evenhand.study.spec import Study

IDENTICAL = "identical"
RUNS = 16  # of every method, as in S0
IMPLEMENTATION = ("kernels", "reduction")
STREAMS = ("order", "init", "dropout")
SOURCES = (*IMPLEMENTATION, *STREAMS)


def varied_in(vary: Sequence[str], recipe: Mapping[str, Any]) -> tuple[str, ...]:
    """What may differ between the repeats of a run: nothing of the implementation if it is deterministic.

    >>> varied_in(("order", "kernels"), {"deterministic": True})
    ('order',)
    """
    held = IMPLEMENTATION if recipe.get("deterministic") else ()
    return tuple(source for source in SOURCES if source in vary and source not in held)


def numbered(study: Study) -> Iterator[tuple[int, int | None]]:
    """The seed of each run of a setting, and its number among identical ones.

    >>> list(numbered(Study("s", seeds=(3,), repeats=2))), list(numbered(Study("s", seeds=(0, 1))))
    ([(3, 0), (3, 1)], [(0, None), (1, None)])
    """
    for seed in study.seeds:
        for repeat in range(study.repeats) if study.repeats else (None,):
            yield seed, repeat


def check_fit(study: Study, mistakes: Mistakes) -> None:
    """Note what is wrong with identical runs."""
    if study.repeats and len(study.seeds) != 1:
        told = f"identical runs have one seed, and there are {len(study.seeds)}: write seeds = [0], say"
        mistakes.add(("seeds",), told)
    if study.repeats < 0 or study.repeats == 1:
        mistakes.add(("runs",), f"identical runs are at least 2, not {study.repeats}")
    if study.vary and not study.repeats:
        mistakes.add(("fit",), f'what varies belongs to repeat = "{IDENTICAL}", which is not said')
    for source in study.vary:
        if source not in SOURCES:
            told = f"there is no source of variance {source!r}; there are: {', '.join(SOURCES)}"
            mistakes.add(("fit", "vary"), told)


def fit_words(repeats: int, seed: int, vary: Sequence[str]) -> str:
    """What identical runs are, in a sentence.

    >>> fit_words(16, 0, ("order",))
    '16 identical runs of seed 0, each in a process of its own; what may differ between them: order'
    """
    told = ", ".join(vary) if vary else "nothing (the control)"
    return (
        f"{repeats} identical runs of seed {seed}, each in a process of its own; what may differ between "
        f"them: {told}"
    )
