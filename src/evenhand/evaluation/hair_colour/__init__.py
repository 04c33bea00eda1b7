"""One model of four classes, its errors on all rows against those on protected subgroups (S2, Table 4)."""

from evenhand.evaluation.hair_colour.answers import answers
from evenhand.evaluation.hair_colour.study import compute

__all__ = ["answers", "compute"]
