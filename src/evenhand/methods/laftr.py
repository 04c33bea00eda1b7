"""LAFTR: a representation from which an adversary cannot tell the group, in four forms of one objective."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evenhand.methods.laftr_base import Laftr


@dataclass(frozen=True)
class LaftrDP(Laftr):
    """LAFTR for demographic parity: the adversary sees the representation alone.

    Objective: `min over encoder, classifier of L_task - gamma L_adv`, the adversary minimises
    `L_adv = sum_a mean_{i: s_i = a} |p_i - s_i|`, p its probability of group 1. In a batch that is
    `mean_i |p_i - s_i| / P(s_i)` with shares of the training rows; p = 0.5 gives 1. L_task is the mean
    cross-entropy, or the mean of `|p - y|` ("l1": what the authors' experiments use). On each batch the model
    takes a step, then the adversary `n_adv` of them (2 as in S3; the authors take 1), each with an optimiser
    of its own. More than two groups: the adversary has a softmax, and `|p - s|` is `1 - p_s`.

    Needs two classes, the groups of training rows and a network with features; rows of unknown group serve
    the classifier only, and a group without training rows has weight 0. Differs from S3's code, which lets
    the adversary maximise its own error, weighs by P instead of 1/P and sums the cross-entropy over the
    batch; from the authors' in that the encoder is not shown the group (append it to x) and that a decoder's
    term, which they switch off for classification, is left out.

    >>> import torch
    >>> from evenhand.methods import Batch, Nets, Problem
    >>> problem = Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 0, 1])
    >>> method = LaftrDP()
    >>> method.init(problem)["weights"][:, 0].tolist()  # 4/3 and 4
    [1.3333333730697632, 4.0]
    >>> blind = lambda z, label: torch.zeros(4, 1)  # an adversary that says 0.5 of everyone
    >>> nets = Nets({"model": lambda x: (x, x), "adversary": blind}, problem.sizes)
    >>> out = method.loss(nets, Batch(torch.zeros(4, 2), problem.y, problem.g), method.init(problem))
    >>> round(float(out.losses["adversary"]), 6), round(float(out.losses["model"]), 6)  # 1, log 2 - 1
    (1.0, -0.306853)
    """

    key: ClassVar[str] = "laftr-dp"
    title: ClassVar[str] = "LAFTR, demographic parity"
    condition: ClassVar[tuple[float, float, float]] = (0.0, 1.0, 1.0)


@dataclass(frozen=True)
class LaftrEqOdd(Laftr):
    """LAFTR for equalised odds: the adversary sees the label too, and errors count within group and label.

    Objective: that of `laftr-dp` with `L_adv = sum_{a, b} mean_{i: s_i = a, y_i = b} |p_i - s_i|`: in a batch
    `mean_i |p_i - s_i| / P(s_i, y_i)`; p = 0.5 gives 2. A cell without training rows has weight 0.

    Needs and differences: those of `laftr-dp`.

    >>> from evenhand.methods import Problem
    >>> LaftrEqOdd().init(Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 0, 1]))["weights"].tolist()
    [[4.0, 2.0], [4.0, 0.0]]
    """

    key: ClassVar[str] = "laftr-eqodd"
    title: ClassVar[str] = "LAFTR, equalised odds"
    condition: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class LaftrEqOpp0(Laftr):
    """LAFTR for equal opportunity of the first class: the adversary's errors count on rows of label 0.

    Objective: that of `laftr-dp` with `L_adv = sum_a mean_{i: s_i = a, y_i = 0} |p_i - s_i|`: in a batch
    `mean_i [y_i = 0] |p_i - s_i| / P(s_i, y_i)`; p = 0.5 gives 1.

    Needs and differences: those of `laftr-dp`.

    >>> from evenhand.methods import Problem
    >>> LaftrEqOpp0().init(Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 0, 1]))["weights"].tolist()
    [[4.0, 0.0], [4.0, 0.0]]
    """

    key: ClassVar[str] = "laftr-eqopp0"
    title: ClassVar[str] = "LAFTR, equal opportunity for label 0"
    condition: ClassVar[tuple[float, float, float]] = (1.0, 1.0, 0.0)


@dataclass(frozen=True)
class LaftrEqOpp1(Laftr):
    """LAFTR for equal opportunity of the second class: the adversary's errors count on rows of label 1.

    Objective: that of `laftr-dp` with `L_adv = sum_a mean_{i: s_i = a, y_i = 1} |p_i - s_i|`: in a batch
    `mean_i [y_i = 1] |p_i - s_i| / P(s_i, y_i)`; p = 0.5 gives 1.

    Needs and differences: those of `laftr-dp`.

    >>> from evenhand.methods import Problem
    >>> LaftrEqOpp1().init(Problem.from_labels(y=[0, 1, 1, 0], g=[0, 0, 0, 1]))["weights"].tolist()
    [[0.0, 2.0], [0.0, 0.0]]
    """

    key: ClassVar[str] = "laftr-eqopp1"
    title: ClassVar[str] = "LAFTR, equal opportunity for label 1"
    condition: ClassVar[tuple[float, float, float]] = (1.0, 0.0, 1.0)
