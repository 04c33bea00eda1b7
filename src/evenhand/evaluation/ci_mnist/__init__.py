"""The study of S3 on coloured digits in the paper's shape: Tables 4-31, Figures 1-11, its claims answered."""

from evenhand.evaluation.ci_mnist.answers import answers
from evenhand.evaluation.ci_mnist.layout import NAME
from evenhand.evaluation.ci_mnist.study import compute, paper

__all__ = ["NAME", "answers", "compute", "paper"]
