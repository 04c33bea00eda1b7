"""What is read from the study `ci-mnist-marks`: what green marks add, who helps the smallest group."""

from evenhand.evaluation.ci_mnist_marks.answers import compute
from evenhand.evaluation.ci_mnist_marks.layout import NAME
from evenhand.evaluation.ci_mnist_marks.page import write_page

__all__ = ["NAME", "compute", "write_page"]
