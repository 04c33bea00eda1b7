"""FairALM: equal losses of the groups' positives as a constraint, with a multiplier that learns beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import GroupMeans, group_means, mask_of, row_losses
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class FairALM(Method):
    """Augmented Lagrangian: the mean loss of class 1 is to be the same in all groups (S0's A-ALM).

    Objective: `mean_i l_i + sum_g (eta / (2 G) + d_g) L_g`, `L_g` the mean loss of the rows of class 1 and
    group g, `d_g = l_g - mean_h l_h` for the multipliers l. On each batch `inner_steps` steps of the model
    are taken; the losses of the last then move the multipliers, `l_g <- d_g + eta (L_g - mean_h L_h)`. All
    begin at 0. With two groups that is `(eta/4 + (l_0 - l_1)/2) L_0 + (eta/4 + (l_1 - l_0)/2) L_1` and
    `l_0 <- (l_0 - l_1)/2 + eta/2 (L_0 - L_1)`. eta is multiplied by `growth` at the start of every epoch, the
    first too.

    Needs two classes and the groups of training rows; rows of unknown group serve the mean loss only. It
    takes `inner_steps` times the steps of other methods, and `eta / (2 G)` weighs all of class 1 up, whatever
    the gap. Epochs are counted in batches of the training rows, all of one size.

    Differs from the authors' code: multipliers move at once (dual="sequential" is theirs, where the second
    sees the first one's new value, so that they do not stay opposite); a group without rows of class 1 in the
    batch is left out, where theirs is undefined, and its multiplier stays; more groups than two are ours.

    >>> problem = Problem.from_labels(y=[1, 1, 0], g=[0, 1, 0])
    >>> nets = Nets({"model": lambda x: (torch.stack([x, 0 * x], dim=1), None)}, problem.sizes)
    >>> method = FairALM(eta=2.0, growth=1.0, inner_steps=1)
    >>> batch = Batch(torch.tensor([2.0, 0.0, 9.0]), problem.y, problem.g)
    >>> [round(value, 4) for value in method.loss(nets, batch, method.init(problem)).state["dual"].tolist()]
    [1.4338, -1.4338]
    """

    key: ClassVar[str] = "fairalm"
    title: ClassVar[str] = "FairALM"
    citation: ClassVar[str] = (
        "Lokhande et al., FairALM: augmented Lagrangian method for training fair models with little regret, "
        "ECCV 2020"
    )
    needs: ClassVar[Needs] = Needs(groups=True, binary=True)

    eta: float = number(20.0, "weight of the constraint, step size of the multipliers", search=(0.1, 40.0))
    growth: float = number(1.01, "what eta is multiplied by in every epoch")
    inner_steps: int = number(5, "steps of the model on each batch", at_least=1)
    dual: str = choice("simultaneous", ("simultaneous", "sequential"), "how the multipliers move")

    def init(self, problem: Problem) -> State:
        """The multipliers, which groups have rows of class 1, and what epochs are counted by."""
        met = (problem.cell_counts()[:, 1] > 0).to(torch.get_default_dtype())
        return {
            "dual": torch.zeros_like(met),
            "met": met,
            "taken": torch.tensor(0),
            "rows": torch.tensor(len(problem)),
        }

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss and the weighted losses of the groups; after the last inner step new multipliers."""
        losses = row_losses(nets["model"](batch.x)[0], batch.y)
        positive = torch.where(batch.y == 1, batch.g, -1)
        cells = group_means(losses, mask_of(positive, nets.sizes.n_groups, losses.dtype))
        eta, met = self._eta(state, batch.y.shape[0], losses.dtype), state["met"]
        weights = eta / (2 * met.sum().clamp(min=1)) + centred(state["dual"], met)
        later = {**state, "dual": self._moved(cells, eta, state), "taken": state["taken"] + 1}
        return Out({"model": losses.mean() + (weights * cells.means).sum()}, later, {"eta": eta})

    def _eta(self, state: State, batch_size: int, dtype: torch.dtype) -> Tensor:
        """The weight eta in the epoch of this turn."""
        steps = self.inner_steps * (state["rows"] // batch_size).clamp(min=1)
        epoch = state["taken"] // steps
        return self.eta * self.growth ** (epoch + 1).to(dtype)

    def _moved(self, cells: GroupMeans, eta: Tensor, state: State) -> Tensor:
        """The multipliers after this turn: others if it is the batch's last, and there is what to compare."""
        present = cells.present.to(cells.means.dtype)
        rise = eta * centred(cells.means.detach(), present)
        dual, met = state["dual"], state["met"]
        if self.dual == "sequential":
            for place in range(len(rise)):
                here = torch.arange(len(rise), device=rise.device) == place
                dual = torch.where(here, centred(dual, met) + rise, dual)
        else:
            dual = centred(dual, met) + rise
        last = (state["taken"] + 1) % self.inner_steps == 0
        return torch.where(last & (present.sum() > 1), dual, state["dual"])

    def phases(self) -> tuple[Phase, ...]:
        """All inner steps are turns on the same batch."""
        return (Phase(turns=(("model",),) * self.inner_steps),)


def centred(values: Tensor, counted: Tensor) -> Tensor:
    """Values less their mean over those that are counted (1, else 0); the others are 0.

    >>> centred(torch.tensor([3.0, 1.0, 9.0]), torch.tensor([1.0, 1.0, 0.0])).tolist()
    [1.0, -1.0, 0.0]
    """
    mean = (values * counted).sum() / counted.sum().clamp(min=1)
    return counted * (values - mean)
