"""A teacher: a network of the model's own kind that is trained first, by ERM, for a student that comes later.

It begins with the model's initial weights and sees the batches of a first phase, so that it is what `erm`
trains with the same seed (dropout masks apart), and depends on task, network, recipe and seed alone: methods
that go on from it can share it (`Method.first_as`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from evenhand.methods.base import Method
from evenhand.methods.fields import number
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import probabilities, row_losses
from evenhand.records import Batch, Needs, Out, Phase, State

TEACHER, STUDENT = "teacher", "student"  # the phases; the first is also the network's name


@dataclass(frozen=True)
class Teacher(Method):
    """The first phase of distillation: a sibling of the model is trained, the model itself rests.

    Objective: `mean_i l(t(x_i), y_i)` for the teacher t.

    >>> method, problem = Teacher(), Problem.from_labels(y=[0, 1, 2])
    >>> method.siblings(problem), method.phases()[0].turns, method.phases()[0].copied
    ({'teacher': 3}, (('teacher',),), (('teacher', 'model'),))
    """

    title: ClassVar[str] = "Teacher of a later student"
    needs: ClassVar[Needs] = Needs(single_label=True)

    teacher_epochs: int = number(
        0, "epochs of the teacher; 0: as many as the recipe has; -1: none, the network that is given is one",
        at_least=-1,
    )  # fmt: skip

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """ERM's, of the teacher."""
        return Out({"teacher": row_losses(nets["teacher"](batch.x)[0], batch.y).mean()}, state)

    def predict(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The scores of who learns in this phase."""
        logits, _ = nets["teacher" if nets.phase == TEACHER else "model"](batch.x)
        return probabilities(logits, nets.sizes)

    def siblings(self, problem: Problem) -> dict[str, int]:
        """The teacher, a network of the student's kind."""
        return {"teacher": self.outputs(problem)}

    def players(self) -> Mapping[str, tuple[str, ...]]:
        """The student is the model."""
        return {"model": ("model",), "teacher": ("teacher",)}

    def phases(self) -> tuple[Phase, ...]:
        """The teacher alone, from the model's initial weights."""
        epochs = max(self.teacher_epochs, 0) if self.teacher_epochs else None
        return (Phase(TEACHER, (("teacher",),), epochs=epochs, copied=(("teacher", "model"),)),)
