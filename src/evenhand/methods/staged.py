"""Two stages around a method: first a new head on a frozen backbone, then everything at another rate.

    phase "head": the method's own loss and rows; of the model only the last layer moves, at the recipe's rate
    then the method's own phases, from these weights, at rate_share times that rate

S0 fine-tunes networks from ImageNet so: 1e-4 for the new layer, then 5e-6 for all, by a new optimiser. A
method in stages keeps its networks, state, sampling and inference rule; its class is derived from the
method's own, as with pre-training.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cache

from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.records import Batch, NoiseSpec, Out, Phase, State

HEAD = "head"  # the name of the first stage
STAGED = "staged+"  # of the keys


def with_stages(method: Method, head_epochs: int = 0, rate_share: float = 0.05) -> Method:
    """The method after so many epochs of the model's head alone; 0: as many as the recipe has.

    `rate_share` is the rate of everything after them relative to the recipe's; runs of one stack may differ
    in it. The head is the model's last layer, or what the network calls its `head_parts`; whatever the method
    has beside the model, such as an adversary, moves in both stages. Frozen are parameters: a backbone with
    batch normalisation goes on keeping its running statistics, as in the authors' code.

    >>> from evenhand.methods import PosNegERM
    >>> method = with_stages(PosNegERM(), head_epochs=5)
    >>> method.key, [(phase.name, phase.heads, phase.rate) for phase in method.phases()]
    ('staged+erm-posneg', [('head', ('model',), 1.0), ('train', (), 0.05)])
    """
    if not isinstance(method, Method):
        raise InputError(f"stages are put around a method, such as ERM(), not around {method!r}")
    own = {item.name: getattr(method, item.name) for item in fields(method)}
    return staged(type(method))(**own | {"head_epochs": head_epochs, "rate_share": rate_share})


@cache
def staged(kind: type[Method]) -> type[Method]:
    """The class of a method in two stages: its fields, `head_epochs` and `rate_share`; by key "staged+KEY".

    >>> from evenhand.methods import ERM
    >>> staged(ERM)(head_epochs=3)
    ERMStaged(head_epochs=3, rate_share=0.05)
    """
    if any(item.name == "head_epochs" for item in fields(kind)):
        raise InputError(f"the method '{kind.key}' is in stages already; change its field head_epochs")
    title = kind.title or kind.__name__
    told = {
        "__doc__": f"{title} after epochs of the model's head alone: `with_stages`.",
        "__module__": kind.__module__,
        "key": f"{STAGED}{kind.key or kind.__name__}",
        "title": f"{title}, in two stages",
    }
    return dataclass(frozen=True)(type(f"{kind.__name__}Staged", (Staging, kind), told))


@dataclass(frozen=True)
class Staging(Method):
    """What is put before a method's own class, which comes after this one among the bases."""

    head_epochs: int = number(0, "epochs of the head alone before; 0: as many as the recipe has")
    rate_share: float = number(0.05, "rate of everything afterwards, as a share of the recipe's")

    def _first(self) -> Phase:
        """The method's own first phase, whose loss, turns and rows the head's stage has."""
        return super().phases()[0]

    def _seen(self, nets: Nets) -> Nets:
        return nets.in_phase(self._first().name) if nets.phase == HEAD else nets

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The method's own; in the first stage as in its first phase."""
        return super().loss(self._seen(nets), batch, state)  # type: ignore[safe-super]

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The method's own rule."""
        return super().predict(self._seen(nets), batch, state)

    def evidence(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """What the method's own rule for all rows is given."""
        return super().evidence(self._seen(nets), batch, state)

    def phases(self) -> tuple[Phase, ...]:
        """The head first, then the method's own phases at another rate."""
        first = replace(
            self._first(), name=HEAD, epochs=self.head_epochs or None, select=False, heads=("model",)
        )
        return first, *(replace(phase, rate=phase.rate * self.rate_share) for phase in super().phases())

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """The rows of the method's first phase, then its own."""
        return super().sampling(problem, seed, self._first().name if phase == HEAD else phase)

    def noise(self, problem: Problem) -> dict[str, NoiseSpec]:
        """The method's, in the first stage as in its first phase."""
        name, found = self._first().name, super().noise(problem)
        named = {key: spec for key, spec in found.items() if name in spec.phases}
        return found | {key: spec._replace(phases=(HEAD, *spec.phases)) for key, spec in named.items()}

    def after(self, phase: str, problem: Problem, scores: Tensor, state: State) -> State:
        """The method's, once its own phases have begun."""
        return state if phase == HEAD else super().after(phase, problem, scores, state)

    def first_as(self) -> Method | None:
        """Nothing: the head's stage comes first."""
        return None

    def stacked_form(self) -> Method:
        """The form that studies train in the method's place, in the same stages."""
        form = super().stacked_form()
        return form if isinstance(form, Staging) else with_stages(form, self.head_epochs, self.rate_share)

    def check(self, problem: Problem) -> None:
        """Refuse a method whose model does not begin with its first phase, beside what the method refuses."""
        super().check(problem)
        own = super().phases()
        if not any("model" in turn for turn in own[0].turns):
            raise InputError(
                f"the method '{self.key}' cannot be had: its model rests in the phase '{own[0].name}', which "
                "comes first, so that there is no head to train in it; use the method by itself"
            )
        for phase in own:
            if "model" in phase.fresh:
                raise InputError(
                    f"the method '{self.key}' cannot be had: its phase '{phase.name}' begins with a new "
                    "model, so that the head's stage would be forgotten; use the method by itself"
                )
