"""The numbers that training watches on validation rows, and which way each of them is better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.metrics.catalogue import CATALOGUE, COUNT_METRICS
from evenhand.metrics.counts import Counts
from evenhand.metrics.view import View
from evenhand.records import Sizes
from evenhand.train.evaluate import decide
from evenhand.train.parts import Part

OWN_NUMBERS = ("loss", "error")  # what is measured in any case


def log_loss(scores: Tensor, y: Tensor, multi_label: bool) -> Tensor:
    """Mean negative log score of the truth, for each run `[R]`; `y` is `[N]` or `[R, N]`."""
    tiny = torch.finfo(scores.dtype).tiny
    if multi_label:
        truth = torch.where(y.to(torch.bool), scores, 1 - scores)
        return -truth.clamp(min=tiny).log().mean((-1, -2))
    truth = scores.gather(-1, y.expand(scores.shape[:-1])[..., None])[..., 0]
    return -truth.clamp(min=tiny).log().mean(-1)


def watched(
    scores: Tensor, part: Part, sizes: Sizes, keys: tuple[str, ...], tasks: Tensor | None = None
) -> dict[str, Tensor]:
    """Numbers of each run on a part: "loss", "error", and metrics of the catalogue by key, on the CPU."""
    y, g = part.y, part.g
    if tasks is not None:
        y, g, _ = part.labels(torch.arange(part.n, device=part.device).expand(len(tasks), -1), tasks)
    guesses = decide(scores, sizes.multi_label)
    wrong = (guesses != y).to(torch.float64).flatten(1).mean(1).cpu()
    found = {"loss": log_loss(scores, y, sizes.multi_label).to("cpu", torch.float64), "error": wrong}
    if wanted := [key for key in keys if key not in found]:
        margins = counts_of(guesses, y, g, sizes).margins()
        view = View(margins)
        for key in wanted:
            found[key] = torch.as_tensor(CATALOGUE[key](view))
    return found


def checked_metrics(monitor: str, watch: Sequence[str]) -> tuple[str, ...]:
    """The keys themselves, each once; one that cannot be measured from counts after an epoch is refused.

    >>> checked_metrics("tpr.gop", [])
    Traceback (most recent call last):
    evenhand.errors.InputError: there is no metric 'tpr.gop' to watch; did you mean 'tpr.gap' or 'tnr.gap'?
    """
    for key in (monitor, *watch):
        if key not in OWN_NUMBERS and key not in COUNT_METRICS:
            near = get_close_matches(key, [*OWN_NUMBERS, *COUNT_METRICS], n=2)
            hint = f"; did you mean {' or '.join(map(repr, near))}?" if near else " that counts can tell"
            raise InputError(f"there is no metric {key!r} to watch{hint}")
    if monitor not in OWN_NUMBERS and CATALOGUE[monitor].better == "none":
        raise InputError(f"neither more nor less of '{monitor}' is better, so it cannot be the monitor")
    return tuple(dict.fromkeys((monitor, *watch)))


def monitored(key: str, found: Mapping[str, Tensor]) -> Tensor:
    """A watched number `[R]` turned so that lower is better, as the catalogue says."""
    values = found[key]
    if key in OWN_NUMBERS or CATALOGUE[key].better == "lower":
        return values
    return -values if CATALOGUE[key].better == "higher" else (values - CATALOGUE[key].ideal).abs()


def counts_of(guesses: Tensor, y: Tensor, g: Tensor, sizes: Sizes) -> Counts:
    """Counts `[R, G, C, C]` of the runs' predictions; labels and groups are shared, or each run's own."""
    n_classes = None if sizes.multi_label else sizes.n_classes
    if g.ndim == 1:
        return Counts.from_predictions(y, guesses, g, n_classes, sizes.n_groups)
    runs = [
        Counts.from_predictions(*three, n_classes, sizes.n_groups)
        for three in zip(y, guesses, g, strict=True)
    ]
    return Counts.stack(runs)
