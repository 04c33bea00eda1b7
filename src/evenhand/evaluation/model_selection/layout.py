"""The numbers in the rules of `model-selection`, written before its runs: docs/studies/model-selection.md.

Citation: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2), Figure 3 and
Table 2.
"""

from __future__ import annotations

NAME = "model-selection"
SHOWN, CHOSEN = "test", "validation"  # the part that is shown, the part that the base is chosen on
TOP = 5
SIMILAR_ACCURACY, SIMILAR_SIZE = 0.01, 1.5  # largest difference of top-1, largest ratio of parameters
ALPHA, CONFIDENCE = 0.05, 0.95
MANY_CLASSES = 100
AGREEING = 0.7  # the rank correlation between two sets of rows that a metric must reach
NEAR, LEAST_NEAR = 0.05, 4  # top-1 from the best, and models: their agreement is told beside the rule
FEW_LEFT_OUT, MOST_LEFT_OUT = 0.1, 0.5  # shares of the classes
MATRICES = {
    "accuracy_change": "change of top-1 from row to column",
    "cev_norm": "CEV of the column against the row, normalised by the row",
    "sde_norm": "SDE of the column against the row, normalised by the row",
    "cev": "CEV of the column against the row",
    "sde": "SDE of the column against the row",
}
HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot tell"
