"""The three models of the table: each learns from the training rows and scores the test rows.

A score is an estimate of P(survived). The network is ours; the other two are scikit-learn's with its default
settings, which is imported when they are asked for: `pip install 'evenhand[sklearn]'`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from evenhand.arrays import FloatArray
from evenhand.data.task import Task
from evenhand.errors import InputError

Scorer = Callable[[Task, int], FloatArray]
WIDTHS, EPOCHS, BATCH = (32, 32), 40, 64
FOLDS = 5  # of the training rows, for Platt scaling


def network(task: Task, seed: int) -> FloatArray:
    """A perceptron with two layers of 32 units, 40 epochs of Adam in batches of 64: P(survived) `[N]`."""
    from evenhand.evaluation.fitting import fit_models
    from evenhand.nets.registry import NetSpec

    net = NetSpec("mlp", widths=WIDTHS)
    fitted = fit_models(
        net, "erm", task, seeds=[seed], protect="sex", device="cpu", epochs=EPOCHS, batch_size=BATCH
    )
    return np.asarray(fitted.scores(_inputs(task, "test"))[:, 1], dtype=np.float64)


def support_vectors(task: Task, seed: int) -> FloatArray:
    """A support vector machine with a Gaussian kernel, its margins made probabilities by Platt scaling.

    P(survived) = 1 / (1 + exp(A f(x) + B)), A and B fitted to margins of rows that were held out in turn
    (Platt 1999, Probabilistic Outputs for Support Vector Machines).
    """
    with _scikit_learn():
        from sklearn.calibration import CalibratedClassifierCV
        from sklearn.svm import SVC
    machine = CalibratedClassifierCV(SVC(random_state=seed), method="sigmoid", cv=FOLDS, ensemble=False)
    return _learned(machine, task)


def boosting(task: Task, seed: int) -> FloatArray:
    """Gradient boosting: 100 trees of depth 3 (Friedman 2001, Greedy Function Approximation)."""
    with _scikit_learn():
        from sklearn.ensemble import GradientBoostingClassifier
    return _learned(GradientBoostingClassifier(random_state=seed), task)


SCORERS: dict[str, Scorer] = {"nn": network, "svm": support_vectors, "gtb": boosting}


def _learned(model: Any, task: Task) -> FloatArray:
    model.fit(_inputs(task, "train"), np.asarray(task.y[task.rows("train")]))
    return np.asarray(model.predict_proba(_inputs(task, "test"))[:, 1], dtype=np.float64)


def _inputs(task: Task, part: str) -> FloatArray:
    return np.asarray(np.asarray(task.x)[np.asarray(task.rows(part))], dtype=np.float64)


class _scikit_learn:
    """What is missing is told with what to install."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ImportError):
            raise InputError(
                "the SVM and gradient boosting are scikit-learn's, which is not installed here: "
                "pip install 'evenhand[sklearn]'"
            ) from error
