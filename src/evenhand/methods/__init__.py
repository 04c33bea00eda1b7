"""Methods: one short file each, pure functions in one contract (`base.py`), listed in `registry.py`.

In one's own training loop: `Problem`, `Nets`, `Batch` and a method are all that is needed
(`examples/own_loop.py`).
"""

from evenhand.methods.advdebias import AdvDebias
from evenhand.methods.base import Method, Sampling
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.cfair import CFair, CFairEO
from evenhand.methods.conv_reversal import ConvReversal
from evenhand.methods.cuma import Cuma
from evenhand.methods.curvature_matching import with_curvature_matching
from evenhand.methods.decomposed import CensoringByAttribute, IndependentByAttribute, WeightedERMByAttribute
from evenhand.methods.decomposed_discriminative import DiscriminativeByAttribute
from evenhand.methods.decomposed_dro import GroupDROByAttribute
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.discriminative_rba import DiscriminativeRBA
from evenhand.methods.distilled import (
    DistilledIndependent,
    DistilledIndependentByAttribute,
    DistilledSqrtWeightedERM,
)
from evenhand.methods.erm import ERM
from evenhand.methods.fairalm import FairALM
from evenhand.methods.feature_distillation import Distillation
from evenhand.methods.feature_methods import (
    AttentionTransfer,
    FlowTransfer,
    ProbabilisticTransfer,
    SimilarityPreserving,
)
from evenhand.methods.feature_methods_kd import (
    AttentionTransferKD,
    FlowTransferKD,
    ProbabilisticTransferKD,
    SimilarityPreservingKD,
)
from evenhand.methods.ffvae import FFVAE
from evenhand.methods.gap import GapPenalty
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.irm import IRM
from evenhand.methods.irm_forms import IRMByAttribute, UniformIRM
from evenhand.methods.jtt import JTT
from evenhand.methods.laftr import LaftrDP, LaftrEqOdd, LaftrEqOpp0, LaftrEqOpp1
from evenhand.methods.nets import Nets
from evenhand.methods.nifr import NullSampling
from evenhand.methods.posneg import PosNegERM, PosNegResample
from evenhand.methods.pretraining import with_pretraining
from evenhand.methods.problem import Problem
from evenhand.methods.projection import GradientProjection
from evenhand.methods.pruned import with_pruning
from evenhand.methods.registry import METHODS, method_of
from evenhand.methods.resample import Resample
from evenhand.methods.reversal_adversary import GradientReversal
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.methods.staged import with_stages
from evenhand.methods.weighting import SqrtWeightedERM, WeightedERM
from evenhand.records import Batch

__all__ = [
    "ERM",
    "FFVAE",
    "IRM",
    "JTT",
    "METHODS",
    "AdvDebias",
    "AdversarialCensoring",
    "AttentionTransfer",
    "AttentionTransferKD",
    "Batch",
    "CFair",
    "CFairEO",
    "CensoringByAttribute",
    "ConvReversal",
    "Cuma",
    "DiscriminativeByAttribute",
    "DiscriminativeRBA",
    "Distillation",
    "DistilledIndependent",
    "DistilledIndependentByAttribute",
    "DistilledSqrtWeightedERM",
    "DomainDiscriminative",
    "DomainIndependent",
    "FairALM",
    "FlowTransfer",
    "FlowTransferKD",
    "GapPenalty",
    "GradientProjection",
    "GradientReversal",
    "GroupDRO",
    "GroupDROByAttribute",
    "IRMByAttribute",
    "IndependentByAttribute",
    "LaftrDP",
    "LaftrEqOdd",
    "LaftrEqOpp0",
    "LaftrEqOpp1",
    "Method",
    "Nets",
    "NullSampling",
    "PosNegERM",
    "PosNegResample",
    "ProbabilisticTransfer",
    "ProbabilisticTransferKD",
    "Problem",
    "Resample",
    "Sampling",
    "SimilarityPreserving",
    "SimilarityPreservingKD",
    "SpectralDecoupling",
    "SqrtWeightedERM",
    "UniformIRM",
    "WeightedERM",
    "WeightedERMByAttribute",
    "method_of",
    "with_curvature_matching",
    "with_pretraining",
    "with_pruning",
    "with_stages",
]
