"""Methods: one short file each, pure functions in one contract (`base.py`), listed in `registry.py`.

In one's own training loop: `Problem`, `Nets`, `Batch` and a method are all that is needed
(`examples/own_loop.py`).
"""

from evenhand.methods.base import Method, Sampling
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.erm import ERM
from evenhand.methods.gap import GapPenalty
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.irm import IRM
from evenhand.methods.jtt import JTT
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.methods.registry import METHODS, method_of
from evenhand.methods.resample import Resample
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.methods.weighting import SqrtWeightedERM, WeightedERM
from evenhand.records import Batch

__all__ = [
    "ERM",
    "IRM",
    "JTT",
    "METHODS",
    "Batch",
    "DomainDiscriminative",
    "DomainIndependent",
    "GapPenalty",
    "GroupDRO",
    "Method",
    "Nets",
    "Problem",
    "Resample",
    "Sampling",
    "SpectralDecoupling",
    "SqrtWeightedERM",
    "WeightedERM",
    "method_of",
]
