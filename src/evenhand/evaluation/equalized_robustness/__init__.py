"""The tabular study of S4 in the paper's shape: Tables 1-3 and 6-9, Figure 3, ablations, claims answered.

`python -m evenhand.evaluation.equalized_robustness RUN_DIR [--page docs/studies/equalized-robustness.md]`
makes the pages, and with `--claims docs/claims.csv` fills in the answers.
"""

from evenhand.evaluation.equalized_robustness.arms import Arm, Runs
from evenhand.evaluation.equalized_robustness.claims import answers
from evenhand.evaluation.equalized_robustness.layout import NAME
from evenhand.evaluation.equalized_robustness.printed import Printed, printed
from evenhand.evaluation.equalized_robustness.study import compute, paper

__all__ = ["NAME", "Arm", "Printed", "Runs", "answers", "compute", "paper", "printed"]
