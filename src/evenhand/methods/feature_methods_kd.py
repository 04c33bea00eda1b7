"""S2's distillation of features together with that of predictions: AT, PKT, SP and FSP, each + KD."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from evenhand.methods.feature_distillation import HINTON
from evenhand.methods.feature_methods import (
    WITH_KD,
    AttentionTransfer,
    FlowTransfer,
    ProbabilisticTransfer,
    SimilarityPreserving,
)
from evenhand.methods.fields import number


@dataclass(frozen=True)
class AttentionTransferKD(AttentionTransfer):
    """Attention transfer and knowledge distillation at once.

    Objective: that of `at` with alpha = 1.

    >>> AttentionTransferKD().alpha, AttentionTransferKD().beta, AttentionTransferKD().gamma
    (1.0, 1000.0, 1.0)
    """

    key: ClassVar[str] = "at-kd"
    title: ClassVar[str] = "Attention transfer and knowledge distillation"
    citation: ClassVar[str] = f"{AttentionTransfer.citation}; {HINTON}"

    alpha: float = number(1.0, WITH_KD)


@dataclass(frozen=True)
class ProbabilisticTransferKD(ProbabilisticTransfer):
    """Probabilistic knowledge transfer and knowledge distillation at once.

    Objective: that of `pkt` with alpha = 1.

    >>> ProbabilisticTransferKD().alpha, ProbabilisticTransferKD().beta
    (1.0, 30000.0)
    """

    key: ClassVar[str] = "pkt-kd"
    title: ClassVar[str] = "Probabilistic knowledge transfer and knowledge distillation"
    citation: ClassVar[str] = f"{ProbabilisticTransfer.citation}; {HINTON}"

    alpha: float = number(1.0, WITH_KD)


@dataclass(frozen=True)
class SimilarityPreservingKD(SimilarityPreserving):
    """Similarity-preserving and knowledge distillation at once.

    Objective: that of `sp` with alpha = 1.

    >>> SimilarityPreservingKD().alpha, SimilarityPreservingKD().beta
    (1.0, 3000.0)
    """

    key: ClassVar[str] = "sp-kd"
    title: ClassVar[str] = "Similarity-preserving and knowledge distillation"
    citation: ClassVar[str] = f"{SimilarityPreserving.citation}; {HINTON}"

    alpha: float = number(1.0, WITH_KD)


@dataclass(frozen=True)
class FlowTransferKD(FlowTransfer):
    """Flow of the solution procedure and knowledge distillation at once.

    Objective: that of `fsp` with alpha = 1.

    >>> FlowTransferKD().alpha, FlowTransferKD().beta
    (1.0, 50.0)
    """

    key: ClassVar[str] = "fsp-kd"
    title: ClassVar[str] = "Flow of the solution procedure and knowledge distillation"
    citation: ClassVar[str] = f"{FlowTransfer.citation}; {HINTON}"

    alpha: float = number(1.0, WITH_KD)
