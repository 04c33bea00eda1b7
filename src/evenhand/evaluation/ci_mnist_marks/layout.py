"""How the study `ci-mnist-marks` lies, and the rules by which it is read; they were written before its runs.

A method is represented by one setting on each task: the one with the best mean accuracy on blue digits in the
balanced validation digits. All its numbers are those of this setting on test, so that they are of one model.
"""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.evaluation.ci_mnist.layout import ACCURACY, METRICS, MODELS, ODDS, UNPRIVILEGED
from evenhand.study.spec import SelectionSpec

NAME = "ci-mnist-marks"
CHOICE = SelectionSpec("best-mean", UNPRIVILEGED, "validation_balanced", ACCURACY)
BASE = "mlp"
METHODS = {key: name for key, name in MODELS.items() if key != "ffvae"}
MITIGATIONS = tuple(key for key in METHODS if key != BASE)
SHOWN = {key: METRICS[key] for key in (ACCURACY, "acc_p", UNPRIVILEGED, ODDS)}
BESIDE = tuple(key for key in SHOWN if key != UNPRIVILEGED)  # told with each gain

BALANCED, MINORITY = "balanced", "minority .001"
COLOURS = {BALANCED: "(0.5, 0.5)", MINORITY: "(0.001, 0.001)"}
BOTH, FIRST, NONE = "both", "first", "none"
MARKS = {
    BOTH: "both columns", FIRST: "the first column only", NONE: "no columns",
    "both same": "both columns, at test where training has them",
    "first same": "the first column only, at test where training has it",
}  # fmt: skip
DECLARED = (BOTH, FIRST, NONE)  # those that every method is trained with; the others are the MLP's


@dataclass(frozen=True)
class Added:
    """What is added by a mark: the numbers with these marks less those with fewer."""

    words: str
    more: str
    fewer: str


ADDED = (
    Added("the second column", BOTH, FIRST),
    Added("the first column", FIRST, NONE),
    Added("both columns", BOTH, NONE),
    Added("the second column, at test where training has it", "both same", "first same"),
    Added("the first column, at test where training has it", "first same", NONE),
)


def task_of(colours: str, marks: str) -> str:
    """The name of a task in the study.

    >>> task_of(MINORITY, NONE)
    'minority .001 none'
    """
    return f"{colours} {marks}"
