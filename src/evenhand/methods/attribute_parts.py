"""A problem and a batch as one attribute after the other sees them: what attribute decomposition is made of.

A method that is decomposed looks at k groupings by one attribute each (sum of levels) in place of one by all
of them (product of levels). Each part is a whole problem or batch, whose groups are the levels of its
attribute: what a method does with groups, it does with each part.
"""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from evenhand.errors import InputError
from evenhand.methods.nets import Nets
from evenhand.methods.problem import Problem
from evenhand.records import Batch, Sizes


def sizes_by_attribute(sizes: Sizes) -> list[Sizes]:
    """The sizes of the grouping by each attribute alone.

    >>> [part.n_groups for part in sizes_by_attribute(Sizes((), 2, 6, (2, 3)))]
    [2, 3]
    """
    return [sizes._replace(n_groups=n, n_levels=(n,)) for n in sizes.n_levels]


def problems_by_attribute(problem: Problem) -> Iterator[Problem]:
    """The problem with each attribute for its groups; who is unknown there may be known in another.

    >>> problem = Problem.from_labels([0, 1], g=[5, -1], a=[[1, 2], [0, -1]])
    >>> [part.g.tolist() for part in problems_by_attribute(problem)]
    [[1, 0], [2, -1]]
    """
    for sizes, codes in zip(sizes_by_attribute(problem.sizes), problem.a.unbind(1), strict=True):
        yield Problem(sizes, problem.y, codes, codes[:, None])


def batches_by_attribute(batch: Batch, key: str) -> Iterator[Batch]:
    """The batch with each attribute for its groups."""
    if batch.a is None:
        raise InputError(f"the method '{key}' looks at each attribute: give their codes as Batch(a=...)")
    for codes in batch.a.unbind(1):
        yield batch._replace(g=codes, a=codes[:, None])


def check_attributes(problem: Problem, key: str) -> None:
    """Refuse a task in which nothing is protected, for a method that goes by attribute."""
    if not problem.sizes.n_levels:
        raise InputError(f"the method '{key}' goes by attribute; name at least one to protect")


def outputs_as_nets(logits: Tensor, sizes: Sizes) -> Nets:
    """Networks whose model has given these outputs already: for a loss of several parts on one pass."""
    return Nets({"model": lambda x: (logits, None)}, sizes)
