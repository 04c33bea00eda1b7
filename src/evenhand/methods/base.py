"""The contract of a method: pure functions of networks, batch and state, from which one step serves all.

The rules (a contract test holds every registered method to them):

- R1 networks are called only through `nets[name](x)`.
- R2 state comes in and goes out; nothing is written to `self`, to the batch or to the state that came in.
- R3 groups are masks over a fixed number of groups, some of which may be empty; never `x[g == k]`, `unique`.
- R4 no `.item()`, `float(tensor)`, `if tensor`.
- R5 no validation in `__post_init__`, because float fields may be tensors; `check` sees concrete values.
- R6 noise arrives in `batch.noise`; nothing is drawn inside a loss.
- R7 a player's gradient is taken for its own networks only, unless `needs.cross_gradients` asks for more.
- R8 what `settle` makes of all rows of a part depends on these rows and the fields, and on groups only if
  `needs.groups_at_test`; it is called for one run at a time, outside vmap, so that R4 does not bind it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.fields import check_fields
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import probabilities
from evenhand.records import Batch, EpochStart, Needs, NoiseSpec, Out, Phase, Sizes, State

Tensors = Mapping[str, Tensor]


class Sampling(NamedTuple):
    """Which training rows an epoch is made of.

    rows: the epoch goes through these rows in random order; a row may be there several times, or not at all.
    weights: rows are drawn with replacement, in proportion to these numbers `[N]`.
    strata: each batch has the same number of rows of every stratum `[N]`, or of `strata_per_batch` strata
    drawn for it; rows of stratum -1 are left out.
    At most one of the three; none of them means every row once an epoch.
    """

    rows: Tensor | None = None
    weights: Tensor | None = None
    strata: Tensor | None = None
    strata_per_batch: int = 0


@dataclass(frozen=True)
class Method(ABC):
    """One way of training. Fields are its hyper-parameters: floats may become tensors, all else is static."""

    key: ClassVar[str] = ""
    title: ClassVar[str] = ""
    citation: ClassVar[str] = ""
    needs: ClassVar[Needs] = Needs()
    reweights: ClassVar[bool] = False
    adversarial: ClassVar[bool] = False

    @abstractmethod
    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """One scalar for each player, and the state for the next step."""

    def init(self, problem: Problem) -> State:
        """What is remembered from step to step, as it is before the first."""
        return {}

    def outputs(self, problem: Problem) -> int:
        """How many outputs the model needs: by default one for each class or label."""
        return problem.sizes.n_classes

    def model_inputs(self, problem: Problem) -> tuple[int, ...]:
        """The shape of what the model reads: by default the task's inputs; a code, where it is put on one."""
        return problem.sizes.inputs

    def siblings(self, problem: Problem) -> dict[str, int]:
        """Further networks of the model's own kind, by name, and how many outputs each has: a teacher."""
        return {}

    def features_at(self) -> str:
        """The point of the network, by name, whose width `extra` is told; none: the network's split point."""
        return ""

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """Further networks of other kinds, by name: adversary, decoder."""
        return {}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """The networks that belong to each player."""
        return {"model": ("model",)}

    def phases(self) -> tuple[Phase, ...]:
        """The stretches of training, in order."""
        return (Phase(),)

    def noise(self, problem: Problem) -> dict[str, NoiseSpec]:
        """Random numbers that the loss wants beside the networks' own, by name."""
        return {}

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Which rows an epoch of this phase is made of."""
        return Sampling()

    def after(self, phase: str, problem: Problem, scores: Tensor, state: State) -> State:
        """The state for the next phase, given the scores of all training rows at the end of this one."""
        return state

    def combine(self, grads: Mapping[tuple[str, str], Tensors]) -> Mapping[tuple[str, str], Tensors]:
        """Gradients by (player, network) before the step; those of own networks are then stepped with."""
        return grads

    def constrain(self, parameters: Mapping[str, Tensors], state: State) -> Mapping[str, Tensors]:
        """Parameters after the step, by network; pruning puts its zeros back here."""
        return parameters

    def each_epoch(self, start: EpochStart, parameters: Mapping[str, Tensors], state: State) -> State:
        """The state with which an epoch begins, given the parameters; `constrain` is called after it.

        Names may be added in the first epoch of a phase. For one run, inside vmap where there is a stack.
        """
        return state

    def prepare(self, nets: Nets, batch: Batch) -> Tensor:
        """What the model reads in a phase with `prepared`: made of a row's inputs by networks at rest.

        Training may make it once a row and hand it over as `batch.x`; `nets.prepared` is then true.
        """
        return batch.x

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """Scores: probabilities `[B, C]`, or of each label `[B, L]`; pure, and without dropout.

        `batch.g` is -1 everywhere unless `needs.groups_at_test`; `batch.y` is never to be looked at.
        """
        logits, _ = nets["model"](batch.x)
        return probabilities(logits, nets.sizes)

    def evidence(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """What `settle` is given of each row `[B, C]`: the scores, unless it needs more than these tell."""
        return self.predict(nets, batch, state)

    def settle(self, scores: Tensor, g: Tensor, sizes: Sizes) -> Tensor:
        """The scores of all rows of a part `[N, C]`, decided together, from the `evidence` of each.

        `g [N]` is -1 everywhere unless `needs.groups_at_test`. A method that settles says by `predict` what
        it thinks of a row alone: gradients for inputs are taken of that.
        """
        return scores

    def trains_as(self) -> Method:
        """The method that is trained in its place, where they differ only in how the network is read.

        Both then have the same networks, rows, losses and gradients, and a state that training leaves as
        `init` made it; which epoch validation would choose may still differ with the reading.
        """
        return self

    def stacked_form(self) -> Method:
        """The method that studies train in its place: forms that differ in numbers may share a class."""
        return self

    def asks(self) -> Needs:
        """What this very object needs, where a field makes it more than the class says."""
        return self.needs

    def first_as(self) -> Method | None:
        """The method whose whole training equals this one's first phase, so that studies make it once.

        It has that phase alone, networks of the same names that begin alike, and a state that is left as
        `init` made it; None: the first phase is this method's own.
        """
        return None

    def whole_as(self) -> tuple[Method, str] | None:
        """A method of one phase whose training of another network is this one's whole training of the model.

        With the name of that network, which begins as the model does and sees the same batches. Studies then
        take one training for both, unless the network draws noise: its masks would be others. None: no other.
        """
        return None

    def check_model(self, model: nn.Module) -> None:  # noqa: B027  # most ask nothing
        """Refuse a network that lacks what the losses will ask of it, before it is trained."""

    def check(self, problem: Problem) -> None:
        """Refuse values and tasks that cannot be served, with the reason."""
        check_fields(self)
        name, needs, sizes = self.key or type(self).__name__, self.asks(), problem.sizes
        if needs.groups and not bool((problem.g >= 0).any()):
            raise InputError(
                f"the method '{name}' needs the groups of training rows, and none of this task is known; "
                "name attributes to protect, or use a method that needs none (erm, sd, jtt)"
            )
        if needs.maps and len(sizes.inputs) != 3:
            raise InputError(
                f"the method '{name}' compares feature maps of images, and an input of this task has the "
                f"shape {sizes.inputs}; for other inputs there are kd, pkt and sp"
            )
        if needs.single_label and sizes.multi_label:
            raise InputError(
                f"the method '{name}' is for one label a row; this task has {sizes.n_classes} labels"
            )
        if needs.binary and (sizes.multi_label or sizes.n_classes != 2):
            what = " labels a row" if sizes.multi_label else ""
            raise InputError(f"the method '{name}' is for two classes; this task has {sizes.n_classes}{what}")


def float_fields(method: Method) -> tuple[str, ...]:
    """The fields that may differ between the runs of one stack: declared as floats, whatever was given."""
    return tuple(field.name for field in fields(method) if field.type in ("float", float))
