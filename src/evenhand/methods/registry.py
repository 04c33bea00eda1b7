"""The methods by key. Adding one is a file of its own and a line here; contract tests then pick it up.

Four rules make further keys: "pre+KEY" is a method after ERM on all rows (`methods/pretraining.py`),
"staged+KEY" one that trains a new head first (`methods/staged.py`), "prune+KEY" one whose model is pruned
(`methods/pruned.py`), "KEY+cm" one with curvature matching (`methods/curvature_matching.py`); "pre+KEY+cm" is
both.
"""

from __future__ import annotations

from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.advdebias import AdvDebias
from evenhand.methods.base import Method
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.cfair import CFair, CFairEO
from evenhand.methods.conv_reversal import ConvReversal
from evenhand.methods.cuma import Cuma
from evenhand.methods.curvature_matching import SUFFIX, curvature_matched
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
from evenhand.methods.nifr import NullSampling
from evenhand.methods.posneg import PosNegERM, PosNegResample
from evenhand.methods.pretraining import PREFIX, pretrained
from evenhand.methods.projection import GradientProjection
from evenhand.methods.pruned import PRUNE, pruned
from evenhand.methods.resample import Resample
from evenhand.methods.reversal_adversary import GradientReversal
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.methods.staged import STAGED, staged
from evenhand.methods.weighting import SqrtWeightedERM, WeightedERM

_CLASSES: tuple[type[Method], ...] = (
    ERM,
    PosNegERM,
    WeightedERM,
    SqrtWeightedERM,
    Resample,
    PosNegResample,
    GroupDRO,
    IRM,
    SpectralDecoupling,
    JTT,
    DomainIndependent,
    DomainDiscriminative,
    DiscriminativeRBA,
    GapPenalty,
    FairALM,
    LaftrDP,
    LaftrEqOdd,
    LaftrEqOpp0,
    LaftrEqOpp1,
    CFair,
    CFairEO,
    AdversarialCensoring,
    GradientReversal,
    ConvReversal,
    GradientProjection,
    AdvDebias,
    FFVAE,
    NullSampling,
    Cuma,
    WeightedERMByAttribute,
    DistilledSqrtWeightedERM,
    GroupDROByAttribute,
    UniformIRM,
    IRMByAttribute,
    IndependentByAttribute,
    DistilledIndependent,
    DistilledIndependentByAttribute,
    DiscriminativeByAttribute,
    CensoringByAttribute,
    Distillation,
    AttentionTransfer,
    ProbabilisticTransfer,
    SimilarityPreserving,
    FlowTransfer,
    AttentionTransferKD,
    ProbabilisticTransferKD,
    SimilarityPreservingKD,
    FlowTransferKD,
)
METHODS: dict[str, type[Method]] = {method.key: method for method in _CLASSES}
RULES = (
    f"{PREFIX}KEY (ERM on all rows first), {STAGED}KEY (a new head first), {PRUNE}KEY (the model pruned) and "
    f"KEY{SUFFIX} (curvature matching) are methods too"
)


def kind_of(name: str) -> type[Method]:
    """The class of a method by its key, or by a key that the rules make of one.

    >>> kind_of("pre+w-erm").key, kind_of("laftr-dp+cm").title
    ('pre+w-erm', 'LAFTR, demographic parity with curvature matching')
    """
    if name.startswith(PREFIX):
        return pretrained(kind_of(name.removeprefix(PREFIX)))
    if name.startswith(STAGED):
        return staged(kind_of(name.removeprefix(STAGED)))
    if name.startswith(PRUNE):
        return pruned(kind_of(name.removeprefix(PRUNE)))
    if name.endswith(SUFFIX):
        return curvature_matched(kind_of(name.removesuffix(SUFFIX)))
    if name not in METHODS:
        near, rules = _nearest(name, list(METHODS)), f"{PREFIX}KEY, {STAGED}KEY, {PRUNE}KEY, KEY{SUFFIX}"
        listed = "`evenhand list methods` shows all" if "?" in near else f"Known: {', '.join(METHODS)}"
        raise InputError(f"there is no method {name!r}{near} {listed}; {rules}.")
    return METHODS[name]


def is_known(name: str) -> bool:
    """Whether a key stands for a method.

    >>> is_known("pre+gdro"), is_known("pre+mine")
    (True, False)
    """
    try:
        kind_of(name)
    except InputError:
        return False
    return True


def method_of(name: str, **values: Any) -> Method:
    """The method with this key and these fields; what is misspelt is told with the nearest right name.

    >>> method_of("erm")
    ERM()
    >>> method_of("gdro", eta=1).eta
    1.0
    >>> method_of("gdro", etta=1)
    Traceback (most recent call last):
    evenhand.errors.InputError: the method 'gdro' has no field 'etta'; did you mean 'eta'? its fields are eta,
    adjustment, by, balanced.
    """
    method = kind_of(name)()
    known = [item.name for item in fields(method)]
    for wrong in (value for value in values if value not in known):
        has = f"its fields are {', '.join(known)}." if known else "it has none."
        raise InputError(f"the method '{name}' has no field {wrong!r}{_nearest(wrong, known)} {has}")
    return replace(method, **{field: _typed(method, field, value) for field, value in values.items()})


def _typed(method: Method, field: str, value: Any) -> Any:
    """A value as its field's kind: 1 is 1.0 where the field is a float."""
    kind = type(getattr(method, field))
    if kind is float and isinstance(value, (int, float)) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, kind):
        raise InputError(f"'{field}' of '{method.key}' must be a {kind.__name__}, not {value!r}")
    return value


def _nearest(name: str, known: list[str]) -> str:
    near = get_close_matches(name.lower(), known, n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(repr(text) for text in near)}?" if near else ";"
