"""Spectral decoupling: a penalty on the size of the logits, so that one feature cannot starve the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.base import Method
from evenhand.methods.fields import choice, number, switch
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.terms import group_means, mask_of, row_losses
from evenhand.records import Batch, Out, Sizes, State


@dataclass(frozen=True)
class SpectralDecoupling(Method):
    """Spectral decoupling, in the form with a target for each class or in the simple one.

    Objective, "per-class": `mean_i l_i + lam sum_y mean_{i: y_i = y} (z_i - gamma_y)^2` with one logit z, for
    two classes; a class that the batch lacks has no term (the authors' code gives NaN there). "simple":
    `mean_i l_i + lam mean z^2` over all logits, or over each label's. "auto" is the first for two classes and
    the second otherwise. There is no factor 1/2. It takes the place of weight decay.

    Needs no groups and uses every row; lam = 0 is ERM with as many outputs. A model of one's own with two
    outputs serves "per-class" too: z is then their difference. The authors' variants: `ratio_0` and `ratio_1`
    multiply the logits of one class in the simple penalty, and `balance` takes the sum of the classes' mean
    losses for the mean loss. The targets were chosen for faces with few rows of class 1. Both lie above 0,
    where class 1 is predicted: elsewhere choose other targets or form="simple", and mind that with a large
    lam class 0 is hardly ever predicted. (S1 gives lam = 10, and once .25, a slip for 2.5, as gamma_1.)

    >>> import torch
    >>> z, y = torch.tensor([[2.0], [0.0]]), torch.tensor([1, 0])
    >>> penalty = 0.1 * SpectralDecoupling().distance(z, y)  # 0.1 (2 - 2.5)^2 + 0.1 (0 - 0.44)^2
    >>> round(penalty.item(), 5)
    0.04436
    """

    key: ClassVar[str] = "sd"
    title: ClassVar[str] = "Spectral decoupling"
    citation: ClassVar[str] = "Pezeshki et al., Gradient starvation: a learning proclivity, NeurIPS 2021"

    lam: float = number(0.1, "weight of the penalty", search=(0.01, 10.0))
    form: str = choice("auto", ("auto", "per-class", "simple"), "targets by class (one logit), or none")
    gamma_0: float = number(0.44, "target of the logit of class 0", at_least=None)
    gamma_1: float = number(2.5, "target of the logit of class 1", at_least=None)
    ratio_0: float = number(1.0, "factor on the logits of class 0 in the simple penalty")
    ratio_1: float = number(1.0, "factor on the logits of class 1 in the simple penalty")
    balance: bool = switch(False, "sum of the classes' mean losses instead of the mean loss")

    def loss(self, nets: Nets, batch: Batch, state: State) -> Out:
        """The mean loss and the penalty."""
        logits, _ = nets["model"](batch.x)
        values = row_losses(logits, batch.y)
        risk = values.mean()
        if self.balance:  # a class that the batch lacks has the mean 0
            risk = group_means(values, mask_of(batch.y, nets.sizes.n_classes, logits.dtype)).means.sum()
        by_class = self.per_class(nets.sizes)
        penalty = self.distance(logits, batch.y) if by_class else self.square(logits, batch.y, nets.sizes)
        logs = {"risk": risk.detach(), "penalty": penalty.detach()}
        return Out({"model": risk + self.lam * penalty}, state, logs)

    def per_class(self, sizes: Sizes) -> bool:
        """Whether the classes have targets."""
        return self.form == "per-class" or (self.form == "auto" and two_classes(sizes))

    def distance(self, logits: Tensor, y: Tensor) -> Tensor:
        """`sum_y mean_{i: y_i = y} (z_i - gamma_y)^2`."""
        z = logits[:, 0] if logits.shape[-1] == 1 else logits[:, 1] - logits[:, 0]
        positive = y.to(z.dtype)
        target = positive * self.gamma_1 + (1 - positive) * self.gamma_0
        return group_means((z - target).square(), mask_of(y, 2, z.dtype)).means.sum()

    def square(self, logits: Tensor, y: Tensor, sizes: Sizes) -> Tensor:
        """`mean (r_y z)^2`; the factors are for labels that are 0 or 1."""
        if not (sizes.multi_label or two_classes(sizes)):
            return logits.square().mean()
        positive = (y if y.ndim == 2 else y[:, None]).to(logits.dtype)
        return (logits * (positive * self.ratio_1 + (1 - positive) * self.ratio_0)).square().mean()

    def outputs(self, problem: Problem) -> int:
        """One logit where two classes have targets, else one for each class or label."""
        return 1 if self.per_class(problem.sizes) else problem.sizes.n_classes

    def check(self, problem: Problem) -> None:
        """Refuse a form that the task does not have."""
        super().check(problem)
        sizes = problem.sizes
        if self.form == "per-class" and not two_classes(sizes):
            raise InputError("form='per-class' of 'sd' is for two classes; use form='simple' here")
        if self.balance and sizes.multi_label:
            raise InputError("'balance' of 'sd' is for one label a row; leave it off here")
        simple = not self.per_class(sizes) and (sizes.multi_label or two_classes(sizes))
        if not simple and (self.ratio_0, self.ratio_1) != (1.0, 1.0):
            raise InputError(
                "'ratio_0' and 'ratio_1' of 'sd' belong to form='simple' with labels that are 0 or 1; "
                "leave them at 1 here"
            )


def two_classes(sizes: Sizes) -> bool:
    """Whether a row has one label of two classes."""
    return sizes.n_classes == 2 and not sizes.multi_label
