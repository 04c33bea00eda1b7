"""Attribute decomposition of methods that have it as a form: weights, heads and adversaries by attribute."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evenhand.methods.attribute_parts import check_attributes
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.problem import Problem
from evenhand.methods.weighting import WeightedERM

S1 = "Scaling Bias Mitigation with Multiple Fairness Tasks and Multiple Protected Attributes"


@dataclass(frozen=True)
class WeightedERMByAttribute(WeightedERM):
    """Weights that are a product of one weight for each attribute: S1's W-ERM with attribute decomposition.

    Objective: `(1/B) sum_i w_i l_i`, `w = prod_a n / n_{a, v_a}`, where `n_{a, v}` counts the training rows
    with value v of attribute a, divided by the mean weight. That is `by="group"`; with the default
    "label-group" the shares are those within the row's label, times the label's own `n / n_y`, and
    "within-label" leaves that factor out. With several labels a row each label has its own product. It needs
    sum_a |A_a| numbers where `w-erm` needs prod_a |A_a|, and is finite for intersections without rows; it is
    the weight of the intersection only if attributes are independent, and the same for one attribute.

    Needs the attributes of training rows; a row with an unknown one is left out unless `unknown` is "keep".

    >>> a = [[0, 0]] * 5 + [[0, 1]] * 3 + [[1, 1]] * 2  # men: 5 young, 3 old; women: 2 old
    >>> people = Problem.from_labels(y=[0] * 10, g=[0] * 5 + [1] * 3 + [3] * 2, a=a, n_groups=4)
    >>> table = WeightedERMByAttribute(by="group", normalise=False).init(people)["table"][:, 0, 0]
    >>> (table[0, 1] * table[1, 1]).item(), (table[0, 0] * table[1, 0]).item()  # 5 and 2 without it
    (10.0, 2.5)
    """

    key: ClassVar[str] = "w-erm-ad"
    title: ClassVar[str] = "Importance weighting by attribute"
    citation: ClassVar[str] = f"S1: {S1} (attribute decomposition of importance weighting)"
    decompose: ClassVar[bool] = True  # type: ignore[misc]  # no choice here: the key says so

    def check(self, problem: Problem) -> None:
        """Refuse a task without attributes."""
        super().check(problem)
        check_attributes(problem, self.key)


@dataclass(frozen=True)
class IndependentByAttribute(DomainIndependent):
    """A head for each value of each attribute: S1's domain independent training with decomposition.

    Objective: `mean_i mean_a l(h_{a, v_ia}(x_i), y_i)`, heads `h_{a,v}` on a shared backbone: a row trains a
    head of each attribute. 7 binary attributes have 14 heads where `ind` has 128; one attribute is `ind`.

    Scores: as of `ind`, over all heads `sum_a sum_v h_{a,v}(x)`, by logits ("sum-logit"), probabilities
    ("sum-prob"), the row's own heads ("conditional", needs groups at test) or the largest probability ("max",
    several labels a row). Heads with fewer than `n_min` training rows are left out.

    Needs the attributes of training rows; a row whose attribute is unknown does not train that one's heads.

    >>> a = [[g >> place & 1 for place in range(7)] for g in range(128)]
    >>> many = Problem.from_labels([0, 1] * 64, range(128), a)
    >>> IndependentByAttribute().outputs(many), DomainIndependent().outputs(many)  # two classes a head
    (28, 256)
    """

    key: ClassVar[str] = "ind-ad"
    title: ClassVar[str] = "Domain independent training by attribute"
    citation: ClassVar[str] = (
        f"S1: {S1} (attribute decomposition); heads: Wang et al., Towards fairness in visual recognition, "
        "CVPR 2020"
    )
    decompose: ClassVar[bool] = True  # type: ignore[misc]  # no choice here: the key says so


@dataclass(frozen=True)
class CensoringByAttribute(AdversarialCensoring):
    """Uniform confusion of one adversary head for each attribute: a decomposed A-Cens.

    Objective of the model: `mean_i l_i + alpha sum_a L_conf,a`, `L_conf,a = -mean_n mean_v log p_{a,v}(n)`;
    of the adversary: the sum over attributes of the cross-entropy of their values. All else as of `a-cens`;
    alpha = 0 is ERM, and with one attribute the two are the same.

    Needs the attributes of training rows and the network's features; a row whose attribute is unknown serves
    the task and the other heads. S1 decomposes W-ERM and Ind only: this form is ours.

    >>> problem = Problem.from_labels([0, 1], g=[5, 0], a=[[1, 2], [0, 0]])
    >>> heads = CensoringByAttribute().extra(problem, 16)["adversary"].heads
    >>> [sum(p.numel() for p in head.parameters()) for head in heads]  # (16 + 1) for each of 2 and 3 values
    [34, 51]
    """

    key: ClassVar[str] = "a-cens-ad"
    title: ClassVar[str] = "Adversarial censoring by attribute"
    decompose: ClassVar[bool] = True  # type: ignore[misc]  # no choice here: the key says so

    def check(self, problem: Problem) -> None:
        """Refuse a task without attributes."""
        super().check(problem)
        check_attributes(problem, self.key)
