"""Studies of a paper that have a page in its own shape, beside the report that all studies have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

# study -> "module:function"; the function takes (store, folder, progress) and writes paper.html
FIXED_SEED = "evenhand.evaluation.fixed_seed.paper:paper"
COMPRESSION = "evenhand.evaluation.compression.study:paper"
MODEL_SELECTION = "evenhand.evaluation.model_selection.paper:paper"
HAIR_COLOUR = "evenhand.evaluation.hair_colour.paper:paper"
BESIDE_PUBLIC = "evenhand.evaluation.reference_values.study:paper"
PAPERS = {
    "ci-mnist": "evenhand.evaluation.ci_mnist.study:paper",
    "ci-mnist-box": BESIDE_PUBLIC,
    "adult-age": BESIDE_PUBLIC,
    "equalized-robustness": "evenhand.evaluation.equalized_robustness.study:paper",
}
# the same for all studies whose names begin so
BY_NAME = {
    "fixed-seed-": FIXED_SEED,
    "compression-": COMPRESSION,
    "model-selection": MODEL_SELECTION,
    "hair-colour": HAIR_COLOUR,
}
# a claim, or the first letters of several up to a dot -> the same, for studies of whatever name
BY_CLAIMS = {
    "S1.": "evenhand.evaluation.many_attributes.study:paper",
    **dict.fromkeys(("S0.12", "S0.13", "S0.14", "S0.15"), FIXED_SEED),
    **dict.fromkeys(("S2.1", "S2.2", "S2.3", "S2.4", "S2.5", "S2.6"), COMPRESSION),
    **dict.fromkeys(("S2.7", "S2.8"), MODEL_SELECTION),
    "S2.10": HAIR_COLOUR,
}
# pages that are no paper's: the program that writes them is the module itself
OTHER_PAGES = {
    "ci-mnist-marks": "evenhand.evaluation.ci_mnist_marks",
    "equalized-robustness-celeba": "evenhand.evaluation.under_shift",
    "equalized-robustness-fairface": "evenhand.evaluation.under_shift",
    "er-predicts-shift": "evenhand.evaluation.er_predicts_shift",
    "fixed-seed-replay": "evenhand.evaluation.replay",
}
PAGE = "paper.html"
LEVELS = {COMPRESSION: "share"}  # the field whose every value such a page reports


def paper_of(name: str, claims: Sequence[str] = ()) -> Callable[..., Any] | None:
    """What writes the page of the paper that a study of this name, or with these claims, is taken from.

    None where there is none.

    >>> paper_of("my-own") is None, paper_of("hair-colour-celeba").__module__.split(".")[-2]
    (True, 'hair_colour')
    """
    found_at = _place(name, claims)
    if found_at is None:
        return None
    module, _, function = found_at.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found


def level_field(name: str, claims: Sequence[str] = ()) -> str:
    """The field that is no setting but a level in a study of this name, or with these claims; "" if none.

    >>> level_field("compression-mnist"), level_field("mine", ["S2.1"]), level_field("mine")
    ('share', 'share', '')
    """
    return LEVELS.get(_place(name, claims) or "", "")


def page_program(name: str, claims: Sequence[str] = ()) -> str | None:
    """The module to be run that writes the page of a study of this name, or with these claims; None if none.

    >>> page_program("ci-mnist-box"), page_program("mine", ["S2.1"]), page_program("mine")
    ('evenhand.evaluation.reference_values', 'evenhand.evaluation.compression', None)
    """
    found_at = OTHER_PAGES.get(name) or _place(name, claims)
    return None if found_at is None else ".".join(found_at.split(":")[0].split(".")[:3])


def _place(name: str, claims: Sequence[str]) -> str | None:
    by_name = (written for start, written in BY_NAME.items() if name.startswith(start))
    spoken_to = (written for claim, written in BY_CLAIMS.items() if any(_of(said, claim) for said in claims))
    return PAPERS.get(name) or next(by_name, None) or next(spoken_to, None)


def _of(said: str, claim: str) -> bool:
    """Whether a claim that a study speaks to is this one, or one of these.

    >>> _of("S2.10", "S2.1"), _of("S2.10", "S2.10"), _of("S1.4", "S1.")
    (False, True, True)
    """
    return said.startswith(claim) if claim.endswith(".") else said == claim
