"""Adversaries that read the group off features or outputs: their network, its loss, and how to confuse it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses, weighted_mean
from evenhand.nets.head import Head
from evenhand.records import Batch, Phase, Sizes

EVERY = ("batch", "step", "epoch")


class GroupAdversary(nn.Module):
    """Logits of groups for features `[B, ...]`: of one head, or of one for each attribute, side by side.

    >>> GroupAdversary(16, (2, 3), width=8, depth=1)(torch.zeros(4, 4, 2, 2)).shape
    torch.Size([4, 5])
    """

    stackable = True

    def __init__(self, inputs: int, sizes: Sequence[int], *, width: int = 0, depth: int = 0) -> None:
        super().__init__()
        widths = (width,) * depth
        self.heads = nn.ModuleList(Head(inputs, size, widths, activation="leaky_relu") for size in sizes)

    def forward(self, z: Tensor, noise: Mapping[str, Tensor] | None = None) -> Tensor:
        """The logits of all heads `[B, sum of their sizes]`."""
        return torch.cat([head(z) for head in self.heads], dim=-1)


def head_sizes(sizes: Sizes, decompose: bool) -> tuple[int, ...]:
    """How many groups each head tells apart: all of them, or the levels of its attribute.

    >>> head_sizes(Sizes((), 2, 6, (2, 3)), decompose=True)
    (2, 3)
    """
    return sizes.n_levels if decompose else (sizes.n_groups,)


def codes_of(batch: Batch, decompose: bool) -> Tensor:
    """What each head has to find out `[B, heads]`, -1 where it is not known."""
    if not decompose:
        return batch.g[:, None]
    if batch.a is None:
        raise InputError("decompose has a head for each attribute: give their codes as Batch(a=...)")
    return batch.a


def met_levels(problem: Problem, decompose: bool) -> Tensor:
    """1 for each output of the adversary whose group has training rows, else 0.

    >>> met_levels(Problem.from_labels([0, 1], g=[0, 2]), decompose=False).tolist()
    [1.0, 0.0, 1.0]
    """
    counts = problem.level_counts() if decompose else (problem.group_counts(),)
    return (torch.cat(counts) > 0).to(torch.get_default_dtype())


def spotting_loss(logits: Tensor, codes: Tensor, sizes: Sequence[int]) -> Tensor:
    """Cross-entropy of the groups, mean over the rows where they are known, summed over heads.

    >>> round(float(spotting_loss(torch.zeros(3, 5), torch.tensor([[0, 2], [1, -1], [-1, -1]]), (2, 3))), 4)
    1.7918
    """
    parts = zip(torch.split(logits, list(sizes), dim=-1), codes.unbind(-1), strict=True)
    losses = [weighted_mean(row_losses(z, c.clamp(min=0)), (c >= 0).to(z.dtype)) for z, c in parts]
    return torch.stack(losses).sum()


def confusion_loss(logits: Tensor, codes: Tensor, sizes: Sequence[int], met: Tensor) -> Tensor:
    """`-mean_n mean_d log softmax_d`, over known rows and groups that training has, summed over heads.

    >>> sure = torch.tensor([[2.0, 0.0]])
    >>> round(float(confusion_loss(sure, torch.tensor([[0]]), (2,), torch.ones(2))), 4)
    1.1269
    """
    outputs, present = (torch.split(part, list(sizes), dim=-1) for part in (logits, met))
    losses = []
    for z, counted, code in zip(outputs, present, codes.unbind(-1), strict=True):
        rows = -(torch.log_softmax(z, dim=-1) * counted).sum(-1) / counted.sum().clamp(min=1)
        losses.append(weighted_mean(rows, (code >= 0).to(z.dtype)))
    return torch.stack(losses).sum()


def alternation(every: str, first: tuple[str, ...], ratio: int) -> tuple[Phase, ...]:
    """A phase of the turn `first` and then of the adversary alone, until that one has moved `ratio` times.

    >>> alternation("step", ("model",), 2)[0].turns
    (('model',), ('adversary',), ('adversary',))
    >>> alternation("step", ("model", "adversary"), 2)[0].turns
    (('model', 'adversary'), ('adversary',))
    """
    alone = ratio - ("adversary" in first)
    return (Phase(turns=(first, *[("adversary",)] * alone), every=every),)  # type: ignore[arg-type]
