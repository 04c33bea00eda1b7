"""Studies of a paper that have a page in its own shape, beside the report that all studies have."""

from __future__ import annotations

from collections.abc import Callable
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
PAGE = "paper.html"


def paper_of(name: str) -> Callable[..., Any] | None:
    """What writes the page of the paper that a study of this name is taken from; None where there is none.

    >>> paper_of("my-own") is None
    True
    """
    if name not in PAPERS:
        return None
    module, _, function = PAPERS[name].partition(":")
    found: Callable[..., Any] = getattr(import_module(module), function)
    return found
