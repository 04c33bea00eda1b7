"""What is read from the study `er-predicts-shift`: does clean delta ER foretell the gap under shift?"""

from evenhand.evaluation.er_predicts_shift.answers import answer, compute
from evenhand.evaluation.er_predicts_shift.layout import NAME
from evenhand.evaluation.er_predicts_shift.page import write_page

__all__ = ["NAME", "answer", "compute", "write_page"]
