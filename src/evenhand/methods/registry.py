"""The methods by key. Adding one is a file of its own and a line here; contract tests then pick it up."""

from __future__ import annotations

from dataclasses import fields, replace
from difflib import get_close_matches
from typing import Any

from evenhand.errors import InputError
from evenhand.methods.advdebias import AdvDebias
from evenhand.methods.base import Method
from evenhand.methods.censoring import AdversarialCensoring
from evenhand.methods.cfair import CFair, CFairEO
from evenhand.methods.cuma import Cuma
from evenhand.methods.discriminative import DomainDiscriminative
from evenhand.methods.erm import ERM
from evenhand.methods.ffvae import FFVAE
from evenhand.methods.gap import GapPenalty
from evenhand.methods.group_dro import GroupDRO
from evenhand.methods.independent import DomainIndependent
from evenhand.methods.irm import IRM
from evenhand.methods.jtt import JTT
from evenhand.methods.laftr import LaftrDP, LaftrEqOdd, LaftrEqOpp0, LaftrEqOpp1
from evenhand.methods.projection import GradientProjection
from evenhand.methods.resample import Resample
from evenhand.methods.reversal_adversary import GradientReversal
from evenhand.methods.spectral_decoupling import SpectralDecoupling
from evenhand.methods.weighting import SqrtWeightedERM, WeightedERM

_CLASSES: tuple[type[Method], ...] = (
    ERM,
    WeightedERM,
    SqrtWeightedERM,
    Resample,
    GroupDRO,
    IRM,
    SpectralDecoupling,
    JTT,
    DomainIndependent,
    DomainDiscriminative,
    GapPenalty,
    LaftrDP,
    LaftrEqOdd,
    LaftrEqOpp0,
    LaftrEqOpp1,
    CFair,
    CFairEO,
    AdversarialCensoring,
    GradientReversal,
    GradientProjection,
    AdvDebias,
    FFVAE,
    Cuma,
)
METHODS: dict[str, type[Method]] = {method.key: method for method in _CLASSES}


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
    if name not in METHODS:
        near = _nearest(name, list(METHODS))
        raise InputError(f"there is no method {name!r}{near} Known: {', '.join(METHODS)}.")
    method = METHODS[name]()
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
