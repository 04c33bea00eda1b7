"""What becomes of the gaps of a study's methods under the shifts that it measures, beside clean rows."""

from evenhand.evaluation.under_shift.numbers import compute
from evenhand.evaluation.under_shift.page import write_page

__all__ = ["compute", "write_page"]
