"""Curvature matching beside any other method: what CUMA adds to its adversary, added to whatever one trains.

    loss of the model + gamma L_cm

S4 has it with its own adversary alone. A method that is matched keeps its networks, players, phases, state,
sampling and inference rule; its class is derived from the method's own.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache
from typing import ClassVar

from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.curvature_gap import outputs_gap
from evenhand.methods.curvature_terms import curvature_gap
from evenhand.methods.fields import choice, number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import score_losses, without_groups
from evenhand.metrics.mmd import KERNELS
from evenhand.records import Batch, Needs, Out, State

SUFFIX = "+cm"  # of the keys


def with_curvature_matching(
    method: Method, gamma: float = 1.0, h: float = 1.0, kernels: str = "default"
) -> Method:
    """The method with `gamma L_cm` added to the model's loss wherever the model moves; gamma = 0 is itself.

    The curvature is that of minus the log of the probability that the method itself predicts for a row's
    class, without dropout. Runs of one stack may differ in gamma and h (the fields `cm_gamma`, `cm_h`).

    >>> from evenhand.methods import LaftrDP
    >>> matched = with_curvature_matching(LaftrDP(gamma=2.0), gamma=0.5)
    >>> matched.key, matched.gamma, matched.cm_gamma, isinstance(matched, LaftrDP)
    ('laftr-dp+cm', 2.0, 0.5, True)
    """
    if not isinstance(method, Method):
        raise InputError(f"curvature matching is added to a method, such as LaftrDP(), not to {method!r}")
    own = {item.name: getattr(method, item.name) for item in fields(method)}
    return curvature_matched(type(method))(**own | {"cm_gamma": gamma, "cm_h": h, "cm_kernels": kernels})


@cache
def curvature_matched(kind: type[Method]) -> type[Method]:
    """The class of a method with curvature matching: its fields, and `cm_gamma`, `cm_h`, `cm_kernels`.

    A study file says `key = "laftr-dp+cm"`; a class of one's own is given as `key = "matched.py:Matched"`,
    where matched.py has `Matched = curvature_matched(Mine)`.

    >>> from evenhand.methods import ERM
    >>> curvature_matched(ERM)(cm_gamma=3.0)
    ERMCurvatureMatched(cm_gamma=3.0, cm_h=1.0, cm_kernels='default')
    """
    if issubclass(kind, CurvatureMatching):
        raise InputError(f"the method '{kind.key}' is matched already; change its fields cm_gamma and cm_h")
    told = {
        "__doc__": f"{kind.title}, and curvature matching: `with_curvature_matching`.",
        "__module__": kind.__module__,
        "key": f"{kind.key or kind.__name__}{SUFFIX}",
        "title": f"{kind.title or kind.__name__} with curvature matching",
        "needs": replace(kind.needs, groups=True),
    }
    return dataclass(frozen=True)(type(f"{kind.__name__}CurvatureMatched", (CurvatureMatching, kind), told))


@dataclass(frozen=True)
class CurvatureMatching(Method):
    """What is added to a method's own class, which comes after this one among the bases."""

    needs: ClassVar[Needs] = Needs(groups=True)

    cm_gamma: float = number(1.0, "weight of the distance between the groups' curvatures", search=(0.1, 10.0))
    cm_h: float = number(1.0, "length of the step between the two gradients", at_least=1e-6)
    cm_kernels: str = choice("default", tuple(KERNELS), "widths of the kernels: 0.25 to 4, 1 to 16, 4 to 64")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The method's own losses, and the distance of curvatures for the model where it moves."""
        out = super().loss(nets, batch, state)  # type: ignore[safe-super]
        if "model" not in nets.turn or "model" not in out.losses:
            return out
        gap = self._gap(nets, batch, state)
        losses = {**out.losses, "model": out.losses["model"] + self.cm_gamma * gap}
        return Out(losses, out.state, {**out.logs, "curvature_gap": gap.detach()})

    def _gap(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """L_cm for minus the log of what the method predicts for each row's class, or labels on average."""
        if type(self).predict is Method.predict:  # from the outputs themselves, where nothing rounds to 0
            return outputs_gap(nets, batch, h=self.cm_h, kernels=self.cm_kernels)
        still, n_groups = nets.measured(), nets.sizes.n_groups
        seen = batch if self.asks().groups_at_test else without_groups(batch)

        def losses(x: Tensor) -> Tensor:
            return score_losses(self.predict(still, seen._replace(x=x), state), batch.y)

        return curvature_gap(losses, batch.x, batch.g, n_groups, h=self.cm_h, kernels=self.cm_kernels)

    def asks(self) -> Needs:
        """What the method needs, and groups."""
        return replace(super().asks(), groups=True)

    def first_as(self) -> Method | None:
        """The method's, if its model rests in the first phase and is not matched there."""
        moves = any("model" in turn for turn in self.phases()[0].turns)
        return None if moves else super().first_as()

    def stacked_form(self) -> Method:
        """The form that studies train in the method's place, matched as this one is."""
        form = super().stacked_form()
        if isinstance(form, CurvatureMatching):
            return form
        return with_curvature_matching(form, self.cm_gamma, self.cm_h, self.cm_kernels)

    def check(self, problem: Problem) -> None:
        """Refuse what has no curvature to compare, beside what the method refuses."""
        super().check(problem)
        if problem.sizes.n_groups < 2:
            raise InputError(f"the method '{self.key}' compares groups; this task has one only")
        prepared = any(phase.prepared for phase in self.phases())  # also where a code is as long as an input
        if prepared or self.model_inputs(problem) != problem.sizes.inputs:
            raise InputError(
                f"the method '{self.key}' cannot be had: its model reads a code that was learned before, so "
                "that there is no gradient for the inputs; match curvatures of a method that reads the inputs"
            )
