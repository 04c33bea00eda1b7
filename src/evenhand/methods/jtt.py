"""Just train twice: a first, short training finds the rows to weigh up in the second."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.fields import number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import label_losses, row_losses
from evenhand.records import Batch, Out, Phase, State


@dataclass(frozen=True)
class JTT(Method):
    """Just train twice: ERM for a few epochs, then a fresh model with the rows it got wrong weighed up.

    Objective of the second training: `(1/B) sum_i w_i l_i`, `w_i` proportional to lambda_up for a training
    row that the first model misclassifies (without dropout) and to 1 otherwise. With several labels a row the
    weights belong to row and label, because a row is seldom wrong in all. The weights have the mean 1 (for
    each label) unless `normalise` is off, so that the learning rate keeps its meaning; the mean loss over a
    batch in which errors are repeated has this scale too. lambda_up = 1 is ERM.

    Needs no groups and uses every row, but lambda_up is chosen on validation rows whose groups are known.
    The authors' code appends lambda_up copies of an error to the data: the weight lambda_up + 1, which is
    `copies`, and longer epochs, which ours are not. Where the first model is often wrong the error set is
    most of the data, and the weights change little.

    >>> problem = Problem.from_labels([0, 1, 1, 0])
    >>> method, scores = JTT(lambda_up=5.0), torch.tensor([[0.9, 0.1], [0.7, 0.3], [0.2, 0.8], [0.6, 0.4]])
    >>> method.after("identify", problem, scores, method.init(problem))["weights"].tolist()
    [0.5, 2.5, 0.5, 0.5]
    """

    key: ClassVar[str] = "jtt"
    title: ClassVar[str] = "Just train twice"
    citation: ClassVar[str] = "Liu et al., Just train twice: improving group robustness, ICML 2021"
    reweights: ClassVar[bool] = True
    adversarial: ClassVar[bool] = True

    lambda_up: float = number(5.0, "weight of the rows that the first model gets wrong", search=(1.0, 50.0))
    identify_epochs: int = number(1, "epochs of the first training", at_least=1)
    copies: bool = switch(False, "lambda_up counts copies beside the row itself: the weight lambda_up + 1")
    normalise: bool = switch(True, "weights have the mean 1")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean of weighted losses; in the first training all weights are 1."""
        logits, _ = nets["model"](batch.x)
        weights = state["weights"][_places(batch)].to(logits.dtype)
        if batch.y.ndim == 2:
            values = (label_losses(logits, batch.y) * weights).mean(-1)
        else:
            values = row_losses(logits, batch.y) * weights
        return Out({"model": values.mean()}, state)

    def init(self, problem: Problem) -> State:
        """Equal weights: of rows, or of rows and labels."""
        return {"weights": torch.ones(problem.y.shape)}

    def phases(self) -> tuple[Phase, ...]:
        """A short training to find errors, and the real one from the start."""
        short = Phase("identify", epochs=self.identify_epochs, select=False)  # its length is the choice
        return short, Phase("train", fresh=("model",))

    def after(self, phase: str, problem: Problem, scores: Tensor, state: State) -> State:
        """The weights of the second training, from the errors of the first."""
        if phase != "identify":
            return state
        before = state["weights"]
        wrong = errors(scores, problem.y.to(scores.device)).to(before)
        extra = self.lambda_up if self.copies else self.lambda_up - 1
        weights = 1 + wrong * extra
        if self.normalise:
            total = weights.mean(0)  # 0 only where every row is wrong and errors weigh nothing
            weights = weights / torch.where(total > 0, total, torch.ones_like(total))
        return {"weights": weights}


def errors(scores: Tensor, y: Tensor) -> Tensor:
    """Which rows `[N]`, or rows and labels `[N, L]`, are misclassified; a label is predicted from 0.5 on.

    >>> errors(torch.tensor([[0.5, 0.2]]), torch.tensor([[1, 1]])).tolist()
    [[False, True]]
    """
    return (scores >= 0.5) != y.bool() if y.ndim == 2 else scores.argmax(-1) != y


def _places(batch: Batch) -> Tensor:
    if batch.index is None:
        raise InputError("the method 'jtt' weighs each training row: give its place as Batch(index=...)")
    return batch.index
