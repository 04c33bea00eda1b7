"""Records that pass between the layers of training. They hold tensors but know nothing of who uses them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from torch import Tensor, nn

State = Mapping[str, "Tensor"]  # what a method remembers from step to step: tensors by name


class NoiseSpec(NamedTuple):
    """Random numbers that a network or a method wants for each row of a batch.

    They arrive as data, drawn by the driver from the run's own stream, because a network that drew its own
    would give a run other results when other runs are trained beside it.

    phases: those it is wanted in; all of them where none is named.
    kind: "keep" is 1/(1-p) with probability 1-p and else 0 (a dropout mask), "uniform" is in [0, 1),
    "normal" has mean 0 and deviation 1, "permutation" shuffles the rows of the batch (shape is empty).
    """

    kind: Literal["keep", "uniform", "normal", "permutation"]
    shape: tuple[int, ...] = ()
    p: float = 0.0
    phases: tuple[str, ...] = ()


class Batch(NamedTuple):
    """Some rows of a task: what a method's loss looks at.

    x: inputs `[B, ...]`, scaled. y: classes `[B]`, or 0 and 1 for each label `[B, L]`. g: group `[B]`, -1
    where it is not known. a: a code for each attribute `[B, A]`, -1 where it is not known. index: the place
    of each row in the training split `[B]`. noise: the random numbers the method asked for, by name.
    """

    x: Tensor
    y: Tensor
    g: Tensor
    a: Tensor | None = None
    index: Tensor | None = None  # type: ignore[assignment]  # a tuple has a method of that name
    noise: Mapping[str, Tensor] = {}


class Out(NamedTuple):
    """What a loss returns: one scalar for each player, the state for the next step, numbers worth showing."""

    losses: Mapping[str, Tensor]
    state: State
    logs: Mapping[str, Tensor] = {}


class Sizes(NamedTuple):
    """The fixed numbers of a task under one grouping: shapes depend on them, so they are never tensors."""

    inputs: tuple[int, ...]
    n_classes: int
    n_groups: int
    n_levels: tuple[int, ...] = ()
    multi_label: bool = False


class EpochStart(NamedTuple):
    """Where training stands when an epoch begins: plain values, the same for all runs of a stack.

    epoch: 0 is the first of its phase; epochs: how many the phase has. networks: the modules by name, for
    their structure; whose numbers these are is not said, a run's own come beside it.
    """

    phase: str
    epoch: int
    epochs: int
    networks: Mapping[str, nn.Module]


@dataclass(frozen=True)
class Needs:
    """What a method asks of a task and a network; whatever lacks it is refused with the reason."""

    groups: bool = False  # group labels of training rows
    groups_at_test: bool = False  # group labels of the rows to be predicted
    features: bool = False  # the network's representation, not only its outputs
    single_label: bool = False  # one label a row
    binary: bool = False  # exactly two classes
    stackable: bool = True  # many runs may be trained side by side
    # (player, network): gradients of a player's loss that `combine` wants beside the players' own
    cross_gradients: tuple[tuple[str, str], ...] = ()
    # no player's loss reaches the networks of another (`nets.at_rest`): one backward pass serves a whole turn
    separate_losses: bool = False
    maps: bool = False  # representations of images that are maps [B, C, H, W]


@dataclass(frozen=True)
class Phase:
    """A stretch of training: who moves, in which order, for how long, and who starts anew.

    turns: each turn names the players whose networks take a step. `every` says when the next turn comes:
    "batch": all turns on the same batch; "step": each turn has a batch of its own; "epoch": a turn lasts
    a whole epoch. epochs: None takes what the recipe gives. fresh: networks that are initialised again.
    copied: (network, other): the network begins with the parameters and batch statistics of the other.
    select: whether validation may stop it and choose its best epoch. prepared: the model reads what
    `Method.prepare` makes of a row's inputs by networks that rest in this phase, so that once is enough.
    heads: networks of which only the head moves, the rest of their parameters being frozen. rate: what the
    recipe's learning rate is multiplied with. settled: validation stops nothing and chooses no epoch before
    this share of the epochs, when the networks are not yet of the kind that was asked for (`may_choose`).

    >>> Phase(turns=(("model",), ("adversary",), ("adversary",))).turn(step=5, epoch=0)
    (('model',), ('adversary',), ('adversary',))
    >>> Phase(turns=(("model",), ("adversary",)), every="epoch").turn(step=5, epoch=3)
    (('adversary',),)
    """

    name: str = "train"
    turns: tuple[tuple[str, ...], ...] = (("model",),)
    every: Literal["batch", "step", "epoch"] = "batch"
    epochs: int | None = None
    fresh: tuple[str, ...] = ()
    select: bool = True
    prepared: bool = False
    heads: tuple[str, ...] = ()
    rate: float = 1.0
    copied: tuple[tuple[str, str], ...] = ()
    settled: float = 0.0

    def turn(self, step: int, epoch: int) -> tuple[tuple[str, ...], ...]:
        """The turns to take on the batch of this step."""
        if self.every == "batch":
            return self.turns
        place = step if self.every == "step" else epoch
        return (self.turns[place % len(self.turns)],)

    @property
    def lead(self) -> str:
        """The player whose loss is told: the model, or who moves first in a phase without turn for it.

        >>> Phase("represent", (("vae", "discriminator"),)).lead
        'vae'
        """
        return "model" if any("model" in turn for turn in self.turns) else self.turns[0][0]

    def may_choose(self, epoch: int, epochs: int) -> bool:
        """Whether validation may choose what there is after so many epochs of all; the last one always.

        >>> [epoch for epoch in range(1, 7) if Phase(settled=0.5).may_choose(epoch, 6)]
        [4, 5, 6]
        """
        return epoch > min(int(self.settled * epochs + 0.5001), epochs - 1)

    def turns_of(self, player: str, steps: int, epoch: int) -> int:
        """How many steps a player's networks take in an epoch of so many batches.

        >>> Phase(turns=(("model",), ("adversary",)), every="step").turns_of("model", steps=5, epoch=0)
        3
        """
        batches = range(epoch * steps, (epoch + 1) * steps)
        return sum(player in turn for step in batches for turn in self.turn(step, epoch))
