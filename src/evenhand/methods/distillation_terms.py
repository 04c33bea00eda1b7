"""How far a student's predictions are from its teacher's: the divergence that distillation makes small."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def divergences(taught: Tensor, logits: Tensor, temperature: float | Tensor, multi_label: bool) -> Tensor:
    """`T^2 KL(teacher || student)` of each row `[B]`, both softened by T; of several labels the mean.

    `taught` and `logits [B, C]` are outputs before softmax (or sigmoid). T^2 makes up for the gradient, which
    shrinks like 1 / T^2 (Hinton, Vinyals, Dean, Distilling the knowledge in a neural network, 2015).

    >>> sure, unsure = torch.tensor([[2.0, 0.0]]), torch.zeros(1, 2)
    >>> round(divergences(sure, unsure, 1.0, multi_label=False).item(), 4)  # log 2 less the entropy
    0.3278
    >>> divergences(sure, sure, 3.0, multi_label=True).item()
    0.0
    """
    soft_teacher, soft_student = taught / temperature, logits / temperature
    found = _of_labels if multi_label else _of_classes
    return temperature**2 * found(soft_teacher, soft_student)


def _of_classes(taught: Tensor, logits: Tensor) -> Tensor:
    said = torch.log_softmax(taught, dim=-1)
    return (said.exp() * (said - torch.log_softmax(logits, dim=-1))).sum(-1)


def _of_labels(taught: Tensor, logits: Tensor) -> Tensor:
    """The mean over labels of the divergence of two Bernoulli variables."""
    yes, no = torch.sigmoid(taught), torch.sigmoid(-taught)
    gained = yes * (_log_sigmoid(taught) - _log_sigmoid(logits))
    return (gained + no * (_log_sigmoid(-taught) - _log_sigmoid(-logits))).mean(-1)


def _log_sigmoid(z: Tensor) -> Tensor:
    return -functional.softplus(-z, threshold=40.0)  # torch's own threshold of 20 is seen in float64
