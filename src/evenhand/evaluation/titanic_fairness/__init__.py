"""Titanic as in S2's Table 3: three models, eight numbers of men and women each, beside the paper's."""

from evenhand.evaluation.titanic_fairness.layout import NAME
from evenhand.evaluation.titanic_fairness.study import compute, run

__all__ = ["NAME", "compute", "run"]
