"""Pruning while any method trains: the AGP schedule of S2, with masks that stay.

    at the start of epoch e of E: s = agp(share_start, share, t, T), T = until E, t = every floor(e / every)
    after every step: w <- w * mask(s)

S2 prunes the filters of a ResNet-32x4 from 10 % to 45 %, every 5 epochs until half-time of 240, and trains on
with what is left. A method that is pruned keeps its networks, losses, sampling and inference rule; its class
is derived from the method's own, as with pre-training. The schedule is that of Zhu and Gupta (2017), filters
are ranked by their L1 norm: Li et al., Pruning filters for efficient ConvNets, ICLR 2017.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method, Tensors
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.pruned_state import masks_in, own_forms, with_masks, without_masks
from evenhand.nets.prunable import usual_layers
from evenhand.nets.pruning import KINDS, agp, masked, masks_of
from evenhand.nets.smallest import exact, nearest
from evenhand.records import Batch, EpochStart, Out, Phase, State

PRUNE = "prune+"  # of the keys
ZHU_GUPTA = (
    "Zhu and Gupta, To prune, or not to prune: exploring the efficacy of pruning for model compression, 2017"
)


def with_pruning(method: Method, share: float = 0.45, **options: Any) -> Method:
    """The method while this share of the model's filters, or weights, is taken away.

    Options are the fields `share_start`, `every`, `until` and `kind`. Pruned is the model, in the last phase
    in which it moves: what came before, such as a teacher or pre-training, is left whole. Runs of one stack
    may differ in the shares and in `until`. Validation chooses no epoch before the last filters have gone. A
    gradient of what is zero moves nothing, but counts where the recipe clips gradients by their norm.

    >>> from evenhand.methods import ERM
    >>> method = with_pruning(ERM(), 0.9, kind="magnitude", every=1)
    >>> method.key, [round(method.share_at(epoch, 8), 2) for epoch in range(6)]
    ('prune+erm', [0.1, 0.56, 0.8, 0.89, 0.9, 0.9])
    """
    if not isinstance(method, Method):
        raise InputError(f"pruning is put around a method, such as ERM(), not around {method!r}")
    own = {item.name: getattr(method, item.name) for item in fields(method)}
    return pruned(type(method))(**own | {"share": share} | options)


@cache
def pruned(kind: type[Method]) -> type[Method]:
    """The class of a method with pruning: its fields, and those of `Pruning`; in a study `key = "prune+KEY"`.

    >>> from evenhand.methods import ERM
    >>> pruned(ERM)(share=0.3)
    ERMPruned(share=0.3, share_start=0.1, every=5, until=0.5, kind='filter')
    """
    if issubclass(kind, Pruning):
        raise InputError(f"the method '{kind.key}' is pruned already; change its field share")
    taken = {item.name for item in fields(kind)} & {item.name for item in fields(Pruning)}
    if taken:
        raise InputError(
            f"the method '{kind.key}' has a field {sorted(taken)[0]!r} of its own, which pruning needs"
        )
    title = kind.title or kind.__name__
    told = {
        "__doc__": f"{title} while the model is pruned: `with_pruning`.",
        "__module__": kind.__module__,
        "key": f"{PRUNE}{kind.key or kind.__name__}",
        "title": f"{title}, pruned",
        "citation": f"{kind.citation}; {ZHU_GUPTA}" if kind.citation else ZHU_GUPTA,
    }
    return dataclass(frozen=True)(type(f"{kind.__name__}Pruned", (Pruning, *own_forms(kind), kind), told))


@dataclass(frozen=True)
class Pruning(Method):
    """What is put before a method's own class, which comes after this one among the bases."""

    share: float = number(0.45, "share of each layer that is pruned in the end", at_most=1.0)
    share_start: float = number(0.10, "share that is pruned at the start", at_most=1.0)
    every: int = number(5, "epochs from one pruning to the next", at_least=1)
    until: float = number(0.5, "share of the epochs after which nothing more is pruned", at_most=1.0)
    kind: str = choice("filter", KINDS, "what goes: filters of 3x3 convolutions, or single weights")

    def share_at(self, epoch: int, epochs: int) -> Any:
        """The share that is pruned in an epoch, the first being 0; a tensor where a field is one."""
        last = nearest(exact(self.until) * epochs)
        scheduled = epoch - epoch % self.every
        if isinstance(last, Tensor):
            last = last.clamp(max=epochs - 1)
            time: Any = torch.where(last <= epoch, last, scheduled)
        else:
            last = min(last, epochs - 1)
            time = last if last <= epoch else scheduled
        return agp(exact(self.share_start), exact(self.share), time, last)

    def each_epoch(self, start: EpochStart, parameters: Mapping[str, Tensors], state: State) -> State:
        """The masks of this epoch, if the model is pruned in this phase."""
        own = super().each_epoch(start, parameters, without_masks(state))
        masks = masks_in(state)
        if start.phase == self._pruned_phase():
            share, model = self.share_at(start.epoch, start.epochs), start.networks["model"]
            masks = masks_of(self.kind, model, share, masks or None, parameters["model"])
        return with_masks(own, masks)

    def constrain(self, parameters: Mapping[str, Tensors], state: State) -> Mapping[str, Tensors]:
        """Zeros where the masks say so, after what the method itself has to say."""
        given = super().constrain(parameters, without_masks(state))
        changed = {} if given is parameters else dict(given)
        model = {**parameters["model"], **changed.get("model", {})}
        return {**changed, "model": {**changed.get("model", {}), **masked(model, masks_in(state))}}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The method's own, which does not see the masks."""
        out = super().loss(nets, batch, without_masks(state))  # type: ignore[safe-super]
        return out._replace(state=with_masks(out.state, masks_in(state)))

    def _pruned_phase(self) -> str:
        """The last phase in which the model moves."""
        return [phase.name for phase in self.phases() if any("model" in turn for turn in phase.turns)][-1]

    def phases(self) -> tuple[Phase, ...]:
        """The method's own; validation may choose once the model has lost all that it is to lose."""
        found = list(super().phases())
        moving = [place for place, phase in enumerate(found) if any("model" in turn for turn in phase.turns)]
        found[moving[-1]] = replace(found[moving[-1]], settled=self.until)
        return tuple(found)

    def stacked_form(self) -> Method:
        """The form that studies train in the method's place, pruned as this one is."""
        form = super().stacked_form()
        if isinstance(form, Pruning):
            return form
        own = {item.name: getattr(self, item.name) for item in fields(Pruning)}
        return with_pruning(form, **own)

    def check(self, problem: Problem) -> None:
        """Refuse a schedule that would have to let filters grow again, beside what the method refuses."""
        super().check(problem)
        if self.share_start > self.share:
            raise InputError(
                f"'share_start' of '{self.key}' is {self.share_start}, more than 'share', {self.share}: "
                "what is pruned never grows again; begin with less"
            )

    def check_model(self, model: nn.Module) -> None:
        """Refuse a network that has nothing of the kind to prune."""
        super().check_model(model)
        if self.kind == "filter" and not usual_layers(model):
            raise InputError(
                f"the method '{self.key}' prunes filters of 3x3 convolutions after the first convolution, of "
                "which this network has none; give the method kind='magnitude' (evenhand train: --set "
                "kind=magnitude), which prunes single weights, or choose a convolutional network"
            )
        masks_of(self.kind, model, 0.0)
