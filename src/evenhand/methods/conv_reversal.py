"""Gradient reversal on a feature map: S0's image adversaries (C-A4, C-A5, I-A4, I-A5), in two stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor, nn

from evenhand.methods.adversary_nets import checked_width
from evenhand.methods.base import Method, Sampling
from evenhand.methods.fields import number, switch, text
from evenhand.methods.group_adversary import spotting_loss
from evenhand.methods.map_adversary import MapAdversary
from evenhand.methods.nets import Nets
from evenhand.methods.posneg import posneg_loss, posneg_weights
from evenhand.methods.problem import Problem
from evenhand.methods.reversal import reverse
from evenhand.methods.row_choice import without_gaps
from evenhand.methods.staged import HEAD
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Needs, Out, Phase, State


@dataclass(frozen=True)
class ConvReversal(Method):
    """Gradient reversal on an intermediate feature map, in two stages: S0's C-A4, C-A5, I-A4 and I-A5.

    Objective: `task + CE(adversary(h), g)`, where the gradient of the second term reaches the map h
    multiplied by -lam; the adversary itself always has the weight 1, and one optimiser moves both. The map is
    that of the point `tap` of the network ("conv4" or "conv5" of torchvision's ResNets, "f3" or "f4" of
    `cifar-resnet18`, "conv3" of `convnet`) or of its option `split`, flattened without pooling; a vector is
    read as it is. The adversary is Linear to `width`, batch normalisation, LeakyReLU, all of this twice more,
    and Linear to the groups. The task's loss has the class weights of `erm-posneg` unless `posneg` is off.

    Two stages: "head", in which the backbone is frozen and nothing is reversed, so that the model's new head
    and the adversary learn on it; and "train", in which everything moves, at `rate_share` times the rate of
    the recipe, with reversal. S0 has 1e-4 and then 5e-6, lam 2 for COCO and 1 for imSitu.

    Needs the groups of training rows and the network's features; any number of groups, classes or labels.
    With `balanced` each batch has as many rows of every group, drawn with replacement, and rows of unknown
    group are left out; without, they serve the task only. Differs from the authors' code: they draw 2.5 times
    as many rows as they need and skip a batch in which a group has too few, so that their epochs are shorter.
    Batch statistics of the adversary are those of the batch, as theirs are in training; they keep running
    ones that no prediction reads, and without them the method can be stacked. As there, a frozen backbone's
    own running statistics go on: frozen are its parameters.

    >>> [(phase.name, phase.heads, phase.rate) for phase in ConvReversal(rate_share=0.1).phases()]
    [('head', ('model',), 1.0), ('train', (), 0.1)]
    """

    key: ClassVar[str] = "grl-conv"
    title: ClassVar[str] = "Gradient reversal on a feature map, in two stages"
    citation: ClassVar[str] = (
        "Wang et al., Balanced datasets are not enough, ICCV 2019; S0: Qian et al., Are my deep learning "
        "systems fair? An empirical study of fixed-seed training, NeurIPS 2021"
    )
    needs: ClassVar[Needs] = Needs(groups=True, features=True)
    adversarial: ClassVar[bool] = True
    reweights: ClassVar[bool] = True

    lam: float = number(1.0, "how strongly the backbone works against the adversary", search=(0.1, 10.0))
    tap: str = text("", "a split point", "where the adversary reads; none: at the network's own split point")
    posneg: bool = switch(True, "classes or labels are weighted by #neg/#pos, as in erm-posneg")
    balanced: bool = switch(True, "each batch has equally many rows of every group")
    width: int = number(300, "width of the adversary's hidden layers", at_least=1)
    head_epochs: int = number(0, "epochs of the first stage; 0: as many as the recipe has")
    rate_share: float = number(0.05, "rate of the second stage, as a share of the recipe's")

    def init(self, problem: Problem) -> State:
        """The weights of classes or labels, where they are weighted."""
        return {"posneg": posneg_weights(problem)} if self.posneg else {}

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The task, and the group: behind the reversal in the second stage."""
        logits, features = self._model(nets, batch.x)
        seen = features.detach() if nets.phase == HEAD else reverse(features, self.lam)
        guess = nets["adversary"](seen)
        spotting = spotting_loss(guess, batch.g[:, None], (nets.sizes.n_groups,))
        total = self._task(logits, batch.y, state) + spotting
        return Out({"model": total}, state, {"adversary": spotting.detach()})

    def _model(self, nets: Nets, x: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs, and the map that the adversary reads."""
        if not self.tap:
            logits, features = nets["model"](x)
            return logits, features
        logits, (features,) = nets["model"](x, taps=(self.tap,))
        return logits, features

    def _task(self, logits: Tensor, y: Tensor, state: State) -> Tensor:
        return posneg_loss(logits, y, state["posneg"]) if self.posneg else row_losses(logits, y).mean()

    def features_at(self) -> str:
        """Where the adversary reads."""
        return self.tap

    def extra(self, problem: Problem, n_features: int) -> dict[str, nn.Module]:
        """The adversary."""
        inputs = checked_width(n_features, self.key)
        return {"adversary": MapAdversary(inputs, problem.sizes.n_groups, self.width)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """One player, and so one optimiser, for both networks."""
        return {"model": ("model", "adversary")}

    def phases(self) -> tuple[Phase, ...]:
        """The heads on a frozen backbone, then everything; the length of the first is a choice."""
        first = Phase(HEAD, epochs=self.head_epochs or None, select=False, heads=("model",))
        return first, Phase(rate=self.rate_share)

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Batches with the same number of rows of each group, if they shall be balanced."""
        return Sampling(strata=without_gaps(problem.g)) if self.balanced else Sampling()
