"""S2's distillation of features: attention (AT), probabilities (PKT), similarities (SP), flow (FSP)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor

from evenhand.methods.feature_distillation import (
    MAPS,
    S2,
    VECTORS,
    FeatureDistillation,
    Features,
)
from evenhand.methods.feature_terms import attention_term, flow_term, pkt_term, similarity_term
from evenhand.methods.fields import number
from evenhand.records import Needs

LABELS = "weight of the loss of the labels"
WITH_KD = "weight of the divergence from the teacher's predictions"
FEATURES = "weight of the features' distance"


@dataclass(frozen=True)
class AttentionTransfer(FeatureDistillation):
    """Attention transfer: the student looks where its teacher looks.

    Objective, after the phase of the teacher t (ERM): `mean_i gamma l(s(x_i), y_i) + alpha KD +
    beta sum_m mean (a_m(s) - a_m(t))^2`, a the mean of squares over the channels of a map m, flattened, of
    length 1 in each row; KD as in `kd`. The maps are those of `points`, else all but the first: the stages of
    a ResNet ("f1", "f2", "f3" of `resnet32x4`), "conv2" and so on of `convnet`. beta = alpha = 0 is ERM.

    Needs no groups; images, one label a row, and a network with maps. Teacher and start are those of `kd`.

    >>> AttentionTransfer().taps(("f0", "f1", "f2", "f3"), ("f0", "f1", "f2"))
    ('f1', 'f2')
    """

    key: ClassVar[str] = "at"
    title: ClassVar[str] = "Attention transfer"
    citation: ClassVar[str] = f"Zagoruyko, Komodakis, Paying more attention to attention, ICLR 2017; {S2}"
    needs: ClassVar[Needs] = MAPS

    gamma: float = number(1.0, LABELS)
    alpha: float = number(0.0, WITH_KD)
    beta: float = number(1000.0, FEATURES, search=(100.0, 10000.0))

    def term(self, ours: Features, theirs: Features) -> Tensor:
        """AT's."""
        return attention_term(ours, theirs)

    def usual(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """All maps but the first, which is the stem."""
        return maps[1:] or maps


@dataclass(frozen=True)
class ProbabilisticTransfer(FeatureDistillation):
    """Probabilistic knowledge transfer: rows are near to each other where they are for the teacher.

    Objective, after the phase of the teacher t (ERM): `mean_i gamma l(s(x_i), y_i) + alpha KD +
    beta mean_ij p_ij(t) log(p_ij(t) / p_ij(s))`, where p_ij is (1 + cosine) / 2 of the features of rows i and
    j of a batch, as a share of row i's sum; KD as in `kd`. The features are those of the one point that
    `points` names, else the network's last: the pooled vector, or the last hidden layer of a perceptron.
    beta = alpha = 0 is ERM.

    Needs no groups; one label a row. Teacher and start are those of `kd`.

    >>> ProbabilisticTransfer().taps(("f0", "f1", "f2"), ("f0", "f1"))
    ('f2',)
    """

    key: ClassVar[str] = "pkt"
    title: ClassVar[str] = "Probabilistic knowledge transfer"
    citation: ClassVar[str] = (
        "Passalis, Tefas, Learning deep representations with probabilistic knowledge transfer, ECCV 2018; "
        f"{S2}"
    )
    needs: ClassVar[Needs] = VECTORS

    gamma: float = number(1.0, LABELS)
    alpha: float = number(0.0, WITH_KD)
    beta: float = number(30000.0, FEATURES, search=(3000.0, 300000.0))

    def term(self, ours: Features, theirs: Features) -> Tensor:
        """PKT's, of the last point named."""
        return pkt_term(ours[-1], theirs[-1])

    def usual(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """The last point."""
        return points[-1:]


@dataclass(frozen=True)
class SimilarityPreserving(FeatureDistillation):
    """Similarity-preserving distillation: pairs of rows are as similar as they are for the teacher.

    Objective, after the phase of the teacher t (ERM): `mean_i gamma l(s(x_i), y_i) + alpha KD +
    beta ||G(s) - G(t)||^2 / B^2`, G the products of the features of all pairs of the B rows, of length 1 in
    each row; KD as in `kd`. The features are those of the one point that `points` names, else the network's
    last map ("f3" of `resnet32x4`), or where it has none its last point. beta = alpha = 0 is ERM.

    Needs no groups; one label a row. Teacher and start are those of `kd`.

    >>> SimilarityPreserving().taps(("f0", "f1", "f2"), ("f0", "f1"))
    ('f1',)
    """

    key: ClassVar[str] = "sp"
    title: ClassVar[str] = "Similarity-preserving distillation"
    citation: ClassVar[str] = f"Tung, Mori, Similarity-preserving knowledge distillation, ICCV 2019; {S2}"
    needs: ClassVar[Needs] = VECTORS

    gamma: float = number(1.0, LABELS)
    alpha: float = number(0.0, WITH_KD)
    beta: float = number(3000.0, FEATURES, search=(300.0, 30000.0))

    def term(self, ours: Features, theirs: Features) -> Tensor:
        """SP's, of the last point named."""
        return similarity_term(ours[-1], theirs[-1])

    def usual(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """The last map, or the last point."""
        return (maps or points)[-1:]


@dataclass(frozen=True)
class FlowTransfer(FeatureDistillation):
    """Flow of the solution procedure: what the student makes of one map for the next is as in the teacher.

    Objective, after the phase of the teacher t (ERM): `mean_i gamma l(s(x_i), y_i) + alpha KD +
    beta sum_m mean (F_m(s) - F_m(t))^2`, F[c, d] the mean over places of channel c of map m times channel d
    of the next, the larger pooled to the smaller; KD as in `kd`. The maps are those of `points`, else all
    ("f0" to "f3" of `resnet32x4`). beta = alpha = 0 is ERM.

    Needs no groups; images, one label a row, and a network with two maps or more. Teacher and start are those
    of `kd`. The authors, and the code that S2 used, train by this term alone in a stage before, and without
    it in the main one; S2 does not say what it did. A student that starts from its teacher would
    find nothing to do there, so that the term is a part of the loss here.

    >>> FlowTransfer().taps(("f0", "f1", "f2"), ("f0", "f1"))
    ('f0', 'f1')
    """

    key: ClassVar[str] = "fsp"
    title: ClassVar[str] = "Flow of the solution procedure"
    citation: ClassVar[str] = f"Yim, Joo, Bae, Kim, A gift from knowledge distillation, CVPR 2017; {S2}"
    needs: ClassVar[Needs] = MAPS
    pairs: ClassVar[bool] = True

    gamma: float = number(1.0, LABELS)
    alpha: float = number(0.0, WITH_KD)
    beta: float = number(50.0, FEATURES, search=(5.0, 500.0))

    def term(self, ours: Features, theirs: Features) -> Tensor:
        """FSP's."""
        return flow_term(ours, theirs)

    def usual(self, points: tuple[str, ...], maps: tuple[str, ...]) -> tuple[str, ...]:
        """All maps."""
        return maps
