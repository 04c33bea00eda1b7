"""What the study `titanic-fairness` sets side by side: S2's Table 3, and the rules, written before its runs.

Citation: Measure Twice, Cut Once: Quantifying Bias and Fairness in Deep Neural Networks (S2), Table 3. The
rules in sentences: docs/studies/titanic-fairness.md.
"""

from __future__ import annotations

NAME = "titanic-fairness"
TITLE = "Titanic: what eight numbers say about men and women, beside S2's Table 3"
MODELS = {"nn": "NN", "svm": "SVM", "gtb": "GTB"}
GROUPS = {"men": "male", "women": "female"}  # what the tables call a group, what the data calls it

# the columns of Table 3 in its order
COLUMNS = {
    "cev.men": "CEV all→men", "cev.women": "CEV all→women", "sde.men": "SDE all→men",
    "sde.women": "SDE all→women", "fped": "FPED", "fned": "FNED", "dims": "DIMS", "diamr": "DIAMR",
}  # fmt: skip
NEW, KNOWN = tuple(COLUMNS)[:4], tuple(COLUMNS)[4:]
NORMALISED = {key: key.replace(".", "_norm.") for key in NEW}  # over a random predictor's, as the paper's are
AS_SCORES = {"dims": "dims.classes", "diamr": "diamr.classes"}  # the same, of predicted classes as scores
# the same, of rates by prediction (wrong ones among those predicted so) instead of by label: see the page
BY_PREDICTION = {"fped": "fped.predictions", "fned": "fned.predictions"}
READINGS = {**BY_PREDICTION, **AS_SCORES}

_ROWS = {
    "nn": (0.013557, 0.012737, 0.115002, 0.093218, 0.548443, 0.458016, -0.269742, 0.288790),
    "svm": (0.012089, 0.000736, 0.109744, 0.027081, 0.412500, 0.593508, -0.067460, 0.491071),
    "gtb": (0.000107, 0.000941, 0.010341, 0.030619, 0.458462, 0.513932, -0.193700, 0.364831),
}
PAPER = {model: dict(zip(COLUMNS, row, strict=True)) for model, row in _ROWS.items()}

REPEATS = 5
TEST = 0.2
SHUFFLES = 10_000  # of the sexes among the test rows
NEAR = 0.15  # how far from the paper's a number may be and still be called near
ALPHA = 0.05
CONFIDENCE = 0.95
HOLDS, DOES_NOT, UNTOLD = "holds", "does not", "cannot tell"
