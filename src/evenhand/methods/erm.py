"""ERM: the mean loss over all rows, groups unseen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evenhand.methods.base import Method
from evenhand.methods.nets import Nets
from evenhand.methods.taught import TEACHER, Teacher
from evenhand.methods.terms import row_losses
from evenhand.records import Batch, Out, State


@dataclass(frozen=True)
class ERM(Method):
    """Empirical risk minimisation: what every other method is compared with.

    Objective: `(1/B) sum_i l(f(x_i), y_i)`. Needs no groups and uses every row. S1's U-ERM, S4's
    "Normal".

    >>> from evenhand.methods.problem import Problem
    >>> ERM().outputs(Problem.from_labels([0, 1, 2]))
    3
    """

    key: ClassVar[str] = "erm"
    title: ClassVar[str] = "Empirical risk minimisation"
    citation: ClassVar[str] = "Vapnik, Principles of risk minimization for learning theory, NeurIPS 1991"

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss."""
        logits, _ = nets["model"](batch.x)
        return Out({"model": row_losses(logits, batch.y).mean()}, state)

    def whole_as(self) -> tuple[Method, str] | None:
        """The teacher of distillation, where nothing is added to ERM."""
        return (Teacher(), TEACHER) if type(self) is ERM else None
