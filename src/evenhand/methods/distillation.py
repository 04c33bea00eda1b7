"""Knowledge distillation: what a method with a teacher and a student does, in two phases.

S1 consolidates several trained models into a single one, the student: a network of its own, of the same kind
as the teacher's. The teacher moves no more once the student learns.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from evenhand.methods.attribute_parts import outputs_as_nets
from evenhand.methods.base import Method
from evenhand.methods.distillation_terms import divergences
from evenhand.methods.fields import number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import probabilities, weighted_mean
from evenhand.records import Batch, Out, Phase, Sizes, State

TEACH, DISTIL = "teach", "distil"


@dataclass(frozen=True)
class Distilled(Method):
    """What is put before a method's class: a phase for its teacher, and one for the student.

    The teacher is at rest in the second phase: nothing is dropped there, and batch statistics are as
    remembered, as if it predicted.
    """

    lam: float = number(1.0, "weight of the divergence from the teacher", search=(0.1, 10.0))
    temperature: float = number(1.0, "T: both predictions are softened by it", at_least=0.01)
    teach_epochs: int = number(0, "epochs of the teacher's phase; 0: as many as the recipe has")

    @abstractmethod
    def teacher_outputs(self, problem: Problem) -> int:
        """How many outputs the teacher has."""

    @abstractmethod
    def teacher_loss(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """What the teacher, seen as the model of these networks, is trained by."""

    @abstractmethod
    def teacher_scores(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """What the teacher, seen as the model of these networks, predicts without knowing the group."""

    @abstractmethod
    def taught(self, outputs: Tensor, batch: Batch, state: State, sizes: Sizes) -> Tensor:
        """The logits `[B, C]` that each row's teacher gives, out of all outputs of the teacher."""

    @abstractmethod
    def student_loss(self, nets: Nets, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """The student's own loss, and which rows count in the divergence `[B]`."""

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The teacher's loss; in the second phase the student's, and lam times its divergence."""
        if nets.phase == TEACH:
            return Out({"teacher": self.teacher_loss(as_model(nets), batch, state)}, state)
        logits, _ = nets["model"](batch.x)
        with torch.no_grad():
            outputs, _ = nets.measured(all_bits=False)["teacher"](batch.x)
        taught = self.taught(outputs, batch, state, nets.sizes)
        task, counted = self.student_loss(outputs_as_nets(logits, nets.sizes), batch, state)
        apart = divergences(taught, logits, self.temperature, nets.sizes.multi_label)
        divergence = weighted_mean(apart, counted.to(apart.dtype))
        logs = {"task": task.detach(), "divergence": divergence.detach()}
        return Out({"model": task + self.lam * divergence}, state, logs)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The student's scores; while the teacher learns, the teacher's."""
        if nets.phase == TEACH:
            return self.taught_scores(nets, batch, state)
        logits, _ = nets["model"](batch.x)
        return probabilities(logits, nets.sizes)

    def taught_scores(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The teacher's scores."""
        return self.teacher_scores(as_model(nets), batch, state)

    def outputs(self, problem: Problem) -> int:
        """The student has one for each class or label."""
        return problem.sizes.n_classes

    def siblings(self, problem: Problem) -> dict[str, int]:
        """The teacher, a network of the student's kind."""
        return {"teacher": self.teacher_outputs(problem)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """The student is the model; the teacher has a phase of its own."""
        return {"model": ("model",), "teacher": ("teacher",)}

    def phases(self) -> tuple[Phase, ...]:
        """The teacher first, then the student."""
        return Phase(TEACH, (("teacher",),), epochs=self.teach_epochs or None), Phase(DISTIL)


def as_model(nets: Nets) -> Nets:
    """The networks with the teacher for the model, for the losses and rules that look for one."""
    return Nets({"model": nets["teacher"]}, nets.sizes, phase=nets.phase, turn=nets.turn)
