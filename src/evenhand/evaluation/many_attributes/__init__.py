"""Studies of S1's shape: Figures 2-4 and 6-10, ranks over tasks, and the paper's claims answered.

`python -m evenhand.evaluation.many_attributes DIR [DIR ...] [--page docs/studies/NAME.md]` makes the pages,
several studies side by side; with `--claims docs/claims.csv` it fills in the answers.
"""

from evenhand.evaluation.many_attributes.claims import answers
from evenhand.evaluation.many_attributes.findings import CLAIMS, findings
from evenhand.evaluation.many_attributes.runs import Runs, Structure
from evenhand.evaluation.many_attributes.study import compute, paper, together

__all__ = ["CLAIMS", "Runs", "Structure", "answers", "compute", "findings", "paper", "together"]
