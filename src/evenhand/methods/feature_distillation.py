"""Distillation of a student from a teacher of its own kind: what S2's methods have in common, and KD.

S2 prunes a trained network and distils the unpruned one into it; with `prune+KEY` the student is pruned.
Constants are those of the code that S2 used. Two phases: "teacher" (see `evenhand.methods.taught`), then
"student", in which the teacher is at rest: nothing is dropped there, batch statistics are as remembered.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.distillation_terms import divergences
from evenhand.methods.fields import number, switch, text
from evenhand.methods.nets import Nets
from evenhand.methods.taught import STUDENT, TEACHER, Teacher
from evenhand.methods.terms import row_losses
from evenhand.nets.base import checked_split
from evenhand.records import Batch, Needs, Out, Phase, State

S2 = "S2: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks"
HINTON = "Hinton, Vinyals, Dean, Distilling the knowledge in a neural network, 2015"
Features = Sequence[Tensor]


@dataclass(frozen=True)
class Distillation(Teacher):
    """Knowledge distillation: a student learns what its teacher predicts, beside the labels.

    Objective of the student s, after the phase of the teacher t (ERM):
    `mean_i gamma l(s(x_i), y_i) + alpha T^2 KL(softmax(t(x_i) / T) || softmax(s(x_i) / T))`.
    alpha = 0 and gamma = 1 is ERM. The student starts from the teacher's weights, as a network does that is
    pruned after it was trained, unless `warm` is off: then from new ones.

    Needs no groups; one label a row, two classes or more. The teacher is that of all distillation methods of
    the same task, network, recipe and seed, and a study trains it once. A trained module of one's own is the
    teacher with `teacher_epochs=-1`. S2 does not say where its students start: that it is from the trained
    network is our reading.

    >>> [(phase.name, phase.copied) for phase in Distillation().phases()]
    [('teacher', (('teacher', 'model'),)), ('student', (('model', 'teacher'),))]
    """

    key: ClassVar[str] = "kd"
    title: ClassVar[str] = "Knowledge distillation"
    citation: ClassVar[str] = f"{HINTON}; {S2}"

    warm: bool = switch(True, "the student starts from the teacher's weights; else from new ones")
    gamma: float = number(0.1, "weight of the loss of the labels")
    alpha: float = number(0.9, "weight of the divergence from the teacher's predictions", search=(0.1, 1.0))
    temperature: float = number(4.0, "T: both predictions are softened by it", at_least=0.01)

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The teacher's loss; in the second phase the student's, and how far it is from the teacher."""
        if nets.phase == TEACHER:
            return super().loss(nets, batch, state)
        taps = self.taps(nets.points("model"), nets.maps("model"))
        logits, ours = _seen(nets, "model", batch.x, taps)
        with torch.no_grad():
            taught, theirs = _seen(nets.measured(all_bits=False), "teacher", batch.x, taps)
        task = row_losses(logits, batch.y).mean()
        # one output for two classes is told apart by a sigmoid
        divergence = divergences(taught, logits, self.temperature, logits.shape[-1] == 1).mean()
        total = self.gamma * task + self.alpha * divergence
        logs = {"task": task.detach(), "divergence": divergence.detach()}
        return self.with_features(Out({"model": total}, state, logs), ours, theirs)

    def with_features(self, out: Out, ours: Features, theirs: Features) -> Out:
        """The same, and what features add to it: nothing here."""
        return out

    def taps(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """The points that are compared, of a network with these and these maps among them: none."""
        return ()

    def phases(self) -> tuple[Phase, ...]:
        """The teacher first, then the student."""
        start = {"copied": (("model", "teacher"),)} if self.warm else {"fresh": ("model",)}
        return *super().phases(), Phase(STUDENT, **start)

    def first_as(self) -> Method | None:
        """The teacher alone."""
        return Teacher(self.teacher_epochs)


@dataclass(frozen=True)
class FeatureDistillation(Distillation):
    """What methods that compare features add to distillation: `beta` times a term of the features."""

    pairs: ClassVar[bool] = False  # whether it compares what is between two maps

    beta: float = number(1.0, "weight of the features' distance")
    points: str = text("", "split points with commas between", "where features are compared; none: see above")

    @abstractmethod
    def term(self, ours: Features, theirs: Features) -> Tensor:
        """How far the student's features are from the teacher's."""

    @abstractmethod
    def usual(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """The points that are compared where none are named."""

    def with_features(self, out: Out, ours: Features, theirs: Features) -> Out:
        """The loss, and the weighted distance of the features."""
        apart = self.term(ours, theirs)
        total = out.losses["model"] + self.beta * apart
        return out._replace(losses={"model": total}, logs={**out.logs, "features": apart.detach()})

    def taps(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """The points named, or the usual ones; where a network has none, what it returns is compared."""
        named = tuple(name.strip() for name in self.points.split(",") if name.strip())
        chosen = named or self.usual(points, maps)
        for name in chosen:
            checked_split(name, points)
        if self.needs.maps and (len(chosen) < 1 + self.pairs or not set(chosen) <= set(maps)):
            raise InputError(self._no_maps(maps, "kd, pkt or sp" if points else "kd"))
        return chosen

    def _no_maps(self, maps: tuple[str, ...], others: str) -> str:
        """What is compared, what the network has, and the methods that it can be trained by instead."""
        wanted = "two feature maps or more" if self.pairs else "feature maps"
        has = f"its maps are {', '.join(maps)}" if maps else "it has no maps"
        return (
            f"the method '{self.key}' compares {wanted} of a network, and {has}; use a convolutional "
            f"network (convnet, resnet32x4, cifar-resnet18), or {others}"
        )

    def check_model(self, model: nn.Module) -> None:
        """Refuse a network without the points that are compared."""
        points, maps = tuple(getattr(model, "splits", ())), tuple(getattr(model, "maps", ()))
        told = bool(getattr(model, "n_features", 0))  # by a network of one's own, which has no points
        if self.needs.maps and told and not maps:
            raise InputError(self._no_maps(maps, "kd, pkt or sp"))
        self.taps(points, maps)
        if not points and not told:
            raise InputError(
                f"the method '{self.key}' compares features, and this network gives none; return (logits, "
                "features) and wrap it by as_net(module, n_features=...), or use kd"
            )


def _seen(nets: Nets, name: str, x: Tensor, taps: tuple[str, ...]) -> tuple[Tensor, Features]:
    """What a network says, and its features at these points; without points, those that it returns."""
    if taps:
        logits, features = nets[name](x, taps=taps)
        return logits, features
    logits, features = nets[name](x)
    return logits, () if features is None else (features,)


MAPS = Needs(single_label=True, features=True, maps=True)
VECTORS = Needs(single_label=True, features=True)
