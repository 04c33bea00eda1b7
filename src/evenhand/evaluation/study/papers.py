"""Studies of a paper that have a page in its own shape, beside the report that all studies have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

# study -> "module:function"; the function takes (store, folder, progress) and writes paper.html
BESIDE_PUBLIC = "evenhand.evaluation.reference_values.study:paper"
PAPERS = {
    "ci-mnist": "evenhand.evaluation.ci_mnist.study:paper",
    "ci-mnist-box": BESIDE_PUBLIC,
    "adult-age": BESIDE_PUBLIC,
    "equalized-robustness": "evenhand.evaluation.equalized_robustness.study:paper",
}
# the first letters of claims -> the same, for studies of whatever name that speak to one of them
BY_CLAIMS = {"S1.": "evenhand.evaluation.many_attributes.study:paper"}
PAGE = "paper.html"


def paper_of(name: str, claims: Sequence[str] = ()) -> Callable[..., Any] | None:
    """What writes the page of the paper that a study of this name, or with these claims, is taken from.

    None where there is none.

    >>> paper_of("my-own") is None
    True
    """
    spoken_to = (written for paper, written in BY_CLAIMS.items() if any(c.startswith(paper) for c in claims))
    found_at = PAPERS.get(name) or next(spoken_to, None)
    if found_at is None:
        return None
    module, _, function = found_at.partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
