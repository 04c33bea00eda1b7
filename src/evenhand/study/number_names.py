"""The numbers that a study can take of a trained model beside its counts, by name; needs no torch."""

from __future__ import annotations

NUMBERS_PART = "test"  # the rows that they are taken on
CURVATURE = "curvature"
KERNELS_OF = {"delta_er": "default", "delta_er.narrow": "narrow", "delta_er.wide": "wide"}
NUMBERS = (*KERNELS_OF, CURVATURE)
MEAN = "curvature.mean."  # before the name of a group


def is_number(key: str) -> bool:
    """Whether a key is that of a number of a trained model: counts do not tell it.

    >>> is_number("delta_er"), is_number("curvature.mean.sex=Female"), is_number("acc")
    (True, True, False)
    """
    return key in NUMBERS or key.startswith(MEAN)
