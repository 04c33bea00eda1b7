"""S3's claims about its four settings, each split into parts that runs can decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from evenhand.evaluation.ci_mnist.evidence import Evidence, mean_of
from evenhand.evaluation.ci_mnist.judging import ABOVE, BELOW, GONE, LITTLE, NOT_BETTER, Asked, contrast
from evenhand.evaluation.ci_mnist.layout import FAIRNESS, FAMILIES, METRICS, MODELS, setting_of
from evenhand.evaluation.ci_mnist.numbers import Series

MINORITY, COLOUR, LINES, GREEN = (setting_of(name) for name in ("minority", "colour", "lines", "green"))
BALANCED = "balanced"


def less_blue(e: Evidence) -> list[Asked]:
    """1a: accuracy and fairness fall as the unprivileged group shrinks."""
    last = [MINORITY.rows[-1].task]
    models = e.everywhere([BALANCED, *last])
    return [
        contrast(f"{what} at (0.001, 0.001) less at (0.5, 0.5), {mean_of(models)}", BELOW,
                 of(models, last), of(models, [BALANCED]))
        for what, of in (("accuracy", e.accuracy), ("fairness", e.fairness))
    ]  # fmt: skip


def order_of_models(e: Evidence) -> list[Asked]:
    """1b: fairness in the order LAFTR, FFVAE, CFAIR, MLP, accuracy the other way round, at (0.001, 0.001)."""
    last = [MINORITY.rows[-1].task]
    names = list(FAMILIES)
    pairs = list(pairwise(names))
    fair = [_between(e.fairness, "fairness", one, other, last) for one, other in pairs]
    return fair + [_between(e.accuracy, "accuracy", other, one, last) for one, other in pairs]


def ffvae_keeps(e: Evidence) -> list[Asked]:
    """2a: FFVAE keeps fairness best under correlated colour; LAFTR and CFAIR are like the MLP or worse."""
    others = [name for name in FAMILIES if name != "FFVAE"]
    best = [_between(e.fairness, "fairness", "FFVAE", name, COLOUR.after) for name in others]
    return best + [
        _between(e.fairness, "fairness", name, "MLP", COLOUR.after, NOT_BETTER) for name in ("LAFTR", "CFAIR")
    ]


def mlp_most_accurate(e: Evidence) -> list[Asked]:
    """2b: in that setting the MLP has the best accuracy."""
    others = [name for name in FAMILIES if name != "MLP"]
    return [_between(e.accuracy, "accuracy", "MLP", name, COLOUR.after) for name in others]


def correlation_is_used(e: Evidence) -> list[Asked]:
    """2c: fairness falls on the balanced test set, and some metric of a mitigated model reaches 0."""
    last = [COLOUR.rows[-1].task]
    models = e.everywhere([BALANCED, *last])
    fall = contrast(f"fairness at (0.01, 0.99) less at (0.5, 0.5), {mean_of(models)}", BELOW,
                    e.fairness(models, last), e.fairness(models, [BALANCED]))  # fmt: skip
    found = {(m, key): e.numbers.series([m], last, [key]) for m in MODELS if m != "mlp" for key in FAIRNESS}
    every = {place: series for place, series in found.items() if series}
    if not every:
        return [fall]
    model, key = min(every, key=lambda place: float(np.mean(list(every[place].values()))))
    words = f"the lowest fairness number of a mitigated model there ({MODELS[model]}, {METRICS[key]})"
    return [fall, contrast(words, GONE, every[model, key])]


def lines_matter_little(e: Evidence) -> list[Asked]:
    """3: MLP, CFAIR and FFVAE change little with the lines; LAFTR-DP loses fairness, LAFTR-EqOpp0 gains."""
    before, after = [BALANCED], LINES.after
    asked = [_change(e, [model], before, after, LITTLE) for model in ("mlp", "cfair", "ffvae")]
    asked.append(_change(e, ["laftr-dp"], before, after, BELOW))
    return [*asked, _change(e, ["laftr-eqopp0"], before, after, ABOVE)]


def green_hint(e: Evidence) -> list[Asked]:
    """4a: an easy hint (g1 = 2) makes LAFTR less fair and hardly changes the others."""
    before, after = [row.task for row in GREEN.rows[:2]], GREEN.after
    asked = [_change(e, FAMILIES["LAFTR"], before, after, BELOW, "LAFTR")]
    return asked + [_change(e, [model], before, after, LITTLE) for model in ("mlp", "cfair", "ffvae")]


def one_pixel(e: Evidence) -> list[Asked]:
    """4b: five green pixels are close to one."""
    tall, low = ([GREEN.rows[place].task for place in places] for places in ((0, 2), (1, 3)))
    return [
        contrast(f"{what} of {name}, gw = 5 less gw = 1", LITTLE, of(models, tall), of(models, low))
        for what, of in (("accuracy", e.accuracy), ("fairness", e.fairness))
        for name, models in FAMILIES.items()
    ]


def _between(
    of: Callable[[Iterable[str], Iterable[str]], Series], what: str, one: str, other: str,
    tasks: Sequence[str], rule: str = ABOVE,
) -> Asked:  # fmt: skip
    return contrast(
        f"{what} of {one} less {other}", rule, of(FAMILIES[one], tasks), of(FAMILIES[other], tasks)
    )


def _change(
    e: Evidence, models: Sequence[str], before: Sequence[str], after: Sequence[str], rule: str, name: str = ""
) -> Asked:
    words = f"change of the fairness of {name or MODELS[models[0]]}"
    return contrast(words, rule, e.fairness(models, after), e.fairness(models, before))
