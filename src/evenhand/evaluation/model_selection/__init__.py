"""Every model of a zoo against every other: S2's matrices, the table of the models, and two claims."""

from evenhand.evaluation.model_selection.answers import answers
from evenhand.evaluation.model_selection.study import compute

__all__ = ["answers", "compute"]
