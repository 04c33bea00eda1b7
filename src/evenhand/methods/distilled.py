"""S1's distilled methods: students of domain independent heads (by group, by attribute), or with weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from evenhand.methods.base import Sampling
from evenhand.methods.decomposed import S1
from evenhand.methods.distillation import TEACH, Distilled
from evenhand.methods.fields import choice
from evenhand.methods.independent import DomainIndependent, mean_of_heads, own_or_all
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import probabilities, row_losses, weighted_mean
from evenhand.methods.weighting import SqrtWeightedERM
from evenhand.records import Batch, Needs, Sizes, State


@dataclass(frozen=True)
class DistilledIndependent(Distilled, DomainIndependent):
    """Domain independent heads as teachers of one student, which alone predicts: S1's Ind with distillation.

    Objective, in the first phase ("teach"): that of `ind`, for a network with a head for each group. In the
    second ("distil"), for another network with one output a class, the student s:
    `mean_i l(s(x_i), y_i) + lam T^2 KL(softmax(h_{g_i}(x_i) / T) || softmax(s(x_i) / T))`, where `h_{g_i}` is
    the head of the row's own group and moves no more. Several labels a row: the mean over labels of the
    divergences of Bernoulli variables. lam = 0 is ERM (with unlabelled="drop", on the rows of known group).

    Needs groups in training only. The heads learn from rows of known group. The student learns from all: a
    row of unknown group (or whose head has fewer than `n_min` training rows) is taught by the heads' mean
    logits; `unlabelled="drop"` leaves rows of unknown group out of the student's training too.

    S1 prints KL(student, teacher), with no temperature and nothing of unlabelled rows; the usual order, T = 1
    and their use here are our reading. A head knows the share of each label in its group: where labels go
    with groups in training, the student is taught that too, unlike in the sum over heads of `ind`.

    >>> method, problem = DistilledIndependent(), Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, 1])
    >>> method.siblings(problem), method.outputs(problem), [phase.name for phase in method.phases()]
    ({'teacher': 4}, 2, ['teach', 'distil'])
    >>> heads, g = torch.tensor([[2.0, 0.0, 0.0, 4.0]] * 2), torch.tensor([1, -1])
    >>> method.taught(heads, Batch(heads, g, g), method.init(problem), problem.sizes).tolist()
    [[0.0, 4.0], [1.0, 2.0]]
    """

    key: ClassVar[str] = "ind-kd"
    title: ClassVar[str] = "Domain independent training, distilled"
    citation: ClassVar[str] = (
        f"S1: {S1} (knowledge distillation); heads: Wang et al., Towards fairness in visual recognition, "
        "CVPR 2020; distillation: Hinton, Vinyals, Dean, Distilling the knowledge in a neural network, 2015"
    )
    needs: ClassVar[Needs] = Needs(groups=True)
    inference: ClassVar[str] = "sum-logit"  # type: ignore[misc]  # of the teacher: the student has no heads
    decompose: ClassVar[bool] = False  # type: ignore[misc]  # no choice here: the key says so

    unlabelled: str = choice(
        "mean", ("mean", "drop"), "rows of unknown group: taught by all heads, or left out"
    )

    def teacher_outputs(self, problem: Problem) -> int:
        """All classes or labels for each head."""
        return DomainIndependent.outputs(self, problem)

    def teacher_loss(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """The mean loss of the rows' own heads."""
        return DomainIndependent.loss(self, nets, batch, state).losses["model"]

    def teacher_scores(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """Scores of all heads together."""
        return DomainIndependent.predict(self, nets, batch, state)

    def taught(self, outputs: Tensor, batch: Batch, state: State, sizes: Sizes) -> Tensor:
        """The mean logits of the row's own heads, or of all where it has none."""
        heads = torch.unflatten(outputs, -1, (-1, sizes.n_classes))
        trained = state["heads"].to(outputs.dtype).expand(heads.shape[:2])
        return mean_of_heads(heads, own_or_all(self.own_heads(batch, sizes), trained))

    def student_loss(self, nets: Nets, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """The mean loss of the rows that the student learns from."""
        losses = row_losses(nets["model"](batch.x)[0], batch.y)
        if self.unlabelled == "mean":
            return losses.mean(), torch.ones_like(losses)
        known = (self.own_heads(batch, nets.sizes) >= 0).any(1).to(losses.dtype)
        return weighted_mean(losses, known), known

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Rows that belong to a head; for the student all rows, unless told otherwise."""
        known = DomainIndependent.sampling(self, problem, seed, phase)
        return known if phase == TEACH or self.unlabelled == "drop" else Sampling()


@dataclass(frozen=True)
class DistilledIndependentByAttribute(DistilledIndependent):
    """A head for each value of each attribute as teachers of one student: S1's Ind with AD and KD.

    Objective: that of `ind-kd` with the heads of `ind-ad`; a row's teacher is the mean logits of the heads
    of its own values, `(1/k) sum_a h_{a, v_a}(x)`. With one attribute it is `ind-kd`.

    Needs attributes in training only. A row's unknown attributes have no part in its teacher; where none is
    known, or none of its heads was trained, all heads teach it by their mean logits. Else as `ind-kd`.

    >>> method = DistilledIndependentByAttribute()
    >>> problem = Problem.from_labels(y=[0, 1], g=[3, 0], a=[[1, 1], [0, 0]])
    >>> method.siblings(problem)
    {'teacher': 8}
    >>> heads, a = torch.arange(8.0)[None], torch.tensor([[1, 0]])
    >>> row = Batch(heads, torch.tensor([0]), torch.tensor([2]), a)
    >>> method.taught(heads, row, method.init(problem), problem.sizes).tolist()  # of (2, 3) and (4, 5)
    [[3.0, 4.0]]
    """

    key: ClassVar[str] = "ind-ad-kd"
    title: ClassVar[str] = "Domain independent training by attribute, distilled"
    decompose: ClassVar[bool] = True  # type: ignore[misc]  # no choice here: the key says so


@dataclass(frozen=True)
class DistilledSqrtWeightedERM(Distilled, SqrtWeightedERM):
    """A student with square-root weights, taught by an ERM model: S1's "W-SqrtERM Distilled", as we read it.

    Objective, in the first phase ("teach"): ERM's mean loss over all rows. In the second ("distil"), for
    another network: `(1/B) sum_i (w_i l(s(x_i), y_i) + lam T^2 KL(softmax(h(x_i)/T) || softmax(s(x_i)/T)))`,
    h the first, at rest, and w the weights of `w-sqrt-erm`; the divergence is not weighted. lam = 0 is
    `w-sqrt-erm`. Several labels a row: weights and divergences of each label, and their means.

    Needs the groups of training rows. The teacher uses every row; rows of unknown group are left out of the
    student's training unless `unknown` is "keep" (weight 1). S1 names the method in a table of
    hyper-parameters (distillation weight 1) and does not define it.

    >>> method, problem = DistilledSqrtWeightedERM(), Problem.from_labels(y=[0, 1, 0, 1], g=[0, 0, 1, -1])
    >>> method.sampling(problem, 0, "teach").rows, method.sampling(problem, 0, "distil").rows.tolist()
    (None, [0, 1, 2])
    """

    key: ClassVar[str] = "w-sqrt-erm-kd"
    title: ClassVar[str] = "Importance weighting, square root, distilled"
    citation: ClassVar[str] = (
        f"S1: {S1} (named there); distillation: Hinton, Vinyals, Dean, Distilling the knowledge in a neural "
        "network, 2015"
    )

    def teacher_outputs(self, problem: Problem) -> int:
        """One for each class or label."""
        return problem.sizes.n_classes

    def teacher_loss(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """ERM's."""
        return row_losses(nets["model"](batch.x)[0], batch.y).mean()

    def teacher_scores(self, nets: Nets, batch: Batch, state: State) -> Tensor:
        """ERM's."""
        return probabilities(nets["model"](batch.x)[0], nets.sizes)

    def taught(self, outputs: Tensor, batch: Batch, state: State, sizes: Sizes) -> Tensor:
        """What the one teacher says of every row."""
        return outputs

    def student_loss(self, nets: Nets, batch: Batch, state: State) -> tuple[Tensor, Tensor]:
        """The weighted loss, and the rows that have a weight."""
        _, counted = self.weights(batch, state, nets.sizes)
        return SqrtWeightedERM.loss(self, nets, batch, state).losses["model"], counted

    def sampling(self, problem: Problem, seed: int, phase: str = "train") -> Sampling:
        """Every row for the teacher, those that count for the student."""
        return Sampling() if phase == TEACH else SqrtWeightedERM.sampling(self, problem, seed, phase)
