"""ERM on all rows before a method that needs groups: S1's protocol where few rows have a group label.

    phase "pretrain": mean_i -log (score that the method predicts for y_i), over every training row
    then the method's own phases, from these weights, with the rows that it uses

S1 trains so on ImageNet's people, 5 % of which have group labels, and its Table 7 is without the first phase.
A method that is pre-trained keeps its networks, state, sampling and inference rule; its class is derived from
the method's own, as with curvature matching.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cache

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method, Sampling
from evenhand.methods.distillation import Distilled
from evenhand.methods.erm import ERM
from evenhand.methods.fields import number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import row_losses, score_losses, without_groups
from evenhand.records import Batch, Out, Phase, State

PRETRAIN = "pretrain"
PREFIX = "pre+"  # of the keys
# what makes the first phase a method's own: networks, how they are read, what is done to their gradients
HOOKS_OF_ITS_OWN = (
    "outputs", "model_inputs", "siblings", "extra", "players", "noise", "combine", "constrain", "each_epoch",
    "prepare", "predict", "evidence", "settle",
)  # fmt: skip


def with_pretraining(method: Method, epochs: int = 0) -> Method:
    """The method after so many epochs of ERM on all rows; 0: as many as the recipe has.

    The loss of these epochs is minus the log of the score that the method's own inference rule, without
    groups, gives to a row's label, or the mean over its labels: so heads and pairs begin with what all rows
    teach. A method with a teacher has both networks pre-trained.

    >>> from evenhand.methods import WeightedERM
    >>> method = with_pretraining(WeightedERM(by="group"), epochs=5)
    >>> method.key, method.by, method.pre_epochs, [phase.name for phase in method.phases()]
    ('pre+w-erm', 'group', 5, ['pretrain', 'train'])
    """
    if not isinstance(method, Method):
        raise InputError(f"pre-training is put before a method, such as WeightedERM(), not before {method!r}")
    own = {item.name: getattr(method, item.name) for item in fields(method)}
    return pretrained(type(method))(**own | {"pre_epochs": epochs})


@cache
def pretrained(kind: type[Method]) -> type[Method]:
    """The class of a method with pre-training: its fields, and `pre_epochs`; in a study `key = "pre+KEY"`.

    >>> from evenhand.methods import ERM
    >>> pretrained(ERM)(pre_epochs=3)
    ERMPretrained(pre_epochs=3)
    """
    if issubclass(kind, Pretraining):
        raise InputError(f"the method '{kind.key}' is pre-trained already; change its field pre_epochs")
    title = kind.title or kind.__name__
    told = {
        "__doc__": f"{title} after epochs of ERM on all rows: `with_pretraining`.",
        "__module__": kind.__module__,
        "key": f"{PREFIX}{kind.key or kind.__name__}",
        "title": f"{title}, pre-trained",
    }
    return dataclass(frozen=True)(type(f"{kind.__name__}Pretrained", (Pretraining, kind), told))


@dataclass(frozen=True)
class Pretraining(Method):
    """What is put before a method's own class, which comes after this one among the bases."""

    pre_epochs: int = number(0, "epochs of ERM on all rows before; 0: as many as the recipe has")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """ERM's loss in the first phase, whose state stays as it is; then the method's own."""
        if nets.phase != PRETRAIN:
            return super().loss(nets, batch, state)  # type: ignore[safe-super]
        seen = without_groups(batch)
        losses = {"model": self._plain_loss(nets, seen, state)}
        if isinstance(self, Distilled):
            losses["teacher"] = score_losses(self.taught_scores(nets, seen, state), batch.y).mean()
        still = torch.zeros_like(losses["model"])  # who rests; `combine` may ask for a gradient all the same
        return Out({player: losses.get(player, still) for player in self.players()}, state)

    def _plain_loss(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The mean of minus the log of what is predicted for the truth."""
        if type(self).predict is Method.predict:  # from the outputs themselves, where nothing rounds to 0
            return row_losses(nets["model"](batch.x)[0], batch.y).mean()
        return score_losses(self.predict(nets, batch, state), batch.y).mean()

    def phases(self) -> tuple[Phase, ...]:
        """ERM first, then the method's own phases."""
        moving = ("model", "teacher") if isinstance(self, Distilled) else ("model",)
        return Phase(PRETRAIN, (moving,), epochs=self.pre_epochs or None), *super().phases()

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row in the first phase, then the method's."""
        return Sampling() if phase == PRETRAIN else super().sampling(problem, seed, phase)

    def first_as(self) -> Method | None:
        """ERM alone, where the method adds nothing to the model and reads it as ERM does; else it is its own.

        So methods that weigh or draw rows otherwise begin with one and the same training.
        """
        own = any(getattr(type(self), hook) is not getattr(Method, hook) for hook in HOOKS_OF_ITS_OWN)
        return None if own else FirstPretraining(pre_epochs=self.pre_epochs)

    def stacked_form(self) -> Method:
        """The form that studies train in the method's place, pre-trained as this one is."""
        form = super().stacked_form()
        return form if isinstance(form, Pretraining) else with_pretraining(form, self.pre_epochs)

    def check(self, problem: Problem) -> None:
        """Refuse a method that would forget what was learned, beside what the method refuses."""
        super().check(problem)
        prepared = any(phase.prepared for phase in self.phases())
        if prepared or self.model_inputs(problem) != problem.sizes.inputs:
            raise InputError(
                f"the method '{self.key}' cannot be had: its model reads a code that is learned later; "
                "pre-train a method that reads the inputs"
            )
        for phase in self.phases():
            if "model" in phase.fresh:
                raise InputError(
                    f"the method '{self.key}' cannot be had: its phase '{phase.name}' begins with a new "
                    "model, so that pre-training would be forgotten; use the method by itself"
                )


@dataclass(frozen=True)
class FirstPretraining(Pretraining, ERM):
    """The epochs of ERM on all rows by themselves, which methods of a study share.

    >>> [phase.name for phase in FirstPretraining(pre_epochs=2).phases()]
    ['pretrain']
    """

    def phases(self) -> tuple[Phase, ...]:
        """The first alone."""
        return super().phases()[:1]
