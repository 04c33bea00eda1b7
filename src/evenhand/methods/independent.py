"""Domain independent training: a head for each group on one backbone, summed at inference."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import known_rows, mask_of, probabilities, row_losses, weighted_mean
from evenhand.records import Batch, Needs, Out, Sizes, State


@dataclass(frozen=True)
class DomainIndependent(Method):
    """Domain independent training: each row trains the head of its own group, all heads decide.

    Objective: `mean_i l(h_{g_i}(x_i), y_i)`, heads `h_g` on a shared backbone; outputs are laid out `[G, C]`.
    With `decompose` there is a head for each value of each attribute instead of each intersection, a row
    trains one head for each attribute, and the mean is over rows and attributes; for one attribute it is the
    same. Cells that training never showed are then served by the heads of their values.

    Scores, by `inference`: "sum-logit" (the default) are the probabilities of the heads' mean logits, which
    decide as their sum does and keep the scale of one head (several labels a row: sigmoid of the mean logit);
    "sum-prob" is the mean of the heads' probabilities; "conditional" takes the row's own head (under
    `decompose` the mean logits of its own heads) and needs groups at test, a row without a trained one is
    scored as by "sum-logit"; "max" is the largest of the heads' probabilities, for several labels a row.
    Heads with fewer than `n_min` training rows are left out of the scores: the authors' sum takes them in.

    Needs groups in training; rows of unknown group (or attribute, for its heads) are left out.

    >>> method = DomainIndependent()
    >>> problem = Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, 1])
    >>> heads = Nets({"model": lambda x: (torch.tensor([[2.0, 1.0, 0.0, 1.5]]), None)}, problem.sizes)
    >>> row = Batch(torch.zeros(1, 1), torch.tensor([0]), torch.tensor([-1]))
    >>> method.predict(heads, row, method.init(problem)).argmax().item()  # (2, 1) + (0, 1.5) = (2, 2.5)
    1
    """

    key: ClassVar[str] = "ind"
    title: ClassVar[str] = "Domain independent training"
    citation: ClassVar[str] = "Wang et al., Towards fairness in visual recognition, CVPR 2020"
    needs: ClassVar[Needs] = Needs(groups=True)

    inference: str = choice(
        "sum-logit",
        ("sum-logit", "sum-prob", "conditional", "max"),
        "how the heads decide together",
    )
    decompose: bool = switch(False, "a head for each value of each attribute, not for each intersection")
    n_min: int = number(1, "training rows a head must have had to take part in inference", at_least=1)

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss of the rows' own heads."""
        logits, _ = nets["model"](batch.x)
        own = self.own_heads(batch, nets.sizes)
        heads = logits.unflatten(-1, (-1, nets.sizes.n_classes))
        place = own.clamp(min=0)[:, :, None].expand(-1, -1, heads.shape[-1])
        chosen = heads.gather(1, place).flatten(0, 1)
        y = batch.y[:, None].expand(-1, own.shape[1], *batch.y.shape[1:]).flatten(0, 1)
        known = (own >= 0).to(logits.dtype).flatten()
        return Out({"model": weighted_mean(row_losses(chosen, y), known)}, state)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """Scores of the heads together, or of the row's own."""
        logits, _ = nets["model"](batch.x)
        heads = logits.unflatten(-1, (-1, nets.sizes.n_classes))
        trained = state["heads"].to(logits.dtype).expand(heads.shape[:2])
        if self.inference == "max":
            return (probabilities(heads, nets.sizes) * trained[:, :, None]).amax(1)
        if self.inference == "sum-prob":
            return mean_of_heads(probabilities(heads, nets.sizes), trained)
        if self.inference == "conditional":
            trained = own_or_all(self.own_heads(batch, nets.sizes), trained)
        return probabilities(mean_of_heads(heads, trained), nets.sizes)

    def own_heads(self, batch: Batch, sizes: Sizes) -> Tensor:
        """The heads that each row belongs to `[B, k]`, -1 where that is not known."""
        if not self.decompose:
            return batch.g[:, None]
        if batch.a is None:
            raise InputError(f"'{self.key}' by attribute looks at each: give their codes as Batch(a=...)")
        first = accumulate(sizes.n_levels[:-1], initial=0)
        columns = zip(batch.a.unbind(1), first, strict=True)
        return torch.stack([torch.where(codes < 0, codes, codes + start) for codes, start in columns], dim=1)

    def init(self, problem: Problem) -> State:
        """Which heads have had enough training rows to be heard `[H]`."""
        return {"heads": self._counts(problem) >= self.n_min}

    def _counts(self, problem: Problem) -> Tensor:
        return torch.cat(problem.level_counts()) if self.decompose else problem.group_counts()

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row that belongs to a head."""
        known = (problem.a >= 0).any(1) if self.decompose else problem.g >= 0
        return Sampling(rows=known_rows(known))

    def outputs(self, problem: Problem) -> int:
        """All classes or labels for each head."""
        sizes = problem.sizes
        heads = sum(sizes.n_levels) if self.decompose else sizes.n_groups
        return heads * sizes.n_classes

    def trains_as(self) -> Method:
        """One network serves all rules; not so in classes made of this one, whose loss may look at scores."""
        return replace(self, inference="sum-logit") if type(self) is DomainIndependent else self

    def asks(self) -> Needs:
        """What this choice of inference needs: "conditional" looks at the groups of the rows to be scored."""
        return replace(self.needs, groups_at_test=self.inference == "conditional")

    def check(self, problem: Problem) -> None:
        """Refuse a rule that the task does not have, and a task none of whose heads would be heard."""
        super().check(problem)
        if self.inference == "max" and not problem.sizes.multi_label:
            raise InputError(
                f"inference='max' of '{self.key}' is for several labels a row; use 'sum-prob' here"
            )
        if self.decompose and not problem.sizes.n_levels:
            raise InputError(f"'{self.key}' by attribute needs attributes to protect; name at least one")
        largest = int(self._counts(problem).max())
        if largest < self.n_min:
            raise InputError(
                f"'n_min' of '{self.key}' is {self.n_min}, and no head has more than {largest} rows; lower it"
            )


def mean_of_heads(values: Tensor, weights: Tensor) -> Tensor:
    """Mean of `values [B, H, C]` over the heads that `weights [B, H]` marks; each row has one at least."""
    return (values * weights[:, :, None]).sum(1) / weights.sum(1, keepdim=True)


def own_or_all(own: Tensor, trained: Tensor) -> Tensor:
    """The heads that are asked about each row `[B, H]`: its own trained ones, and where it has none all.

    >>> own_or_all(torch.tensor([[1], [-1]]), torch.ones(2, 2)).tolist()
    [[0.0, 1.0], [1.0, 1.0]]
    """
    mine = trained * sum(mask_of(column, trained.shape[1], trained.dtype) for column in own.unbind(1))
    return torch.where(mine.sum(1, keepdim=True) > 0, mine, trained)
